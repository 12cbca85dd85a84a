#!/usr/bin/env bash
# The table of keys, what `neap browse --keys` prints, and neap-browse(1) are one.

set -eu
source_dir=${srcdir_abs:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build_dir=${builddir_abs:-$PWD}
NEAP=${NEAP:-$build_dir/neap}
folder=$(mktemp -d "${TMPDIR:-/tmp}/neap-keys.XXXXXX")
trap 'rm -rf "$folder"' EXIT
failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

# Every KEY of keys.def, its names and its sentence, is printed.
sed -nE 's/^KEY\([A-Z0-9_]+, "((\\.|[^"\\])*)", "[^"]*", [0-9]+, "((\\.|[^"\\])*)"\)$/\1\t\3/p' \
	"$source_dir/tui/keys.def" | sed 's/\\\\/\\/g' >"$folder/defined"
count=$(grep -c '^KEY(' "$source_dir/tui/keys.def")
[ "$(wc -l <"$folder/defined")" = "$count" ] || fail "not every KEY of keys.def was read"
"$NEAP" browse --keys >"$folder/printed" || fail "neap browse --keys"
while IFS=$'\t' read -r keys help; do
	grep -qxF "$(printf '  %-16s %s' "$keys" "$help")" "$folder/printed" ||
		fail "--keys does not say: $keys: $help"
done <"$folder/defined"
[ "$(grep -c '^  ' "$folder/printed")" = "$count" ] || fail "--keys says more than keys.def"

# No key does two things.
twice=$(cut -f1 "$folder/defined" | tr ' ' '\n' | sort | uniq -d)
[ -z "$twice" ] || fail "keys with two meanings: $twice"

# The page holds the same text (make man-keys writes it).
"$build_dir/neap-browse" --keys-roff >"$folder/roff"
sed -n '/^\.\\" begin keys/,/^\.\\" end keys/{//!p}' "$source_dir/man/neap-browse.1" >"$folder/page"
diff "$folder/page" "$folder/roff" || fail "neap-browse(1) is not up to date: make man-keys"

# A changed word must be noticed, or nothing is compared.
sed '0,/one row up/s//one row sideways/' "$folder/page" | diff -q - "$folder/roff" >/dev/null &&
	fail "a changed page is not noticed"
[ "$failed" = 0 ] && echo "$count keys"
exit "$failed"
