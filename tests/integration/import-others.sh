#!/bin/bash
# `neap import` of samplers and other tools: true values of files that others made, and the real tools on
# programs that are recorded too.
#
#   import-others.sh [PART...]   PART: shared scaled refused gperftools jemalloc lsan golang cuts

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

shared=${NEAP_SHARED:-}/data
samples=$srcdir_abs/tests/exchange
parts=${*:-shared scaled refused gperftools jemalloc lsan golang cuts}

# ask FILE QUERY: the answer as text with tabs, without its header.
ask() {
	"$NEAP" query "$1" "$2 | as tsv" 2>"$tmp/err" | tail -n +2
}

# figure FILE QUERY COLUMNS EXPECTED: one line of a sum.
figure() {
	equal "$(basename "$1"): $2" "$4" "$(ask "$1" "$2 | sum | select $3")"
}

# truth_of FILE JQ: a value of TRUTH.json.
truth_of() {
	jq -r --arg f "$1" ".[\$f]$2" "$shared/TRUTH.json"
}

# selfs FILE POPULATION TOP: bytes of the functions that have most themselves, as TRUTH.json has them.
selfs() {
	ask "$1" "$2 | by func | select self,func" | sort -t "$(printf '\t')" -k1,1nr -k2,2 | head -n "$3"
}

# sound FILE: a profile whose counters agree with each other.
sound() {
	local out
	out=$("$NEAP" import --force -o "$tmp/sound" "$1" 2>&1 && "$NEAP" info --check "$tmp/sound.neap" 2>&1)
	if [[ $out == *"no findings"* ]]; then ok "$1 is sound"; else bad "$1 is sound" "$out"; fi
}

have_shared() {
	if [ -r "$shared/TRUTH.json" ] && command -v jq >/dev/null; then return 0; fi
	skip "real files with true values: set NEAP_SHARED to the folder that has data/TRUTH.json (needs jq)"
	return 1
}

shared() {
	local name file
	have_shared || return 0
	name=pprof/heapage.in.pprof file=$shared/$name
	figure "$file" allocated total,count \
		"$(truth_of "$name" '.totals|[."alloc_space/bytes",."alloc_objects/count"]|@tsv')"
	figure "$file" live total,count \
		"$(truth_of "$name" '.totals|[."inuse_space/bytes",."inuse_objects/count"]|@tsv')"
	equal "$name: who holds most" "$(truth_of "$name" '.top_flat."inuse_space/bytes"|map("\(.[1])\t\(.[0])")|.[]')" \
		"$(selfs "$file" live 2)"
	equal "$name: who allocated most" \
		"$(truth_of "$name" '.top_flat."alloc_space/bytes"|map("\(.[1])\t\(.[0])")|.[]')" \
		"$(selfs "$file" allocated 2)"
	sound "$file"
	name=julia/manifold.alloc-profile.pb.gz file=$shared/$name
	figure "$file" allocated total,count "$(truth_of "$name" '.totals|[."size/bytes",."allocs/count"]|@tsv')"
	equal "$name: types" "$(truth_of "$name" '.top_flat."size/bytes"|map("\(.[1])\t\(.[0])")|.[]')" \
		"$(selfs "$file" allocated 2)"
	sound "$file"
	name=memtrace/viewer.test_trace.ctf file=$shared/$name
	figure "$file" allocated total "$(truth_of "$name" '.est_total_bytes|floor')"
	figure "$file" live total "$(truth_of "$name" '.est_live_bytes_at_end|floor')"
	figure "$file" peak total "$(truth_of "$name" '.est_peak_bytes|floor')"
	memtrace_details "$file" "$name"
	name=chrome/node10.heapprofile file=$shared/$name
	figure "$file" live total "$(truth_of "$name" .total_selfSize)"
	equal "$name: who holds most" "$(truth_of "$name" '.top|map("\(.[1])\t\(.[0])")|.[]')" "$(selfs "$file" live 3)"
	equal "$name: nodes, without (root)" $(($(truth_of "$name" .nodes) - 1)) \
		"$("$NEAP" import --force -o "$tmp/c" "$file" 2>/dev/null && "$NEAP" info --json "$tmp/c.neap" | jq .node_count)"
	sound "$file"
	for name in folded/simple-crlf.txt folded/simple-with-invalids.txt; do
		file=$shared/$name
		figure "$file" live total "$(truth_of "$name" '.total|floor')"
		equal "$name: leaves" "$(truth_of "$name" '.top_leaf|map("\(.[1]|floor)\t\(.[0])")|sort|.[]')" \
			"$(ask "$file" 'live | by func | where self > 0 | select self,func' | grep -v '	d$' | sort)"
		equal "$name: bad lines" "$(truth_of "$name" .malformed_lines)" \
			"$("$NEAP" import --force -o "$tmp/f" "$file" 2>&1 | grep -c 'line [0-9]*: expected')"
		sound "$file"
	done
}

