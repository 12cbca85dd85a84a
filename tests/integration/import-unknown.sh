#!/bin/bash
# What a format does not know is unknown, never 0: for every format that is read, every fact that it lacks, and every word
# that needs the fact.  What it does know goes through every format that is both written and read, with equal totals.
#
#   import-unknown.sh [FORMAT...]

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

samples=$srcdir_abs/tests/exchange
seeds=$srcdir_abs/tests/fuzz/corpus/import
command -v jq >/dev/null || {
	echo "SKIP: jq is not installed"
	exit 77
}

sample_of() { # FORMAT
	case $1 in
	heaptrack) echo "$samples/realloc.heaptrack.zst" ;;
	massif) echo "$samples/peak.massif" ;;
	dhat) echo "$samples/peak.dhat.json" ;;
	pprof) echo "$samples/go.pb.gz" ;;
	memtrace) echo "$seeds/memtrace-3" ;;
	jemalloc) echo "$samples/jemalloc.heap" ;;
	gperftools) echo "$samples/gperftools.heap" ;;
	lsan) echo "$samples/lsan-gcc.log" ;;
	*) echo "$seeds/$1" ;;
	esac
}

# What needs a fact.  POP stands for a population that the profile knows.
words=$(
	cat <<'END'
what was live at the end	live
what was live at the end	leaked
what was live at the end	growth in 0s..1s
times	live at 50%
times	POP | timeline
times	POP born<1s
times	growth in 0s..1s
times	survivors in 0s..1s
times	POP lifetime>1s
threads	POP thread=1
threads	POP tid=1
sizes of blocks	POP size>3
sizes of blocks	POP | by func | top 3 by max
numbers of blocks	POP | by func | top 3 by count
numbers of blocks	POP | by func | where count > 1
numbers of blocks	POP | by func | sort avg
numbers of blocks	POP | assert count < 5
allocations in all	allocated
allocations in all	survivors in 0s..1s
frees	freed
frees	POP died<1s
temporary blocks	temporary
temporary blocks	POP | by func | sort temp
lifetimes	POP lifetime>1s
lifetimes	survivors in 0s..1s
lifetimes	POP | by func | top 3 by p50
lifetimes	POP | assert p99 < 1s
functions called	POP api=malloc
the peak	peak
the peak	POP | by func | sort peak
addresses	POP addr=1
addresses	POP | by addr
END
)
# Columns and keys that need it.
columns=$(
	cat <<'END'
times	p50 p99 rate first last
sizes of blocks	max
numbers of blocks	count avg allocs frees temp
allocations in all	allocs rate
frees	frees
temporary blocks	temp
lifetimes	p50 p99
the peak	peak
END
)
keys=$(
	cat <<'END'
times	lifetime born died
threads	thread tid
sizes of blocks	size
frees	died
lifetimes	lifetime
functions called	api
END
)

# refused FACT QUERY: exit status 2, and which fact is missing.
refused() {
	local out got
	out=$("$NEAP" query "$file" "$2" 2>&1)
	got=$?
	if [ "$got" = 2 ] && [[ $out == *"the profile does not know "*"$1"* ]]; then
		ok "$format: $2"
	else
		bad "$format does not know $1: $2" "status $got, expected 2" "$out"
	fi
}

# shown_unknown COLUMN: null in rows and totals.
shown_unknown() {
	equal "$format: the column $1 is unknown in each row and in the total" "null" \
		"$("$NEAP" query "$file" "$pop | by func | select self,$1 | as json" 2>"$tmp/err" |
			jq -c --arg c "$1" '(.rows[], .totals) | .[$c]' | sort -u)"
}

# key_unknown KEY: the only row says so.
key_unknown() {
	equal "$format: the key $1 is unknown" "null" \
		"$("$NEAP" query "$file" "$pop | by $1 | as json" 2>"$tmp/err" | jq -c --arg k "$1" '.rows[][$k]')"
	if [[ $("$NEAP" query "$file" "$pop | by $1" 2>"$tmp/err") == *"[unknown]"* ]]; then
		ok "$format: the key $1 is shown as unknown"
	else
		bad "$format: the key $1 is shown as unknown" "$("$NEAP" query "$file" "$pop | by $1" 2>&1)"
	fi
}

# facts_of FORMAT: what the table says it cannot know, each in a line.
facts_of() {
	"$NEAP" import --formats | sed -n "s/^$1  .*  //p" | sed 's/, /\n/g'
}

