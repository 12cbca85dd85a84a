#!/usr/bin/env bash
# What lasts from one time to the next, the editor, and files that grow: the real program on a
# terminal.

# shellcheck source=tests/tui/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
terminal_begin state
export XDG_STATE_HOME=$folder/state HOME=$folder/home
kept=$XDG_STATE_HOME/neap/browse

# start NAME OPTIONS: plays the lines of stdin.
start() {
	local name=$1
	shift
	count=$((count + 1))
	cat >"$name.play"
	"$build_dir/tests/tui/pty" "$name.play" "$build_dir/neap-browse" "$@" || fail "$name"
}
shows() { # FILE TEXT
	grep -qF -- "$2" "$1" || { fail "$1 does not show: $2"; cat "$1"; }
}
lacks() {
	if grep -qF -- "$2" "$1"; then fail "$1 shows: $2"; cat "$1"; fi
}

# ---- the view and bookmarks last, by the content of the profile ------------------------------
start leave json.neap <<'PLAY'
bytes b
bytes L
bytes ma
screen marked.screen
bytes 2
screen left.screen
signal TERM
ends TERM
PLAY
shows marked.screen "bookmark a is this view"
[ "$(find "$kept" -type f | wc -l)" = 1 ] || fail "one file is kept"
[ "$(stat -c %a "$kept")" = 700 ] || fail "others can read what is kept"
cp json.neap moved.neap
start return moved.neap <<'PLAY'
screen returned.screen
bytes 'x
screen unknown.screen
bytes 'a
screen gone.screen
bytes q
bytes q
ends 0
PLAY
sed 1d left.screen >left.rest
sed 1d returned.screen >returned.rest
diff left.rest returned.rest || fail "the view of last time is not there again"
shows unknown.screen "that is no bookmark; there are a"
sed 1d marked.screen | head -n -1 >marked.rest
sed 1d gone.screen | head -n -1 >gone.rest
diff marked.rest gone.rest || fail "the bookmark is another view"

# The tree is open as it was, and the same row is selected.
start fold --no-mouse forked.neap <<'PLAY'
bytes C
bytes l
bytes j
screen folded.screen
bytes q
ends 0
PLAY
start unfold forked.neap <<'PLAY'
screen unfolded.screen
bytes q
ends 0
PLAY
diff folded.screen unfolded.screen || fail "the folds of last time are not there again"

# Two at once: what both have bookmarked lasts.
cp json.neap both.neap
(
	start first --follow both.neap <<'PLAY'
bytes mf
screen seen
until has grown
bytes q
ends 0
PLAY
	exit "$failed"
) &
first=$!
until [ -e seen ]; do sleep 0.05; done
start second both.neap <<<$'bytes ms\nbytes q\nends 0'
touch both.neap
wait "$first" || fail "the first of two"
rm -f seen
start both both.neap <<<$'bytes \'x\nscreen both.screen\nbytes q\nends 0'
shows both.screen "that is no bookmark; there are a f s"

