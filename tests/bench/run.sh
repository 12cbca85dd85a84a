#!/bin/bash
# make bench: what recording costs, next to the same run without neap and under heaptrack.
#
#   run.sh [PART...]      parts: pairs programs growth symbols queries browser import; all without arguments
#
#   BENCH_RUNS=5          interleaved runs of everything; the minimum counts
#   BENCH_PAIRS=2000000   malloc+free pairs of one run
#   BENCH_NODES=10000000  nodes of the large profile that is queried
#   BENCH_TEXT=1024       megabytes of heaptrack's text to import
#   BENCH_UNITS=6         translation units of the program whose addresses are looked up, 10 MB each
#   BENCH_RIVAL_S=100     how long other tools may take for that; then what they took counts
#   BENCH_CLOCK=wall      or cpu: processor time of the program, for a machine that is busy
#                         with other things (times of whole commands are wall time in any case)
#
# Prints tables and, last, the bars neap wants to reach with PASS or MISS.  These are
# measurements: the exit status is 0 whatever they say.  Times of programs end when the
# program itself ends ("target"), or when the command does ("command": neap and heaptrack
# then write their files, neap symbolises).

set -u
srcdir_abs=${srcdir_abs:-$(cd "$(dirname "$0")/../.." && pwd)}
builddir_abs=${builddir_abs:-$PWD}
NEAP=${NEAP:-$builddir_abs/neap}
bench=$builddir_abs/tests/bench
runs=${BENCH_RUNS:-5}
pairs=${BENCH_PAIRS:-2000000}
nodes=${BENCH_NODES:-10000000}
text_mb=${BENCH_TEXT:-1024}
clock=${BENCH_CLOCK:-wall}
case $clock in
wall) clock_field=target_s clock_column=1 ;;
cpu) clock_field=target_cpu_s clock_column=2 ;;
*)
	echo "bench: BENCH_CLOCK is wall or cpu" >&2
	exit 1
	;;
esac
export LC_ALL=C TZ=UTC PYTHONMALLOC=malloc PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
parts=${*:-pairs programs growth symbols queries browser import}

if [ ! -x "$NEAP" ]; then
	echo "bench: $NEAP is not built" >&2
	exit 1
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/neap-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
: >samples
: >bars

has_heaptrack=0
if command -v heaptrack >/dev/null; then has_heaptrack=1; fi
tools="native nop neap"
[ $has_heaptrack = 1 ] && tools="$tools heaptrack"

# ---- samples: "KEY VALUE" lines; all numbers are taken from them ---------------------

put() { echo "$1 $2" >>samples; }
# least KEY / most KEY: over all samples of the key; "-" if there is none.
least() { awk -v k="$1" '$1 == k && (!n++ || $2 < m) { m = $2 } END { print n ? m : "-" }' samples; }
most() { awk -v k="$1" '$1 == k && (!n++ || $2 > m) { m = $2 } END { print n ? m : "-" }' samples; }
# ratio A B: A / B, "-" if one is missing or B is not above 0.
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { if (a == "-" || b == "-" || b <= 0) print "-"; else printf "%.3f", a / b }'
}
# minus A B
minus() { awk -v a="$1" -v b="$2" 'BEGIN { if (a == "-" || b == "-") print "-"; else printf "%.4f", a - b }'; }

# bar WHAT GOT at-most|at-least LIMIT
bar() {
	awk -v what="$1" -v got="$2" -v dir="$3" -v lim="$4" 'BEGIN {
		if (got == "-") verdict = "?"
		else if (dir == "at-most") verdict = got <= lim ? "PASS" : "MISS"
		else verdict = got >= lim ? "PASS" : "MISS"
		printf "%-4s  %-62s %10s  %s %s\n", verdict, what, got, dir, lim }' >>bars
}

# ---- the machine ------------------------------------------------------------------------

echo "machine    $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) processors, $(uname -sr)"
echo "versions   $("$NEAP" --version 2>&1 | head -1); heaptrack $(
	[ $has_heaptrack = 1 ] && heaptrack --version | awk '{ print $2 }' || echo "not installed"
); $(${CC:-gcc} --version 2>/dev/null | head -1); $(getconf GNU_LIBC_VERSION)"
echo "load       $(cut -d' ' -f1-3 /proc/loadavg) when this began; minimum of $runs interleaved runs; $clock time"
echo