# What was not told about the process is null.
process() {
	equal "$format: what is not known of the process is no 0 and no empty text" "" \
		"$(jq -r '[.pid, .ppid, .cpu_count, .start_unix_ns, .interval_ns, .exe, .cwd, .host, .kernel]
			| map(select(. == 0 or . == "")) | .[]' "$tmp/info")"
	if grep -q 'times' "$tmp/unknown"; then
		equal "$format: no length of 0" "" "$(jq '.duration_ns | select(. == 0)' "$tmp/info")"
	fi
	# No instant, and no numbers of blocks in a page.
	if grep -qx 'times' "$tmp/unknown" && [ "$(jq .duration_ns "$tmp/info")" = null ]; then
		equal "$format: what is asked for is at no second" "" \
			"$("$NEAP" query "$file" "$pop | sum" 2>/dev/null | head -n 1 | grep -E '[0-9] (s|ms|us|ns)')"
	fi
	if grep -qx 'numbers of blocks' "$tmp/unknown"; then
		equal "$format: a page does not number blocks" "" "$("$NEAP" export "$file" --format html -o - 2>/dev/null |
			grep -E '[0-9] blocks')"
	fi
	# A line of a report or of neap info that shows 0 where nothing is known.
	equal "$format: no process 0" "" "$({
		"$NEAP" report "$file"
		"$NEAP" info "$tmp/profile.neap"
	} 2>&1 | grep -E '\<pid 0|^Process: +0|started by 0|, 0 processors|^  command$|^Command: *$')"
}

# Without a query, what the file knows is shown.
by_default() {
	local out
	if out=$("$NEAP" diff "$file" "$file" 2>&1) && [[ $out != *error* ]]; then
		ok "$format: neap diff"
	else
		bad "$format: neap diff" "$out"
	fi
	for to in html svg json pprof; do
		if out=$("$NEAP" export "$file" --format $to -o "$tmp/default" 2>&1) && [ -s "$tmp/default" ]; then
			ok "$format: neap export --format $to"
		else
			bad "$format: neap export --format $to" "$out"
		fi
	done
	printf 'size 24 90\n:expect %s\n' "$pop" >"$tmp/keys"
	grep -qx 'the peak' "$tmp/unknown" || printf 'size 24 90\n:expect peak\n' >"$tmp/keys"
	if out=$(timeout 60 "$builddir_abs/neap-browse" --no-state --keys="$tmp/keys" "$file" 2>&1); then
		ok "$format: neap browse"
	else
		bad "$format: neap browse" "$out"
	fi
	if out=$("$NEAP" report "$file" 2>&1); then ok "$format: neap report"; else bad "$format: neap report" "$out"; fi
}

# What is known goes through the other formats.
around() {
	local to columns
	for to in pprof speedscope folded massif; do
		if [ "$to" = massif ] && grep -q '^times$' "$tmp/unknown"; then continue; fi
		rm -f "$tmp/around"
		if ! "$NEAP" export "$file" "$pop" --format $to -o "$tmp/around" 2>"$tmp/err"; then
			bad "$format to $to" "$(cat "$tmp/err")"
			continue
		fi
		columns=total
		[ "$to" = pprof ] && columns=total,count
		equal "$format to $to and back: $columns" \
			"$("$NEAP" query "$file" "$pop | sum | select $columns | as tsv" 2>/dev/null)" \
			"$("$NEAP" query "$tmp/around" "$pop | sum | select $columns | as tsv" 2>/dev/null)"
		# What each function holds, by itself and with what it calls.
		[ "$to" = massif ] ||
			equal "$format to $to and back, by function" "$(by_func "$file")" "$(by_func "$tmp/around")"
	done
}

# by_func FILE: functions with names that hold something themselves; the allocator's own frames are not written.
by_func() {
	"$NEAP" query "$1" "$pop | by func | where self > 0 | select func,self,total | sort func | as tsv" 2>/dev/null |
		grep -v '+0x'
}

mapfile -t formats < <("$NEAP" import --formats | sed '1d; s/ .*//')
[ $# = 0 ] || formats=("$@")
for format in "${formats[@]}"; do
	file=$(sample_of "$format")
	if [ ! -e "$file" ]; then
		bad "$format has a sample" "add one to sample_of"
		continue
	fi
	if ! "$NEAP" import --force --format "$format" -o "$tmp/profile" "$file" >"$tmp/err" 2>&1; then
		bad "$format is imported" "$(cat "$tmp/err")"
		continue
	fi
	"$NEAP" info --json "$tmp/profile.neap" >"$tmp/info"
	equal "the format of $file" "$format" "$(jq -r .source.format "$tmp/info")"
	jq -r '.source.unknown[]' "$tmp/info" >"$tmp/unknown"
	equal "$format: what the table calls unknown is unknown" "" \
		"$(comm -23 <(facts_of "$format" | sort) <(sort "$tmp/unknown"))"
	pop=live
	if grep -q 'live at the end' "$tmp/unknown"; then pop=allocated; fi
	while IFS=$'\t' read -r fact query; do
		if grep -qxF "$fact" "$tmp/unknown"; then refused "$fact" "${query/POP/$pop}"; fi
	done <<<"$words"
	while IFS=$'\t' read -r fact list; do
		grep -qxF "$fact" "$tmp/unknown" || continue
		for word in $list; do shown_unknown "$word"; done
	done <<<"$columns"
	while IFS=$'\t' read -r fact list; do
		grep -qxF "$fact" "$tmp/unknown" || continue
		for word in $list; do key_unknown "$word"; done
	done <<<"$keys"
	process
	by_default
	around
done
# Each fact is needed by something above.
equal "every fact has words that need it" "" "$(comm -23 \
	<("$NEAP" import --formats | sed '1d' | sed 's/.*  //; s/, /\n/g' | sort -u) \
	<(cut -f 1 <<<"$words" | sort -u) | grep -v '^the exact peak$')"
finish
