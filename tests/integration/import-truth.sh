#!/bin/bash
# Real files of other tools against values that an independent decoder found in them: every value of TRUTH.json is compared, or
# named here as one that a profile does not keep.
#
#   NEAP_SHARED=DIR import-truth.sh [PATTERN]   those files of DIR/data whose names match

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

shared=${NEAP_SHARED:-}/data
if [ ! -r "$shared/TRUTH.json" ] || ! command -v jq >/dev/null; then
	echo "SKIP: real files with true values: set NEAP_SHARED to the folder that has data/TRUTH.json (needs jq)"
	exit 77
fi

# truth JQ: of this file.
truth() {
	jq -r --arg f "$name" ".[\$f]$1" "$shared/TRUTH.json"
}

# info JQ: what the imported profile says of itself.
info() {
	jq -r "$1" "$tmp/info"
}

# ask QUERY: raw values with tabs, without a header.
ask() {
	"$NEAP" query "$tmp/profile.neap" "$1 | as tsv" 2>"$tmp/err" | tail -n +2
}

# sum QUERY COLUMNS
sum() {
	ask "$1 | sum | select $2"
}

# quoted NAME: as a pattern of a query for exactly this name.
quoted() {
	local s=${1//\\/\\\\}
	s=${s//\"/\\\"}
	s=${s//\*/\\*}
	s=${s//\?/\\?}
	s=${s//\[/\\[}
	printf '"%s"' "$s"
}

# of_unnamed MODULE: bytes, blocks, and bytes that stay, of stacks whose innermost frame is in a module and has no name; from the
# file itself, because queries take allocators' own functions off such stacks.
of_unnamed() {
	"$NEAP" info --dump "$tmp/profile.neap" | awk -v wanted="$1" '
		$1 == "module" { path = $3; gsub(/^"|"$/, "", path); sub(/.*\//, "", path); module[$2] = path }
		$1 == "frame" && $3 == "module" { is_in[$2] = module[$4] == wanted }
		$1 == "frame" && $3 == "function" { is_named[$2] = 1 }
		$1 == "node" { frame[$2] = $6 }
		$1 == "site" { leaf[$2] = frame[$4] }
		$1 == "new" { site[$3] = $5; births[$5] += $13; bytes[$5] += $15 }
		$1 == "deaths" { died[site[$3]] += $7 }
		END {
			for (s in leaf) {
				if (!is_in[leaf[s]] || leaf[s] in is_named) continue
				n += births[s]; b += bytes[s]; l += bytes[s] - died[s]
			}
			printf("%d\t%d\t%d\n", b, n, l)
		}'
}

# at_leaf POPULATION NAME COLUMNS: of what the function itself allocated.  Allocators' own functions are no leaves for neap.
at_leaf() {
	local got
	case $2:$3 in
	"<unresolved "*)
		got=${2#<unresolved }
		got=$(of_unnamed "${got%>}")
		case $1:$3 in
		*:total,count) cut -f 1,2 <<<"$got" ;;
		*:count) cut -f 2 <<<"$got" ;;
		leaked:*) cut -f 3 <<<"$got" ;;
		esac
		return
		;;
	esac
	got=$(sum "$1 leaf.func=$(quoted "$2")" "$3")
	[[ $got = 0* ]] && got=$(sum "$1 func=$(quoted "$2")" "$3")
	echo "$got"
}

# same KEY GOT
same() {
	equal "$name: $1" "$(truth ".\"$1\"")" "$2"
}

# leaves KEY POPULATION JQ COLUMNS: every entry of a list of leaves.
leaves() {
	local func want
	while IFS=$'\t' read -r func want; do
		equal "$name: $1, $func" "$want" "$(at_leaf "$2" "$func" "$4" | tr '\t' ' ')"
	done < <(truth ".\"$1\"[] | [.[0], ($3 | map(tostring) | join(\" \"))] | @tsv")
}

max_depth() { # POPULATION
	ask "$1 | by depth | select depth" | sort -n | tail -n 1
}

# snapshots FIELD: of each.
snapshots() {
	"$NEAP" info --dump "$tmp/profile.neap" | sed -n "s/^  snapshot .* $1 \([0-9]*\).*/\1/p"
}

# highest CONDITIONS: of what was live at any snapshot.
highest() {
	snapshots time_ns | while read -r at; do sum "live at ${at}ns $1" total; done | sort -n | tail -n 1
}

heaptrack() { # KEY
	case $1 in
	debuggee) same "$1" "$(info '.command | join(" ")')" ;;
	allocations) same "$1" "$(sum allocated count)" ;;
	frees) same "$1" "$(sum freed count)" ;;
	temporary) same "$1" "$(sum temporary count)" ;;
	total_bytes) same "$1" "$(sum allocated total)" ;;
	leaked_bytes_unsuppressed) same "$1" "$(sum leaked total)" ;;
	peak_bytes) same "$1" "$(sum peak total)" ;;
	peak_time_ms) same "$1" "$(info '.peak.time_ns / 1000000 | floor')" ;;
	end_time_ms) same "$1" "$(info '.duration_ns / 1000000')" ;;
	max_rss_bytes) same "$1" "$(snapshots rss_bytes | sort -n | tail -n 1)" ;;
	embedded_suppressions)
		equal "$name: $1" "$(truth '.embedded_suppressions | length')" \
			"$(info .source.notes | sed -n 's/.*names \([0-9]*\) leak.*/\1/p' | grep . || echo 0)"
		;;
	top_leaf_by_total_bytes) leaves "$1" allocated '.[1:3]' total,count ;;
	top_leaf_by_leaked) leaves "$1" leaked '.[1:2]' total ;;
	top_leaf_by_calls) leaves "$1" allocated '.[1:2]' count ;;
	*) return 1 ;;
	esac
}

