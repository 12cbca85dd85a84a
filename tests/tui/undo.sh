#!/usr/bin/env bash
# Undo and redo bring back the whole screen: the query, and what was selected, open and scrolled.

set -u
build_dir=${builddir_abs:-$PWD}
NEAP=${NEAP:-$build_dir/neap}
unset COLUMNS NO_COLOR TERM LANG LANGUAGE LC_CTYPE
export LC_ALL=C TZ=UTC
folder=$(mktemp -d "${TMPDIR:-/tmp}/neap-undo.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
"$build_dir/tests/golden/make_profiles" "$folder" && cd "$folder" || exit 1

count=0 failed=0
same() {
	cmp -s "$1" "$2" && return
	echo "FAIL: $3: '$view', then '$edit' and '$more'"
	diff "$1" "$2"
	failed=$((failed + 1))
}

# What was there before an edit, what was made of it, and each of them once more.
while IFS='|' read -r view edit more; do
	count=$((count + 1))
	rm -f first second third fourth
	cat >keys <<-KEYS
		size 24 100
		$view
		:screenshot first
		$edit
		$more
		:screenshot second
		U
		:screenshot third
		C-r
		:screenshot fourth
	KEYS
	"$NEAP" browse --keys=keys --glyphs=ascii json.neap || failed=$((failed + 1))
	same first third "undo brings another screen"
	same second fourth "redo brings another screen"
	cmp -s first second && echo "FAIL: '$edit' changes nothing" && failed=$((failed + 1))
done <<'CASES'
Down Down Down|b|Home
G|b|Home
Down Down Down|z|Down
g Down Down C|z|g
C Down Right Right|i|Down Down
Down Down Down|2|Down Down
j j j|d|G
j j j|L|g
j j|>|G
2 Down Down Down Down|b|Home
2 G k|z|Home
2 Down Down|K|Down
2 Down Down|r|G
2 Down Down|c|Down
3 Down Down|Enter|Down
3 Down|2|Down Down
4 Down Down Right|b|g
4 Down Down Enter Down|b|g Down
4 Down Enter Down Enter|L|g
4 Down Down Down|i|Down
4 G|1|G
5 Down Down Down|b|g
5 Down Down|Right|Down
6 Down Down|b|G
6 Right Down|b|Left G
7 Down Down|b|g
8 Down Down|b|g
8 Down Down|L|G
9 Down Down Down|2|G
c Down Down|b|Up
c Down|Enter|Down
CASES

# What Esc takes away was put there by a key: one is where one was then.
view='Down Down Down' edit=z more=Esc
cat >keys <<-'KEYS'
	size 24 100
	Down Down Down
	:screenshot first
	z
	Down
	Esc
	:screenshot third
KEYS
"$NEAP" browse --keys=keys --glyphs=ascii json.neap || failed=$((failed + 1))
same first third "Esc brings another screen"
[ "$count" -gt 25 ] || failed=$((failed + 1))
echo "$count edits, $failed failed"
[ "$failed" = 0 ]
