#!/usr/bin/env bash
# neap symbolize: names that come later, from elsewhere, from a server; names that stay; what is
# said when there are none.  Programs are built here and stripped.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CC=${CC:-cc}
for tool in objcopy strip perl; do
	if ! command -v $tool >/dev/null 2>&1; then
		echo "SKIP: $tool is not here"
		exit 77
	fi
done
unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
cd "$tmp" || exit 1

cat >prog.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void *hold(size_t n)
{
	return malloc(n);
}
int main(int argc, char **argv)
{
	void *volatile kept[2] = {hold(100000), 0};
	if (argc > 1) {
		void *lib = dlopen(argv[1], RTLD_NOW);
		void *(*get)(size_t) = (void *(*)(size_t))dlsym(lib, "library_get");
		unlink(argv[1]);
		int is_parent = fork() != 0;
		kept[1] = get(5000);
		if (is_parent)
			wait(NULL);
	}
	return kept[0] == kept[1];
}
C
cat >lib.c <<'C'
#include <stdlib.h>
static void *hidden_get(size_t n)
{
	return malloc(n);
}
void *library_get(size_t n)
{
	char *p = hidden_get(n);
	*p = 1;
	return p;
}
C
# -DOTHER makes another build id
build() { # OUT [FLAGS...]
	local out=$1
	shift
	$CC -g -O1 -Wl,--build-id "$@" -o "$out" prog.c -ldl
}
build full && build other -DOTHER=1 -O2 || { echo "SKIP: $CC does not build"; exit 77; }
objcopy --only-keep-debug full prog.debug && cp full prog && strip prog
build_id=$(readelf -n full | sed -n 's/.*Build ID: //p')

# names FILE: functions of all call paths
names() {
	"$NEAP" query "$1" 'allocated | by func | select count | as tsv' 2>/dev/null | cut -f1
}
has_name() { # WHAT FILE NAME
	if names "$2" | grep -qx "$3"; then ok "$1"; else bad "$1" "no $3 in: $(names "$2" | tr '\n' ' ')"; fi
}
has_text() { # WHAT FILE PATTERN
	if grep -q -- "$3" "$2"; then ok "$1"; else bad "$1" "no '$3' in: $(head -c 600 "$2")"; fi
}
symbolize() { # ARGS...: status in $status, output in out and err
	status=0
	timeout -k 5 60 "$NEAP" symbolize "$@" >out 2>err || status=$?
}
digest() { # FILE
	cksum <"$1"
}

record -o bare.neap -- ./prog
equal "a stripped program is recorded" 0 "$status"

# ---- what is missing
"$NEAP" info --missing-symbols bare.neap >out 2>err
has_text "the module without names is listed" out "$tmp/prog\$"
has_text "with its build id" out "$build_id"
has_text "and what to do" out "neap symbolize --debug-dir"
"$NEAP" report bare.neap >out 2>err
equal "the report warns once of the module" 1 "$(grep -c '! prog: .* without a name' out)"
equal "its frames are module and offset" 1 "$(names bare.neap | grep -c '^prog+0x[0-9a-f]*$' | sed 's/[1-9][0-9]*/1/')"

# ---- from a folder, again, and when everything is gone
mkdir flat byid root
cp prog.debug flat/
mkdir -p "byid/.build-id/${build_id:0:2}" "root$tmp"
cp prog.debug "byid/.build-id/${build_id:0:2}/${build_id:2}.debug"
cp full "root$tmp/prog"
for dir in flat byid root; do
	cp bare.neap p.neap
	symbolize --debug-dir $dir p.neap
	equal "names come from $dir" 0 "$status"
	has_name "the function has its name ($dir)" p.neap hold
	first=$(digest p.neap)
	symbolize --debug-dir $dir p.neap
	equal "twice gives the same bytes ($dir)" "$first" "$(digest p.neap)"
done
"$NEAP" query p.neap 'allocated leaf.func=hold | by file,line | as tsv' >out 2>err
has_text "with its line" out "prog.c	7	"
"$NEAP" info --check p.neap >out 2>err
equal "the file is whole" 0 $?
mv prog gone
symbolize p.neap
has_name "names stay when the program is gone" p.neap hold
equal "and the bytes" "$first" "$(digest p.neap)"
"$NEAP" info --missing-symbols p.neap >out 2>err
equal "nothing is missing of it" 0 "$(grep -c "$tmp/prog" out)"