massif() {
	local want func source line
	case $1 in
	cmd) same "$1" "$(info '.command | join(" ")')" ;;
	desc) equal "$name: desc" "$(truth .desc | sed 's/^(none)$//')" "$(info .source.producer | sed 's/^options //')" ;;
	time_unit) equal "$name: time_unit" "i:instructions" "$(truth .time_unit):$(info .source.time_unit)" ;;
	snapshots) same "$1" "$(info .snapshot_count)" ;;
	detailed) # have trees: nothing is where there is none
		equal "$name: detailed" "$(truth .detailed)" "$(grep -n '^heap_tree=' "$file" | sed 's/.*=//' |
			paste - <(snapshots time_ns) | while read -r tree at; do
			[ "$tree" = empty ] || sum "live at ${at}ns func~\"no call tree\"" total
		done | grep -cx 0)"
		;;
	peak_marked_snapshot) [ "$(truth ".$1")" = null ] || same "$1" "$(info '.peak.snapshot - 1')" ;;
	max_total_snapshot) same "$1" "$(snapshots live_bytes | awk '$1 > most { most = $1; at = NR - 1 } END { print at + 0 }')" ;;
	peak_marked_heap_B)
		[ "$(truth ".$1")" = null ] || same "$1" "$(sum 'peak not func~"heap administration" not func~stacks' total)"
		;;
	peak_marked_total_B) [ "$(truth ".$1")" = null ] || same "$1" "$(sum peak total)" ;;
	max_total_B) same "$1" "$(sum peak total)" ;;
	max_heap_B) same "$1" "$(highest 'not func~"heap administration" not func~stacks')" ;;
	max_stacks_B) same "$1" "$(highest 'func~stacks')" ;;
	final_heap_B) same "$1" "$(sum 'live not func~"heap administration" not func~stacks' total)" ;;
	final_time) same "$1" "$(info .duration_ns)" ;;
	peak_tree_top_children)
		while IFS=$'\t' read -r want func source line; do
			equal "$name: the peak at $source:$line" "$want" "$(sum "peak func=$(quoted "$func") file=$source line=$line" total)"
		done < <(truth '.peak_tree_top_children[] | [.[0], (.[1] | capture("0x[0-9A-F]+: (?<f>[^(]*).* \\((?<s>[^:]*):(?<l>[0-9]+)\\)") | .f, .s, .l)] | @tsv')
		;;
	*) return 1 ;;
	esac
}

