#!/bin/bash
# Records the programs of tests/stress, which do what profilers stumble over, and
# compares with what they say about themselves.
#
#   stress.sh [NAME...]

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
stress=$builddir_abs/tests/stress
sources=$srcdir_abs/tests/stress
RECORD_SECONDS=120

only=("$@")

# stress NAME WORDS... [-- CHECKS...]: the truth is in the source, or printed by the program.
stress() {
	local name=$1 words=() truths
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	[ $# -gt 0 ] && shift
	wanted "$name" || return 0
	rm -f "$tmp"/*.neap
	record --children=none -o "$tmp/%n.%p.neap" -- "$stress/$name" "${words[@]}"
	equal "$name: exit status" 0 "$status"
	equal "$name: nothing printed by neap" "" "$(cat "$tmp/err")"
	truths=$sources/$name.c
	[ -s "$tmp/out" ] && truths=$tmp/out
	one_file "$tmp/$name.*.neap" || return 0
	truth "$name ${words[*]}" --source "$truths" --undropped --consistent --end exited:0 "$@" "$file"
	check_file "$name ${words[*]}"
}

# check_file TITLE: neap finds nothing wrong in $file.
check_file() {
	"$NEAP" info --check "$file" >"$tmp/check" 2>&1 || bad "$1: info --check" "$(head -5 "$tmp/check")"
}

stress random-walk 20000 12 1
stress random-walk 60 40 2
stress random-walk 60000 3 3
stress threads-walk 20000
stress cross-free
stress thread-churn
stress signal-storm
stress dl-loop "$targets" -- --file plugin_one_leak=plug18.inc.c --file plugin_two_leak=plug18.inc.c
stress coroutines -- \
	--inclusive 'func=red allocs=20000 bytes=2220000' \
	--inclusive 'func=blue allocs=20000 bytes=4460000' \
	--inclusive 'func=reused_a allocs=1000 bytes=333000' \
	--inclusive 'func=reused_b allocs=1000 bytes=333000'
stress fork-storm

# fork-storm once more, with the children.
fork_storm() {
	local name=fork-storm parent="" children=() grandchildren=0
	wanted "$name" || return 0
	rm -f "$tmp"/*.neap
	record --wait-all -o "$tmp/%n.%p.neap" -- "$stress/$name"
	equal "$name, all processes: exit status" 0 "$status"
	for file in "$tmp/$name".*.neap; do
		if "$TRUTH" --forked 1 "$file" >/dev/null 2>&1; then
			children+=("$file")
		else
			parent=$file
		fi
	done
	equal "$name: number of children's profiles" 46 "${#children[@]}"
	file=$parent
	truth "$name, parent" --source "$sources/$name.c" --undropped --consistent --end exited:0 "$parent"
	check_file "$name, parent"
	for file in "${children[@]}"; do
		if "$TRUTH" --expect 'func=before_fork live_blocks=40' "$file" >/dev/null; then
			grandchildren=$((grandchildren + 1))
			truth "$name, grandchild" --undropped --consistent \
				--expect 'func=in_child allocs=10 bytes=10130 live_blocks=12 live_bytes=12156' \
				--expect 'func=before_fork allocs=0 bytes=0 live_blocks=40 live_bytes=28520' "$file"
		else
			truth "$name, child" --undropped --consistent \
				--expect 'func=in_child allocs=10 bytes=10130 live_blocks=6 live_bytes=6078' \
				--expect 'func=before_fork allocs=0 bytes=0 live_blocks=70 live_bytes=49910' "$file"
		fi
		check_file "$name, child"
	done
	equal "$name: grandchildren" 6 "$grandchildren"
}
fork_storm
finish
