#!/usr/bin/env bash
# What a user does on a real terminal, and the whole screen after it: tests/tui/plays/NAME.play,
# whose first line names options and profiles, and the screens that it names.
# --update, or NEAP_GOLDEN_WRITE=1 (make golden), writes the screens anew and prints the old ones beside them.

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/tui/lib.sh
. "$source_dir/lib.sh"
[ "${1:-}" != --update ] || export NEAP_GOLDEN_WRITE=1
terminal_begin plays
"$build_dir/tests/tui/make_names" names.neap || exit 1
for play in "$source_dir"/plays/*.play; do
	name=$(basename "$play" .play)
	read -r sign words <"$play"
	[ "$sign" = "#" ] || { echo "$play: its first line is # OPTIONS FILES"; exit 1; }
	read -ra options <<<"$words"
	count=$((count + 1))
	grep -v '^#' "$play" | sed "s|^golden \\(.*\\)|golden $source_dir/plays/$name-\\1.txt|" >play
	"$build_dir/tests/tui/pty" play "$build_dir/neap-browse" --no-state "${options[@]}" ||
		fail "$name"
done
echo "$count plays, $failed failed"
[ "$count" -gt 5 ] && [ "$failed" = 0 ]