# What was counted rather than scaled stands in a note; places and the time of the peak as they are.
memtrace_details() { # FILE NAME
	local out
	out=$("$NEAP" import --force -o "$tmp/m" "$1" 2>&1)
	equal "$2: counts" "$(truth_of "$2" '|"\(.allocs) blocks were sampled, \(.samples) times (\(.info.sample_rate) of all words); \(.promotes) of them were promoted, \(.collects) collected"')" \
		"$(sed -n 's/^neap: \([0-9]* blocks were sampled.*\)/\1/p' <<<"$out")"
	equal "$2: when the peak was" "$(($(truth_of "$2" .peak_time_us) * 1000))" \
		"$("$NEAP" info --json "$tmp/m.neap" | jq .peak.time_ns)"
	equal "$2: its length" "$(($(truth_of "$2" .end_time_us) * 1000))" \
		"$("$NEAP" info --json "$tmp/m.neap" | jq .duration_ns)"
	equal "$2: who allocated most" "$(truth_of "$2" '|.info.sample_rate as $r|.top_leaf|map("\(.[1]/$r*8|floor)\t\(.[0]|sub("@.*";""))")|.[]' | head -n 1)" \
		"$(selfs "$1" allocated 3 | head -n 1)"
	sound "$1"
}

# Where samples are scaled, google/pprof's own decoding, row by row: blocks and bytes, rounded down.
scaled() {
	local name file
	have_shared || return 0
	for name in cppbench gobench; do
		file=$shared/pprof/$name.heap
		figure "$file" live total,count "$(grep -E '^ +[0-9]+ +[0-9]+' "$file.string" | sed 's/:.*//' |
			awk '{ n += $(NF - 1); b += $NF } END { printf("%d\t%d\n", b, n) }')"
		sound "$file"
	done
	figure "$shared/pprof/gobench.heap" allocated total,count \
		"$(grep -E '^ +[0-9]+ +[0-9]+' "$shared/pprof/gobench.heap.string" | sed 's/:.*//' |
			awk '{ n += $1; b += $2 } END { printf("%d\t%d\n", b, n) }')"
	# jemalloc: the sums of each stack scaled, then added; every thread and stack is there.
	file=$shared/jemalloc/pprofutils.jemalloc.heap
	figure "$file" live total,count "$(awk '/^@/ { on = 1 } on && /t\*:/ {
		n = $2 + 0; b = $3 + 0; f = 1 / (1 - exp(-b / n / 1048576))
		blocks += int(n * f); bytes += int(b * f) } END { printf("%.0f\t%.0f\n", bytes, blocks) }' "$file")"
	"$NEAP" import --force -o "$tmp/j" "$file" 2>/dev/null
	equal "jemalloc: threads" "$(sed -n '/^@/q; s/^  t[0-9]*:.*/t/p' "$file" | wc -l)" \
		"$("$NEAP" info --json "$tmp/j.neap" | jq .thread_count)"
	equal "jemalloc: stacks" "$(truth_of jemalloc/pprofutils.jemalloc.heap .stacks)" \
		"$("$NEAP" info --json "$tmp/j.neap" | jq .site_count)"
	sound "$file"
}

# refuses FILE TEXT
refuses() {
	local out status=0
	out=$("$NEAP" import --force -o "$tmp/refused" "$1" 2>&1) || status=$?
	if [ "$status" = 1 ] && [[ $out == *"$2"* ]] && [ ! -e "$tmp/refused.neap" ]; then
		ok "$(basename "$1") is refused"
	else
		bad "$(basename "$1") is refused" "status $status, expected 1 and '$2'" "$out"
	fi
}