# ---- a file with another build id, at the same path and in the folders
cp other prog
cp bare.neap p.neap
mkdir wrong
cp other wrong/prog
symbolize --debug-dir wrong p.neap
equal "another build is not used" 0 "$(names p.neap | grep -c '^hold$')"
has_text "and why is said" err "build id $build_id ran"
equal "nothing was written" "$(digest bare.neap)" "$(digest p.neap)"
symbolize --debug-dir wrong --debug-dir flat p.neap
has_name "the right one behind it is" p.neap hold
mv gone prog

# ---- where the result goes
before=$(digest bare.neap)
symbolize --debug-dir flat -o new.neap bare.neap
has_name "the result goes to -o" new.neap hold
equal "and the profile stays as it is" "$before" "$(digest bare.neap)"
symbolize -o copy.neap new.neap
equal "nothing new gives a copy" "$(digest new.neap)" "$(digest copy.neap)"
ln -s p.neap link.neap
cp bare.neap p.neap && chmod 640 p.neap
symbolize --debug-dir flat link.neap
equal "a link stays a link" p.neap "$(readlink link.neap)"
equal "the mode stays" 640 "$(stat -c %a p.neap)"
has_name "and its file has the names" p.neap hold

# ---- files that are not whole, or not finished
size=$(stat -c %s bare.neap)
head -c $((size - 40)) bare.neap >cut.neap
symbolize --debug-dir flat cut.neap
equal "a cut profile gets names" 0 "$status"
has_name "and they can be read" cut.neap hold
cp bare.neap p.neap
exec 9>>p.neap
symbolize --debug-dir flat p.neap
exec 9>&-
equal "a profile that is being written is left alone" 1 "$status"
has_text "and that is said" err "still being written"
equal "to the byte" "$(digest bare.neap)" "$(digest p.neap)"
if [ "$(id -u)" != 0 ]; then
	mkdir shut && cp bare.neap shut/p.neap && chmod 555 shut
	symbolize --debug-dir flat shut/p.neap
	equal "a folder that cannot be written fails" 1 "$status"
	equal "and the profile stays" "$(digest bare.neap)" "$(digest shut/p.neap)"
	chmod 755 shut
fi

# ---- usage
symbolize --debug-dir nowhere bare.neap
equal "a folder that is not there is wrong usage" 2 "$status"
symbolize a.neap b.neap
equal "two files are wrong usage" 2 "$status"
symbolize nothing.neap
equal "no such file is status 3" 3 "$status"
symbolize prog.c
equal "what is no profile is status 3" 3 "$status"
symbolize --debuginfod bare.neap
equal "no server named is a failure" 1 "$status"
has_text "that says what to set" err DEBUGINFOD_URLS

# ---- the recorder says once which module it cannot name
$CC -g -O1 -shared -fPIC -Wl,--build-id -o lib.so lib.c
cp lib.so one.so && cp lib.so two.so
record -o 'late.%p.neap' -- sh -c './prog ./one.so; ./prog ./two.so'
equal "a library that is gone is said once for all processes" 1 "$(grep -c 'no names for the code of .*one.so' err)"
equal "and so is the other" 1 "$(grep -c 'no names for the code of .*two.so' err)"
equal "how to supply names is said once" 1 "$(grep -c 'neap symbolize FILE' err)"
# shellcheck disable=SC2012 # our own names
late=$(ls late.*.neap | while read -r f; do names "$f" | grep -q 'one.so+0x' && echo "$f"; done | head -n 1)
mkdir libs && cp lib.so libs/one.so
symbolize --debug-dir libs "$late"
has_name "it is named by its copy" "$late" hidden_get

# ---- code that the program made itself, named by the file for perf
cat >made.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	/* push rbp; mov rbp,rsp; mov rax,imm64; call rax; pop rbp; ret */
	unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};
	void *(*get)(size_t) = malloc;
	memcpy(code + 6, &get, 8);
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(page, code, sizeof code);
	char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");
	fprintf(map, "%jx 1000 code that was there before\nno line\n", (uintmax_t)(uintptr_t)page);
	fprintf(map, "%jx %zx js:~made a.js:1\n", (uintmax_t)(uintptr_t)page, sizeof code);
	fclose(map);
	void *volatile p = ((void *(*)(size_t))page)(700);
	return p == NULL;
}
C
if [ "$(uname -m)" = x86_64 ] && $CC -g -O1 -fno-omit-frame-pointer -o made made.c; then
	record -o made.neap -- ./made
	equal "a program that makes code runs" 0 "$status"
	has_name "its code is named" made.neap 'js:~made a.js:1'
	equal "not by what was there before" 0 "$(names made.neap | grep -c before)"
	rm -f "/tmp/perf-$("$NEAP" info --json made.neap | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' | head -n 1).map"
