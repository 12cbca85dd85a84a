#!/bin/bash
# Compares neap's totals with those of an independent counter, to the byte, on real
# programs: allocations, bytes, leaked blocks and bytes, exact peak, temporary blocks.
# Then runs long workloads and upstream test suites, which must answer the same when recorded.
#
#   real-programs.sh [all | NAME...]     without arguments a short selection;
#                                        suites are called suite_NAME
#
# Each program runs twice with the same environment and without address space
# randomisation: under neap, and under rawlog.so, which writes every event to a log
# that rawsum adds up.  Every process of a program is compared, not only the first.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/integration/real-suites.sh
. "$(dirname "$0")/real-suites.sh"
here=$builddir_abs/tests/integration
rawlog=$here/.libs/rawlog.so
[ -e "$rawlog" ] || rawlog=$here/rawlog.so
RECORD_SECONDS=120

names="libc ls xz jq cxx gcc suite_openmp suite_sqlite3"
case ${1:-} in
all) names="libc jq sqlite3 xz python3 perl git xsltproc gcc ls cxx suite_sqlite3 suite_perl suite_redis suite_nginx
	suite_postgres suite_git suite_node suite_ripgrep suite_imagemagick suite_ffmpeg suite_openmp suite_python3" ;;
?*) names="$*" ;;
esac

# Without setarch (or where a container forbids it) addresses differ between the runs.
fixed=()
if setarch -R true 2>/dev/null; then fixed=(setarch -R); fi

environment=(
	PATH=/usr/local/bin:/usr/bin:/bin "HOME=$tmp/home" LC_ALL=C TZ=UTC
	PYTHONMALLOC=malloc PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
	PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0
	GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
	GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
	"GIT_AUTHOR_DATE=2001-01-01T00:00:00Z" "GIT_COMMITTER_DATE=2001-01-01T00:00:00Z"
)
mkdir -p "$tmp/home" "$tmp/work"
cd "$tmp/work" || exit 1

