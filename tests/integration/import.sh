#!/bin/bash
# `neap import`, and foreign files opened directly: heaptrack, massif and DHAT, against true values, against
# the tools' own figures, and against neap's recording of the same program.
#
#   import.sh [PART...]   PART: cli packed samples shared heaptrack massif dhat

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

samples=$srcdir_abs/tests/exchange
shared=${NEAP_SHARED:-}/data
parts=${*:-cli packed samples shared heaptrack massif dhat}

# ask FILE QUERY: the answer as text with tabs, without its header.
ask() {
	"$NEAP" query "$1" "$2 | as tsv" 2>"$tmp/err" | tail -n +2
}

# figure FILE QUERY COLUMNS EXPECTED: one line of a sum.
figure() {
	equal "$(basename "$1"): $2" "$4" "$(ask "$1" "$2 | sum | select $3")"
}

# says STATUS TEXT ARG...: exit status and a fixed text of what neap prints.
says() {
	local want=$1 text=$2 out got
	shift 2
	out=$("$NEAP" "$@" 2>&1)
	got=$?
	if [ "$got" != "$want" ]; then
		bad "neap $*: exit status" "expected $want" "got      $got" "$out"
	elif [[ $out != *"$text"* ]]; then
		bad "neap $*: what it says" "expected $text" "got      $out"
	else
		ok "neap $*"
	fi
}

cli() {
	local name
	cd "$tmp" || exit 1
	says 0 "heaptrack (heaptrack 1.4.0)" import "$samples/realloc.heaptrack.zst"
	equal "named after the original" realloc.heaptrack.neap "$(echo ./*.neap | sed 's,./,,')"
	says 0 "realloc.heaptrack.1.neap: imported" import "$samples/realloc.heaptrack.zst"
	says 0 "/realloc.heaptrack.2.neap: imported" import -o "$tmp" "$samples/realloc.heaptrack.zst"
	says 0 "x.neap: imported" import -o x "$samples/peak.massif"
	says 0 "x.neap: imported" import --force -o x.neap "$samples/peak.dhat.json"
	equal "--force replaces" dhat "$("$NEAP" info --json x.neap | jq -r .source.format)"
	says 0 "no findings" info --check x.neap
	says 2 "which file?" import
	says 2 "no format 'nonsense'" import --format nonsense x
	says 2 "one file at a time" import x y
	says 1 "No such file" import "$tmp/missing"
	says 1 "is a directory" import "$tmp"
	says 1 "is not what massif writes" import --format massif "$samples/realloc.heaptrack.zst"
	says 1 "heaptrack_interpret" import "$samples/realloc.heaptrack.raw.zst"
	says 1 "mode 'ad-hoc'" import "$samples/adhoc.dhat.json"
	says 3 "heaptrack_interpret" query "$samples/realloc.heaptrack.raw.zst" live
	printf 'hello\n' >hello.neap
	says 3 "it is text of some other kind" report hello.neap
	equal "a failed import leaves nothing" "" "$(ls ./realloc.heaptrack.raw* ./missing* 2>/dev/null)"
	name=$("$NEAP" import --formats | awk '$1 == "massif"' | wc -l)
	equal "--formats lists massif" 1 "$name"
	# Directly, everywhere.
	says 0 "from heaptrack (heaptrack 1.4.0)" report "$samples/peak.heaptrack.zst"
	says 0 "[unknown]" report "$samples/peak.massif"
	says 0 "not known: threads" query "$samples/peak.heaptrack.zst" live
	says 0 '"notes": ["' query "$samples/peak.dhat.json" 'live | as json'
	says 0 "b  " diff "$samples/peak.heaptrack.zst" "$samples/peak.dhat.json" 'peak | sum'
	says 2 "does not know threads" query "$samples/peak.heaptrack.zst" 'live thread=1'
	says 2 "does not know lifetimes" query "$samples/peak.heaptrack.zst" 'allocated | by func | top 3 by p50'
	says 2 "does not know numbers of blocks" query "$samples/peak.massif" 'peak | assert count < 5'
	says 2 "does not know allocations in all" query "$samples/peak.massif" allocated
	says 2 "does not know times" query "$samples/peak.dhat.json" 'live at 50%'
	says 0 "[unknown]" query "$samples/peak.heaptrack.zst" 'live | by thread'
	equal "an unknown column is empty, not 0" "$(printf '74003824\t')" \
		"$(ask "$samples/peak.massif" 'peak | sum | select total,count')"
	printf 'size 24 90\n:expect peak.massif\n' >keys
	if timeout 60 "$builddir_abs/neap-browse" --no-state --keys=keys "$samples/peak.massif" >out 2>&1; then
		ok "the browser opens a foreign file"
	else
		bad "the browser opens a foreign file" "$(tail -n 3 out)"
	fi
}

