#!/bin/bash
# Code that a program makes while it runs has the names of /tmp/perf-PID.map.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
gcc -g -O2 -fno-omit-frame-pointer -o "$tmp/jit" "$srcdir_abs/tests/integration/sym/jit.c" || exit 1

# below FILE FUNCTION: allocations of allocate() somewhere below it
below() {
	"$NEAP" query "$1" "allocated path $2 >> allocate" 2>&1 | awk '$NF == "allocate" { print $5 }'
}

record -o "$tmp/named.%p.neap" -- "$tmp/jit"
equal "exit status" 0 "$status"
one_file "$tmp/named.*.neap" || finish
pid=${file##*named.}
map=/tmp/perf-${pid%.neap}.map
[ -e "$map" ] || skip "the target has another process number than neap sees"
equal "below all of it" 320 "$(below "$file" run)"
equal "below the first function" 300 "$(below "$file" '/^Shop[.]add:cart[.]js:12$/')"
equal "below the second function" 20 "$(below "$file" Shop.pay)"
equal "below one whose place was used again" "" "$(below "$file" thrown_away)"
rm -f "$map"

record -o "$tmp/nameless.neap" -- "$tmp/jit" none
equal "without a map: below all of it" 320 "$(below "$tmp/nameless.neap" run)"
equal "without a map: below the second function" "" "$(below "$tmp/nameless.neap" Shop.pay)"

record -o "$tmp/deleted.neap" -- "$tmp/jit" deleted
equal "the map was deleted before the end: below the second function" 20 "$(below "$tmp/deleted.neap" Shop.pay)"
finish
