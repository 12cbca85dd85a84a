#!/bin/bash
# What `neap info` says and how it exits, on the small profiles of the fuzzer's corpus.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

corpus=$srcdir_abs/tests/fuzz/corpus/profile

# expect STATUS TEXT ARG...: run neap info; its status and a fixed text in what it prints.
expect() {
	local status=$1 text=$2 out got
	shift 2
	out=$("$NEAP" info "$@" 2>&1)
	got=$?
	if [ "$got" != "$status" ]; then
		bad "neap info $*: exit status" "expected $status" "got      $got" "$out"
	elif [[ $out != *"$text"* ]]; then
		bad "neap info $*: what it says" "expected $text" "got      $out"
	else
		ok "neap info $*"
	fi
}

expect 0 "Ended:      killed by signal 9 (Killed)" "$corpus/small"
expect 0 "Damage:     the file is cut: its last " "$corpus/small-cut"
expect 0 '"end":{"kind":"signaled","status":9,"reason":""}' --json "$corpus/small"
expect 0 '"is_cut":true' --json "$corpus/small-cut"
expect 0 "  end signaled status 9 " --dump "$corpus/small"
expect 0 "CUT: " --dump "$corpus/small-cut"
expect 0 "no findings: " --check "$corpus/small"
expect 1 "damage: the file is cut: " --check "$corpus/small-cut"
expect 2 "only one of --json, --dump, --check and --missing-symbols" --json --dump "$corpus/small"
expect 2 "one FILE at a time" "$corpus/small" "$corpus/small-cut"
expect 2 "neap info --help" --nonsense
expect 3 "is not a neap profile" "$0"
expect 3 "No such file or directory" "$tmp/missing.neap"
expect 3 "is a directory" "$tmp"
expect 0 "Usage: neap info" --help

cd "$tmp" || exit 1
expect 3 "no *.neap file"
cp "$corpus/small-cut" older.neap
cp "$corpus/small" newer.neap
touch -d '2001-01-01' older.neap
expect 0 "File:       newer.neap, "

if command -v jq >/dev/null; then
	for file in small small-cut empty; do
		what="neap info --json $file is JSON"
		if "$NEAP" info --json "$corpus/$file" | jq -e .damage >/dev/null; then
			ok "$what"
		else
			bad "$what"
		fi
	done
else
	skip "jq is not there to read the JSON"
fi
if "$NEAP" info "$corpus/small" >/dev/full 2>/dev/null; then
	bad "neap info notices that its output is lost"
else
	ok "neap info notices that its output is lost"
fi
finish
