# Measurements: `make bench`.  They are not tests.
