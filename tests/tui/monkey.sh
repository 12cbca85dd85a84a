#!/usr/bin/env bash
# A monkey at the browser: random keys, mouse events and sizes on ordinary, hostile, empty, damaged
# and imported profiles and on two at once; monkey.c and invariants.c say what must hold.
#
#   NEAP_MONKEY_INPUTS=100000   in all (make check-tui-long)
#   NEAP_MONKEY_SEED=7          another monkey
#   NEAP_MONKEY_FILE=FILE       this profile only

set -u
source_dir=${srcdir_abs:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build_dir=${builddir_abs:-$PWD}
inputs=${NEAP_MONKEY_INPUTS:-2000}
seed=${NEAP_MONKEY_SEED:-1}
folder=$(mktemp -d "${TMPDIR:-/tmp}/neap-monkey.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
export XDG_STATE_HOME=$folder/state EDITOR=true VISUAL=true HOME=$folder TZ=UTC
failed=0
fail() {
	echo "FAIL: $*"
	failed=$((failed + 1))
}

# play FILE [FILE2]: on failure what was typed is kept.
play() {
	mkdir -p "$folder/work" && cd "$folder/work" || exit 1
	"$build_dir/tests/tui/monkey" --seed="$seed" --inputs="$inputs" "$@" || {
		cp monkey.keys "$build_dir/tests/tui/monkey.keys"
		fail "$(basename -a "$@" | xargs) with seed $seed; the keys: $build_dir/tests/tui/monkey.keys"
	}
	seed=$((seed + 1))
}

if [ -n "${NEAP_MONKEY_FILE:-}" ]; then
	play "$(realpath "$NEAP_MONKEY_FILE")"
	exit "$failed"
fi
"$build_dir/tests/golden/make_profiles" "$folder" &&
	"$build_dir/tests/tui/make_names" "$folder/names.neap" || exit 1
head -c $(($(stat -c %s "$folder/json.neap") * 2 / 3)) "$folder/json.neap" >"$folder/partial.neap"
cp "$folder/names.neap" "$folder/same.neap"
for name in peak.massif go.pb.gz; do
	"$build_dir/neap" import -o "$folder/$name.neap" "$source_dir/tests/exchange/$name" 2>/dev/null || exit 1
done
inputs=$((inputs / 13)) # of each
for name in json hostile names forked nonames empty partial peak.massif go.pb.gz; do
	play "$folder/$name.neap"
done
play "$folder/json.neap" "$folder/forked.neap"
play "$folder/names.neap" "$folder/same.neap"
play "$folder/json.neap" "$folder/peak.massif.neap"
play "$folder/empty.neap" "$folder/hostile.neap"
[ "$failed" = 0 ]
