#!/usr/bin/env bash
# Screens of every view at several sizes, with all glyphs and in ASCII, in colour and without.

# shellcheck source=tests/golden/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../golden/lib.sh"

golden_begin ../tui/screens
mkdir "$golden_dir/work" && "$golden_build/tests/golden/make_profiles" "$golden_dir/work" || exit 1

# shot NAME FILE ROWS COLUMNS KEYS [OPTION...]: the screen after some keys.
shot() {
	local name=$1 file=$2 rows=$3 columns=$4 keys=$5
	shift 5
	printf 'size %s %s\n%s\n:screenshot screen.styled\n' "$rows" "$columns" "$keys" \
		>"$golden_dir/work/keys"
	golden_case "$name" bash -c '
		"$0" browse --keys=keys "$@" && cat screen.styled' "$NEAP" "$@" "$file"
}

# all NAME FILE KEYS: the sizes and glyphs that people have.
all() {
	shot "$1-40x8" "$2" 8 40 "$3" --glyphs=braille
	shot "$1-80x24" "$2" 24 80 "$3" --glyphs=braille
	shot "$1-132x40" "$2" 40 132 "$3" --glyphs=braille
	shot "$1-300x100" "$2" 100 300 "$3" --glyphs=block
	shot "$1-ascii-40x8" "$2" 8 40 "$3" --glyphs=ascii
	shot "$1-ascii-80x24" "$2" 24 80 "$3" --glyphs=ascii
	shot "$1-mono-80x24" "$2" 24 80 "$3" --glyphs=block --color=never
	shot "$1-plain-80x24" "$2" 24 80 "$3" --glyphs=ascii --plain
}

all tree json.neap ''
all table json.neap '2'
all time json.neap '3'

# More than the first screen of a view.
shot callers json.neap 24 80 'i'
shot time-callers json.neap 30 100 '3 Enter' --glyphs=block
shot time-modules json.neap 24 100 $': C-u\ntext live | by module\nEnter 3' --glyphs=block
shot help json.neap 40 100 '?'
shot prompt json.neap 24 80 $': C-u\ntext live modu' --glyphs=braille
shot prompt-error json.neap 24 80 $': C-u\ntext live siez > 3' --glyphs=braille
shot empty json.neap 24 80 $'\\\ntext no_such_name\nEnter 2' --glyphs=braille
shot diff json.neap 24 100 '2' --glyphs=braille json.neap
shot hostile-tree hostile.neap 40 100 'L E' --glyphs=braille
shot hostile-table hostile.neap 24 80 '2 L' --glyphs=braille
shot hostile-ascii hostile.neap 24 80 '2 L' --glyphs=ascii
shot tiny-1x1 json.neap 1 1 ''
shot tiny-3x10 json.neap 3 10 '3'

golden_end