refused() {
	printf '<!DOCTYPE html>\n<html><title>404</title></html>\n' >"$tmp/page.pb.gz"
	refuses "$tmp/page.pb.gz" "a web page"
	head -c 900 "$samples/go.pb.gz" >"$tmp/cut.pb.gz"
	refuses "$tmp/cut.pb.gz" "copy or download it again"
	gzip -dc "$samples/go.pb.gz" >"$tmp/plain.pb.gz"
	figure "$tmp/plain.pb.gz" live total,count "$(ask "$samples/go.pb.gz" 'live | sum | select total,count')"
	have_shared || return 0
	refuses "$shared/pprof/go.crc32.cpu.pb" "a CPU profile of gperftools"
	refuses "$shared/pprof/parca.two-stacks.pb.gz" "a pprof profile of cpu/nanoseconds"
}

# ---- the real tools on programs that are recorded too ---------------------------------------------

# by_func FILE POPULATION COLUMNS: by function, of what the program itself allocated.
by_func() {
	ask "$1" "$2 leaf.file~/demo.cpp\$/ | by func,line | where self > 0 | select $3" | sort
}

# recorded: the demo's recording, once.
recorded() {
	[ -e "$tmp/demo.neap" ] || record -o "$tmp/demo.neap" -- "$targets/demo"
}

# library NAME: a library of this name, in $library.
library() {
	library=$(ldconfig -p | sed -n "s|.*$1 .*=> ||p" | head -n 1)
	[ -n "$library" ] || skip "$1 is not installed (./bootstrap deps installs it)"
}

# The totals that gperftools' own pprof has.
google_pprof() {
	local what
	if ! command -v google-pprof >/dev/null; then
		skip "google-pprof is not installed (Debian: google-perftools)"
		return
	fi
	for what in inuse_space:live:total inuse_objects:live:count alloc_space:allocated:total alloc_objects:allocated:count; do
		IFS=: read -r type population column <<<"$what"
		equal "google-pprof --$type" "$(google-pprof --text --show_bytes "--$type" "$targets/demo" "$file" 2>/dev/null |
			sed -n 's/^Total: \([0-9]*\) .*/\1/p')" "$(ask "$file" "$population | sum | select $column")"
	done
}

gperftools() {
	library 'libtcmalloc\.so\.4'
	[ -n "$library" ] || return 0
	recorded
	HEAPPROFILE=$tmp/gp LD_PRELOAD=$library "$targets/demo" >/dev/null 2>&1
	one_file "$tmp/gp.*.heap" || return 0
	"$NEAP" import -o "$tmp/gp" "$file" 2>/dev/null && "$NEAP" symbolize -q "$tmp/gp.neap" 2>/dev/null
	equal "gperftools: allocated, by function and line" "$(by_func "$tmp/demo.neap" allocated func,line,self,count)" \
		"$(by_func "$tmp/gp.neap" allocated func,line,self,count)"
	equal "gperftools: live, by function and line" "$(by_func "$tmp/demo.neap" leaked func,line,self,count)" \
		"$(by_func "$tmp/gp.neap" live func,line,self,count)"
	[ -n "$(by_func "$tmp/gp.neap" live func)" ] || bad "gperftools: something is live"
	sound "$file"
	google_pprof
}

# jemalloc counts what it hands out, so bytes are those of its size classes; with a sample every byte all are there.
jemalloc() {
	library 'libjemalloc\.so\.2'
	[ -n "$library" ] || return 0
	recorded
	MALLOC_CONF=prof:true,lg_prof_sample:0,prof_final:true,prof_accum:true,prof_prefix:$tmp/je \
		LD_PRELOAD=$library "$targets/demo" >/dev/null 2>"$tmp/err"
	if [ ! -s "$(echo "$tmp"/je.*.heap)" ]; then
		skip "this jemalloc was built without prof: $(head -n 1 "$tmp/err")"
		return
	fi
	one_file "$tmp/je.*.heap" || return 0
	"$NEAP" import -o "$tmp/je" "$file" 2>/dev/null && "$NEAP" symbolize -q "$tmp/je.neap" 2>/dev/null
	equal "jemalloc: live blocks, by function and line" "$(by_func "$tmp/demo.neap" leaked func,line,count)" \
		"$(by_func "$tmp/je.neap" live func,line,count)"
	equal "jemalloc: allocated blocks, by function and line" \
		"$(by_func "$tmp/demo.neap" allocated func,line,count)" \
		"$(by_func "$tmp/je.neap" allocated func,line,count)"
	equal "jemalloc: the thread is known" 1 "$("$NEAP" info --json "$tmp/je.neap" | jq .thread_count)"
	sound "$file"
}

