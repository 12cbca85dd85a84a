#!/usr/bin/env bash
# What a user does on a real terminal, and the whole screen after it: tests/tui/plays/NAME.play,
# whose first line names options and profiles, and the screens that it names.
# --update, or NEAP_GOLDEN_WRITE=1 (make golden), writes the screens anew and prints the old ones beside them.

set -u
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build_dir=${builddir_abs:-$PWD}
unset COLUMNS LINES NO_COLOR LANG LANGUAGE LC_CTYPE VISUAL EDITOR
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm-256color
[ "${1:-}" != --update ] || export NEAP_GOLDEN_WRITE=1
if [ ! -x "$build_dir/tests/tui/pty" ]; then
	echo "SKIP: libvterm is not installed (./bootstrap deps installs it)"
	exit 77
fi
if ! infocmp xterm-256color >/dev/null 2>&1; then
	echo "SKIP: there is no terminfo for xterm-256color"
	exit 77
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/neap-plays.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
"$build_dir/tests/golden/make_profiles" "$folder" &&
	"$build_dir/tests/tui/make_names" "$folder/names.neap" || exit 1
cd "$folder" || exit 1
count=0 failed=0
for play in "$source_dir"/plays/*.play; do
	name=$(basename "$play" .play)
	read -r sign words <"$play"
	[ "$sign" = "#" ] || { echo "$play: its first line is # OPTIONS FILES"; exit 1; }
	read -ra options <<<"$words"
	count=$((count + 1))
	grep -v '^#' "$play" | sed "s|^golden \\(.*\\)|golden $source_dir/plays/$name-\\1.txt|" >play
	"$build_dir/tests/tui/pty" play "$build_dir/neap-browse" --no-state "${options[@]}" || {
		echo "FAIL: $name"
		failed=$((failed + 1))
	}
done
echo "$count plays, $failed failed"
[ "$count" -gt 5 ] && [ "$failed" = 0 ]