# The same answer however it is packed.
packed() {
	local tool want file=$tmp/packed.massif
	want=$(ask "$samples/peak.massif" 'peak | by func | select self,total')
	[ "$(wc -l <<<"$want")" -gt 2 ] || bad "peak.massif has functions" "$want"
	for tool in gzip zstd bzip2 xz; do
		if ! command -v $tool >/dev/null; then
			skip "$tool is not installed"
			continue
		fi
		$tool -c "$samples/peak.massif" >"$file"
		equal "packed by $tool" "$want" "$(ask "$file" 'peak | by func | select self,total')"
		head -c $(($(wc -c <"$file") * 2 / 3)) "$file" >"$tmp/cut"
		"$NEAP" query --strict "$tmp/cut" live >"$tmp/out" 2>&1
		case $?:$(cat "$tmp/out") in
		4:*"ends too early"* | 3:*"is cut"* | 3:*"no profile"* | 3:*"cannot be unpacked"*) ok "cut, packed by $tool" ;;
		*) bad "cut, packed by $tool" "$(cat "$tmp/out")" ;;
		esac
	done
	for want in UTF-16LE UTF-16BE; do
		{ printf '\xEF\xBB\xBF' && cat "$samples/peak.massif"; } | iconv -f UTF-8 -t $want >"$file"
		equal "$want" 74003824 "$(ask "$file" 'peak | sum | select total')"
	done
	"$NEAP" import -o "$tmp/piped" - <"$samples/peak.heaptrack.zst" 2>"$tmp/err" ||
		bad "import from standard input" "$(cat "$tmp/err")"
	figure "$tmp/piped.neap" allocated total,count "$(printf '94075586\t95')"
}

# What the tools' own programs said of the samples when they were made, and the truth in the target's source.
samples() {
	local file=$samples/realloc.heaptrack.zst
	figure "$file" allocated total,count "$(printf '140366\t9')"
	figure "$file" leaked total,count "$(printf '1910\t2')"
	figure "$file" peak total "122725"
	figure "$file" temporary count 6
	equal "realloc is charged to its caller" "$(printf 'grow_chain\t15022\t4')" \
		"$(ask "$file" 'allocated func=grow_chain | by func | select total,count' | grep ^grow_chain)"
	file=$samples/peak.dhat.json
	figure "$file" allocated total,count "$(printf '94002882\t94')"
	figure "$file" peak total,count "$(printf '74002142\t74')"
	figure "$file" leaked total,count "$(printf '20000740\t20')"
	figure "$samples/peak.massif" peak total 74003824
}

# ---- true values of files that others made ------------------------------------------------------

# truth_of FILE JQ: a value of TRUTH.json.
truth_of() {
	jq -r --arg f "$1" ".[\$f]$2" "$shared/TRUTH.json"
}