# compare NAME PROGRAM ARGS...: with $preload as one more library.  With $table_bytes a process may have some more or
# fewer blocks of that size at its end: a table that a program makes for each region of addresses it is given
# memory in, which differ between the runs.
preload=-
table_bytes=0
same_but_tables() {
	paste -d ' ' "$tmp/want" "$tmp/got" | awk -v table="$table_bytes" '{
		n = split($0, word, /[ =]/)
		if (n != 36 || word[2] != word[20] || word[4] != word[22]) exit 1
		for (i = 6; i <= 18; i += 2) d[i] = word[i + 18] - word[i]
		# allocations, bytes, leaked blocks, leaked bytes, peak, temporary blocks, temporary bytes
		if (d[6] < -2 || d[6] > 2 || d[10] != d[6] || d[8] != d[6] * table || d[12] != d[8] || d[16] || d[18]) exit 1
		if (d[14] * d[14] > d[8] * d[8]) exit 1 }'
}
compare() {
	local name=$1 program
	shift
	if ! program=$(PATH=/usr/local/bin:/usr/bin:/bin command -v "$1"); then
		skip "$name: $1 is not installed"
		return
	fi
	shift
	rm -rf "$tmp/neap" "$tmp/raw"
	mkdir -p "$tmp/neap" "$tmp/raw"
	status=0
	rm -f in.o in.txt.xz # programs may act differently where their output exists
	"${fixed[@]}" env -i "${environment[@]}" NEAP_SOCKET="$tmp/raw" LD_PRELOAD="$rawlog" \
		"$here/same-env" "$preload" "$program" "$@" >"$tmp/out.raw" 2>"$tmp/err.raw" </dev/null || status=$?
	local raw_status=$status
	status=0
	rm -f in.o in.txt.xz
	"${fixed[@]}" env -i "${environment[@]}" timeout -k 5 "$RECORD_SECONDS" \
		"$NEAP" record -q --wait-all -o "$tmp/neap/%n.%p.neap" -- \
		"$here/same-env" "$preload" "$program" "$@" >"$tmp/out.neap" 2>"$tmp/err.neap" </dev/null || status=$?
	equal "$name: exit status" "$raw_status" "$status"
	if ! cmp -s "$tmp/out.raw" "$tmp/out.neap"; then bad "$name: the program's output is the same"; fi
	"$here/rawsum" "$tmp/raw"/*.raw >"$tmp/sum.raw"
	for f in "$tmp/neap"/*.neap; do "$TRUTH" --totals "$f"; done >"$tmp/sum.neap" 2>&1
	grep -v '^exe=same-env ' "$tmp/sum.raw" | sort >"$tmp/want"
	grep -v '^exe=same-env ' "$tmp/sum.neap" | sort >"$tmp/got"
	if [ -s "$tmp/want" ] && cmp -s "$tmp/want" "$tmp/got"; then
		ok "$name: $(wc -l <"$tmp/want") processes agree"
		[ "${VERBOSE:-0}" = 1 ] && sed 's/^/#   /' "$tmp/want"
	elif [ "$table_bytes" != 0 ] && same_but_tables; then
		ok "$name: $(wc -l <"$tmp/want") processes agree but for tables of addresses"
	else
		bad "$name: totals (- independent counter, + neap)" \
			"$(diff -U0 "$tmp/want" "$tmp/got" | tail -n +4)" "$(head -c 400 "$tmp/err.neap")"
	fi
}


real_jq() {
	awk 'BEGIN { print "["; for (i = 0; i < 5000; i++) printf "%s{\"id\":%d,\"name\":\"n%d\",\"tags\":[%d,\"t%d\"]}\n", i ? "," : "", i, i * 7919 % 10007, i % 13, i % 31; print "]" }' >in.json
	compare jq jq -c 'group_by(.tags[0]) | map({n: length, names: (map(.name) | join(","))})' in.json
}
real_sqlite3() {
	compare sqlite3 sqlite3 -batch :memory: "
		create table a(x integer primary key, y text);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
			insert into a select i, printf('%08d', i * 7919 % 10007) from n;
		select count(*), max(p.y || q.y) from a p join a q on p.x = q.x + 1 group by p.x % 100;"
}
real_xz() {
	awk 'BEGIN { for (i = 0; i < 60000; i++) print i * 7919 % 65537 }' >in.txt
	compare xz xz -6 -k -f -T1 in.txt
}
real_python3() {
	compare python3 /usr/bin/python3 -c '
import json, re, collections
data = [{"id": i, "name": "n%d" % (i * 7919 % 10007), "tags": [i % 13, str(i % 31)]} for i in range(3000)]
text = json.dumps(data)
back = json.loads(text)
words = collections.Counter(re.findall("[a-z]+[0-9]", text))
print(len(text), len(back), sorted(words.items())[:3])'
}
real_perl() {
	compare perl perl -e 'my %h; for my $i (1..20000) { push @{$h{"k" . ($i * 7919 % 1009)}}, "v$i" x ($i % 5); }
		my $s = join ",", map { "$_=" . scalar @{$h{$_}} } sort keys %h; $s =~ s/k(\d+)/<$1>/g; print length($s), "\n";'
}
real_git() {
	if ! command -v git >/dev/null; then
		skip "git: not installed"
		return
	fi
	env -i "${environment[@]}" sh -c '
		git init -q -b trunk repo && cd repo && i=0 &&
		while [ $i -lt 40 ]; do
			i=$((i + 1)); seq $((i * 3)) >file$((i % 5)).txt
			git add . && git commit -q -m "change $i" || exit 1
		done' || bad "git: the test repository can be made"
	cd repo || return
	compare git git --no-pager log --stat -p --format=fuller
	cd ..
}
real_xsltproc() {
	awk 'BEGIN { print "<list>"; for (i = 0; i < 3000; i++) printf "<item id=\"%d\"><name>n%d</name></item>\n", i, i * 7919 % 10007; print "</list>" }' >in.xml
	cat >style.xsl <<-'XSL'
		<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
		<xsl:output method="text"/>
		<xsl:template match="/list"><xsl:for-each select="item"><xsl:sort select="name"/>
		<xsl:value-of select="concat(@id, ':', name)"/><xsl:text> </xsl:text></xsl:for-each></xsl:template>
		</xsl:stylesheet>
	XSL
	preload=$here/fixed-time.so
	compare xsltproc xsltproc style.xsl in.xml
	preload=-
}
real_gcc() {
	cat >in.c <<-'C'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		static int by(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
		int main(int argc, char **argv) { qsort(argv, argc, sizeof *argv, by); for (int i = 0; i < argc; i++) puts(argv[i]); return 0; }
	C
	table_bytes=32768 # the garbage collector's, one for 4 GiB of addresses
	compare gcc gcc -O2 -g -c in.c -o in.o
	table_bytes=0
}
real_libc() {
	local word
	for word in $("$targets/84-libc-callers" words); do
		compare "libc, $word" "$targets/84-libc-callers" "$word"
	done
}
real_ls() { compare ls ls -lR /usr/include /usr/share/doc; }
real_cxx() {
	if [ ! -x "$here/words" ]; then
		skip "cxx: no C++ compiler when neap was built"
		return
	fi
	compare cxx "$here/words" 4000
}

for n in $names; do
	if ! declare -F "real_$n" >/dev/null; then
		echo "unknown program: $n"
		exit 2
	fi
	"real_$n"
done
finish
