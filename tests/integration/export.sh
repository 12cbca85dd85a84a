#!/bin/bash
# `neap export` and `as FORMAT`: every file is read by a tool that nobody here wrote, and its totals are
# those of the query; what neap can read again gives the same totals again.
#
#   export.sh [PART...]   PART: cli pprof speedscope callgrind massif dot drawings page again recorded hostile

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

parts=${*:-cli pprof speedscope callgrind massif dot drawings page again recorded hostile}
cd "$tmp" || exit 1
if ! "$builddir_abs/tests/golden/make_profiles" "$tmp"; then
	echo "not ok - make_profiles"
	exit 1
fi

# has COMMAND WHAT: 1 and a loud skip if it is not installed.
has() {
	command -v "$1" >/dev/null && return
	skip "$2: $1 is not installed"
	return 1
}

# total FILE QUERY COLUMN: one raw number of a sum.
total() {
	"$NEAP" query "$1" "$2 | sum | select $3 | as tsv" 2>/dev/null | tail -n 1
}

# export_to OUT ARG...: neap export has to work.
export_to() {
	local out=$1 said
	shift
	rm -f "$out"
	if said=$("$NEAP" export "$@" -o "$out" 2>&1) && [ -s "$out" ]; then
		ok "neap export $* -o $out"
	else
		bad "neap export $* -o $out" "$said"
		return 1
	fi
}

# says STATUS TEXT ARG...: exit status and a fixed text of what neap prints.
says() {
	local want=$1 text=$2 out got
	shift 2
	out=$("$NEAP" "$@" 2>&1)
	got=$?
	if [ "$got" = "$want" ] && [[ $out == *"$text"* ]]; then
		ok "neap $*"
	else
		bad "neap $*" "expected status $want and: $text" "got      $got: $out"
	fi
}

cli() {
	local name
	says 2 "say where to" export json.neap
	says 2 "which format is 'x.unknown'" export json.neap -o x.unknown
	says 2 "'nonsense' is no format" export --format nonsense json.neap
	says 2 "is no format that neap can write" export --format heaptrack json.neap
	says 2 "two files at most" export a b c -o x.svg
	says 3 "No such file" export missing.neap -o x.svg
	says 2 "draws flame graphs and timelines" export json.neap 'peak | by func' -o x.svg
	says 2 "has no negative numbers" export json.neap 'growth in 1s..3s' --format callgrind -o x
	says 2 "shows what is live over time" export json.neap allocated --format massif -o x
	says 2 "shows whole stacks only" export json.neap 'peak | by func' -o x.dot
	says 2 "adds up" export json.neap 'peak | flame | select avg' -o x.svg
	equal "nothing is left behind by failures" "" "$(ls x ./x.* 2>/dev/null)"
	equal "the newest profile, standard output" \
		"$("$NEAP" query 2>/dev/null 'leaked | by func | as tsv')" \
		"$("$NEAP" export 2>/dev/null --format tsv -o - 'leaked | by func')"
	# What export can write is what queries know.
	for name in $("$NEAP" export --formats | sed '1d;s/ .*//'); do
		if "$NEAP" query --formats | grep -q "^  $name "; then
			ok "as $name"
		else
			bad "as $name: not a format of queries"
		fi
	done
	equal "formats of queries that export lacks" "table markdown" \
		"$(comm -23 <("$NEAP" query --formats | awk '{print $1}' | sort) \
			<("$NEAP" export --formats | sed '1d;s/ .*//' | sort) | sort -r | tr '\n' ' ' | sed 's/ $//')"
}

# The whole of profile.proto, as pprof has it.
write_proto() {
	cat >profile.proto <<'PROTO'
syntax = "proto3";
package perftools.profiles;
message Profile {
  repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Mapping mapping = 3;
  repeated Location location = 4; repeated Function function = 5; repeated string string_table = 6;
  int64 drop_frames = 7; int64 keep_frames = 8; int64 time_nanos = 9; int64 duration_nanos = 10;
  ValueType period_type = 11; int64 period = 12; repeated int64 comment = 13; int64 default_sample_type = 14;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 key = 1; int64 str = 2; int64 num = 3; int64 num_unit = 4; }
message Mapping { uint64 id = 1; uint64 memory_start = 2; uint64 memory_limit = 3; uint64 file_offset = 4;
  int64 filename = 5; int64 build_id = 6; bool has_functions = 7; bool has_filenames = 8;
  bool has_line_numbers = 9; bool has_inline_frames = 10; }
message Location { uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; repeated Line line = 4; bool is_folded = 5; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5; }
PROTO
}