fi

# ---- debuginfod: a small server that keeps a log
cat >server.pl <<'PERL'
use strict;
use warnings;
use IO::Socket::INET;
my ($root, $log, $port_file, $hangs) = @ARGV;
my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', ReuseAddr => 1) or die;
open my $p, '>', "$port_file.new" or die; print $p $s->sockport; close $p;
rename "$port_file.new", $port_file or die;
while (my $c = $s->accept) {
	my $line = <$c> // '';
	while (my $h = <$c>) { last if $h =~ /^\r?\n/ }
	open my $l, '>>', $log or die; print $l $line; close $l;
	sleep 600 if $hangs;
	my ($path) = $line =~ m{^GET (/\S+) };
	$path =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge if $path;
	my $in;
	if ($path && $path !~ /\.\./ && -f "$root$path" && open $in, '<:raw', "$root$path") {
		local $/; my $data = <$in>;
		print $c "HTTP/1.1 200 OK\r\nContent-Length: " . length($data) . "\r\nConnection: close\r\n\r\n", $data;
	} else {
		print $c "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	}
	close $c;
}
PERL
serve() { # NAME [HANGS]: URL in $url, process in $server
	: >"$1.log"
	perl server.pl "$tmp/www" "$1.log" "$1.port" "${2:-0}" &
	server=$!
	local i
	for ((i = 0; i < 100; i++)); do
		[ -s "$1.port" ] && break
		sleep 0.05
	done
	url=http://127.0.0.1:$(cat "$1.port")
}
mkdir -p "www/buildid/$build_id"
cp prog.debug "www/buildid/$build_id/debuginfo"
if ! DEBUGINFOD_URLS=http://127.0.0.1:9 "$NEAP" symbolize --debuginfod -o probe.neap bare.neap 2>&1 | grep -q 'libdebuginfod.so.1, which is not here'; then
	serve good
	export DEBUGINFOD_URLS=$url DEBUGINFOD_CACHE_PATH=$tmp/cache
	cp bare.neap p.neap
	symbolize p.neap
	record -o r.neap -- ./prog
	equal "nobody asks the server who was not told to" 0 "$(wc -l <good.log)"
	symbolize --debuginfod p.neap
	equal "a server is asked" 0 "$status"
	has_text "for the debug information of the build id" good.log "GET /buildid/$build_id/debuginfo "
	has_name "and gives names" p.neap hold
	mkdir -p "www/buildid/$build_id/source$tmp" && mv prog.c "www/buildid/$build_id/source$tmp/"
	"$NEAP" query p.neap 'allocated | source hold' >out 2>err
	has_text "a source that is not here comes from the server" out 'return malloc(n);'
	(unset DEBUGINFOD_URLS && "$NEAP" query p.neap 'allocated | source hold') >out 2>err
	has_text "unless none is named" out 'not found here'
	mv "www/buildid/$build_id/source$tmp/prog.c" .
	asked=$(grep -c "$build_id/debuginfo" good.log)
	cp bare.neap p.neap
	mv prog gone
	symbolize --debuginfod p.neap
	has_name "also without the program" p.neap hold
	equal "from the cache the second time" "$asked" "$(grep -c "$build_id/debuginfo" good.log)"
	mv gone prog
	kill $server
	wait $server 2>/dev/null

	serve hanging 1
	export DEBUGINFOD_URLS=$url DEBUGINFOD_CACHE_PATH=$tmp/cache2 DEBUGINFOD_TIMEOUT=1
	cp bare.neap p.neap
	symbolize --debuginfod p.neap
	equal "a server that hangs does not fail it" 0 "$status"
	has_text "but is said" err "debuginfod"
	equal "and is asked once" 1 "$(wc -l <hanging.log)"
	kill $server
	wait $server 2>/dev/null
else
	skip "debuginfod: libdebuginfod.so.1 is not here"
fi
finish
