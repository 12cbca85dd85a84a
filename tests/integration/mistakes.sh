#!/bin/bash
# What people get wrong at the command line: what neap says of it, and how it exits.
# shellcheck disable=SC2016 # $ in queries

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1
corpus=$srcdir_abs/tests/fuzz/corpus/profile
cp "$corpus/small" a.neap && cp a.neap b.neap || exit 1
unset NEAP_CONFIG
export HOME=$tmp/home XDG_CONFIG_HOME=
mkdir home

# says STATUS TEXT ARG...: neap's exit status, and a fixed text in what it prints.
says() {
	local status=$1 text=$2 out got
	shift 2
	out=$("$NEAP" "$@" 2>&1 </dev/null)
	got=$?
	if [ "$got" != "$status" ]; then
		bad "neap $*: exit status" "expected $status" "got      $got" "$out"
	elif [[ $out != *"$text"* ]]; then
		bad "neap $*: what it says" "expected $text" "got      $out"
	else
		ok "neap $*"
	fi
}
# quiet TEXT ARG...: status 0, and the text is not in what it prints.
quiet() {
	local text=$1 out
	shift
	if ! out=$("$NEAP" "$@" 2>&1 </dev/null); then
		bad "neap $*: exit status" "$out"
	elif [[ $out == *"$text"* ]]; then
		bad "neap $*: says $text" "$out"
	else
		ok "neap $*"
	fi
}

# ---- commands and options

says 2 "there is no command and no file 'reprot'; did you mean 'neap report'?" reprot
says 2 "there is no command and no file 'zzzzzz'; neap --help lists the commands" zzzzzz
says 2 "there is no file 'gone.neap'" gone.neap
says 2 "there is no file '$tmp/gone'" "$tmp/gone"
says 2 "there is no option '--bogus'" --bogus
for command in record browse report query diff symbolize info import export; do
	says 2 "neap $command: unknown option '-Z'" $command -Zn5
	says 2 "neap $command: unknown option '--zzzzzz'" $command --zzzzzz
	says 2 "neap $command: '--help' takes no value" $command --help=x
	says 2 "unknown option '--hepl'; did you mean '--help'?" $command --hepl
done
says 2 "'--strict' takes no value" query --strict=yes a.neap live
says 2 "'--s' can be --strict or --source-path" query --s a.neap live
says 2 "'-n' needs a value" report -n
says 2 "'--top' needs a value" report --top
says 2 "an empty expression fits every function" report --wrapper= a.neap
mkdir -p home/.config/neap
echo 'wrapper =' >home/.config/neap/config
says 2 "/config:1: " report a.neap
rm home/.config/neap/config

# ---- files

: >empty
head -c 9 a.neap >short
says 3 "'empty' is empty, not a neap profile" info --dump empty
says 3 "'short' is cut inside its header" info --dump short
massif=$srcdir_abs/tests/exchange/peak.massif
for command in info "info --dump" "info --check" symbolize; do
	# shellcheck disable=SC2086 # a command and its option
	says 3 "it comes from valgrind's massif; neap import makes a profile of it" $command "$massif"
done
says 1 "'a.neap' is a profile of neap already: there is nothing to import" import -o c.neap a.neap
gzip -c a.neap >a.neap.gz
says 3 "'a.neap.gz' is a profile of neap packed by gzip; unpack it first" report a.neap.gz
if mkfifo pipe 2>/dev/null; then
	cat a.neap >pipe &
	says 0 "profile    pipe" pipe
	wait
fi

adhoc=$srcdir_abs/tests/exchange/adhoc.dhat.json
says 3 "which counts something" report "$adhoc"
says 3 "which counts something" query "$adhoc" live
says 3 "which counts something" diff a.neap "$adhoc"
says 3 "which counts something" export "$adhoc" -o out.svg

equal "neap info -: standard input" "File:       /dev/stdin" "$("$NEAP" info - <a.neap 2>&1 | head -n 1 | cut -d, -f 1)"
says 2 "standard input cannot be replaced: say where to, -o FILE" symbolize -
says 2 "standard input cannot be replaced" symbolize /dev/stdin
if "$NEAP" symbolize -q -o named.neap - <a.neap >said 2>&1 && "$NEAP" info named.neap >/dev/null; then
	ok "neap symbolize -o FILE -"