# decode FILE: as protoc prints it.
decode() {
	gunzip -c "$1" | protoc --decode=perftools.profiles.Profile profile.proto
}

# sums TEXT: the values of all samples added up, one for each type.
sums() {
	awk '/^sample \{/ { n = 0; is_in = 1 } /^\}/ { is_in = 0 }
		is_in && /^  value: / { sum[n++] += $2; most = n > most ? n : most }
		END { for (i = 0; i < most; i++) printf "%s%d", i ? " " : "", sum[i] }' "$1"
}

pprof() {
	local type want="" pop
	export_to heap.pb.gz json.neap || return
	has protoc "pprof" || return
	write_proto
	if ! decode heap.pb.gz >heap.txt; then
		bad "protoc reads the profile"
		return
	fi
	for pop in allocated live peak; do
		want+="$(total json.neap "$pop" count) $(total json.neap "$pop" total) "
	done
	equal "pprof: sums of the six types" "${want% }" "$(sums heap.txt)"
	mapfile -t strings < <(sed -n 's/^string_table: "\(.*\)"$/\1/p' heap.txt)
	type=$(grep -oE '^default_sample_type: [0-9]+' heap.txt | grep -oE '[0-9]+')
	equal "pprof: the query's own type is the default" peak_space "${strings[$type]}"
	equal "pprof: every block was counted" "period: 1" "$(grep '^period: ' heap.txt)"
	equal "pprof: sizes of blocks" bytes "${strings[$(sed -n 's/^    key: //p' heap.txt | sort -u)]}"
	# Blocks times their size is their bytes.
	equal "pprof: blocks of one size" 0 "$(awk '/^sample \{/ { n = 0; size = 0 }
		/^  value: / { v[n++] = $2 } /^    num: / { size = $2 }
		/^\}/ { for (i = 0; size && i < n; i += 2) bad += v[i] * size != v[i + 1]; n = 0 }
		END { print bad + 0 }' heap.txt)"
	equal "pprof: ids that are meant are there" "" "$(comm -23 \
		<(sed -n 's/^  location_id: //p' heap.txt | sort -u) \
		<(awk '/^location \{/ { is_in = 1 } is_in && /^  id: / { print $2; is_in = 0 }' heap.txt | sort -u))"
	export_to window.pb.gz json.neap 'freed in 10%..60%' || return
	decode window.pb.gz >window.txt
	equal "pprof: another population has types of its own" \
		"$(total json.neap 'freed in 10%..60%' count) $(total json.neap 'freed in 10%..60%' total)" \
		"$(sums window.txt | cut -d' ' -f7,8)"
	export_to cut.pb.gz json.neap 'peak | by stack | top 2' || return
	decode cut.pb.gz >cut.txt
	equal "pprof: what is cut away is one sample" \
		"$(total json.neap peak total)" "$(sums cut.txt | cut -d' ' -f6)"
	export_to diff.pb.gz json.neap 'growth in 1s..3s' || return
	decode diff.pb.gz >diff.txt
	equal "pprof: differences are signed" "$(total json.neap 'growth in 1s..3s' delta)" \
		"$(sums diff.txt | cut -d' ' -f2)"
	go_pprof
}