dhat() {
	case $1 in
	cmd) same "$1" "$(info '.command | join(" ")')" ;;
	pid) same "$1" "$(info .pid)" ;;
	time_unit) equal "$name: time_unit" "instrs:instructions" "$(truth .time_unit):$(info .source.time_unit)" ;;
	te) same "$1" "$(info .duration_ns)" ;;
	tg) same "$1" "$(info .peak.time_ns)" ;;
	pps) same "$1" "$(info .site_count)" ;;
	total_bytes) same "$1" "$(sum allocated total)" ;;
	total_blocks) same "$1" "$(sum allocated count)" ;;
	bytes_at_tgmax) same "$1" "$(sum peak total)" ;;
	blocks_at_tgmax) same "$1" "$(sum peak count)" ;;
	bytes_at_end) same "$1" "$(sum live total)" ;;
	blocks_at_end) same "$1" "$(sum live count)" ;;
	top_pp) # bytes, blocks, frames from the innermost on
		while IFS=$'\t' read -r want stack; do
			equal "$name: $stack" "$want" "$(ask 'allocated | by stack | select stack,total,count' |
				awk -F '\t' -v s="$stack" 'substr($1, length($1) - length(s) + 1) == s { print $2 " " $3 }' | grep -x "$want")"
		done < <(truth '.top_pp[] | ["\(.[0]) \(.[1])", (.[2] | map(capture("0x[0-9A-F]+: (?<f>[^ (]*)").f) | reverse | join(";"))] | @tsv')
		;;
	max_depth) same "$1" "$(max_depth allocated)" ;;
	*) return 1 ;;
	esac
}

# human BYTES: as heaptrack_print writes it.
human() {
	awk -v n="$1" 'BEGIN { split("B K M G", u, " "); i = 1; while (n >= 1000 && i < 4) { n /= 1000; i++ }
		printf(i == 1 ? "%d%s\n" : "%.2f%s\n", n, u[i]) }'
}

# The four figures of heaptrack's own program.  What it counts as temporary and is not stands in a note.
heaptrack_printed() {
	local more
	if ! command -v heaptrack_print >/dev/null; then
		skip "$name by heaptrack_print: heaptrack is not installed (./bootstrap deps installs it)"
		return
	fi
	heaptrack_print --disable-builtin-suppressions --disable-embedded-suppressions "$file" >"$tmp/printed" 2>/dev/null
	more=$(info .source.notes | sed -n 's/.*heaptrack_print counts \([0-9]*\) temporary.*/\1/p')
	equal "$name: heaptrack_print's figures" \
		"$(sed -n 's/^\(calls to allocation functions\|temporary memory allocations\|peak heap memory consumption\|total memory leaked\): \([^ ]*\).*/\2/p' "$tmp/printed")" \
		"$(sum allocated count; echo $(($(sum temporary count) + ${more:-0})); human "$(sum peak total)"; human "$(sum leaked total)")"
}

# What pprof's types are called here: population and column.
pprof_type() {
	case $1 in
	alloc_objects/count | allocs/count) echo allocated count ;;
	alloc_space/bytes | size/bytes) echo allocated total ;;
	inuse_objects/count) echo live count ;;
	inuse_space/bytes) echo live total ;;
	esac
}

pprof() {
	local type pop column func want
	case $1 in
	locations) same "$1" "$(info .frame_count)" ;;
	period) equal "$name: period" "$(truth '.period | if . > 1 then . else 0 end')" "$(info .sample_bytes)" ;;
	time_ns) equal "$name: time_ns" "$(truth '.time_ns | if . > 0 then . else null end')" "$(info .start_unix_ns)" ;;
	max_depth) same "$1" "$(max_depth allocated)" ;;
	totals)
		while IFS=$'\t' read -r type want; do
			read -r pop column < <(pprof_type "$type")
			equal "$name: $type" "$want" "$(sum "$pop" "$column")"
		done < <(truth '.totals | to_entries[] | [.key, .value] | @tsv')
		;;
	top_flat | top_cum)
		while IFS=$'\t' read -r type func want; do
			read -r pop column < <(pprof_type "$type")
			equal "$name: $1, $type of $func" "$want" "$(if [ "$1" = top_flat ]; then
				at_leaf "$pop" "$func" "$column"
			else
				sum "$pop func=$(quoted "$func")" "$column"
			fi)"
		done < <(truth ".$1 | to_entries[] | .key as \$k | .value[] | [\$k, .[0], .[1]] | @tsv")
		;;
	*) return 1 ;;
	esac
}

