#!/bin/bash
# One known program in odd surroundings: what it is called, where it runs, what became of its file, and
# what it was not given.  It must do as it does alone, and its profile must be whole; where it
# cannot be recorded, that is said.
#
# shellcheck disable=SC2016 # odd names, not expansions

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
CC=${CC:-gcc}
mkdir "$tmp/w"
cd "$tmp/w" || exit 1

known_build || exit 1
# last_image FILES: the profile of the image that ended with 7, of a process that replaced itself, in $file.
last_image() {
	for file in "$@"; do
		"$TRUTH" --end exited:7 "$file" >/dev/null 2>&1 && return
	done
}

# ---- names -----------------------------------------------------------------------------
for name in 'with space' "it's" 'quo"te' 'per%cent %n %p' 'ümlaut' $'new\nline' '-dash' '$HOME `x`' ':colon' 'back\slash'; do
	title="program called $(printf %q "$name")"
	mkdir "dir $name" && cp known "dir $name/$name"
	(cd "dir $name" && record --children=none -- "./$name" && echo "$status" >../status)
	equal "$title: exit status" 7 "$(cat status)"
	count=$(cd "dir $name" && find . -name '*.neap' -print0 | tr -dc '\0' | wc -c)
	equal "$title: one profile" 1 "$count"
	for file in "dir $name"/*.neap; do
		whole "$title" "$file"
		"$NEAP" report "$file" >"$tmp/report" 2>&1 || bad "$title: report" "$(head -3 "$tmp/report")"
	done
	rm -rf "dir $name" status
done
mkdir 'in a known dir' && record -o 'in a %n dir/%n.neap' -- ./known
equal "percent signs in the output's directory" 7 "$status"
whole "percent signs in the output's directory" "in a known dir/known.neap"
rm -rf 'in a known dir'

# The collector's own path has characters that LD_PRELOAD cannot hold.
mkdir 'col lec:tor $LIB'
cp "$builddir_abs/collector/.libs/libneap-collector.so" 'col lec:tor $LIB/c.so'
NEAP_COLLECTOR="$PWD/col lec:tor \$LIB/c.so" record -o odd.neap -- ./known
equal "collector at an odd path: exit status" 7 "$status"
whole "collector at an odd path" odd.neap
mkdir 'tmp dir %s'
TMPDIR="$PWD/tmp dir %s" XDG_RUNTIME_DIR='' record -o odd2.neap -- ./known
equal "temporary directory at an odd path: exit status" 7 "$status"
whole "temporary directory at an odd path" odd2.neap
equal "nothing is left in the temporary directory" "" "$(ls 'tmp dir %s')"
rm -f ./*.neap

# ---- places ----------------------------------------------------------------------------
mkdir gone
record -o gone.neap -- sh -c "cd gone; rmdir '$PWD/gone'; exec '$PWD/known'"
equal "removed working directory: exit status" 7 "$status"
last_image gone*.neap
whole "removed working directory" "$file"
rm -f ./*.neap

mkdir root
record -o root.neap -- ./known chroot root
if [ "$status" = 77 ]; then
	skip "chroot is not allowed here"
else
	equal "chroot: exit status" 7 "$status"
	equal "chroot: nothing printed" "" "$(cat "$tmp/out" "$tmp/err")"
	whole chroot root.neap
fi
rm -f ./*.neap

# ---- files -----------------------------------------------------------------------------
cp known known.copy
record -o deleted.neap -- ./known.copy delete
equal "deleted program: exit status" 7 "$status"
whole "deleted program" deleted.neap
cp known known.copy
printf 'int main(void) { return 1; }\n' >other.c && $CC -o other other.c
record -o replaced.neap -- ./known.copy replace
equal "replaced program: exit status" 7 "$status"
whole "replaced program" replaced.neap
for how in upgrade move; do
	rm -f known.copy && cp known known.copy && cp known other
	record -o $how.neap -- ./known.copy $how
	equal "$how of a running program: exit status" 7 "$status"
	whole "$how of a running program" $how.neap
done
record -o memfd.neap -- ./known memfd
equal "program in memory: exit status" 7 "$status"
files=(memfd*.neap)
equal "program in memory: two images" 2 "${#files[@]}"
last_image "${files[@]}"
whole "program in memory" "$file"
$CC -g -O2 -w -no-pie -o nopie known.c
record -o nopie.neap -- ./nopie
equal "not position independent: exit status" 7 "$status"
whole "not position independent" nopie.neap
# A library that is gone, or another, before anybody asks for its names; and one linked for an address of its own.
cat >gone.c <<'C'
#include <stdlib.h>
static void *kept[50];
void in_gone(void)
{
	for (int i = 0; i < 50; i++) {
		void *p = malloc(503);
		__asm__ volatile("" : "+r"(p) : : "memory");
		if (i % 2)
			free(p);
		else
			kept[i] = p;
	}
}
C
cat >user.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *library = dlopen("./libgone.so", RTLD_NOW);
	void (*in_gone)(void) = library ? (void (*)(void))dlsym(library, "in_gone") : NULL;
	if (!strcmp(argv[1], "delete"))
		unlink("libgone.so");
	if (!strcmp(argv[1], "replace"))
		rename("another.so", "libgone.so");
	in_gone();
	usleep(300000);
	return 7;
}
C
$CC -g -O2 -w -o user user.c -ldl && $CC -g -O2 -w -fPIC -shared -o known.so gone.c || exit 1
echo 'int another(int x) { return 3 * x; }' >another.c && $CC -fPIC -shared -o another.so another.c
for fate in keep delete replace; do
	cp known.so libgone.so
	record -o gone.neap -- ./user $fate
	equal "library, $fate: exit status" 7 "$status"
	if [ $fate = keep ] || opens_mapped; then
		truth "library, $fate" --undropped --consistent --expect 'func=in_gone allocs=50 bytes=25150 live_blocks=25 live_bytes=12575' gone.neap
	else
		equal "library, $fate: said" 1 "$(grep -c 'no names for the code of .*libgone' "$tmp/err")"
	fi
	rm -f gone.neap
done
# Who may not open mapped files still gets the right build id, is told once, and can add the names later.
as_nobody=()
[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid=65534 --clear-groups)
chmod 755 "$tmp" && mkdir open kept && chmod 777 open
$CC -g -O2 -w -fPIC -shared -Wl,--build-id -o known.so gone.c && cp known.so kept/libgone.so
$CC -w -fPIC -shared -Wl,--build-id -o another.so another.c
if (cd open && "${as_nobody[@]}" test -x "$NEAP" -a -x ../user -a -w .) 2>/dev/null; then
	for fate in delete replace; do
		rm -f open/*
		cp known.so open/libgone.so && cp another.so open/another.so && chmod 666 open/*
		got=0
		(cd open && HOME=/nonexistent "${as_nobody[@]}" timeout -k 1 20 "$NEAP" record -q -o gone.neap -- ../user $fate) \
			>"$tmp/out" 2>"$tmp/err" || got=$?
		equal "library, $fate, without rights: exit status" 7 "$got"
		equal "library, $fate, without rights: said once" 1 "$(grep -c 'libgone' "$tmp/err")"
		id=$(readelf -n known.so | sed -n 's/.*Build ID: //p')
		equal "library, $fate, without rights: build id" 1 \
			"$("$NEAP" info --missing-symbols open/gone.neap | grep -c "build id $id")"
		"$NEAP" symbolize --debug-dir "$PWD/kept" open/gone.neap >"$tmp/out" 2>&1
		truth "library, $fate, without rights: names added" --undropped --consistent \
			--expect 'func=in_gone allocs=50 bytes=25150 live_blocks=25 live_bytes=12575' open/gone.neap
	done
else
	skip "neap cannot be run by another user here"
fi
rm -rf open kept
$CC -g -O2 -w -fPIC -shared -Wl,-Ttext-segment=0x42000000 -o libgone.so gone.c
record -o placed.neap -- ./user keep
truth "library linked for an address of its own" --undropped --consistent \
	--expect 'func=in_gone allocs=50 bytes=25150 live_blocks=25 live_bytes=12575' placed.neap
loader=$(sed -n 's/.*interpreter: \(.*\)]$/\1/p' <<<"$(readelf -l known)")
record -o loader.neap -- "$loader" ./known
equal "started by the loader: exit status" 7 "$status"
equal "started by the loader: nothing is said" "" "$(cat "$tmp/err")"
whole "started by the loader" loader.neap
cp known stripped && strip stripped
record -o stripped.neap -- ./stripped
equal "without symbols: exit status" 7 "$status"
truth "without symbols" --undropped --consistent --end exited:7 \
	--expect 'func=[total] allocs=100 bytes=100900 live_blocks=25 live_bytes=25225' stripped.neap
rm -f ./*.neap

# ---- what it was not given ---------------------------------------------------------------
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
	got=0
	bash -c "exec \"\$0\" record -q -o closed.neap -- ./known $closed" "$NEAP" || got=$?
	equal "closed $closed: exit status" 7 "$got"
	whole "closed $closed" closed.neap
	"$NEAP" info --check closed.neap >"$tmp/check" 2>&1 || bad "closed $closed: info --check" "$(head -3 "$tmp/check")"
	rm -f ./*.neap
done
got=0
bash -c 'exec "$0" record -q -o stdio.neap -- ./known stdio <&- >&- 2>&-' "$NEAP" || got=$?
equal "closed descriptors stay closed for the program" 0 "$got"
record -o env.neap -- env -i ./known
equal "cleared environment: exit status" 7 "$status"
equal "cleared environment is said" 1 "$(grep -c "known' was not seen" "$tmp/err")"
rm -f ./*.neap

# Signals that are ignored or blocked reach the program like this; neap still learns how it ended.
cat >deaf.c <<'C'
#include <signal.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 1; i < 65; i++)
		signal(i, SIG_IGN);
	execvp(argv[1], argv + 1);
	return 126;
}
C
$CC -O2 -w -o deaf deaf.c
got=0
timeout -k 1 20 ./deaf "$NEAP" record -q -o deaf.neap -- ./known >"$tmp/out" 2>"$tmp/err" || got=$?
equal "all signals ignored: exit status" 7 "$got"
whole "all signals ignored" deaf.neap
./deaf grep '^Sig[BIC]' /proc/self/status >deaf.want
timeout -k 1 20 ./deaf "$NEAP" record -q -o deaf2.neap -- grep '^Sig[BIC]' /proc/self/status >deaf.got
equal "all signals ignored: by the program as well" "$(cat deaf.want)" "$(cat deaf.got)"
rm -f ./*.neap
got=0
(ulimit -s 64 && timeout -k 1 20 "$NEAP" record -q -o stack.neap -- ./known >"$tmp/out" 2>"$tmp/err") || got=$?
equal "little stack (ulimit -s): exit status" 7 "$got"
whole "little stack (ulimit -s)" stack.neap
rm -f ./*.neap

# The loader needs one descriptor at a time, the collector two.
record -o few.neap -- bash -c 'ulimit -n 4; exec ./known'
equal "one descriptor left: exit status" 7 "$status"
equal "one descriptor left: said" 1 "$(grep -c "('known') is not recorded: it had no descriptor left" "$tmp/err")"
rm -f ./*.neap
# Children too, whoever starts them, if they live for a moment; those that can be recorded are.
cat >starter.c <<'C'
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
extern char **environ;
static char *path;
static void *start(void *env)
{
	char *argv[] = {path, "wait", NULL};
	pid_t pid;
	free(malloc(30));
	if (!posix_spawn(&pid, path, NULL, NULL, argv, env))
		waitpid(pid, NULL, 0);
	return NULL;
}
int main(int argc, char **argv)
{
	char *none[] = {NULL};
	pthread_t t;
	path = argv[2];
	pthread_create(&t, NULL, start, *argv[1] == '0' ? none : environ);
	pthread_join(t, NULL);
	return 6;
}
C
$CC -O2 -w -pthread -o starter starter.c
record -o kids.neap -- ./starter 0 ./known
equal "child with cleared environment: exit status" 6 "$status"
equal "child with cleared environment: said" 1 \
	"$(grep -c "^neap: process [0-9]* is not recorded: '$PWD/known' was started without LD_PRELOAD and NEAP_SOCKET" "$tmp/err")"
record -o kids.neap -- bash -c 'env -i ./known wait; exit 6'
equal "child that replaced itself: said" 1 "$(grep -c "is not recorded: '$PWD/known' was started without" "$tmp/err")"
# 32-bit programs need no 32-bit libc to be one.
cat >small32.c <<'C'
void _start(void)
{
	struct { long s, ns; } nap = {0, 600000000};
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(162), "b"(&nap), "c"(0) : "memory");
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}
C
if $CC -m32 -O1 -w -nostdlib -static -fno-pie -no-pie -fno-stack-protector -o small32 small32.c 2>/dev/null &&
	./small32 2>/dev/null; then
	record -o kids.neap -- ./starter 1 ./small32
	equal "32-bit child: exit status" 6 "$status"
	equal "32-bit child: said" 1 "$(grep -c "is not recorded: '$PWD/small32' is static, or of a kind that ignores preloading" "$tmp/err")"
	record -o kids.neap -- ./small32
	equal "32-bit program: said" 1 "$(grep -c "'./small32' is a 32-bit program" "$tmp/err")"
	record -o kids32.neap -- bash -c "exec '$PWD/small32'"
	equal "became a 32-bit program: exit status" 0 "$status"
	equal "became a 32-bit program: said" 1 "$(grep -c "small32' was not seen by the collector" "$tmp/err")"
else
	skip "no 32-bit programs here"
fi
if $CC -static -O2 -w -o static known.c 2>/dev/null; then
	record -o kids.neap -- ./starter 1 ./static
	equal "static child: said" 1 "$(grep -c "is not recorded: '$PWD/static' is static" "$tmp/err")"
fi
rm -f ./*.neap
record -o kids.neap -- ./starter 1 ./known
equal "child like any other: nothing is said" "" "$(cat "$tmp/err")"
rm -f ./*.neap

# ---- other allocators ----------------------------------------------------------------------
# Blocks of 8 bytes and less lie 8 bytes apart there, and the operators are the library's own.
for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
	path=$(ldconfig -p 2>/dev/null | sed -n "s,.*$library .*=> ,,p" | head -1)
	if [ -z "$path" ]; then
		skip "$library is not installed"
		continue
	fi
	LD_PRELOAD=$path record -o small.neap -- "$targets/50-edge-sizes"
	if [ "$status" != 77 ]; then
		equal "$library: exit status" 0 "$status"
		truth "$library" --undropped --consistent --end exited:0 \
			--expect 'func=zero_sizes allocs=30 bytes=0 live_blocks=10 live_bytes=0' \
			--expect 'func=failing allocs=10 bytes=6070 live_blocks=10 live_bytes=6070' small.neap
	fi
	rm -f ./*.neap
	# What the library maps for its blocks is not counted besides them.
	LD_PRELOAD=$path record --mmap -o mapped.neap -- ./known
	truth "$library, --mmap" --undropped --consistent --expect "$known" mapped.neap
	equal "$library, --mmap: nothing is counted twice" 1 \
		"$("$NEAP" query mapped.neap 'allocated api=mmap' | grep -c 'nothing matches')"
	rm -f ./*.neap
	# mimalloc ends a program that asks for too much by new without nothrow.
	[ -x "$targets/70-operators" ] || continue
	(LD_PRELOAD=$path "$targets/70-operators" >/dev/null 2>&1 || exit 1) 2>/dev/null || continue
	LD_PRELOAD=$path record -o operators.neap -- "$targets/70-operators"
	equal "$library, operators: exit status" 0 "$status"
	truth "$library, operators" --undropped --consistent --end exited:0 \
		--expect 'func=plain allocs=40 bytes=6840 live_blocks=0 live_bytes=0' \
		--expect 'func=aligned allocs=40 bytes=7640 live_blocks=0 live_bytes=0' \
		--expect 'func=kept_forms allocs=4 bytes=812 live_blocks=4 live_bytes=812' operators.neap
	rm -f ./*.neap
done

# libc's own checks of blocks, and the trace it writes of them.
debug=$(ldconfig -p 2>/dev/null | sed -n 's,.*libc_malloc_debug.so.0 .*=> ,,p' | head -1)
if [ -n "$debug" ]; then
	cat >traced.c <<'C'
#include <mcheck.h>
#include <stdlib.h>
static void *kept[100];
__attribute__((noinline, noclone)) void in_known(void)
{
	for (int i = 0; i < 100; i++) {
		void *volatile p = malloc(1009);
		if (i % 4)
			free(p);
		else
			kept[i] = p;
	}
	__asm__ volatile("" : : "r"(kept) : "memory");
}
int main(void)
{
	mtrace();
	in_known();
	muntrace();
	return 7;
}
C
	$CC -g -O2 -w -o traced traced.c
	# Only the program gets it: neap forks while its threads are inside malloc, which this one does not allow.
	behind='LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$0 exec "$@"'
	MALLOC_TRACE=$PWD/trace.alone bash -c "$behind" "$debug" ./traced
	MALLOC_TRACE=$PWD/trace.recorded record -o traced.neap -- bash -c "$behind" "$debug" ./traced
	equal "mtrace: exit status" 7 "$status"
	last_image traced*.neap
	truth mtrace --undropped --consistent --end exited:7 --expect "$known" "$file"
	for what in + -; do
		equal "mtrace: lines with $what" "$(grep -c " $what 0x" trace.alone)" "$(grep -c " $what 0x" trace.recorded)"
	done
	# A byte too many is found as ever.
	printf '#include <stdlib.h>\nint main(void) { char *volatile p = malloc(24); p[24] = 1; free(p); return 0; }\n' >over.c
	$CC -O0 -w -o over over.c
	export GLIBC_TUNABLES=glibc.malloc.check=3
	got=0
	bash -c "$behind" "$debug" ./over 2>/dev/null || got=$?
	record -o over.neap -- bash -c "$behind" "$debug" ./over
	equal "a byte too many: exit status" 134 "$got"
	equal "a byte too many, recorded: exit status" 134 "$status"
	unset GLIBC_TUNABLES
	rm -f ./*.neap
else
	skip "libc_malloc_debug.so.0 is not installed"
fi

# The loader is the program, and has another name for what it starts.
loader=$(readelf -lW known | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
record -o loaded.neap -- "$loader" ./known
whole "started by the loader" loaded.neap
record -o renamed.neap -- "$loader" --argv0 another ./known
whole "started by the loader under another name" renamed.neap
equal "started by the loader: nothing is said" "" "$(cat "$tmp/err")"
rm -f ./*.neap

# A recorder that was stopped keeps nobody waiting for long: it took 5 s for each of the four once.
record --wait-all -o stopped.%n.%p.neap -- bash -c '
	kill -STOP $PPID
	before=$SECONDS
	for i in 1 2; do bash -c "exit 3"; ./known; done
	echo $((SECONDS - before < 12))
	kill -CONT $PPID'
equal "a stopped recorder: exit status" 0 "$status"
equal "a stopped recorder: nobody waits for long" 1 "$(cat "$tmp/out")"
rm -f ./*.neap

# ---- watched by others as well ----------------------------------------------------------------------
# A debugger or a tracer, and programs that start others, change nothing in what they start.
for watcher in 'gdb -batch -ex run -ex quit --args' 'strace -f -o trace' 'timeout 50' 'setsid -w' 'setarch -R' 'stdbuf -o0'; do
	command -v "${watcher%% *}" >/dev/null || {
		skip "${watcher%% *} is not installed"
		continue
	}
	rm -f watched.*
	# shellcheck disable=SC2086 # words
	record --wait-all -o watched.%n.neap -- $watcher ./known
	got=0
	for file in watched.*known*.neap; do
		"$TRUTH" --undropped --consistent --expect "$known" "$file" >/dev/null && got=$((got + 1))
	done
	# What replaces its starter is another image of the same process, or a file of its own.
	[ $got -gt 0 ] || for file in watched.*.neap; do
		"$TRUTH" --undropped --consistent --expect "$known" "$file" >/dev/null && got=$((got + 1))
	done
	equal "started by ${watcher%% *}: recorded once" 1 $got
done
rm -f ./*.neap

# ---- memory that is not the heap's -------------------------------------------------------------
cat >mapping.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	char *p = mmap(NULL, 100 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(p, 1, 100 << 20);
	for (int i = 0; i < 20; i++) {
		void *volatile q = malloc(101);
		usleep(20000);
	}
	return 0;
}
C
$CC -O2 -w -o mapping mapping.c
"$NEAP" record -o mapping.neap -- ./mapping 2>"$tmp/err"
equal "memory past the heap is said" 1 "$(grep -c 'MiB more than its heap: mapped directly' "$tmp/err")"
"$NEAP" record --mmap -o mapped.neap -- ./mapping 2>"$tmp/err"
equal "memory past the heap is counted when asked for" 0 "$(grep -c 'more than its heap' "$tmp/err")"
truth "memory past the heap" --undropped --consistent \
	--expect 'func=main allocs=21 bytes=104859620 live_blocks=21 live_bytes=104859620' mapped.neap
rm -f ./*.neap

# ---- set-user-id -----------------------------------------------------------------------------
cp known su
if chown 65534 su 2>/dev/null && chmod u+s su; then
	record -o su.neap -- ./su
	equal "set-user-id program: exit status" 2 "$status"
	equal "set-user-id program: said" 1 "$(grep -c 'set-user-id' "$tmp/err")"
else
	skip "no right to make a set-user-id program"
fi

# ---- a group whose memory runs out ------------------------------------------------------------
# The kernel kills it in the middle of whatever it does; its profile has to be whole, and the counts in it.
cat >eater.c <<'C'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 100000; i++) {
		volatile char *p = malloc(1009 + i % 50 * 4096);
		if (!p)
			return 3;
		for (int at = 0; at < i % 50 * 4096 + 1009; at += 1000)
			p[at] = 1;
	}
	return 0;
}
C
$CC -O1 -g -w -o eater eater.c
group=
for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	[ -e "$root/cgroup.procs" ] && mkdir "$root/neap-test-$$" 2>/dev/null || continue
	group=$root/neap-test-$$
	for limit in memory.limit_in_bytes memory.max; do
		[ -e "$group/$limit" ] && echo 67108864 >"$group/$limit" 2>/dev/null && break 2
	done
	rmdir "$group"
	group=
done
if [ -n "$group" ]; then
	in_group='echo $$ >"$0/cgroup.procs" && exec ./eater'
	for swap in memory.memsw.limit_in_bytes memory.swap.max; do
		[ ! -e "$group/$swap" ] || echo 67108864 >"$group/$swap" 2>/dev/null
	done
	got=0
	bash -c "$in_group" "$group" 2>/dev/null || got=$?
	record -o eater.neap -- bash -c "$in_group" "$group"
	equal "memory of the group runs out: exit status" "$got" "$status"
	for file in eater*.neap; do
		"$NEAP" info --check "$file" >"$tmp/check" 2>&1 || bad "memory of the group runs out: info --check" "$(head -3 "$tmp/check")"
		"$TRUTH" --end signaled:9 "$file" >/dev/null && break
	done
	truth "memory of the group runs out" --undropped --consistent --end signaled:9 "$file"
	live=$("$TRUTH" --totals "$file" | sed -n 's/.* leaked_bytes=\([0-9]*\).*/\1/p')
	if [ "${live:-0}" -gt 40000000 ] && [ "$live" -lt 80000000 ]; then
		ok "memory of the group runs out: what it had"
	else
		bad "memory of the group runs out: what it had" "$live bytes"
	fi
	rm -f eater*.neap
	rmdir "$group"
else
	skip "no right to make a group with a limit on memory"
fi

# ---- the output ----------------------------------------------------------------------------
mkdir out
"$NEAP" record -q -o out/o.neap -- ./known wait >/dev/null 2>"$tmp/err" &
pid=$!
sleep 0.7
rm -rf out
got=0
wait $pid || got=$?
equal "output directory deleted: exit status" 7 "$got"
equal "output directory deleted: said once" 1 "$(grep -c 'deleted while it was being written' "$tmp/err")"
finish
