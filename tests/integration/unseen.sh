#!/bin/bash
# Strange programs see, print and return under neap what they do alone.  Where they do not, the preload that
# does nothing (tests/bench/nop.c) shows whether preloading itself makes the difference.
#
#   unseen.sh [WORD...]     only these words of tests/targets/83-strange.c

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
strange=$targets/83-strange
if [ ! -x "$strange" ]; then
	echo "SKIP: $strange is not built"
	exit 77
fi
${CC:-gcc} -O2 -w -fPIC -shared -o "$tmp/nop.so" "$srcdir_abs/tests/bench/nop.c" -ldl || exit 1
mkdir "$tmp/p"
ulimit -c 0

# alone NAME COMMAND...: output and status to $tmp/NAME.
alone() {
	local name=$1 got=0
	shift
	timeout -k 5 60 "$@" >"$tmp/$name" 2>"$tmp/$name.err" </dev/null || got=$?
	cat "$tmp/$name.err" >>"$tmp/$name"
	echo "status $got" >>"$tmp/$name"
}
words=("$@")
[ $# -gt 0 ] || mapfile -t words < <("$strange")
for word in "${words[@]}"; do
	rm -f "$tmp"/p/*
	alone native "$strange" "$word"
	alone recorded "$NEAP" record -q --wait-all -o "$tmp/p/%n.%p.neap" -- "$strange" "$word"
	if cmp -s "$tmp/native" "$tmp/recorded"; then
		ok "$word: the same"
	else
		alone nothing env LD_PRELOAD="$tmp/nop.so" "$strange" "$word"
		if cmp -s "$tmp/nothing" "$tmp/recorded"; then
			ok "$word: the same as with a preload that does nothing"
		else
			bad "$word: the same (- alone, + recorded)" "$(diff -U0 "$tmp/native" "$tmp/recorded" | tail -n +3 | head -20)"
		fi
	fi
	# What it starts in its turn, such as a shell, has another name.
	first=$(find "$tmp/p" -name '83-strange.*.neap' -exec "$TRUTH" --forked 0 {} \; -print 2>/dev/null | grep '\.neap$' | head -1)
	for file in "$tmp"/p/*.neap; do
		"$NEAP" info --check "$file" >"$tmp/check" 2>&1 || bad "$word: info --check" "$(head -3 "$tmp/check")"
	done
	if [ "$word" = strict ]; then continue; fi # it ends before in_known
	truth "$word" --source "$srcdir_abs/tests/targets/83-strange.c" --undropped --consistent --end exited:7 "$first"
done
finish