shared() {
	local file name
	if [ ! -r "$shared/TRUTH.json" ] || ! command -v jq >/dev/null; then
		skip "real files with true values: set NEAP_SHARED to the folder that has data/TRUTH.json (needs jq)"
		return
	fi
	for file in "$shared"/heaptrack/*.gz "$shared"/heaptrack/*.zst; do
		name=heaptrack/$(basename "$file")
		figure "$file" allocated total,count,temp "$(truth_of "$name" '|[.total_bytes,.allocations,.temporary]|@tsv')"
		figure "$file" freed count "$(truth_of "$name" .frees)"
		figure "$file" leaked total "$(truth_of "$name" .leaked_bytes_unsuppressed)"
		figure "$file" peak total "$(truth_of "$name" .peak_bytes)"
		"$NEAP" import --force -o "$tmp/h" "$file" 2>/dev/null
		equal "$name: its length" "$(($(truth_of "$name" .end_time_ms) * 1000000))" \
			"$("$NEAP" info --json "$tmp/h.neap" | jq .duration_ns)"
		equal "$name: its command" "$(truth_of "$name" .debuggee)" \
			"$("$NEAP" info --json "$tmp/h.neap" | jq -r '.command|join(" ")')"
		says 0 "no findings" info --check "$tmp/h.neap"
	done
	says 1 "heaptrack_interpret" import -o "$tmp/raw" "$shared/heaptrack/heaptrack.test_sysroot.raw"
	for file in "$shared"/massif/massif.out.* "$shared/massif/msparser.massif.out.3"; do
		name=massif/$(basename "$file")
		"$NEAP" import --force -o "$tmp/m" "$file" 2>/dev/null
		equal "$name: snapshots" "$(truth_of "$name" .snapshots)" \
			"$("$NEAP" info --json "$tmp/m.neap" | jq .snapshot_count)"
		equal "$name: its end" "$(truth_of "$name" .final_time)" \
			"$("$NEAP" info --json "$tmp/m.neap" | jq .duration_ns)"
		figure "$file" peak total "$(truth_of "$name" .max_total_B)"
		equal "$name: heap at the end" "$(truth_of "$name" .final_heap_B)" \
			"$(ask "$file" 'live not func~"heap administration" not func~stacks | sum | select total')"
		says 0 "no findings" info --check "$tmp/m.neap"
	done
	file=$shared/massif/msparser.massif.out.3
	equal "massif: who held the peak" 344064 \
		"$(ask "$file" 'peak leaf.line=114 | sum | select total')"
	file=$shared/dhat/valgrind.big.dhat.json
	name=dhat/valgrind.big.dhat.json
	figure "$file" allocated total,count "$(truth_of "$name" '|[.total_bytes,.total_blocks]|@tsv')"
	figure "$file" peak total,count "$(truth_of "$name" '|[.bytes_at_tgmax,.blocks_at_tgmax]|@tsv')"
	figure "$file" leaked total,count "$(truth_of "$name" '|[.bytes_at_end,.blocks_at_end]|@tsv')"
	says 1 "mode 'copy'" import "$shared/dhat/valgrind.copy.dhat.json"
}

# ---- the real tools on programs that are recorded too ---------------------------------------------

# by_func FILE POPULATION SOURCE: bytes and blocks by function, of allocations made in this source file.
by_func() {
	ask "$1" "$2 leaf.file~/$3\$/ | by func | where self > 0 | select self,count | sort func"
}

# human BYTES: as heaptrack_print writes it.
human() {
	awk -v n="$1" 'BEGIN { split("B K M G", u, " "); i = 1; while (n >= 1000 && i < 4) { n /= 1000; i++ }
		printf(i == 1 ? "%d%s\n" : "%.2f%s\n", n, u[i]) }'
}

heaptrack() {
	local target=$targets/$1 source=$1.c file printed extra
	if ! command -v heaptrack >/dev/null || ! command -v heaptrack_print >/dev/null; then
		skip "heaptrack is not installed (./bootstrap deps installs it)"
		return
	fi
	command heaptrack -o "$tmp/$1" "$target" >/dev/null 2>&1
	file=$tmp/$1.zst
	[ -e "$file" ] || file=$tmp/$1.gz
	if [ ! -e "$file" ]; then
		bad "heaptrack records $1"
		return
	fi
	record -o "$tmp/$1.neap" -- "$target"
	for what in allocated peak leaked; do
		equal "heaptrack and neap on $1, $what by function" "$(by_func "$tmp/$1.neap" $what "$source")" \
			"$(by_func "$file" $what "$source")"
	done
	[ -n "$(by_func "$file" allocated "$source")" ] || bad "heaptrack saw functions of $source"
	printed=$(heaptrack_print --disable-builtin-suppressions --disable-embedded-suppressions -f "$file" 2>/dev/null | tail -n 12)
	"$NEAP" import --force -o "$tmp/imported" "$file" 2>/dev/null
	extra=$("$NEAP" info "$tmp/imported.neap" | sed -n 's/.*counts \([0-9]*\) temporary.*/\1/p')
	equal "heaptrack_print: allocations of $1" \
		"$(sed -n 's/^calls to allocation functions: \([0-9]*\).*/\1/p' <<<"$printed")" \
		"$(ask "$file" 'allocated | sum | select count')"
	equal "heaptrack_print: temporary allocations of $1" \
		"$(sed -n 's/^temporary memory allocations: \([0-9]*\).*/\1/p' <<<"$printed")" \
		"$(($(ask "$file" 'temporary | sum | select count') + ${extra:-0}))"
	equal "heaptrack_print: peak of $1" "$(sed -n 's/^peak heap memory consumption: //p' <<<"$printed")" \
		"$(human "$(ask "$file" 'peak | sum | select total')")"
	equal "heaptrack_print: leaked by $1" "$(sed -n 's/^total memory leaked: //p' <<<"$printed")" \
		"$(human "$(ask "$file" 'leaked | sum | select total')")"
}

