# Scripts that run the real program:  integration_tests += tests/integration/NAME.sh
integration_tests =
TESTS += $(integration_tests)
EXTRA_DIST += $(integration_tests)
