# The browser: golden screens, key scripts, the table of keys.
golden_tests += tests/tui/screens.sh
tui_tests = \
	tests/tui/keys.sh \
	tests/tui/scripts.sh
TESTS += $(tui_tests)
EXTRA_DIST += $(tui_tests) tests/tui/screens tests/tui/scripts
