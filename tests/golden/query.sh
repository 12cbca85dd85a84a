#!/usr/bin/env bash
# neap query and neap diff: results in all formats, plans, errors, and how they exit.

# shellcheck source=tests/golden/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

golden_begin query
mkdir "$golden_dir/work" && "$golden_build/tests/golden/make_profiles" "$golden_dir/work" || exit 1
export LC_ALL=C COLUMNS=100

query() { # NAME FILE QUERY [OPTION...]
	local name=$1 file=$2 query=$3
	shift 3
	golden_case "$name" "$NEAP" query "$@" "$file" "$query"
}

# Populations, with the instants really used.
query live json.neap 'live | by func | top 5'
query live-at json.neap 'live at 1.05s | by func | top 3'
query live-at-mark json.neap 'live at @warm | sum'
query peak json.neap 'peak | by func | top 5'
query leaked json.neap 'leaked | by func,line | top 5 by total'
query allocated json.neap 'allocated in 1s..2s | by func | sort count desc | limit 4'
query freed json.neap 'freed in 10%..60% | by func | where count > 1000'
query temporary json.neap 'temporary | by file,line'
query survivors json.neap 'survivors in 1s..2s | by func'
query growth json.neap 'growth in 1s..3s | by func | top 4'

# Conditions, paths, frames.
query leaf json.neap 'peak leaf.func~intern | by func'
query path json.neap 'peak path ^_start >> parse_object > intern_key | sum'
query quantifiers json.neap 'live any[func~parse file~hpp] none[func~intern] | by func | top 3'
query hide json.neap 'peak | hide [func~parse_value] | tree'
query collapse json.neap 'peak | collapse recursion | tree'
query zoom json.neap 'peak | zoom parse_document | collapse recursion | tree 4'
query trim json.neap 'peak | trim parse_document | tree'
query threads json.neap 'allocated | by thread'
query sizes json.neap 'allocated size in 64..4K | by size'
query script json.neap 'let keys = func~intern; live $keys | sum; live not $keys | sum'

# Views.
query tree json.neap 'allocated | collapse recursion | tree | min 1%'
query callers json.neap 'allocated leaf.func~log_line | callers'
query callees json.neap 'peak | callees load_config | top 2'
query peek json.neap 'peak | peek parse_object'
query stacks json.neap 'peak | stacks | top 2'
query flame json.neap 'peak | collapse recursion | flame'
query timeline json.neap 'live | timeline 30'
query timeline-classes json.neap 'live | by func | top 4 | timeline 30'
query timeline-keys json.neap 'allocated | by caller.func,thread | top 3 by count | timeline 5 | select count,caller.func,thread'
query timeline-averages json.neap 'live | by func | top 2 | timeline 3 | select time,avg'
query timeline-drawn-averages json.neap 'live | by func | top 2 | timeline 3 | select avg | as svg'
query timeline-names json.neap 'live | by func | top 1 | timeline 2 | select func'
query timeline-tsv json.neap 'live | by func | top 2 | timeline 3 | as tsv'
query timeline-json json.neap 'freed | by module | top 1 | timeline 2 | as json'
query timeline-growth json.neap 'growth in 1s.. | by func | top 2 | timeline 3 | as csv'
query timeline-slices json.neap 'live | by time:1s | timeline'
query timeline-max json.neap 'live | by func | top 3 by max | timeline'
query callers-key json.neap 'peak | by leaf.func,caller.func,caller2.func | top 5'
query caller-condition json.neap 'peak caller2.func~parse_value | by caller.func,leaf.line'
query caller-where json.neap 'peak | by caller.func | where caller.func~parse and total > 1K | sort caller.func'
query caller-none json.neap 'peak | by caller99.func, caller99.line'
query key-any json.neap 'peak | by any.func'
query hist json.neap 'allocated | hist size'
query hist-lifetime json.neap 'allocated | hist lifetime'
query hist-rows json.neap 'allocated | by func | hist total'
query hist-rows-top json.neap 'allocated | by stack | top 5 by count | hist count'
query hist-rows-tsv json.neap 'allocated | by func,line | hist p50 | select bucket,rows,p50,count | as tsv'
query hist-rows-json json.neap 'allocated | by thread | hist total | as json'
query hist-rows-growth json.neap 'growth in 1s..3s | by func | hist delta'
query sum json.neap 'leaked | sum | select count,total,avg,max,p50,p99,first,last,rate'
query source json.neap 'allocated | source log_line'
query time json.neap 'allocated | by time:500ms | select time,total,count'

