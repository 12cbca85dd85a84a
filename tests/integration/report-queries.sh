#!/bin/bash
# Every query that `neap report` states gives, run by `neap query`, the rows and numbers that stand
# below it: on profiles of several programs, on empty ones, and on ones that were cut off.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir "$tmp/work"
cd "$tmp/work" || exit 1

# ---- what the report says ------------------------------------------------------------------

# said FILE OPTION...: a line "query Q" for each section, then for each of its rows what is
# in it, how many blocks, and the function.  Call paths stand further to the right.
said() {
	local file=$1
	shift
	"$NEAP" report --width=1000 "$@" "$file" | awk '
		/^  query: / { sub(/^  query: /, ""); print "query " $0; in_section = 1; next }
		!in_section || /^$/ { in_section = 0; next }
		/^ *(bytes|blocks)  / { has_bytes_first = /^ *bytes/; next }
		match($0, /^ */) && RLENGTH < 20 {
			sub(/^ */, "")
			split($0, part, /  +/)
			if (part[2] !~ /%$/) next # a frame, or "nothing leaked"
			gsub(/site/, "row", part[4])
			print (has_bytes_first ? part[1] : part[3]) "|" \
				(has_bytes_first ? part[3] : part[1]) "|" part[4]
		}'
}

# asked FILE QUERY: the same of the table that neap query prints.
asked() {
	"$NEAP" query --width=1000 "$1" "$2" 2>notes | awk '
		/^ *total  / { has_head = 1; next }
		has_head {
			sub(/^ */, "")
			split($0, part, /  +/)
			print part[1] "|" part[2] "|" part[4]
		}'
}

# check FILE TITLE OPTION...: each section against its query.
check() {
	local file=$1 title=$2 line query='' section_count=0
	shift 2
	said "$file" "$@" >said.all
	: >rows
	while IFS= read -r line; do
		if [ "${line#query }" = "$line" ]; then
			echo "$line" >>rows
			continue
		fi
		[ -z "$query" ] || compare "$file" "$title" "$query"
		query=${line#query }
		section_count=$((section_count + 1))
		: >rows
	done <said.all
	[ -z "$query" ] || compare "$file" "$title" "$query"
	equal "$title: sections that state a query" 5 "$section_count"
}

# A function without a name is [unknown] to queries, in the report it is an address.
compare() { # FILE TITLE QUERY; rows of the report in ./rows
	asked "$1" "$3" >answer
	awk -F '|' -v OFS='|' 'FNR == NR { name[FNR] = $3; next }
		name[FNR] == "[unknown]" { $3 = name[FNR] }
		{ print }' answer rows >named
	if diff named answer >differs; then
		ok "$2: $3 ($(wc -l <rows) lines)"
	else
		bad "$2: $3" "$(head -20 differs)" "$(head -c 300 notes)"
	fi
}

# ---- leak suspects ----------------------------------------------------------------------------

# sums FILE QUERY COLUMN: what the rows of each function and line add up to: FUNC LINE SUM COUNT.
sums() {
	"$NEAP" query "$1" "$2 | as tsv" 2>notes | awk -F '\t' -v OFS='\t' -v column="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			place = $at["func"] OFS $at["line"]
			sum[place] += $at[column]
			count[place] += $at["count"]
		}
		END { for (place in sum) print place, sum[place], count[place] }'
}

# suspects FILE: "BYTES|BLOCKS|LATER" of every suspect, and of everything that is live.
suspects() {
	awk '
		match($0, /^ */) && RLENGTH < 20 {
			sub(/^ */, "")
			if (split($0, part, /  +/) < 4 || $0 ~ /\(/) next
			line = part[1] "|" part[3]
			if (part[4] == "live at that time") print line "|all"
		}
		/ came in its second half/ {
			sub(/ came in its second half.*/, "")
			sub(/.*\. /, "")
			print line "|" $0
		}' "$1"
}

check_suspects() { # FILE LEAST-SUSPECTS
	local births growth
	local got=0
	"$NEAP" report --suspects --width=1000 "$1" >page || got=$?
	equal "$1: status of --suspects" 0 $got
	births=$(sed -n 's/^  query: \(live .*\)/\1/p' page)
	growth=$(sed -n 's/^  query: \(growth .*\)/\1/p' page)
	equal "$1: queries of suspects" 2 "$(grep -c '^  query: ' page)"
	sums "$1" "$births" total >live
	sums "$1" "$growth" delta >later
	awk -F '\t' '
		function words(n, unit, i) {
			split("B KiB MiB GiB", unit, " ")
			for (i = 1; n >= 1024 && i < 4; i++) n /= 1024
			return sprintf(i == 1 ? "%d %s" : "%.1f %s", n, unit[i])
		}
		function grouped(n) {
			return n < 1000 ? n "" : grouped(int(n / 1000)) "," sprintf("%03d", n % 1000)
		}
		FNR == NR { later[$1 FS $2] = $3; next }
		{
			print words($3) "|" grouped($4) "|" words(later[$1 FS $2] + 0)
			bytes += $3
			blocks += $4
		}
		END { print words(bytes) "|" grouped(blocks) "|all" }' later live | sort >answer
	suspects page | sort >rows
	if [ -n "$(comm -23 rows answer)" ]; then
		bad "$1: suspects are rows of their queries" "$(comm -23 rows answer)" "$(cat answer)"
	else
		ok "$1: suspects are rows of their queries"
	fi
	if [ "$(wc -l <rows)" -gt "$2" ]; then
		ok "$1: at least $2 suspects"
	else
		bad "$1: at least $2 suspects" "$(cat page)"
	fi
}

# ---- profiles -----------------------------------------------------------------------------------

"$builddir_abs/tests/golden/make_profiles" . || exit 1
for profile in json hostile forked nonames empty; do
	for top in 1 3 10; do
		check $profile.neap "$profile, top $top" --top=$top
	done
done
check json.neap "json, whole stacks" --full-stacks
check_suspects json.neap 4

# Cut off: the file ends in the middle of a block.
bytes=$(wc -c <json.neap)
for percent in 30 60 90; do
	head -c $((bytes * percent / 100)) json.neap >cut.neap
	check cut.neap "json, $percent % of it"
done

for program in 05-exceptions 12-fork-noexec 33-libc-allocators 50-edge-sizes 56-inline 60-service; do
	if [ ! -x "$targets/$program" ]; then
		skip "$program is not built"
		continue
	fi
	record -o "$program.%n.neap" "$targets/$program"
	for file in "$program".*.neap; do
		check "$file" "${file%.neap}" --top=4
	done
done
finish
