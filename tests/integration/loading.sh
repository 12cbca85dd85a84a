#!/bin/bash
# How a program comes to run: what its loader does before it, what else is preloaded or watches, and which commands
# start it.  It must print and return what it does without neap, and its counts must be whole.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
CC=${CC:-gcc}
mkdir "$tmp/w"
cd "$tmp/w" || exit 1
known_build || exit 1

# same TITLE COMMAND...: the command prints and returns the same under neap.  Profiles are in p.
same() {
	local title=$1 want=0 got=0
	shift
	rm -rf p && mkdir p
	timeout -k 5 60 "$@" >want 2>&1 </dev/null || want=$?
	timeout -k 5 60 "$NEAP" record -q --wait-all -o p/%n.%p.neap -- "$@" >got 2>&1 </dev/null || got=$?
	equal "$title: exit status" "$want" "$got"
	cmp -s want got || bad "$title: the same output (- alone, + recorded)" "$(diff -U0 want got | tail -n +3 | head -10)"
}
# all_whole TITLE: every profile is whole, and one is that of known.
all_whole() {
	local hits=0 file
	for file in p/*.neap; do
		"$NEAP" info --check "$file" >check 2>&1 || bad "$1: info --check" "$(head -3 check)"
		"$TRUTH" --undropped --consistent --expect "$known" "$file" >/dev/null 2>&1 && hits=$((hits + 1))
	done
	equal "$1: profiles with the known heap" 1 $hits
}
# library NAME SOURCE-FILE OPTIONS...
library() {
	local name=$1 source=$2
	shift 2
	$CC -g -O2 -w -fPIC -shared -o "$name" "$source" "$@" || bad "$name can be built"
}

# ---- resolvers of indirect functions -----------------------------------------------------
# They run while the loader relocates: that of libchosen for liba, which comes before the collector; that of the
# program after it.
cat >chosen.c <<'C'
#include <stdlib.h>
#include <string.h>
static void *early[4];
static int answer(void)
{
	return 41;
}
static int (*choose(void))(void)
{
	early[0] = malloc(401);
	memset(early[0], 7, 401);
	early[0] = realloc(early[0], 9000);
	early[1] = calloc(3, 1009);
	early[2] = aligned_alloc(64, 640);
	early[3] = strdup("early");
	free(malloc(20));
	free(NULL);
	return answer;
}
int chosen(void) __attribute__((ifunc("choose")));
int give_back(void)
{
	char *grown = early[0], *zero = early[1];
	int wrong = grown[0] != 7 || grown[400] != 7 || zero[3026] || strcmp(early[3], "early") ||
		    (unsigned long)early[2] % 64;
	early[1] = realloc(early[1], 20000);
	for (int i = 0; i < 4; i++)
		free(early[i]);
	return wrong;
}
C
cat >a.c <<'C'
int chosen(void);
int (*volatile outside)(void) = chosen;
int through(void)
{
	return outside();
}
C
cat >indirect.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
int through(void), give_back(void);
static void *early;
static int own(void)
{
	return 1;
}
static int (*pick(void))(void)
{
	early = malloc(77);
	return own;
}
int mine(void) __attribute__((ifunc("pick")));
#define main known_main
#include "known.c"
#undef main
int main(int argc, char **argv)
{
	free(early);
	printf("%d %d %d\n", through(), mine(), give_back());
	fflush(stdout);
	return known_main(1, argv);
}
C
library libchosen.so chosen.c
library liba.so a.c -L. -lchosen "-Wl,-rpath,\$ORIGIN"
$CC -g -O2 -w -o indirect indirect.c -L. -la -lchosen "-Wl,-rpath,\$ORIGIN" || bad "indirect can be built"
for now in '' 1; do
	title="resolvers that allocate${now:+, bound at once}"
	LD_BIND_NOW=$now same "$title" ./indirect
	equal "$title: output" "41 1 0" "$(cat got)"
	truth "$title" --consistent --end exited:7 --expect "$known" p/indirect.*.neap
	equal "$title: said" 1 "$("$NEAP" info p/indirect.*.neap | grep -c '^Dropped:.* asked for before the collector was ready')"
done

# ---- audit libraries -----------------------------------------------------------------------
# One that is told of every binding; one that sees every call, which then goes through the loader.
cat >audit.c <<'C'
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>
static void *kept[1000];
static int count;
unsigned la_version(unsigned version)
{
	return LAV_CURRENT;
}
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	if (count < 1000)
		kept[count++] = strdup(map->l_name);
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
#ifdef CALLS
Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, La_x86_64_regs *regs,
				  unsigned *flags, const char *name, long *frame_bytes)
{
	*frame_bytes = 64;
	return symbol->st_value;
}
unsigned la_x86_64_gnu_pltexit(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, const La_x86_64_regs *in,
			       La_x86_64_retval *out, const char *name)
{
	return 0;
}
#else
uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
	free(malloc(20));
	return symbol->st_value;
}
#endif
C
library audit.so audit.c
library audit-calls.so audit.c -DCALLS
$CC -g -O2 -w -Wl,-z,lazy -o lazy known.c
for program in known lazy; do
	LD_AUDIT=$PWD/audit.so same "audited $program" ./$program
	whole "audited $program" p/$program.*.neap
	LD_AUDIT=$PWD/audit-calls.so same "$program, every call audited" ./$program
	# The loader's own frame may stand between in_known and malloc.
	truth "$program, every call audited" --undropped --consistent --end exited:7 \
		--inclusive 'func=in_known allocs=100 bytes=100900 live_blocks=25 live_bytes=25225' p/$program.*.neap
done

# ---- other preloads ---------------------------------------------------------------------------
# What libc has for debugging the heap is an allocator of its own.
malloc_debug=$(ldconfig -p | sed -n 's,.*libc_malloc_debug.so.0 .*x86-64.*=> ,,p' | head -1)
if [ -n "$malloc_debug" ]; then
	for setting in MALLOC_CHECK_=3 MALLOC_PERTURB_=85 MALLOC_TRACE=trace GLIBC_TUNABLES=glibc.malloc.check=3; do
		LD_PRELOAD=$malloc_debug record -o p.neap --force -- env "$setting" ./known
		equal "libc_malloc_debug, $setting: exit status" 7 "$status"
		last=$(find . -maxdepth 1 -name 'p*.neap' -exec "$TRUTH" --end exited:7 {} \; -print 2>/dev/null | grep '\.neap$')
		whole "libc_malloc_debug, $setting" "$last"
		rm -f p*.neap
	done
else
	skip "libc_malloc_debug.so.0 is not installed"
fi
for setting in glibc.malloc.hugetlb=1 glibc.malloc.hugetlb=2 glibc.malloc.tcache_count=0 glibc.malloc.arena_max=1 \
	glibc.malloc.mmap_threshold=256 glibc.malloc.perturb=7; do
	GLIBC_TUNABLES=$setting same "$setting" ./known
	whole "$setting" p/known.*.neap
done

# ---- what starts it ------------------------------------------------------------------------------
# started COMMAND...: ./known, started by it.
started() {
	if ! command -v "$1" >/dev/null || ! "$@" true >/dev/null 2>&1 </dev/null; then
		skip "$1 cannot start programs here"
		return
	fi
	same "$1" "$@" ./known
	all_whole "$*"
}
started setarch -R
started setarch -X
started nohup
started timeout 50
started env A=b
started nice
started setsid -w
started chrt -b 0
started stdbuf -o0
started unshare -p -f -r
started flock lock
started fakeroot
started eatmydata
started faketime '2001-02-03 04:05:06'
started strace -f -o /dev/null
started prlimit --nofile=20
started taskset 1
started ionice -c3
started perl -e 'exec(@ARGV)'
started python3 -c 'import os, sys; os.execvp(sys.argv[1], sys.argv[1:])'
started sudo -E -n --preserve-env=LD_PRELOAD
started runuser -u root --
started bash -c 'exec "$@"' bash
same "find" find . -maxdepth 0 -exec ./known \;
all_whole "find"
same "subshells and pipes" bash -c '(:; ./known; exit $?) | cat; : | (cat; ./known wait; echo $?) | (read -r n; exit $n)'
equal "subshells and pipes: profiles with the known heap" 2 \
	"$(for f in p/*.neap; do "$TRUTH" --undropped --consistent --expect "$known" "$f" >/dev/null 2>&1 && echo; done | wc -l)"
finish