# ---- ns per pair ---------------------------------------------------------------------------

# under TOOL COMMAND...: runs the command under a tool; files are left in ./out.*
under() {
	local tool=$1
	shift
	rm -f out.*
	case $tool in
	native) "$@" ;;
	nop) LD_PRELOAD=$bench/nop.so "$@" ;;
	neap) "$NEAP" record -q -o out.neap -- "$@" ;;
	heaptrack) heaptrack -o out.heaptrack "$@" ;;
	esac
}

# The line of churn among what others print.
pair_ns() { awk -v c=$clock_column '/^[0-9.]+ [0-9.]+$/ { print $c }'; }

pair_row() { # NAME KEY
	local n o p h
	n=$(least "$2.native") o=$(least "$2.nop") p=$(least "$2.neap") h=$(least "$2.heaptrack")
	printf '%-22s %8s %8s %8s %10s %12s %12s %16s\n' "$1" "$n" "$o" "$p" "$h" \
		"$(minus "$p" "$n")" "$(ratio "$p" "$n")" "$(ratio "$(minus "$p" "$n")" "$(minus "$h" "$n")")"
}

bench_pairs() {
	local run depth tool threads
	for ((run = 0; run < runs; run++)); do
		for depth in 1 10 30 100; do
			for tool in $tools; do
				put "pair.$depth.$tool" "$(under "$tool" "$bench/churn" "$pairs" "$depth" 2>/dev/null | pair_ns)"
			done
		done
		for tool in $tools; do
			put "pair2.10.$tool" "$(under "$tool" "$bench/churn" "$pairs" 10 2 2>/dev/null | pair_ns)"
		done
	done
	echo "nanoseconds per malloc+free pair"
	printf '%-22s %8s %8s %8s %10s %12s %12s %16s\n' "" native nop neap heaptrack "neap adds" neap/native "added/heaptrack's"
	for depth in 1 10 30 100; do pair_row "depth $depth" "pair.$depth"; done
	pair_row "depth 10, two threads" pair2.10
	echo
	for depth in 10 30; do
		bar "pair at depth $depth: added / heaptrack's" "$(ratio "$(minus "$(least "pair.$depth.neap")" "$(least "pair.$depth.native")")" \
			"$(minus "$(least "pair.$depth.heaptrack")" "$(least "pair.$depth.native")")")" at-most 0.0833
		bar "pair at depth $depth: added / native" "$(ratio "$(minus "$(least "pair.$depth.neap")" "$(least "pair.$depth.native")")" \
			"$(least "pair.$depth.native")")" at-most 6
	done
	threads=$(ratio "$(least pair.10.neap)" "$(least pair2.10.neap)")
	bar "two threads: pairs per second, as a multiple of one" "$(awk -v r="$threads" 'BEGIN { print r == "-" ? r : 2 * r }')" at-least 1.7
	echo "two threads without neap reach $(ratio "$(awk -v a="$(least pair.10.native)" 'BEGIN { print 2 * a }')" "$(least pair2.10.native)") times the pairs of one"
	echo
}

# ---- programs -------------------------------------------------------------------------------