# What each function holds by itself and with what it calls, by pprof itself, in each of the types.  Names are not compared: pprof
# shortens them.
go_pprof() {
	local type pop
	has go "pprof by pprof itself" || return
	if ! HOME=$tmp timeout 300 go tool pprof -raw heap.pb.gz >raw.txt 2>said; then
		skip "pprof by pprof itself: go tool pprof does not work here: $(tail -n 1 said)"
		return
	fi
	equal "pprof -raw: the types, and which is shown" \
		"alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes peak_objects/count peak_space/bytes[dflt]" \
		"$(sed -n '/^Samples:/{n;p}' raw.txt)"
	equal "pprof -raw: build ids" "$("$NEAP" info --json json.neap | jq -r '.modules[].build_id' | grep . | sort)" \
		"$(sed -n '/^Mappings/,$p' raw.txt | awk '$4 ~ /^[0-9a-f]+$/ { print $4 }' | sort)"
	for type in alloc_objects alloc_space inuse_objects inuse_space peak_objects peak_space; do
		case $type in alloc_*) pop=allocated ;; inuse_*) pop=live ;; *) pop=peak ;; esac
		HOME=$tmp go tool pprof -sample_index=$type -unit=B -top -nodecount=100000 -nodefraction=0 -edgefraction=0 \
			heap.pb.gz >top.txt 2>said
		sed -i '1,/flat%/d' top.txt
		if [[ $type = *_space ]]; then
			equal "pprof -top, $type: by itself, with callees" \
				"$("$NEAP" query json.neap "$pop | by func | where self > 0 | select self,total | as tsv" 2>/dev/null |
					tail -n +2 | cut -f 2,3 | sort -n)" \
				"$(awk '$1 + 0 { print $1 + 0 "\t" $4 + 0 }' top.txt | sort -n)"
		else # allocators' own frames are not written
			equal "pprof -top, $type: no number that the query has not" "" "$(comm -13 \
				<("$NEAP" query json.neap "$pop | by func | select count | as tsv" 2>/dev/null | tail -n +2 | cut -f 2 | sort -u) \
				<(awk '$4 + 0 { print $4 + 0 }' top.txt | sort -u))"
			[ -s top.txt ] || bad "pprof -top, $type" "$(cat said)"
		fi
	done
}

speedscope() {
	export_to peak.speedscope.json json.neap || return
	has python3 "speedscope" || return
	cat >check.py <<'PY'
import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
frames = d["shared"]["frames"]
assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json"
assert all(isinstance(f["name"], str) for f in frames)
out = []
for p in d["profiles"]:
    assert p["type"] == "sampled" and len(p["samples"]) == len(p["weights"])
    assert all(0 <= i < len(frames) for s in p["samples"] for i in s)
    assert all(w > 0 for w in p["weights"]) and p["startValue"] == 0
    assert sum(p["weights"]) == p["endValue"]
    out.append("%s/%s=%d" % (p["name"], p["unit"], p["endValue"]))
print(" ".join(out))
PY
	equal "speedscope: bytes and blocks" \
		"total/bytes=$(total json.neap peak total) count/none=$(total json.neap peak count)" \
		"$(python3 check.py peak.speedscope.json 2>&1)"
	export_to grown.speedscope.json json.neap 'growth in 1s..3s' || return
	python3 check.py grown.speedscope.json >said 2>&1 || bad "speedscope: differences" "$(tail -n 1 said)"
	equal "speedscope: more minus less" "$(total json.neap 'growth in 1s..3s' delta)" "$(python3 -c '
import json
d = {p["name"]: p["endValue"] for p in json.load(open("grown.speedscope.json"))["profiles"]}
print(d.get("delta", d.get("delta (more)", 0)) - d.get("delta (less)", 0))')"
}

callgrind() {
	local want
	export_to callgrind.out.1 json.neap || return
	has callgrind_annotate "callgrind" || return
	callgrind_annotate callgrind.out.1 >said 2>&1
	want=$(total json.neap peak total)
	equal "callgrind_annotate: the total" "$want" \
		"$(sed -n 's/^ *\([0-9,]*\) (100.0%).*PROGRAM TOTALS.*/\1/p' said | tr -d ,)"
	# Functions with what is below them, recursion included, against the query's own totals.
	callgrind_annotate --inclusive=yes --threshold=100 callgrind.out.1 >said 2>&1
	equal "callgrind_annotate: main with all below it" "$(total json.neap 'peak func=main' total)" \
		"$(sed -n 's/^ *\([0-9,]*\) (.*[:.]main \[.*/\1/p' said | head -n 1 | tr -d ,)"
}

massif() {
	export_to massif.out.1 json.neap live || return
	equal "massif: the peak is the exact one" "$(total json.neap peak total)" \
		"$(awk '/^mem_heap_B=/ { v = substr($0, 12) } /^heap_tree=peak/ { print v }' massif.out.1)"
	has ms_print "massif" || return
	ms_print massif.out.1 >said 2>&1
	equal "ms_print: one peak" 1 "$(grep -c '(peak)' said)"
	if grep -q "^100.00% ($(total json.neap peak total | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta')B)" said; then
		ok "ms_print: the tree of the peak"
	else
		bad "ms_print: the tree of the peak" "$(grep '^100.00%' said)"
	fi
}