stacks_of_text() {
	grep -cE '^ *[0-9]+: .*@|^@ 0x' "$file"
}

# What is scaled is compared in import-others.sh, with google/pprof's own decoding; here what was there to scale.
heaptext() {
	case $1 in
	sample_period) same "$1" "$(info .sample_bytes)" ;;
	header_tag) equal "$name: header_tag" "$(truth .header_tag | awk -F / '{ print $1 == "heap" ? $2 / 2 : $2 }')" "$(info .sample_bytes)" ;;
	stacks) # some stand there twice
		equal "$name: stacks" "$(truth .stacks)" "$(stacks_of_text)"
		equal "$name: different stacks" "$(sed 's/.*@/@/' <(grep -E '^ *[0-9]+: .*@|^@ 0x' "$file") | sort -u | wc -l)" "$(info .site_count)"
		;;
	unique_addrs) same "$1" "$(info .frame_count)" ;;
	max_depth) same "$1" "$(max_depth live)" ;;
	map_lines) [ "$(truth .map_lines)" = 0 ] || equal "$name: modules" "$(awk '/^MAPPED_LIBRARIES/ { on = 1 } on && $2 ~ /x/ && $6 ~ /^\// { print $6 }' "$file" | sort -u)" \
		"$(info '.modules[].path' | sort -u)" ;;
	*) return 1 ;;
	esac
}

memtrace() {
	case $1 in
	info)
		equal "$name: exe" "$(truth .info.exe)" "$(info .exe)"
		equal "$name: host" "$(truth .info.host)" "$(info .host)"
		equal "$name: pid" "$(truth .info.pid)" "$(info .pid)"
		;;
	allocs) equal "$name: counts" \
		"$(truth '|"\(.allocs) blocks were sampled, \(.samples) times (\(.info.sample_rate) of all words); \(.promotes) of them were promoted, \(.collects) collected"')" \
		"$(info .source.notes)" ;;
	samples | promotes | collects) ;; # with allocs
	locations) same "$1" "$(info .frame_count)" ;;
	live_samples_at_end) equal "$name: $1" "$(truth .live_samples_at_end)" "$(($(sum live total) / 80))" ;;
	peak_live_samples) equal "$name: $1" "$(truth .peak_live_samples)" "$(($(sum peak total) / 80))" ;;
	peak_time_us) equal "$name: $1" "$(truth '.peak_time_us * 1000')" "$(info .peak.time_ns)" ;;
	end_time_us) equal "$name: $1" "$(truth '.end_time_us * 1000')" "$(info .duration_ns)" ;;
	est_total_bytes) equal "$name: $1" "$(truth '.est_total_bytes | floor')" "$(sum allocated total)" ;;
	est_live_bytes_at_end) equal "$name: $1" "$(truth '.est_live_bytes_at_end | floor')" "$(sum live total)" ;;
	est_peak_bytes) equal "$name: $1" "$(truth '.est_peak_bytes | floor')" "$(sum peak total)" ;;
	top_leaf) # func@file:line, samples, blocks
		while IFS=$'\t' read -r func line want; do
			equal "$name: $func:$line" "$want" "$(sum "allocated leaf.func=$(quoted "$func") leaf.line=$line" total)"
		done < <(truth '.top_leaf[] | (.[0] | capture("(?<f>.*)@.*:(?<l>[0-9]+)")) as $p | [$p.f, $p.l, .[1] * 80] | @tsv')
		;;
	*) return 1 ;;
	esac
}

