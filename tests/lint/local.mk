# Rules about the source itself; selftest.sh plants a violation of each.

lint_tests = \
	tests/lint/banned.sh \
	tests/lint/completions.sh \
	tests/lint/dist.sh \
	tests/lint/exports.sh \
	tests/lint/exports-lib.sh \
	tests/lint/format.sh \
	tests/lint/headers.sh \
	tests/lint/layers.sh \
	tests/lint/man-tables.sh \
	tests/lint/nolibc.sh \
	tests/lint/selftest.sh \
	tests/lint/shell.sh \
	tests/lint/sizes.sh \
	tests/lint/words.sh

TESTS += $(lint_tests)
EXTRA_DIST += $(lint_tests) \
	tests/lint/collector-exports.txt \
	tests/lint/collector-imports.txt \
	tests/lint/cppcheck.txt \
	tests/lint/help.sh \
	tests/lint/lib.sh \
	tests/lint/sizes.txt \
	tests/lint/tools.sh
