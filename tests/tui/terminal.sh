#!/usr/bin/env bash
# The real program on a terminal: what it shows is what the grid says, in UTF-8 and ASCII; both
# forms of the cursor keys, the mouse, resizing, suspending; and the terminal is as before on
# every way out.

# shellcheck source=tests/tui/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
terminal_begin terminal

# play NAME OPTIONS: the lines of stdin.
play() {
	local name=$1
	shift
	count=$((count + 1))
	cat >"$name.play"
	XDG_STATE_HOME=$folder/$name.state "$build_dir/tests/tui/pty" "$name.play" "$build_dir/neap-browse" "$@" || fail "$name"
}

# compare NAME KEYS OPTIONS: the screen NAME.screen is what a key script shows after these lines.
compare() {
	local name=$1
	printf '%s\n:screenshot %s.grid\n' "$2" "$name" >"$name.keys"
	shift 2
	"$build_dir/neap-browse" --keys="$name.keys" "$@" >"$name.log" 2>&1 ||
		fail "$name: $(cat "$name.log")"
	diff "$name.grid" "$name.screen" || fail "$name: the terminal does not show the grid"
}

play first json.neap <<'PLAY'
screen first.screen
bytes \e[B
bytes \eOB
bytes j
screen keys.screen
still
bytes 3
screen time.screen
size 40 132
screen large.screen
size 8 40
screen small.screen
bytes q
bytes q
ends 0
PLAY
compare first 'size 24 80' json.neap
compare keys $'size 24 80\nDown Down Down' json.neap
compare time $'size 24 80\nDown Down Down 3' json.neap
compare large $'size 24 80\nDown Down Down 3\nsize 40 132' json.neap
compare small $'size 24 80\nDown Down Down 3\nsize 8 40' json.neap

play hostile --glyphs=block hostile.neap <<'PLAY'
bytes 2
bytes L
screen hostile.screen
bytes q
bytes q
ends 0
PLAY
compare hostile $'2\nL' --glyphs=block hostile.neap

# A press on the third row, and the wheel.
play mouse json.neap <<'PLAY'
bytes \e[<0;10;9M
bytes \e[<0;10;9m
screen mouse.screen
bytes q
ends 0
PLAY
compare mouse $'size 24 80\nmouse press 8 9' json.neap

# Little is written for a step of the cursor.
play slow json.neap <<'PLAY'
size 40 120
bytes j
written 2048
bytes j
written 2048
bytes k
written 2048
bytes 3
bytes \e[D
written 2048
bytes \e[D
written 2048
bytes p
written 2048
bytes q
bytes q
ends 0
PLAY

# Suspended and resumed, the screen is there again.
play suspended json.neap <<'PLAY'
bytes 2
signal TSTP
signal CONT
screen suspended.screen
bytes q
bytes q
ends 0
PLAY
compare suspended $'2' json.neap

# Every way out.
for signal in TERM HUP ABRT SEGV; do
	play "by-$signal" json.neap <<-PLAY
		bytes 3
		signal $signal
		ends $signal
	PLAY
done
play hangup json.neap <<'PLAY'
hangup
ends HUP
PLAY

# Keys that are broken off, bytes that are none, events of the mouse and sizes at random: what
# was written bit by bit is what is drawn anew, whatever the names, and the program lives.
"$build_dir/tests/tui/make_names" names.neap || exit 1
export EDITOR=true VISUAL=true
seed=${NEAP_MONKEY_SEED:-5}
for name in json names empty; do
	echo "monkey with seed $seed at $name.neap"
	play "monkey-$name" $name.neap <<-PLAY
		monkey ${NEAP_MONKEY_KEYS:-200} $seed
		signal TERM
		ends TERM
	PLAY
done

# Other kinds of terminals: fewer colours, fewer commands, pauses in them.
for kind in screen xterm xterm-16color tmux-256color linux vt100 vt220 ansi; do
	if ! infocmp "$kind" >/dev/null 2>&1; then
		echo "there is no terminfo for $kind: left out"
		continue
	fi
	export TERM=$kind
	play "$kind" --glyphs=ascii json.neap <<-PLAY
		bytes \\e[B
		bytes \\eOB
		bytes 2
		screen $kind.screen
		monkey 50 6
		signal HUP
		ends HUP
	PLAY
	compare "$kind" $'Down Down 2' --glyphs=ascii json.neap
done

if [ "$count" -lt 10 ]; then
	echo "not everything was played"
	exit 1
fi
echo "$count plays, $failed failed"
[ "$failed" = 0 ]