# clang's writes the parameters of functions too.  LeakSanitizer finds what nothing points to any more: in the demo that is all that its source leaks.
lsan() {
	local compiler
	recorded
	for compiler in "${CXX:-g++}" clang++; do
		if ! $compiler -g -O1 -fno-omit-frame-pointer -fsanitize=address "$srcdir_abs/tests/targets/demo.cpp" \
			-o "$tmp/demo-asan" 2>"$tmp/err"; then
			skip "$compiler -fsanitize=address does not build here: $(head -n 1 "$tmp/err")"
			continue
		fi
		ASAN_OPTIONS=detect_leaks=1 "$tmp/demo-asan" >/dev/null 2>"$tmp/lsan.log"
		if ! grep -q 'detected memory leaks' "$tmp/lsan.log"; then
			skip "LeakSanitizer of $compiler does not work here: $(head -n 1 "$tmp/lsan.log")"
			continue
		fi
		equal "LeakSanitizer of $compiler: by function and line" \
			"$(by_func "$tmp/demo.neap" leaked func,self,count)" \
			"$(by_func "$tmp/lsan.log" live func,self,count | sed 's/([^	]*)//')"
		sound "$tmp/lsan.log"
	done
}

# The same heap told by Go in two ways.  Go is no package that the tests ask for: it is large.
golang() {
	if ! command -v go >/dev/null; then
		skip "Go is not installed (Debian: golang-go)"
		return
	fi
	mkdir -p "$tmp/go" && cp "$samples/shop.go" "$tmp/go/main.go"
	if ! (cd "$tmp/go" && GO111MODULE=off timeout 120 go build -o shop main.go) 2>"$tmp/err"; then
		skip "go build does not work here: $(head -n 1 "$tmp/err")"
		return
	fi
	"$tmp/go/shop" "$tmp/go.pb.gz" "$tmp/go.txt"
	for population in live allocated; do
		equal "Go: $population by function, as protobuf and as text" \
			"$(ask "$tmp/go.pb.gz" "$population | by func,line | select func,line,self,total,count" | sort)" \
			"$(ask "$tmp/go.txt" "$population | by func,line | select func,line,self,total,count" | sort)"
	done
	equal "Go: what the program keeps" "$(printf '102400\t100')" \
		"$(ask "$tmp/go.pb.gz" 'live func=main.keep | sum | select total,count')"
	sound "$tmp/go.pb.gz"
	sound "$tmp/go.txt"
}

# ---- files that are cut -----------------------------------------------------------------------------

# What is left is refused with a reason, or kept and marked, or (lines that are whole) simply less.
cuts() {
	local file size at status
	have_shared || return 0
	for file in "$shared"/{pprof,julia,jemalloc,memtrace,chrome,folded}/*; do
		[[ $file != *.string ]] || continue
		size=$(wc -c <"$file")
		for at in 1 2 3 5 7 9 11 13 15; do
			head -c $((size * at / 16)) "$file" >"$tmp/cut"
			status=0
			timeout 60 "$NEAP" import --force -o "$tmp/whole" "$tmp/cut" >"$tmp/out" 2>&1 || status=$?
			if [ "$status" -gt 1 ] || [ ! -s "$tmp/out" ]; then
				bad "$(basename "$file") cut at $at/16" "status $status: $(cat "$tmp/out")"
			elif [ "$status" = 0 ] && ! "$NEAP" info --check "$tmp/whole.neap" >"$tmp/out" 2>&1; then
				bad "$(basename "$file") cut at $at/16 is sound" "$(cat "$tmp/out")"
			else
				ok "$(basename "$file") cut at $at/16"
			fi
		done
	done
}

for part in $parts; do
	$part
done
finish
