# What the tests on a terminal share.  Source it; then:
#
#   terminal_begin NAME   an empty folder with the golden profiles, and the shell in it; skips the
#                         test where there is no libvterm, or no terminfo
#   fail WHAT             says so, and counts it in $failed
#   play NAME             has the browser played what stdin says, at 40 rows and 120 columns, until
#                         SIGTERM ends it
#
# shellcheck shell=bash

set -u
build_dir=${builddir_abs:-$PWD}
unset COLUMNS LINES NO_COLOR LANG LANGUAGE LC_CTYPE VISUAL EDITOR
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm-256color
count=0 failed=0

fail() {
	echo "FAIL: $*"
	failed=$((failed + 1))
}

play() {
	count=$((count + 1))
	{
		echo "size 40 120"
		cat
		echo "signal TERM"
		echo "ends TERM"
	} >"$1.play"
	"$build_dir/tests/tui/pty" "$1.play" "$build_dir/neap-browse" --no-state json.neap || fail "$1"
}

terminal_begin() {
	if [ ! -x "$build_dir/tests/tui/pty" ]; then
		echo "SKIP: libvterm is not installed (./bootstrap deps installs it)"
		exit 77
	fi
	if ! infocmp xterm-256color >/dev/null 2>&1; then
		echo "SKIP: there is no terminfo for xterm-256color"
		exit 77
	fi
	folder=$(mktemp -d "${TMPDIR:-/tmp}/neap-$1.XXXXXX") || exit 1
	trap 'rm -rf "$folder"' EXIT
	"$build_dir/tests/golden/make_profiles" "$folder" && cd "$folder" || exit 1
}