make_inputs() {
	awk 'BEGIN {
		print "["
		for (i = 0; i < 42000; i++)
			printf "%s{\"id\":%d,\"name\":\"name %d\",\"score\":%d.%d,\"tags\":[\"t%d\",\"u%d\"],\"in\":{\"a\":%d,\"b\":\"%d\"}}\n", \
				i ? "," : "", i, i * 7919 % 1000003, i % 977, i % 7, i % 31, i % 57, i * 31 % 1009, i
		print "]" }' >in.json
	cat >in.cpp <<-'CPP'
		#include <algorithm>
		#include <functional>
		#include <iostream>
		#include <map>
		#include <memory>
		#include <regex>
		#include <sstream>
		#include <string>
		#include <unordered_map>
		#include <vector>
		template <int N> struct Layer {
			std::map<std::string, std::vector<std::function<int(int)>>> table;
			std::unordered_map<int, std::shared_ptr<Layer<N - 1>>> inner;
			int run(int x) {
				table["k" + std::to_string(N)].push_back([x](int y) { return x * N + y; });
				auto &slot = inner[x % N];
				if (!slot) slot = std::make_shared<Layer<N - 1>>();
				std::regex re("[a-z]+" + std::to_string(N));
				std::vector<int> v{x, N, 3};
				std::sort(v.begin(), v.end(), [](int a, int b) { return a % (N + 1) < b % (N + 1); });
				return slot->run(x + v[0]) + std::regex_match("abc" + std::to_string(x), re);
			}
		};
		template <> struct Layer<0> { int run(int x) { return x; } };
		int main(int argc, char **) { Layer<2> l; std::cout << l.run(argc) << "\n"; }
	CPP
}
sql() {
	echo "create table a(x integer primary key, y text); create table b(x, z text); create index bi on b(x);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
			insert into a select i, printf('%08d', i * 7919 % 10007) from n;
		insert into b select x % 997, y || x from a;
		with recursive r(i) as (select 1 union all select i + 1 from r where i < $1)
			select count(distinct substr(a.y || b.z || r.i, 3)) from r, a join b on b.x = a.x % 997 where a.x % 40 = r.i % 40;"
}
python_code='
import json
for i in range(6):
    d = [{"id": k, "name": "n%d" % k, "v": [k, k * 2, str(k)], "w": {"a": k / 7, "b": None}} for k in range(9000)]
    s = json.dumps(d)
    e = json.loads(s)
print(len(s), len(e))'

# The four programs: sets $target and $command.
program() {
	case $1 in
	jq) target=$(command -v jq) command=(jq -c 'map(.id + (.tags | length)) | add' in.json) ;;
	clang++) target=$(command -v clang++) command=(clang++ -std=c++17 -O1 -c in.cpp -o in.o) ;;
	sqlite3) target=$(command -v sqlite3) command=(sqlite3 -batch :memory: "$(sql 400)") ;;
	python3) target=/usr/bin/python3 command=(/usr/bin/python3 -c "$python_code") ;;
	esac
	[ -n "$target" ] && [ -x "$target" ]
}

field() { sed -n "s/.*\b$1=\([0-9.]*\).*/\1/p" stat; }
# measure NAME TOOL: one run; its numbers go to the samples NAME.TOOL.*
measure() {
	local key=$1.$2 f
	# shellcheck disable=SC2154 # set by program
	case $2 in
	native) "$bench/runstat" "$target" "${command[@]}" ;;
	neap) rm -f out.* && "$bench/runstat" "$target" "$NEAP" record -q --children=none -o out.neap -- "${command[@]}" ;;
	heaptrack) rm -f out.* && "$bench/runstat" "$target" heaptrack -o out.heaptrack "${command[@]}" ;;
	esac 3>stat >/dev/null 2>stat.err || {
		echo "bench: $1 under $2 failed: $(tail -1 stat.err)" >&2
		return
	}
	[ "$(field status)" = 0 ] || echo "bench: $1 under $2 ended with status $(field status): $(tail -1 stat.err)" >&2
	for f in command_s target_s target_cpu_s after_s rss_kib; do put "$key.$f" "$(field $f)"; done
	put "$key.share" "$(field helper_share)"
	for f in out.*; do [ -e "$f" ] && put "$key.file" "$(stat -c %s "$f")"; done
}

