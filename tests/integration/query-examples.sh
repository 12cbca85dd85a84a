#!/bin/bash
# Every command that the manual pages show runs, on profiles of a program that has the functions
# and marks of their examples, and ends as the page says.  So do the queries of
# tests/integration/query-examples.txt.
#
# A line in a literal block of a page that begins with "neap query" or "neap diff" is an example;
# the line  .\" status N  before it in the page says that it ends with status N, else 0.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

if [ ! -x "$targets/60-service" ]; then
	echo "SKIP: $targets/60-service is not built"
	exit 77
fi
mkdir "$tmp/work" "$tmp/bin"
ln -s "$NEAP" "$tmp/bin/neap"
cd "$tmp/work" || exit 1
PATH=$tmp/bin:$PATH

# Profiles: old and new are two runs, server is a copy, the newest is of the same program.
for name in old new; do
	record -o "$name.neap" "$targets/60-service"
	equal "record $name: exit status" 0 "$status"
done
cp old.neap server.neap
touch -d '2020-01-01' old.neap new.neap server.neap
record -o service.neap "$targets/60-service"
equal "record service: exit status" 0 "$status"

# example STATUS SHELL-COMMAND: notes are fine where the example names what this program lacks.
example() {
	local want=$1 got=0
	timeout 60 bash -c "$2" >out 2>err || got=$?
	if [ "$got" = "$want" ]; then
		ok "$2"
	else
		bad "$2" "expected status $want" "got      $got" "$(head -c 600 err)"
	fi
}

# nonempty COMMAND: an example about functions that this program has must show some.
nonempty() {
	if grep -qE 'nothing matches|no difference' out; then
		bad "$1 finds something" "$(cat out err)"
	else
		ok "$1 finds something"
	fi
	if grep -q "^neap: note: no " err; then
		bad "$1 names only what is there" "$(cat err)"
	fi
}

# examples_of PAGE: STATUS, a tab, the command.
examples_of() {
	sed -nE '
		/^\.Bd -literal/,/^\.Ed/ {
			/^\.\\" status [0-9]+$/ { s/^\.\\" status //; h; d; }
			/^neap (query|diff) / {
				s/\\\(aq/'"'"'/g
				s/\\e/\\/g
				G
				s/^(.*)\n([0-9]*)$/\2\t\1/
				s/^\t/0\t/
				p
				s/.*//
				x
			}
		}' "$1"
}

count=0
for page in neap-query.7 neap-query.1 neap-diff.1; do
	examples_of "$srcdir_abs/man/$page" >examples
	if [ ! -s examples ]; then bad "$page has examples"; fi
	while IFS=$'\t' read -r want command; do
		count=$((count + 1))
		touch service.neap
		example "$want" "$command" </dev/null
		case $command in
		*fontconfig* | *"'diff peak"* | *"'diff leaked"* | "neap diff "*) ;; # equal runs
		*) nonempty "$command" ;;
		esac
	done <examples
done
equal "enough examples were found ($count)" yes "$([ "$count" -ge 50 ] && echo yes)"

# Queries, with the status each ends with.
rows=0
while IFS=$'\t' read -r want query; do
	case $want in '#'* | '') continue ;; esac
	rows=$((rows + 1))
	got=0
	files=(service.neap)
	case $query in "diff peak "*) files=(old.neap new.neap) ;; esac
	timeout 60 neap query "${files[@]}" "$query" >out 2>err || got=$?
	if [ "$got" = "$want" ]; then
		ok "$query"
	else
		bad "$query" "expected status $want" "got      $got" "$(head -c 600 err)"
	fi
done <"$srcdir_abs/tests/integration/query-examples.txt"
equal "enough queries were found ($rows)" yes "$([ "$rows" -ge 25 ] && echo yes)"

# What the examples about this program must find, to the byte.
value() { # QUERY: the first cell
	neap query service.neap "$1 | as tsv" 2>err | sed -n 2p | cut -f1
}
equal "the leak" 122880 "$(value 'leaked leaf.func=session_new | sum | select total')"
equal "its blocks" 240 "$(value 'leaked leaf.func=session_new | sum | select count')"
equal "the ring" 32768 "$(value 'leaked leaf.func=cache_put | sum | select total')"
equal "temporary" 240 "$(value 'temporary func=parse_object | sum | select count')"
equal "survivors of 60..180" 120 \
	"$(value 'survivors in @first..@second leaf.func=session_new | sum | select count')"
equal "growth of the leak" 61440 \
	"$(value 'growth in @first..@second leaf.func=session_new | sum | select delta')"
equal "growth of the ring" 0 "$(value 'growth in @first..@second leaf.func=cache_put | sum | select delta')"
equal "a path" 491520 \
	"$(value 'allocated path ^** > main > handle_request > cache_put | sum | select total')"

# Suspects: the leak alone.
neap report --suspects service.neap >out 2>err
equal "neap report --suspects: status" 0 "$?"
equal "one suspect" 1 "$(grep -c 'parts of the run are still there' out)"
equal "the right one" 1 "$(grep -cE '^ +120\.0 KiB .* 240  session_new ' out)"
finish