# Formats.
for format in tsv csv json jsonl markdown folded; do
	query "format-$format" json.neap "leaked | by stack | top 2 | as $format"
done
query format-tree-tsv json.neap 'peak | collapse recursion | tree 3 | as tsv'
query format-sum-json json.neap 'peak | assert total < 1G | as json'
query format-unknown json.neap 'live | as cvs'
query format-svg-table json.neap 'live | by func | as svg'
query format-callgrind-signed json.neap 'growth | as callgrind'
query format-massif-freed json.neap 'freed | as massif'
query hostile hostile.neap 'live | by func,file'
query hostile-class hostile.neap 'live | by class'
query hostile-tsv hostile.neap 'live | by func | as tsv'
query hostile-json hostile.neap 'live | by func | top 4 | as json'
query hostile-markdown hostile.neap 'live | by func | as markdown'
golden_case to-file sh -c "'$NEAP' query json.neap 'peak | sum | as tsv to sum.tsv' && cat sum.tsv && ls"

# Two files.
cp "$golden_dir/work/json.neap" "$golden_dir/work/new.neap"
golden_case diff-files "$NEAP" query forked.neap json.neap 'diff live | by func | top 4'
golden_case diff-same "$NEAP" diff json.neap new.neap
golden_case diff-query "$NEAP" diff forked.neap json.neap 'peak | by module | as tsv'
golden_case diff-stages "$NEAP" diff forked.neap json.neap '| by func | top 2'
golden_case diff-one "$NEAP" diff json.neap
golden_case diff-four "$NEAP" diff a b c d
query diff-instants json.neap 'diff live at 1s, live at 2s | by func | top 3'

# Plans.
query explain json.neap 'live leaf.func~intern size>=16 | by func | top 2' --explain
query explain-tree json.neap 'peak | collapse recursion | tree | min 1%' --explain
query explain-hist json.neap 'allocated | by func | where count > 100 | hist total' --explain
query explain-diff json.neap 'diff live at 1s, live at 2s | by func' --explain

# Assertions.
query assert-holds json.neap 'peak | assert total < 1GiB'
query assert-fails json.neap 'peak | assert total < 1MiB "too much at the peak"'
query assert-first json.neap 'leaked | assert count < 3; peak | sum'

# What is wrong is said with a caret.
query error-field json.neap 'live siez > 64K'
query error-stage json.neap 'live | bye func'
query error-population json.neap 'lief | by func'
query error-value json.neap 'live size > 3parsecs'
query error-regex json.neap 'live func~/(/ | sum'
query error-window json.neap 'live in 1s..2s'
query error-needs-window json.neap 'survivors | sum'
query error-quote json.neap 'live "unclosed'
query error-column json.neap 'live | by func | sort cuont'
query error-mark json.neap 'live at @nowhere'
query error-let json.neap 'live $nothing'
query near-name json.neap 'live func=app::cache::putt | sum'
query near-name-strict json.neap 'live func=app::cache::putt | sum' --strict
query incomplete hostile.neap 'live | sum'
query incomplete-strict hostile.neap 'live | sum' --strict

# Arguments.
golden_case no-query "$NEAP" query
golden_case only-file "$NEAP" query json.neap
cp "$golden_dir/work/json.neap" "$golden_dir/work/profile"
golden_case only-file-plain "$NEAP" query profile
golden_case query-first "$NEAP" query 'live | sum' json.neap
golden_case three-files "$NEAP" query json.neap new.neap empty.neap 'live | sum'
golden_case no-such-file "$NEAP" query absent.neap 'live | sum'
golden_case no-such-script "$NEAP" query json.neap -f absent.query
golden_case empty-query "$NEAP" query json.neap '# nothing'
golden_case stdin sh -c "echo 'live | sum' | '$NEAP' query json.neap -"
printf 'let k = func~intern\nlive $k | sum\n' >"$golden_dir/work/keys.query"
golden_case script-file "$NEAP" query json.neap -f keys.query
golden_case fields "$NEAP" query --fields
golden_case formats "$NEAP" query --formats
golden_case populations "$NEAP" query --populations
golden_case complete "$NEAP" query --complete 'live | b'
golden_case complete-names "$NEAP" query --complete 'live func=app::c' json.neap
cd "$golden_dir/work" && rm -f new.neap sum.tsv profile && touch -d 2024-01-01 ./*.neap &&
	touch -d 2024-01-02 empty.neap || exit 1
golden_case newest "$NEAP" query 'live | by func'
for profile in empty forked nonames; do
	query "$profile" $profile.neap 'allocated | by func'
done

golden_end
