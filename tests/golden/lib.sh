# What golden tests share.  Source it; then:
#
#   golden_begin SUBDIR          expected outputs are tests/golden/SUBDIR/NAME.txt
#   golden_case NAME COMMAND...  compare what the command prints (both streams) and its status
#   golden_end                   the verdict
#
# Run by hand from the build directory:  bash SOURCE/tests/golden/report.sh [--update]
# --update, or NEAP_GOLDEN_WRITE=1 (`make golden`), writes the expected outputs anew.
# shellcheck shell=bash

set -u
golden_source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
golden_build=${builddir_abs:-$PWD}
NEAP=${NEAP:-$golden_build/neap}
golden_write=${NEAP_GOLDEN_WRITE:-}
[ "${1:-}" != --update ] || golden_write=1
golden_failed=0
golden_count=0

# A test must not see the user's terminal, colours, language or time.
unset COLUMNS NO_COLOR TERM LANG LANGUAGE LC_CTYPE
export LC_ALL=C TZ=UTC

golden_begin() {
	golden_expected=$golden_source/$1
	golden_dir=$(mktemp -d "${TMPDIR:-/tmp}/neap-golden.XXXXXX") || exit 1
	trap 'rm -rf "$golden_dir"' EXIT
	[ -x "$NEAP" ] || {
		echo "no neap program at $NEAP"
		exit 1
	}
}

golden_case() {
	local expected=$golden_expected/$1.txt got=$golden_dir/got.$1
	shift
	golden_count=$((golden_count + 1))
	(cd "$golden_dir/work" && "$@") >"$got" 2>&1
	echo "exit status $?" >>"$got"
	if [ -n "$golden_write" ]; then
		mkdir -p "$golden_expected" && cp "$got" "$expected" || golden_failed=$((golden_failed + 1))
	elif ! diff -u "$expected" "$got"; then
		echo "FAIL: $* (make golden writes the expected output anew)"
		golden_failed=$((golden_failed + 1))
	fi
}

golden_end() {
	if [ "$golden_count" -eq 0 ]; then
		echo "no case was run"
		exit 1
	fi
	echo "$golden_count cases, $golden_failed failed"
	[ "$golden_failed" -eq 0 ]
}