# The same program in each of heaptrack's file formats, with a string that has a blank: as text, and packed in both ways.
heaptrack_formats() {
	local format version head="X ./p arg\nI 1000 10\n" pack
	local tail="i 100 1 2\nt 1 0\nc 1\nR 5\n"
	local events="a 10 1\na 20 1\n+ 0\n+ 1\n- 1\n+ 1\n+ 0\n- 0\n- 1\n" addresses="+ 10 1 aa\n+ 20 1 bb\n- bb\n+ 20 1 bb\n+ 10 1 cc\n- cc\n- bb\n"
	for format in 0 1 2 3; do
		case $format in
		0) version="v 10000 0" ;;
		1) version="v 10000 1" ;;
		2) version="v 10100 2" ;;
		3) version="v 10400 3" ;;
		esac
		{
			printf '%s\n' "$version"
			printf "$head"
			if [ $format = 3 ]; then printf 's 5 /a b/\ns 5 f g()\n'; else printf 's /a b/\ns f g()\n'; fi
			printf "$tail"
			if [ $format = 0 ]; then printf "$addresses"; else printf "$events"; fi
			printf 'c 20\n'
		} >"$tmp/format"
		for pack in cat gzip zstd; do
			command -v $pack >/dev/null || continue
			$pack <"$tmp/format" >"$tmp/packed.$format"
			equal "heaptrack's format $format, by $pack" "$(printf '96\t4\t2') 16 64" \
				"$(ask "$tmp/packed.$format" 'allocated func="f g()" module="/a b/" | sum | select total,count,temp') $(
					ask "$tmp/packed.$format" 'leaked | sum | select total') $(ask "$tmp/packed.$format" 'peak | sum | select total')"
		done
		command -v heaptrack_print >/dev/null || continue
		equal "heaptrack_print's figures of format $format" "4 2 64B 16B" "$(heaptrack_print "$tmp/format" 2>/dev/null |
			sed -n 's/^\(calls to allocation functions\|temporary memory allocations\|peak heap memory consumption\|total memory leaked\): \([^ ]*\).*/\2/p' | tr '\n' ' ' | sed 's/ $//')"
	done
	printf 'v 10400 4\n' >"$tmp/format"
	says 1 "format" import "$tmp/format"
}

# Its last snapshot is not at the end of the program.
massif() {
	local target=$targets/26-peak-between-snapshots source=26-peak-between-snapshots.c
	if ! command -v valgrind >/dev/null; then
		skip "valgrind is not installed (./bootstrap deps installs it)"
		return
	fi
	valgrind --tool=massif --massif-out-file="$tmp/massif" --detailed-freq=1 --peak-inaccuracy=0.0 --threshold=0.0 \
		"$target" >/dev/null 2>&1
	[ -e "$tmp/26-peak-between-snapshots.neap" ] || record -o "$tmp/26-peak-between-snapshots.neap" -- "$target"
	equal "massif and neap, peak by function" "$(by_func "$tmp/26-peak-between-snapshots.neap" peak "$source" | cut -f 1,2)" \
		"$(by_func "$tmp/massif" peak "$source" | cut -f 1,2)"
	# Every snapshot's total, as ms_print has it.
	if command -v ms_print >/dev/null; then
		"$NEAP" import -o "$tmp/snapshots" "$tmp/massif" 2>/dev/null
		equal "ms_print: the total of each snapshot" \
			"$(ms_print "$tmp/massif" | awk '$1 ~ /^[0-9]+$/ && NF == 6 { gsub(",", ""); print $3 }')" \
			"$("$NEAP" info --dump "$tmp/snapshots.neap" | sed -n 's/^  snapshot .* live_bytes //p')"
	fi
}

dhat() {
	local target=$targets/$1 source=$1.c
	if ! command -v valgrind >/dev/null; then
		skip "valgrind is not installed (./bootstrap deps installs it)"
		return
	fi
	valgrind --tool=dhat --dhat-out-file="$tmp/dhat.json" "$target" >/dev/null 2>&1
	[ -e "$tmp/$1.neap" ] || record -o "$tmp/$1.neap" -- "$target"
	for what in allocated peak leaked; do
		equal "DHAT and neap on $1, $what by function" "$(by_func "$tmp/$1.neap" $what "$source")" \
			"$(by_func "$tmp/dhat.json" $what "$source")"
	done
	[ -n "$(by_func "$tmp/dhat.json" allocated "$source")" ] || bad "DHAT saw functions of $source"
}

for part in $parts; do
	case $part in
	heaptrack)
		heaptrack_formats
		heaptrack 01-realloc-chain
		heaptrack 26-peak-between-snapshots
		heaptrack 55-temporary
		heaptrack 51-many-sizes
		heaptrack 53-same-frames
		;;
	cli) cli ;;
	packed) packed ;;
	samples) samples ;;
	shared) shared ;;
	massif) massif ;;
	dhat) # realloc and empty blocks it counts in other ways
		dhat 26-peak-between-snapshots
		dhat 51-many-sizes
		dhat 53-same-frames
		;;
	*) bad "there is no part '$part'" ;;
	esac
done
finish