dot() {
	export_to calls.dot json.neap || return
	has dot "dot" || return
	if command dot -Tsvg calls.dot >calls.svg 2>said && grep -q '</svg>' calls.svg; then
		ok "Graphviz draws it"
	else
		bad "Graphviz draws it" "$(cat said)"
	fi
}

# whole_xml FILE: well-formed, and loads nothing.
whole_xml() {
	if command -v xmllint >/dev/null; then
		if xmllint --noout "$1" 2>said; then ok "$1: well-formed"; else bad "$1: well-formed" "$(head -n 5 said)"; fi
	fi
	equal "$1: loads nothing" "" "$(grep -oE '(src|href)="[^#][^"]{0,40}|url\([^)]*' "$1" |
		head -n 3)"
}

drawings() {
	local kinds
	command -v xmllint >/dev/null || skip "drawings: xmllint is not installed"
	export_to flame.svg json.neap && whole_xml flame.svg
	export_to inverted.svg json.neap 'peak | flame inverted' && whole_xml inverted.svg
	export_to time.svg json.neap 'live | timeline' && whole_xml time.svg
	equal "the timeline shows the exact peak" 1 "$(grep -c 'class="peak"' time.svg)"
	equal "the timeline shows the mark" "warm" \
		"$(sed -n 's/.*class="mark"><title>\([a-z]*\) at .*/\1/p' time.svg)"
	cp json.neap new.neap
	export_to diff.svg forked.neap json.neap 'diff live | flame' && whole_xml diff.svg
	kinds=$(grep -oE 'class="f (more|less)[0-4]' diff.svg | grep -oE 'more|less' | sort -u | tr '\n' ' ')
	equal "differences have two colours" "less more " "$kinds"
	export_to same.svg json.neap new.neap && whole_xml same.svg
	equal "every frame has a title" "$(grep -c '<g class="f ' flame.svg)" "$(grep -c '<g class="f [^>]*><title>' flame.svg)"
}

page() {
	command -v xmllint >/dev/null || skip "page: xmllint is not installed"
	export_to report.html json.neap && whole_xml report.html
	equal "a page has a flame graph and a timeline" 2 "$(grep -cE '<svg [^>]*class="(flame|chart)"' report.html)"
	# The queries that a page states give what it shows.
	grep -oE '<code>neap query [^<]*</code>' report.html | sed "s/<[^>]*>//g; s/&#39;/'/g; s/&quot;/\"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g" >stated
	equal "a page states a query for each section" "$(grep -c '<section' report.html)" "$(wc -l <stated)"
	while IFS= read -r line; do
		if NEAP=$NEAP bash -c "${line/#neap /\"\$NEAP\" }" >/dev/null 2>said; then ok "$line"; else bad "$line" "$(cat said)"; fi
	done <stated
	export_to table.html json.neap 'peak | by func | top 5' && whole_xml table.html
	equal "a page of one table" "1 0" "$(grep -c '<table' table.html) $(grep -c '<svg' table.html)"
	export_to diff.html json.neap 'growth in 1s..3s' && whole_xml diff.html
	export_to two.html forked.neap json.neap 'diff live' && whole_xml two.html
	equal "a page of two files names both" 3 \
		"$(grep -c "neap query &#39;forked.neap&#39; &#39;json.neap&#39; &#39;diff live |" two.html)"
}

