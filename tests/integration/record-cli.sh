#!/bin/bash
# neap record as people use it and misuse it: what it refuses and how it says so, names of
# files, exit statuses, signals, limits, and a recorder that dies.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
CC=${CC:-gcc}
mkdir "$tmp/w"
cd "$tmp/w" || exit 1

# says TITLE STATUS PATTERN COMMAND...: exit status and, on stderr, one message.
says() {
	local title=$1 want=$2 pattern=$3 got=0
	shift 3
	timeout -k 5 60 "$@" >"$tmp/out" 2>"$tmp/err" || got=$?
	equal "$title: exit status" "$want" "$got"
	if [ -n "$pattern" ] && ! grep -Eq -- "$pattern" "$tmp/err"; then
		bad "$title: message" "expected $pattern" "got      $(cat "$tmp/err")"
	fi
}
no_file() {
	if compgen -G '*.neap' >/dev/null; then
		bad "$1: no profile is left" "$(echo ./*.neap)"
		rm -f ./*.neap
	else
		ok "$1: no profile is left"
	fi
}
readable() { # TITLE FILE
	if "$NEAP" info --check "$2" >"$tmp/check" 2>&1; then ok "$1: info --check"; else bad "$1: info --check" "$(cat "$tmp/check")"; fi
}

# ---- programs that cannot be recorded ------------------------------------------------
cat >seven.c <<'C'
#include <stdlib.h>
int main(void) { void *volatile p = malloc(77); return p ? 7 : 0; }
C
$CC -O1 -o seven seven.c
touch noexec
mkdir folder
echo text >text
chmod +x text
says "no such program" 127 "no-such-program" "$NEAP" record no-such-program
says "not executable" 126 "noexec.*not executable" "$NEAP" record ./noexec
says "a directory" 126 "folder.*directory" "$NEAP" record ./folder
says "not a program" 2 "text.*ELF" "$NEAP" record ./text
no_file "refused programs"
if $CC -static -o static seven.c 2>/dev/null; then
	SECONDS=0
	says "static program" 2 "static" "$NEAP" record ./static
	if [ "$SECONDS" -gt 1 ]; then bad "static program: said within a second" "$SECONDS s"; fi
	no_file "static program"
else
	skip "no static libc here"
fi
if $CC -fsanitize=address -o asan seven.c 2>/dev/null; then
	says "AddressSanitizer" 2 "AddressSanitizer" "$NEAP" record ./asan
	no_file "AddressSanitizer"
else
	skip "no AddressSanitizer here"
fi
says "no program named" 2 "program" "$NEAP" record
says "bad interval" 2 "interval" "$NEAP" record --interval soon ./seven
says "unknown option" 2 "no-such-option" "$NEAP" record --no-such-option ./seven
no_file "misuse"

# ---- names of files, exit status -------------------------------------------------------
says "exit status of the program" 7 "" "$NEAP" record -q -o a.neap -- ./seven
readable "first recording" a.neap
cp a.neap a.before
says "existing output is kept" 7 "a\.neap.*kept" "$NEAP" record -o a.neap -- ./seven
if cmp -s a.neap a.before; then ok "existing output is kept"; else bad "existing output is kept"; fi
readable "numbered output" a.1.neap
says "--force replaces it" 7 "" "$NEAP" record -q --force -o a.neap -- ./seven
readable "forced output" a.neap
equal "no third file" "a.1.neap a.neap" "$(echo ./*.neap | sed 's,\./,,g')"
rm -f ./*.neap
says "unwritable output" 2 "nowhere" "$NEAP" record -o nowhere/a.neap -- ./seven
says "name by pattern" 7 "" "$NEAP" record -q -o 'x-%n-%p.neap' -- ./seven
if compgen -G 'x-seven-[0-9]*.neap' >/dev/null; then ok "name by pattern"; else bad "name by pattern" "$(ls)"; fi
rm -f ./*.neap
says "script" 3 "" "$NEAP" record -q -o s.neap -- sh -c 'exit 3'
readable "script" s.neap
rm -f ./*.neap

# Where the descriptors the program has are closed, and with an empty environment.
says "closed descriptors" 7 "" bash -c 'exec "$0" record -q -o c.neap -- ./seven <&- >&-' "$NEAP"
readable "closed descriptors" c.neap
says "empty environment" 7 "" env -i "$NEAP" record -q -o e.neap -- ./seven
readable "empty environment" e.neap
truth "empty environment" --expect 'func=main allocs=1 bytes=77 live_blocks=1 live_bytes=77' e.neap
rm -f ./*.neap

# ---- limits --------------------------------------------------------------------------------
walk=$builddir_abs/tests/stress/random-walk
"$walk" 20000 12 >want
says "a small address space" 0 "" bash -c 'ulimit -v 4000000; exec "$0" record -q -o v.neap -- "$1" 20000 12' "$NEAP" "$walk"
if cmp -s want "$tmp/out"; then ok "a small address space: output"; else bad "a small address space: output"; fi
readable "a small address space" v.neap
says "a limit on file sizes" 2 "ulimit -f" bash -c 'ulimit -f 16; exec "$0" record -o f.neap -- "$1" 20000 12' "$NEAP" "$walk"
rm -f ./*.neap

# A disk that fills up while recording: a small file system, where one may be mounted.
mkdir disk
fills='mount -t tmpfs -o size=64k none disk && "$0" record -o disk/f.neap -- "$1" 20000 12; s=$?; cp disk/f.neap . ; exit $s'
if unshare -rm mount -t tmpfs -o size=64k none disk 2>/dev/null; then
	says "a full disk" 0 "f\.neap.*No space left" unshare -rm bash -c "$fills" "$NEAP" "$walk"
	if cmp -s want "$tmp/out"; then ok "a full disk: the program's output"; else bad "a full disk: the program's output"; fi
	"$NEAP" info f.neap >"$tmp/check" 2>&1 || bad "a full disk: what was written is readable" "$(cat "$tmp/check")"
	equal "a full disk: one message" 1 "$(grep -c 'No space left' "$tmp/err")"
else
	skip "a full disk: no file system may be mounted here"
fi
rm -f ./*.neap

# ---- the summary -------------------------------------------------------------------------------
# A shim: what was meant is the child that holds most, wherever it comes among the others.
cat >shim.sh <<'S'
./seven
"$1" 20000 12
./seven
S
"$NEAP" record -o s.neap -- bash shim.sh "$walk" >/dev/null 2>"$tmp/err" || true
equal "a shim: the highest peak first" walk "$(sed -n '/other process/{n;s/.*(\([^,]*\),.*/\1/p}' "$tmp/err" | sed 's/.*walk.*/walk/')"
rm -f ./*.neap

# ---- signals -----------------------------------------------------------------------------------
cat >wait.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void stop(int sig) { (void)sig; _exit(42); }
int main(int argc, char **argv)
{
	(void)argv;
	void *volatile p = malloc(77);
	if (argc > 1)
		signal(SIGINT, stop);
	write(1, "r", 1);
	for (;;)
		pause();
	return p == NULL;
}
C
$CC -g -O1 -o wait wait.c

# signalled TITLE SIGNAL STATUS END ARGS...: neap gets a signal while ./wait waits.
signalled() {
	local title=$1 signal=$2 want=$3 end=$4 got=0 pid
	shift 4
	rm -f ./*.neap ready
	# What this script was started with ignored is not ignored here: it may run in the background.
	env --default-signal=INT,TERM "$NEAP" record -q -o w.neap -- ./wait "$@" >ready 2>"$tmp/err" &
	pid=$!
	for _ in $(seq 200); do
		[ -s ready ] && break
		sleep 0.05
	done
	kill -s "$signal" $pid
	wait $pid || got=$?
	equal "$title: exit status" "$want" "$got"
	truth "$title" --consistent --end "$end" --expect 'func=main allocs=1 bytes=77 live_blocks=1' w.neap
}
# Background jobs of a script ignore SIGINT unless job control is on.
set -m
signalled "SIGTERM is passed on" TERM 143 signaled:15
signalled "SIGINT is passed on" INT 130 signaled:2
signalled "SIGUSR1 is passed on" USR1 138 signaled:10
signalled "a real-time signal is passed on" RTMIN+3 $((128 + 37)) signaled:37
signalled "SIGINT is handled by the program" INT 42 exited:42 handles
set +m

# A signal for the whole group, from the program itself: it gets it once, and the recorder goes on.
cat >group.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile int times;
static void count(int sig) { (void)sig; times++; }
int main(int argc, char **argv)
{
	int sig = atoi(argv[argc - 1]);
	struct timespec t = {0, 200000000};
	void *volatile p = malloc(77);
	signal(sig, count);
	kill(0, sig);
	while (nanosleep(&t, &t))
		;
	return p ? 40 + times : 1;
}
C
$CC -g -O1 -o group group.c
for signal in 1 2 3 10 12 14 15 40; do
	rm -f ./*.neap
	# setsid makes a group of its own for the two
	says "signal $signal for the group comes once" 41 "" setsid -w "$NEAP" record -q -o g.neap -- ./group $signal
	truth "signal $signal for the group" --consistent --end exited:41 --expect 'func=main allocs=1 bytes=77' g.neap
done

# The recorder is killed: the program goes on, what was written can be read.
rm -f ./*.neap
"$NEAP" record -q -o k.neap -- "$walk" 100000 12 >out.killed 2>"$tmp/err" &
pid=$!
sleep 0.3
kill -s KILL $pid
wait $pid 2>/dev/null
for _ in $(seq 600); do
	[ -s out.killed ] && break
	sleep 0.1
done
"$walk" 100000 12 >want
if cmp -s want out.killed; then ok "recorder killed: the program goes on"; else bad "recorder killed: the program goes on"; fi
if "$NEAP" info k.neap >"$tmp/check" 2>&1; then ok "recorder killed: readable"; else bad "recorder killed: readable" "$(cat "$tmp/check")"; fi

finish
