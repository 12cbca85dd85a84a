# Programs with a plain main that ThreadSanitizer can run (Criterion cannot run under it):
#
#   stress_tests += tests/stress/NAME
#   tests_stress_NAME_SOURCES = tests/stress/NAME.c ...
stress_tests =
check_PROGRAMS += $(stress_tests)
TESTS += $(stress_tests)