bench_programs() {
	local run name tool names="" n p h nc pc hc limit
	make_inputs
	for name in jq clang++ sqlite3 python3; do
		if program $name; then names="$names $name"; else echo "$name is not installed: left out"; fi
	done
	for ((run = 0; run < runs; run++)); do
		for name in $names; do
			program "$name"
			for tool in $tools; do
				if [ "$tool" != nop ]; then measure "$name" "$tool"; fi
			done
		done
	done
	echo "$clock seconds of the target (wall seconds of the whole command)"
	printf '%-10s %8s %18s %18s %12s %18s\n' "" native neap heaptrack neap/native "added/heaptrack's"
	for name in $names; do
		n=$(least "$name.native.$clock_field") p=$(least "$name.neap.$clock_field") h=$(least "$name.heaptrack.$clock_field")
		nc=$(least "$name.native.command_s") pc=$(least "$name.neap.command_s") hc=$(least "$name.heaptrack.command_s")
		local added addedc
		added=$(ratio "$(minus "$p" "$n")" "$(minus "$h" "$n")")
		addedc=$(ratio "$(minus "$pc" "$nc")" "$(minus "$hc" "$nc")")
		printf '%-10s %8s %18s %18s %12s %18s\n' "$name" "$n" "$p ($pc)" "$h ($hc)" "$(ratio "$p" "$n")" "$added ($addedc)"
		limit=0.125
		[ "$name" = clang++ ] && limit=0.25
		bar "$name: added $clock time / heaptrack's, until the target's end" "$added" at-most $limit
		bar "$name: added wall time / heaptrack's, whole command" "$addedc" at-most $limit
		bar "$name: $clock time / native" "$(ratio "$p" "$n")" at-most 1.6
		bar "$name: peak memory / native" "$(ratio "$(most "$name.neap.rss_kib")" "$(most "$name.native.rss_kib")")" at-most 1.5
		bar "$name: recorder's CPU / target's wall time" "$(least "$name.neap.share")" at-most 0.02
	done
	echo
	echo "peak resident memory of the target, KiB; file, bytes; seconds from the target's end to the command's; recorder's share of a processor"
	printf '%-10s %9s %9s %9s %11s   %10s %10s   %7s %9s   %7s\n' "" native neap heaptrack neap/native "neap file" heaptrack "neap" heaptrack recorder
	for name in $names; do
		printf '%-10s %9s %9s %9s %11s   %10s %10s   %7s %9s   %7s\n' "$name" "$(most "$name.native.rss_kib")" \
			"$(most "$name.neap.rss_kib")" "$(most "$name.heaptrack.rss_kib")" \
			"$(ratio "$(most "$name.neap.rss_kib")" "$(most "$name.native.rss_kib")")" \
			"$(least "$name.neap.file")" "$(least "$name.heaptrack.file")" \
			"$(least "$name.neap.after_s")" "$(least "$name.heaptrack.after_s")" "$(least "$name.neap.share")"
	done
	bar "sqlite3: profile size / heaptrack's" "$(ratio "$(least sqlite3.neap.file)" "$(least sqlite3.heaptrack.file)")" at-most 1
	bar "clang++: end of target to end of command / target's time" "$(ratio "$(least clang++.neap.after_s)" "$(least clang++.neap.target_s)")" at-most 1
	echo
}

# ---- growth of the file ------------------------------------------------------------------------

bench_growth() {
	local n
	program sqlite3 || return
	for n in 400 4000; do
		command=(sqlite3 -batch :memory: "$(sql $n)")
		measure "growth.$n" neap
	done
	echo "sqlite3, ten times the iterations: file $(least growth.400.neap.file) -> $(least growth.4000.neap.file) bytes"
	echo
	bar "sqlite3: ten times the iterations, file / file" "$(ratio "$(least growth.4000.neap.file)" "$(least growth.400.neap.file)")" at-most 1.1
}

# ---- reading -------------------------------------------------------------------------------------

bench_symbols() {
	local run
	make_inputs
	program clang++ || return
	rm -f clang.*
	"$NEAP" record -q --children=none -o clang.neap -- "${command[@]}" >/dev/null 2>&1
	[ $has_heaptrack = 1 ] && heaptrack -o clang.heaptrack "${command[@]}" >/dev/null 2>&1
	for ((run = 0; run < runs; run++)); do
		"$bench/runstat" "$NEAP" "$NEAP" report clang.neap 3>stat >/dev/null 2>&1
		put report.neap "$(field command_s)"
		if [ $has_heaptrack = 1 ]; then
			for f in clang.heaptrack*; do
				"$bench/runstat" "$(command -v heaptrack_print)" heaptrack_print "$f" 3>stat >/dev/null 2>&1
				put report.heaptrack "$(field command_s)"
			done
		fi
	done
	echo "reading clang++'s profile: neap report $(least report.neap) s, heaptrack_print $(least report.heaptrack) s"
	echo
	bar "clang++: load and report, seconds" "$(least report.neap)" at-most 0.1
	bench_addresses
}