chrome() {
	case $1 in
	nodes) equal "$name: nodes, without (root)" "$(($(truth .nodes) - 1))" "$(info .node_count)" ;;
	total_selfSize) same "$1" "$(sum live total)" ;;
	depth) ;; # below
	top) leaves top live '.[1:2]' total ;;
	*) return 1 ;;
	esac
}

folded() {
	case $1 in
	total) equal "$name: total" "$(truth '.total | floor')" "$(sum live total)" ;;
	stacks) # some stand there twice
		equal "$name: different stacks" "$(sed -n 's/\r$//; s/ [0-9.]*$//p' "$file" | grep ';' | sort -u | wc -l)" "$(info .site_count)"
		;;
	malformed_lines) same "$1" "$(info .source.notes | grep -c 'line [0-9]*: expected')" ;;
	max_depth) same "$1" "$(max_depth live)" ;;
	top_leaf) leaves top_leaf live '.[1:2] | map(floor)' total ;;
	*) return 1 ;;
	esac
}

# Values of the file's own build, which no profile keeps, or that only describe it.
is_left_out() { # KIND:KEY
	case $1 in
	*:kind | *:compression | *:version | *:format | *:header | *:mode | *:note | *:encoding | *:bklt) ;;
	heaptrack:strings | heaptrack:ips | heaptrack:traces | heaptrack:alloc_infos) ;; # tables
	heaptrack:page_size | heaptrack:total_system_bytes | heaptrack:attached | heaptrack:negative_counts) ;;
	massif:peak_tree_nodes) ;;
	pprof:samples | pprof:functions | pprof:mappings | pprof:strings | pprof:labels | pprof:comments) ;; # tables
	pprof:sample_types | pprof:default_sample_type | pprof:period_type | pprof:duration_ns | pprof:negative_values) ;;
	heaptext:header_totals | heaptext:sum_* | heaptext:biggest) ;; # before scaling
	memtrace:by_source | memtrace:skipped_packets | memtrace:live_objects_at_end) ;;
	chrome:depth) ;;
	*) return 1 ;;
	esac
}

refused() {
	local out status=0
	out=$("$NEAP" import --force -o "$tmp/refused" "$file" 2>&1) || status=$?
	if [ "$status" = 1 ] && [[ $out == *"$1"* ]] && [ ! -e "$tmp/refused.neap" ]; then
		ok "$name is refused: $1"
	else
		bad "$name is refused" "status $status, expected 1 and '$1'" "$out"
	fi
}

compared=0 left_out=0
while read -r name; do
	[[ $name == *${1:-}* ]] || continue
	file=$shared/$name
	case $name in
	heaptrack/*.raw) refused heaptrack_interpret && continue ;;
	dhat/valgrind.copy.*) refused "mode 'copy'" && continue ;;
	pprof/go.crc32.cpu.pb) refused "a CPU profile of gperftools" && continue ;;
	pprof/parca.*) refused "a pprof profile of cpu/nanoseconds" && continue ;;
	esac
	if ! "$NEAP" import --force -o "$tmp/profile" "$file" >"$tmp/said" 2>&1; then
		bad "$name is imported" "$(cat "$tmp/said")"
		continue
	fi
	"$NEAP" info --json "$tmp/profile.neap" >"$tmp/info"
	"$NEAP" info --check "$tmp/profile.neap" >"$tmp/said" 2>&1 || bad "$name is sound" "$(cat "$tmp/said")"
	kind=$(truth .kind | sed 's/\..*//')
	while read -r key; do
		if is_left_out "$kind:$key"; then
			left_out=$((left_out + 1))
		elif "$kind" "$key"; then
			compared=$((compared + 1))
		else
			bad "$name: nothing compares '$key' of TRUTH.json"
		fi
	done < <(truth '| keys_unsorted[]')
	[ "$kind" != heaptrack ] || heaptrack_printed
done < <(jq -r 'keys_unsorted[]' "$shared/TRUTH.json")
echo "# $compared values compared, $left_out are of the file's own build"
finish
