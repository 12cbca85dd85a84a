#!/bin/bash
# Clocks that go backwards, programs that are stopped, and programs that do nothing for long.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
CC=${CC:-gcc}
cd "$tmp" || exit 1

cat >idle.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")
static void *kept[100];
NI void before(void)
{
	for (int i = 0; i < 100; i++)
		KEEP(kept[i] = malloc(211));
}
NI void after(void)
{
	for (int i = 0; i < 50; i++) {
		void *p = malloc(307);
		KEEP(p);
		if (i % 2)
			free(p);
		free(kept[i]);
	}
}
int main(int argc, char **argv)
{
	before();
	if (!strcmp(argv[1], "stop"))
		raise(SIGSTOP);
	else
		usleep(1000 * (unsigned)atoi(argv[1]));
	after();
	return 5;
}
C
# The system's clock, set back by an hour whenever it is read.
cat >back.c <<'C'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long hours;
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int failed = (int)syscall(SYS_clock_gettime, clock, t);
	if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		t->tv_sec -= 3600 * __atomic_add_fetch(&hours, 1, __ATOMIC_RELAXED);
	return failed;
}
time_t time(time_t *out)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}
int gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec t;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	*tv = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
	return 0;
}
C
if ! $CC -g -O2 -w -o idle idle.c || ! $CC -O2 -w -fPIC -shared -o back.so back.c; then
	bad "the programs of this test can be built"
	finish
fi
known=(--undropped --consistent --end exited:5
	--expect 'func=before allocs=100 bytes=21100 live_blocks=50 live_bytes=10550'
	--expect 'func=after allocs=50 bytes=15350 live_blocks=25 live_bytes=7675')

# seconds FILE: how long it ran, and snapshots FILE, from neap info.
seconds() {
	"$NEAP" info "$1" | sed -n 's/^Duration: *\([0-9.]*\) s, .*/\1/p'
}
snapshots() {
	"$NEAP" info "$1" | sed -n 's/^Duration:.*, \([0-9,]*\) snapshots\{0,1\},.*/\1/p'
}
# within WHAT LOW GOT HIGH
within() {
	if awk "BEGIN { exit !($2 <= $3 && $3 <= $4) }" 2>/dev/null; then
		ok "$1"
	else
		bad "$1" "expected $2 to $4" "got      $3"
	fi
}

# ---- the clock goes back ------------------------------------------------------------
status=0
LD_PRELOAD=$PWD/back.so "$NEAP" record -q -o back.neap -- ./idle 1000 >out 2>err || status=$?
equal "clock set back: exit status" 5 "$status"
equal "clock set back: nothing is said" "" "$(cat err)"
truth "clock set back" "${known[@]}" --peak-total 21503..21503 back.neap
within "clock set back: duration" 1.0 "$(seconds back.neap)" 8
equal "clock set back: what came late is late" 50 \
	"$("$NEAP" query back.neap 'allocated in 0.9s..end func=after | by func' | awk '$NF == "after" { print $5 }')"
"$NEAP" info --check back.neap >check 2>&1 || bad "clock set back: info --check" "$(head -3 check)"

# ---- stopped ---------------------------------------------------------------------------
# ticks PID: processor time of a process so far, in hundredths of a second.
ticks() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}
"$NEAP" record -q -o stop.neap -- ./idle stop >out 2>err &
pid=$!
child=
for _ in $(seq 300); do
	child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
	if [ -n "$child" ] && grep -q '^State:.*T' "/proc/${child% }/status" 2>/dev/null; then break; fi
	sleep 0.05
done
used=$(ticks $pid)
sleep 1.5
within "stopped: the recorder rests" 0 $(($(ticks $pid) - used)) 10
kill -CONT "${child% }"
status=0
wait $pid || status=$?
equal "stopped: exit status" 5 "$status"
equal "stopped: nothing is said" "" "$(cat err)"
truth stopped "${known[@]}" stop.neap
within "stopped: duration" 1.5 "$(seconds stop.neap)" 40
within "stopped: snapshots" 2 "$(snapshots stop.neap)" 12

# ---- idle ---------------------------------------------------------------------------------
# As many intervals as in four minutes of 10 ms would be 24,000; here 3,000 of 1 ms.
"$NEAP" record -q --interval 1ms -o idle.neap -- ./idle 3000 >out 2>err &
pid=$!
sleep 1.5
used=$(ticks $pid)
sleep 1
within "idle: the recorder rests" 0 $(($(ticks $pid) - used)) 8
status=0
wait $pid || status=$?
equal "idle: exit status" 5 "$status"
truth idle "${known[@]}" idle.neap
within "idle: snapshots" 2 "$(snapshots idle.neap)" 12
finish