# look_up TOOL COMMAND...: time and memory of looking up the addresses, as samples symbols.TOOL.*
look_up() {
	local tool=$1
	shift
	"$bench/runstat" "$(readlink -f "$(command -v "$1")")" timeout "${BENCH_RIVAL_S:-100}" "$@" <bigdwarf.addresses 3>stat >"symbols.$tool.out" 2>/dev/null
	put "symbols.$tool.command_s" "$(field command_s)"
	put "symbols.$tool.cpu_s" "$(field target_cpu_s)"
	put "symbols.$tool.rss_kib" "$(field rss_kib)"
	put "symbols.$tool.answers" "$(grep -c '^0x' "symbols.$tool.out")"
}

bench_addresses() {
	local tool column=command_s dwarf_bytes
	[ "$clock" = cpu ] && column=cpu_s
	bash "$srcdir_abs/tests/bench/bigdwarf.sh" "${BENCH_UNITS:-6}" "${CXX:-g++}" || return
	# What there is to read: not locations of variables, which nobody asks for.
	dwarf_bytes=$(size -A bigdwarf | awk '/^\.debug_/ && !/loc/ { n += $2 } END { print n }')
	look_up neap "$builddir_abs/tests/integration/symlook" bigdwarf
	look_up addr2line addr2line -a -f -i -e bigdwarf
	look_up eu-addr2line eu-addr2line -a -f -i -e bigdwarf
	echo "20,000 distinct addresses of a program with $dwarf_bytes bytes of debug information (locations of variables not counted):"
	for tool in neap addr2line eu-addr2line; do
		printf '%-14s %8s s, %8s s of processor time, %8s KiB, %6s addresses answered\n' "$tool" "$(least "symbols.$tool.command_s")" \
			"$(least "symbols.$tool.cpu_s")" "$(least "symbols.$tool.rss_kib")" "$(least "symbols.$tool.answers")"
	done
	echo
	bar "20,000 addresses: $column / addr2line -i" "$(ratio "$(least symbols.neap.$column)" "$(least symbols.addr2line.$column)")" at-most 1
	bar "20,000 addresses: $column / eu-addr2line -i" "$(ratio "$(least symbols.neap.$column)" "$(least symbols.eu-addr2line.$column)")" at-most 1
	bar "20,000 addresses: memory / debug information" \
		"$(awk -v k="$(least symbols.neap.rss_kib)" -v b="$dwarf_bytes" 'BEGIN { if (k == "-") print k; else printf "%.3f", k * 1024 / b }')" at-most 2
}

# ---- queries -----------------------------------------------------------------------------------

# query_profile NAME FILE LOAD_S QUERY_S [MEMORY]: all queries of queries.txt on a file, and its bars.  MEMORY is times the
# uncompressed file: of a small one, what any process needs and what decoding needs is most of it.
query_profile() {
	local name=$1 file=$2 slowest memory
	"$bench/queries" "$file" "$runs" <"$srcdir_abs/tests/bench/queries.txt" >answers || {
		echo "bench: the queries of $name failed" >&2
		return
	}
	value() { awk -v k="$1" '$1 == k { print $2 }' answers; }
	slowest=$(awk '$1 == "query" && $2 > m { m = $2 } END { print m }' answers)
	echo "$name: $(value nodes) nodes, $(stat -c %s "$file") bytes, uncompressed $(value raw_bytes), as columns of fixed width $(value column_bytes)"
	echo "load and first answer $(value load_s) s, $(value load_kib) KiB; all queries $(value peak_kib) KiB; seconds of queries, warm:"
	awk '$1 == "query" { printf "%9s (median %9s) %8s rows  ", $2, $3, $4; $1 = $2 = $3 = $4 = ""; sub(/^ +/, ""); print }' answers
	echo
	bar "$name: load and first answer, seconds" "$(value load_s)" at-most "$3"
	bar "$name: slowest query, warm, seconds" "$slowest" at-most "$4"
	bar "$name: queries slower than that" "$(awk -v m="$4" '$1 == "query" && $2 > m { n++ } END { print n + 0 }' answers)" at-most 0
	memory=$(ratio "$(awk '$1 == "load_kib" { print $2 * 1024 }' answers)" "$(value raw_bytes)")
	if [ -n "${5-}" ]; then
		bar "$name: memory of load and first answer / uncompressed" "$memory" at-most "$5"
	else
		echo "$name: memory of load and first answer / uncompressed: $memory"
	fi
	bar "$name: the same / columns of fixed width" \
		"$(ratio "$(awk '$1 == "load_kib" { print $2 * 1024 }' answers)" "$(value column_bytes)")" at-most 3
}

