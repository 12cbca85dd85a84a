#!/usr/bin/env bash
# Screens of every view at several sizes, with all glyphs and in ASCII, in colour and without.

# shellcheck source=tests/golden/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../golden/lib.sh"

golden_begin ../tui/screens
mkdir "$golden_dir/work" && "$golden_build/tests/golden/make_profiles" "$golden_dir/work" || exit 1

# Sources of json.neap as they are found below where one is: older than the recording, one hostile.
mkdir -p "$golden_dir/work/src/json" || exit 1
for i in {1..240}; do echo "	// what line $i does"; done >"$golden_dir/work/src/json/parser.hpp"
{
	for i in {1..16}; do echo "// line $i"; done
	printf 'auto intern_key(std::string &&key) // \033[2J\033]0;owned\007 \xe2\x80\xae rtl \xff\xfe\r\n'
	printf '\treturn keys.emplace(std::move(key)).first;\n\t\t%5000s\n' x
	printf '// \xe6\xbc\xa2\xe5\xad\x97 is wide, e\xcc\x81 combines\n}\xc3'
} >"$golden_dir/work/src/json/intern.cpp"
touch -d 2024-04-01 "$golden_dir/work/src/json"/* || exit 1

# source_of FILE: the keys that show a file of json.neap.
source_of() {
	printf ': C-u\ntext peak | source [file="/home/user/demo/src/%s"]\nEnter' "$1"
}

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

all source json.neap "$(source_of json/parser.hpp)"
all threads json.neap '7'
all modules json.neap '8'
all run json.neap '9'

shot time-diff json.neap 34 110 '3' --glyphs=block forked.neap
shot time-diff-plain json.neap 24 80 '3' --glyphs=ascii --plain forked.neap
shot time-diff-plain-old forked.neap 24 80 '3' --glyphs=ascii --plain json.neap
shot time-diff-ascii json.neap 24 80 '3' --glyphs=ascii --color=never forked.neap

all flame json.neap '4'
all flame-inverted json.neap '4 i'
all butterfly json.neap $'/\ntext intern_key\nEnter c'
all sizes json.neap '6'

# More than the first screen of a view.
shot flame-zoom json.neap 24 80 '4 Down Enter' --glyphs=braille
shot flame-diff forked.neap 24 100 '4' --glyphs=block json.neap
shot flame-hostile hostile.neap 24 80 'L 4' --glyphs=braille
shot flame-empty empty.neap 24 80 '4' --glyphs=braille
shot details json.neap 40 132 $'/\ntext intern_key\nEnter' --glyphs=braille
shot butterfly-root json.neap 24 100 $'/\ntext _start\nEnter c' --glyphs=braille
shot butterfly-hostile hostile.neap 24 80 'L Down c' --glyphs=ascii
shot lifetimes json.neap 24 80 'b 6 Right' --glyphs=braille
shot sizes-bin json.neap 24 80 '6 Enter' --glyphs=braille
shot sizes-diff forked.neap 24 100 '6' --glyphs=block json.neap
shot hist json.neap 24 100 $': C-u\ntext peak | by func | hist total\nEnter' --glyphs=braille
shot hist-enter json.neap 24 80 $': C-u\ntext peak | by func | hist total\nEnter End Enter' --glyphs=braille
shot hist-leave json.neap 24 80 $': C-u\ntext peak | by func | hist total\nEnter 6' --glyphs=braille
shot hist-of-blocks json.neap 24 80 $': C-u\ntext peak | by func | hist born\nEnter Down Enter' --glyphs=braille
shot hist-ascii-40x8 json.neap 8 40 $': C-u\ntext peak | hist count\nEnter' --glyphs=ascii
shot hist-diff forked.neap 24 100 $': C-u\ntext diff peak | by file | hist delta\nEnter' --glyphs=block json.neap
shot source-hostile json.neap 24 80 "$(source_of json/intern.cpp)" --glyphs=braille
shot source-hostile-ascii json.neap 24 80 "$(source_of json/intern.cpp)" --glyphs=ascii
shot source-next-line json.neap 24 100 "$(source_of json/parser.hpp)"$'\n. . ,'
shot source-not-here json.neap 24 100 "$(source_of cache.cpp)"
shot source-of-row json.neap 24 80 $'/\ntext put\nEnter a'
shot source-empty json.neap 24 100 $': C-u\ntext peak | source [file="no/such.c"]\nEnter'
shot source-files json.neap 24 100 $': C-u\ntext peak | source [file~/demo.src/] | min 1%\nEnter End'
shot source-next-file json.neap 24 100 "$(source_of json/intern.cpp)"$'\n\\\ntext put\nEnter Right'
shot source-cut json.neap 24 100 $': C-u\ntext peak | where path main > load_config | source json::parser | min 30%\nEnter G'
shot source-hostile-paths hostile.neap 24 80 '5 L' --glyphs=braille
shot threads-enter json.neap 24 80 'L 7 Down Enter'
shot threads-diff hostile.neap 24 80 '7' json.neap
shot modules-enter json.neap 24 80 '8 Down Enter'
shot modules-hostile hostile.neap 24 80 '8 L Down Down' --glyphs=ascii
shot run-end json.neap 24 80 '9 G'
shot run-find json.neap 24 80 $'9 /\ntext exact\nEnter'
shot run-hostile hostile.neap 60 80 '9' --glyphs=ascii
shot run-no-names nonames.neap 40 80 '9'
shot run-diff json.neap 40 80 '9' json.neap
shot callers json.neap 24 80 'i'
shot time-callers json.neap 30 100 '3 Enter' --glyphs=block
shot time-range json.neap 24 100 '3 Home PgDn v PgDn PgDn v' --glyphs=block
shot time-range-ascii json.neap 24 80 '3 Home PgDn v PgDn PgDn' --glyphs=ascii
shot time-range-mono json.neap 24 80 '3 Home PgDn v PgDn PgDn v' --glyphs=block --color=never
shot strip-range json.neap 24 80 'Tab PgUp v PgUp PgUp v' --glyphs=braille
shot tree-sorted json.neap 24 80 '> r' --glyphs=braille
shot names-short json.neap 24 100 '2 S' --glyphs=braille
shot names-full json.neap 24 100 '2 S S' --glyphs=braille
shot thread json.neap 24 80 'L G t' --glyphs=braille
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
