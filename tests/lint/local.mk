# Rules about the source itself.  Each has a self-test that plants a violation.
lint_tests =
TESTS += $(lint_tests)
EXTRA_DIST += $(lint_tests)