bench_queries() {
	make_inputs
	if program clang++; then
		[ -e clang.neap ] || "$NEAP" record -q --children=none -o clang.neap -- "${command[@]}" >/dev/null 2>&1
		query_profile clang++ clang.neap 0.1 0.05
	else
		echo "clang++ is not installed: left out"
	fi
	"$bench/bigprofile" big.neap "$nodes" || return
	query_profile "$nodes nodes" big.neap 1 1 3
	rm -f big.neap
}

# ---- the browser -------------------------------------------------------------------------------

bench_browser() {
	local column=2
	[ "$clock" = cpu ] && column=3
	make_inputs
	program clang++ || {
		echo "clang++ is not installed: left out"
		return
	}
	[ -e clang.neap ] || "$NEAP" record -q --children=none -o clang.neap -- "${command[@]}" >/dev/null 2>&1
	"$bench/browse" "$runs" "$builddir_abs/neap-browse" --no-state clang.neap >answers || return
	grep ^key answers >keys
	# Keys that move the cursor: those that do no more than that; "Right opens" shows other rows.
	awk 'NF == 6 && $6 ~ /^(Down|Up|Left|Right)$/' keys >moves
	most_of() { awk -v c="$2" '$c > m { m = $c } END { print m + 0 }' "$1"; }
	echo "browser on clang++'s profile, 120 columns and 40 rows: $(grep -c . keys) keys; $clock ms, bytes written"
	awk '$1 == "first" { printf "%9s %7s  first screen, with the curve over time\n", $2, "" }' answers
	awk -v c=$column '$1 == "whole" { printf "%9s %7s  first screen with its rows\n", $c, $4 }' answers
	{
		sort -k$column,${column}gr keys | head -8
		sort -k4,4nr keys | head -4
	} | awk -v c=$column '{ printf "%9s %7s  %s: %s %s\n", $c, $4, $5, $6, $7 }'
	echo
	bar "browser: first screen, wall ms" "$(awk '$1 == "first" { print $2 }' answers)" at-most 100
	bar "browser: first screen with its rows, $clock ms" "$(awk -v c=$column '$1 == "whole" { print $c }' answers)" at-most 100
	bar "browser: answer to a key, median, $clock ms" "$(sort -k$column,${column}g keys |
		awk -v c=$column '{ t[NR] = $c } END { print t[int((NR + 1) / 2)] }')" at-most 50
	bar "browser: answer to a key, slowest, $clock ms" "$(most_of keys $column)" at-most 50
	bar "browser: keys slower than that" "$(awk -v c=$column '$c > 50 { n++ } END { print n + 0 }' keys)" at-most 0
	bar "browser: bytes written to move the cursor, most" "$(most_of moves 4)" at-most 2047
	bar "browser: processor ms in 3 s without input" "$(awk '$1 == "idle" { print $2 }' answers)" at-most 0
}

# ---- importing ----------------------------------------------------------------------------------

bench_import() {
	local seconds
	"$bench/bigheaptrack" "$text_mb" >big.txt || return
	"$bench/runstat" "$NEAP" "$NEAP" import --force -o imported big.txt 3>stat >/dev/null 2>&1
	seconds=$(field "$clock_field")
	echo "importing $text_mb MiB of heaptrack's text: $seconds s, $(field rss_kib) KiB, a profile of $(stat -c %s imported.neap) bytes"
	echo
	bar "import: MiB per second" "$(ratio "$text_mb" "$seconds")" at-least 100
	bar "import: memory, MiB" "$(ratio "$(field rss_kib)" 1024)" at-most 1024
	rm -f big.txt imported.neap
}

for part in $parts; do
	case $part in
	pairs | programs | growth | symbols | queries | browser | import) "bench_$part" ;;
	*)
		echo "bench: no such part: $part" >&2
		exit 1
		;;
	esac
done
echo "bars"
cat bars
echo
echo "load       $(cut -d' ' -f1-3 /proc/loadavg) at the end"
exit 0
