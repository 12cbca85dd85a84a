#!/usr/bin/env bash
# Esc and Ctrl-C stop long work, whatever key began it, and the screen is the one before it; what
# is typed meanwhile comes after the work in its order, and is not meant for another view.  Work
# is made long with NEAP_TEST_HOLD: it lasts while that file is there, or until it is stopped.

# shellcheck source=tests/tui/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
terminal_begin stop
export NEAP_TEST_HOLD=$folder/hold XDG_STATE_HOME=$folder/state

# hold NAME: plays the lines of stdin; no work is held after it.
hold() {
	play "$1"
	rm -f hold
}

# Every key that asks something new, from a row that is not the first one.  What was stopped can
# be asked for again.
stop() {
	local name=$1 from=$2 key=$3 end=$4
	hold "$name" <<-PLAY
		bytes $from
		remember
		make hold
		bytes $key
		meanwhile until s; Esc stops it
		meanwhile bytes $end
		until stopped
		remembered
		remove hold
		bytes \x12
		until ${5:-neap}
	PLAY
}
i=0
while read -r from key; do
	i=$((i + 1))
	stop "esc-$i" "$from" "$key" '\e'
done <<'KEYS'
jjj 2
jjj 3
jjj 6
jjj 7
jjj 8
jjj b
jjj i
jjj z
jjj d
jjj L
jjj F
jjj >
jjj c
jjj a
Cjl :\x15live\x20at\x2050%\x0d
Cjl \\parse\x0d
2jj b
2jj L
2jj K
2jj >
2jj r
2jj :\x15peak|by\x20file\x0d
2jj \\parse\x0d
jjj t
3jj \x0d
4\e[B\e[B b
4\e[B\e[B z
4\e[B\e[B i
4\e[B\e[B\x0d b
5jj \e[C
5jj b
6jj b
7j b
8j b
cjj b
KEYS
[ "$i" -gt 30 ] || fail "not every key was tried"
stop ctrl-c jjj b '\x03'

# A range that is being made goes on when the query of one of its instants, or its own, is stopped.
range() {
	hold "$1" <<-PLAY
		bytes $2
		remember
		make hold
		bytes $3
		meanwhile until s; Esc stops it
		meanwhile bytes $4
		until stopped
		remembered
		remove hold
		bytes $3
		until $5
		bytes $6
		until $7
	PLAY
}
range range-move '\x09\e[C\e[C\e[Cv\e[C\e[C' '\e[C' '\e' 'live at' v 'survivors in'
range range-leap '\x09\e[C\e[C\e[Cv\e[C\e[C' ' ' '\x03' 'live at' v 'survivors in'
range range-first '\x09\e[C\e[C\e[Cv' '\e[C' '\e' 'live at' v 'survivors in'
range range-end '\x09\e[C\e[C\e[Cv\e[C\e[C' v '\e' 'survivors in' U 'live at'
range range-window '\x09\e[C\e[Cv\e[C\e[Cv\e[C\e[Cv' '\e[C' '\e' 'live at' v 'survivors in'

# Keys typed meanwhile come after it, in their order.
hold order <<'PLAY'
make hold
bytes 2
meanwhile until s; Esc stops it
meanwhile bytes jjjkr
meanwhile remove hold
screen order.screen
PLAY
hold slowly <<'PLAY'
bytes 2
bytes j
bytes j
bytes j
bytes k
bytes r
screen slowly.screen
PLAY
diff slowly.screen order.screen || fail "what was typed meanwhile came in another order"

# Those before Esc were for the table, the one after it is for the tree.
hold after <<'PLAY'
bytes jjjj
remember
bytes k
make hold
bytes 2
meanwhile until s; Esc stops it
meanwhile bytes rr
meanwhile bytes \ej
remembered
remove hold
PLAY

# More keys than a terminal keeps for a program.
hold many <<'PLAY'
make hold
remember
bytes 2
meanwhile until s; Esc stops it
meanwhile bytes jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj
meanwhile bytes \e
until stopped
remembered
remove hold
PLAY

# What is typed next does not wait for the preview of what was typed before.
hold preview <<'PLAY'
remember
make hold
bytes :\x15
meanwhile bytes live at 30%
meanwhile bytes  | by file\x0d
meanwhile until s; Esc stops it
meanwhile bytes \e
until stopped
remembered
bytes \\
meanwhile bytes x\e
remembered
remove hold
PLAY

echo "$count plays, $failed failed"
[ "$failed" = 0 ]
