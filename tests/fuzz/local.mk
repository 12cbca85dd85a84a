# Fuzzers.  Their saved corpora are replayed by `make check`.