else
	bad "neap symbolize -o FILE -" "$(cat said)"
fi

# What is left out of a file is said wherever its numbers are shown.
printf 'main;f 10\nmain;g many\n' >odd.folded
says 0 "odd.folded: parts that made no sense were left out; neap report names them" query odd.folded 'live | sum'
says 0 "line 2: expected FRAME;FRAME;... NUMBER" report odd.folded
says 4 "the profile is incomplete" query --strict odd.folded 'live | sum'
"$NEAP" import odd.folded -o odd.neap >/dev/null 2>&1
says 0 "parts that made no sense were left out" query odd.neap 'live | sum'
printf 'main;f 10\nmain;g 20\n' >even.folded
quiet "left out" query even.folded 'live | sum'

# ---- queries

says 0 "only \`diff\` compares two files; the first alone is asked: live" query a.neap b.neap live
says 0 "the first alone is asked: peak" diff a.neap b.neap 'live; peak'
quiet "the first alone" query a.neap b.neap 'diff live; | by module'
quiet "the first alone" query a.neap b.neap 'diff live at start, live at end of b.neap'
quiet "the first alone" query a.neap b.neap 'live of b.neap'
quiet "the first alone" query a.neap 'live'
echo 'live | sum' >script
says 2 "a query or a script, not both: -f and 'live'" query a.neap -f script live
says 2 "a query or a script, not both: -f and 'peak | sum'" query -f script 'peak | sum'
quiet "not both" query -f script a.neap
printf '\xef\xbb\xbflive | sum\n' >marked
quiet "error" query a.neap -f marked
printf '\xef\xbb\xbflive | sun\n' >marked
says 2 "marked:1:8" query a.neap -f marked
for format in jsonl folded; do
	says 0 "note: nothing matches, so that nothing is written" query a.neap "live func=none_is_called_so | as $format"
done
quiet "nothing is written" query a.neap "live func=none_is_called_so"
says 0 "of two formats only the last one is written" query a.neap 'live | as json | as csv'
says 0 "of two formats only the last one is written" export a.neap 'live | as json' -o out.svg

says 0 "no module is 'plugin'; module~plugin finds 'plugin.so'" query a.neap 'live module=plugin'
says 0 "no module is 'ugin'; module~\"ugin\" finds 'plugin.so'" query a.neap 'live module="ugin"'
says 0 "no func is 'worg'; did you mean 'ns::work'?" query a.neap 'live func=worg'
says 2 "= help: module~plugin finds 'plugin.so'" query --strict a.neap 'live module=plugin'
quiet "finds" query a.neap 'live module=zzzzzz'
says 2 "the range ends before it begins" query a.neap 'live size in 64K..1K'
quiet "error" query a.neap 'live size in 1K..1K'

says 2 "a file holds the answer to one query, and these are 2" export a.neap 'live; peak' -o two.csv
for query in 'live # all of it' 'live;' $'live\n' $'let x = size > 3\nlive $x # large'; do
	rm -f out.csv
	quiet "func" export a.neap "$query" -o out.csv
	equal "neap export '$query' writes its file" func "$(head -c 4 out.csv 2>&1)"
done
says 2 "query:1:8" export a.neap 'live | bogus # x' -o out.csv

# The line and the column of a script, with what comes before it in several lines.
printf 'let a = size > 3\nlive $a | sum\nlive siez > 3\n' >script
says 2 "script:3:6" query a.neap -f script
printf 'let a = size > 3\nlive $a\n  | by func\n  | topp 3\n' >script
says 2 "script:4:5" query a.neap -f script
printf 'live | sum\r\nlive\r\n| topp 3\r\n' >script
says 2 "script:3:3" query a.neap -f script

# ---- settings of somebody else

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$tmp" && chmod 700 home && mkdir -p home/.config/neap
	if setpriv --reuid 65534 --regid 65534 --clear-groups "$NEAP" report a.neap >said 2>&1; then
		ok "a home that may not be read has no settings"
	else
		bad "a home that may not be read has no settings" "$(cat said)"
	fi
else
	skip "another user needs root and setpriv"
fi
finish