# --no-state neither uses nor keeps it.
before=$(cat "$kept"/* | md5sum)
start without --no-state moved.neap <<'PLAY'
screen without.screen
bytes b
bytes q
ends 0
PLAY
lacks without.screen "2 Table"
[ "$(cat "$kept"/* | md5sum)" = "$before" ] || fail "--no-state keeps something"

# What is damaged is said, and not used.
for damage in 's/^end$//' 's/^query .*/query nothing | of | sense/' 's/^view .*/view Nowhere up 0/' \
	's/^view.*/&\x00/'; do
	rm -rf "$XDG_STATE_HOME"
	start keep json.neap <<<$'bytes 2\nbytes q\nbytes q\nends 0'
	sed -i "$damage" "$kept"/*
	start damaged json.neap <<'PLAY'
screen damaged.screen
bytes q
ends 0
PLAY
	shows damaged.screen "is damaged and not used"
done
rm -rf "$XDG_STATE_HOME"
start keep json.neap <<<$'bytes 2\nbytes q\nbytes q\nends 0'
sed -i '1s/1/2/' "$kept"/*
start version json.neap <<<$'screen version.screen\nbytes q\nends 0'
shows version.screen "is of another version and not used"
rm -rf "$XDG_STATE_HOME"
mkdir -p "$kept"
head -c 400000 /dev/zero | tr '\0' x >"$folder/large"
start name json.neap <<<$'bytes q\nends 0'
file=$(find "$kept" -type f)
cp "$folder/large" "$file"
start large json.neap <<<$'screen large.screen\nbytes q\nends 0'
shows large.screen "is damaged and not used"

# The oldest of many files go.
for i in $(seq 302); do touch -d "2020-01-01 +$i minutes" "$kept/old$i"; done
start many json.neap <<<$'bytes q\nends 0'
[ -e "$kept/old1" ] && fail "the oldest file is still there"
[ -e "$kept/old302" ] || fail "a newer file was removed"

# Where nothing can be kept, that is said at the end, and nothing else is wrong.
rm -rf "$XDG_STATE_HOME"
echo >"$XDG_STATE_HOME"
start nowhere json.neap <<<$'bytes q\nends 0'
rm -f "$XDG_STATE_HOME"

# ---- the editor -------------------------------------------------------------------------------
mkdir -p src
cat >"my editor" <<'EDITOR'
#!/bin/sh
printf '%s\n' "$@" >"$ARGS"
stty -a <"/dev/tty" >"$ARGS.stty"
exit "${EDITOR_STATUS:-0}"
EDITOR
chmod +x "my editor"
cp "my editor" vim
export ARGS=$folder/args
# The sources of the profile stand where its recording says, below the folder it ran in.
mkdir -p src/json
for source in main config worker cache json/intern; do seq 400 >"src/$source.cpp"; done
start no-editor --no-state json.neap <<<$'bytes jj\nbytes O\nscreen no-editor.screen\nbytes q\nends 0'
shows no-editor.screen "no editor is set"
EDITOR="vi" start no-source --no-state nonames.neap <<<$'bytes O\nscreen no-source.screen\nbytes q\nends 0'
shows no-source.screen "no source is known for this row"
# edit NAME EDITOR: at main, the third row.
edit() {
	rm -f args args.stty
	: >args
	EDITOR=$2 start "$1" --no-state json.neap <<-PLAY
		bytes jj
		screen $1.before
		bytes O
		screen $1.screen
		bytes \\x0c
		screen $1.after
		bytes q
		ends 0
	PLAY
}
edit quoted '"./my editor" --wait'
[ "$(sed -n 1p args)" = --wait ] || fail "the editor gets no argument of its own"
file=$(sed -n 2p args)
[[ $file == *src/main.cpp ]] || fail "the editor gets not the file, but: $file"
[ -f "$file" ] || fail "there is no $file"
# While it runs, the terminal is as it was before the browser.
if ! grep -q icanon args.stty || grep -qE -- '-icanon|-echo ' args.stty; then
	fail "the editor has another terminal"
	cat args.stty
fi
sed 's/ *$//' quoted.after | head -n -1 >quoted.rest
head -n -1 quoted.before | diff - quoted.rest || fail "the screen is not there again"
edit vim ./vim
[ "$(sed -n 1p args)" = +42 ] || fail "vim gets no line, but: $(sed -n 1p args)"
export EDITOR_STATUS=3
edit failing './vim -e'
shows failing.screen "ended with status 3"
unset EDITOR_STATUS
edit absent ./no-such-editor
shows absent.screen "cannot start './no-such-editor'"
edit code 'vim; touch injected'
[ -e injected ] && fail "the editor's command went through a shell"

# ---- files that grow --------------------------------------------------------------------------
# The terminal waits for the second screen: a tick is a wait like any other.
bytes=$(stat -c %s json.neap)
head -c $((bytes / 2)) json.neap >growing.neap
(
	until [ -e seen ]; do sleep 0.05; done
	head -c $((bytes * 3 / 4)) json.neap >growing.new && mv growing.new growing.neap
) &
start growing --follow --no-state growing.neap <<'PLAY'
size 24 120
screen wide.screen
size 24 80
screen seen
bytes j
until has grown
screen grown.screen
bytes q
ends 0
PLAY
wait
rm -f seen
shows grown.screen "growing.neap+ "
shows wide.screen "growing.neap  recording"

# What is said of its modules is of those that it has now.
cp forked.neap growing.neap
(
	until [ -e seen ]; do sleep 0.05; done
	cp json.neap growing.new && mv growing.new growing.neap
) &
start modules --follow --no-state growing.neap <<'PLAY'
size 24 120
bytes 8
screen seen
until another recording has taken the place
bytes G
until libstdc++.so.6.0.30: names for 6 of 6 call sites
bytes 9G
until libstdc++.so.6.0.30
bytes q
bytes q
bytes q
ends 0
PLAY
wait
rm -f seen

# One that goes away, and one that is another recording.
cp json.neap growing.neap
"$build_dir/tests/tui/make_runs" . || exit 1
(
	until [ -e seen ]; do sleep 0.05; done
	rm growing.neap
	until [ -e gone ]; do sleep 0.05; done
	cp before.neap growing.new && mv growing.new growing.neap
) &
start replaced --follow --no-state growing.neap <<'PLAY'
size 24 120
screen seen
until growing.neap is gone; what was read of it is shown
until intern_key
screen gone
until another recording has taken the place of the file
until report_daily
bytes q
ends 0
PLAY
wait
rm -f seen gone

if [ "$count" -lt 20 ]; then
	echo "not everything was played"
	exit 1
fi
echo "$count plays, $failed failed"
[ "$failed" = 0 ]
