#!/usr/bin/env bash
# neap report: what people see, at several widths, in UTF-8 and ASCII, with and without colour.

# shellcheck source=tests/golden/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

golden_begin report
mkdir "$golden_dir/work" "$golden_dir/work/old" &&
	"$golden_build/tests/golden/make_profiles" "$golden_dir/work" || exit 1

utf8=C.UTF-8
[ "$(LC_ALL=$utf8 locale charmap 2>/dev/null)" = UTF-8 ] || {
	echo "this machine has no locale C.UTF-8"
	exit 77
}

report() { # LOCALE OPTION...
	local locale=$1
	shift
	LC_ALL=$locale "$NEAP" report "$@"
}

for profile in json hostile; do
	for width in 80 132; do
		golden_case "$profile-$width-utf8" report $utf8 --width=$width $profile.neap
		golden_case "$profile-$width-ascii" report C --width=$width $profile.neap
		golden_case "$profile-$width-colour" report $utf8 --width=$width --color=always \
			--top=3 $profile.neap
	done
	golden_case "$profile-full" report C --full-stacks --top=2 $profile.neap
done
for profile in empty forked nonames; do
	golden_case "$profile" report C $profile.neap
done

# What kept growing.
golden_case suspects report $utf8 --width=100 --suspects json.neap
golden_case suspects-top report C --suspects --top=1 json.neap
golden_case suspects-short report C --suspects forked.neap

# Options, and what is no terminal.
golden_case top-1 report C --top 1 json.neap
golden_case columns env LC_ALL=C COLUMNS=90 TERM=xterm "$NEAP" report -n2 json.neap
golden_case never report C --color=never -n1 forked.neap
golden_case usage-top report C --top=0 json.neap
golden_case usage-width report C --width=12 json.neap
golden_case usage-colour report C --color=mauve json.neap
golden_case usage-option report C --frobnicate json.neap
golden_case usage-two report C json.neap forked.neap
golden_case no-file report C absent.neap
printf 'not a profile\n' >"$golden_dir/work/bad.neap"
golden_case not-a-profile report C bad.neap
rm "$golden_dir/work/bad.neap"

# Without FILE: the newest by time, whatever its name.
cd "$golden_dir/work" && touch -d '2024-01-01' ./*.neap && touch -d '2024-01-02' empty.neap &&
	touch -d '2025-01-01' zzz.txt || exit 1
golden_case newest report C -n1
rm ./*.neap
golden_case none-here report C

golden_end
