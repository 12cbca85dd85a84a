#!/usr/bin/env bash
# Are our stacks those of libunwind?  Records programs with the collector of oracle.c.
#
#   bash SOURCE/tests/oracle/stacks.sh        from the build directory
#
# A stack that differs or ends early fails the test and is printed, both versions.
# Programs that are not installed are named and left out.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../integration/lib.sh"

export NEAP_COLLECTOR="$builddir_abs/tests/oracle/oracle.so"
export NEAP_ORACLE_OUT="$tmp/out"
failed=0 programs=0
cd "$tmp" || exit 1

# compare EVERY PROGRAM ARGS: unwind each EVERY-th stack twice.
compare() {
	local every=$1
	shift
	if ! command -v "$1" >/dev/null 2>&1; then
		echo "# not installed, not compared: $1"
		return
	fi
	: >"$NEAP_ORACLE_OUT"
	NEAP_ORACLE_EVERY=$every "$NEAP" record -q --force -o "$tmp/run.neap" -- "$@" \
		>/dev/null 2>"$tmp/stderr"
	programs=$((programs + 1))
	# One line from each process, in the form: compared N frames F different D shorter S
	local sums
	sums=$(awk '/^compared/ { n += $2; f += $4; d += $6 + $8 } END { print n + 0, f + 0, d + 0 }' \
		"$NEAP_ORACLE_OUT")
	read -r stacks frames wrong <<<"$sums"
	if [ "$stacks" -eq 0 ]; then
		echo "FAIL: nothing was compared: $*"
		cat "$tmp/stderr"
		failed=1
	elif [ "$wrong" -ne 0 ]; then
		echo "FAIL: $wrong of $stacks stacks differ: $*"
		grep -v '^compared' "$NEAP_ORACLE_OUT"
		failed=1
	else
		echo "# $stacks stacks, $frames frames, none differs: $(basename "$1")"
	fi
}

for t in 01-realloc-chain 05-exceptions 17-early-late 33-libc-allocators 53-same-frames 96-other-stack; do
	[ -x "$targets/$t" ] && compare 1 "$targets/$t"
done
[ -x "$targets/10-many-threads" ] && compare 1 "$targets/10-many-threads"
cd "$targets" && [ -x ./18-dlopen-dlclose ] && compare 1 ./18-dlopen-dlclose
cd "$tmp" || exit 1
# shellcheck disable=SC2016 # a program of perl
compare 7 perl -e 'my %h; $h{$_} = sprintf("%d", $_ * 3) for 1 .. 20000; print join(",", sort keys %h);'
compare 20 sqlite3 :memory: "create table a(x, y);
	with recursive c(i) as (select 1 union all select i + 1 from c where i < 20000)
	insert into a select i, i % 100 || 'abc' from c;
	select count(*), sum(length(y)) from a group by x % 7 order by 2;"
PYTHONMALLOC=malloc compare 50 python3 -c 'import json; json.loads(json.dumps([{"a": i} for i in range(20000)]))'
echo 'int f(int a) { return a * 3; }' >f.c
compare 50 gcc -O2 -c -o f.o f.c
compare 1 git diff --no-index --stat "$srcdir_abs/collector/stack.c" "$srcdir_abs/collector/full.c"

if [ $programs -eq 0 ]; then
	echo "FAIL: no program was compared"
	exit 1
fi
[ $failed -eq 0 ] && echo "$programs programs, no stack differs"
exit $failed