# A real recording: inlined functions are lines of one location, the program is the first mapping.
recorded() {
	local program=$targets/56-inline want
	[ -x "$program" ] || {
		skip "recorded: $program is not built (no C++ compiler)"
		return
	}
	has protoc "recorded" && has python3 "recorded" || return
	record -o inline.neap -- "$program"
	export_to inline.pb.gz inline.neap allocated || return
	write_proto
	decode inline.pb.gz >inline.txt
	cat >lines.py <<'PY'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
strings = re.findall(r'^string_table: "(.*)"$', text, re.M)
def blocks(name):
    return re.findall(r"^%s \{\n(.*?)^\}" % name, text, re.M | re.S)
def number(block, field, indent="  "):
    found = re.search(r"^%s%s: (-?\d+)" % (indent, field), block, re.M)
    return int(found.group(1)) if found else 0
functions = {number(b, "id"): strings[number(b, "name")].split("(")[0] for b in blocks("function")}
for b in blocks("location"):
    ids = re.findall(r"^    function_id: (\d+)", b, re.M)
    if len(ids) > 1:
        print(number(b, "mapping_id") > 0, number(b, "address") > 0, " < ".join(functions[int(i)] for i in ids))
first = blocks("mapping")[0]
print("mapping", strings[number(first, "filename")].split("/")[-1], strings[number(first, "build_id")])
PY
	python3 lines.py inline.txt >said 2>&1
	for want in \
		"True True void deep::inlined_twice<int> < middle < deep::outer" \
		"True True void deep::inlined_twice<char> < other_middle < deep::outer" \
		"mapping 56-inline $(readelf -n "$program" | sed -n 's/.*Build ID: //p')"; do
		if grep -qxF "$want" said; then ok "pprof: $want"; else bad "pprof: $want" "$(cat said)"; fi
	done
	equal "pprof: the sum of a recording" "$(total inline.neap allocated total)" "$(sums inline.txt | cut -d' ' -f2)"
}

# same WHAT FILE: its live bytes are those that were written.
same() {
	equal "$1 read again: bytes" "$(total json.neap "$3" total)" "$(total "$2" live total)"
}

again() {
	export_to a.pb.gz json.neap live && same pprof a.pb.gz live
	equal "pprof read again: blocks" "$(total json.neap live count)" "$(total a.pb.gz live count)"
	equal "pprof read again: by function" \
		"$("$NEAP" query json.neap 'live | by func | where self > 0 | select self,total,count | as tsv' 2>/dev/null | grep -v '+0x')" \
		"$("$NEAP" query a.pb.gz 'live | by func | where self > 0 | select self,total,count | as tsv' 2>/dev/null | grep -v '+0x')"
	export_to a.folded json.neap peak && same folded a.folded peak
	# What a folded file does not know is no value of what is made of it.
	if export_to b.pb.gz a.folded live; then
		equal "folded as pprof: bytes" "$(total json.neap peak total)" "$(total b.pb.gz live total)"
	fi
	if export_to b.callgrind a.folded live; then
		equal "folded as callgrind: no blocks" "events: total" "$(grep '^events:' b.callgrind)"
	fi
	export_to b.html a.folded live && whole_xml b.html
	export_to a.speedscope.json json.neap peak && same speedscope a.speedscope.json peak
	export_to a.massif json.neap live && equal "massif read again: the peak" \
		"$(total json.neap peak total)" "$(total a.massif peak total)"
}

# Names with <>&"', control bytes, broken UTF-8: every format stays what it is.
hostile() {
	local format
	for format in svg html dot callgrind massif speedscope pprof folded json csv; do
		export_to "h.$format" hostile.neap --format "$format" live || continue
		case $format in pprof) gunzip -c h.pprof >h.raw ;; *) cp "h.$format" h.raw ;; esac
		if [ "$format" != pprof ]; then
			equal "hostile names as $format: no control characters" 0 \
				"$(LC_ALL=C tr -d '\t\n\r' <h.raw | LC_ALL=C grep -cE $'[\x01-\x1f\x7f]')"
			if iconv -f UTF-8 -t UTF-8 h.raw >/dev/null 2>&1; then
				ok "hostile names as $format: valid UTF-8"
			else
				bad "hostile names as $format: valid UTF-8"
			fi
		fi
	done
	whole_xml h.svg
	whole_xml h.html
	equal "no script but ours" 3 "$(grep -c '<script>' h.html)"
	if command -v python3 >/dev/null; then
		if python3 -c 'import json; json.load(open("h.speedscope")); json.load(open("h.json"))' 2>said; then
			ok "hostile names in JSON"
		else
			bad "hostile names in JSON" "$(tail -n 1 said)"
		fi
	fi
	if command -v dot >/dev/null; then
		if command dot -Tsvg h.dot >/dev/null 2>said; then ok "hostile names in dot"; else bad "hostile names in dot" "$(head -n 2 said)"; fi
	fi
	if command -v protoc >/dev/null; then
		write_proto
		if decode h.pprof >/dev/null 2>said; then ok "hostile names in pprof"; else bad "hostile names in pprof" "$(head -n 2 said)"; fi
	fi
}

for part in $parts; do
	"$part"
done
finish
