#!/bin/bash
# Usage: keep.sh SOURCE BUILD [FORMAT...]
# Of what fuzz.sh found with import:FORMAT, what reaches code that the corpus does not is copied into it, small files only.  In
# the corpus such a file begins with the number of its format, so that it goes to the same reader.
set -euo pipefail

source=$1 build=$2
shift 2
wanted=" $* "
corpus=$source/tests/fuzz/corpus/import
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

number=-1
while read -r format; do
	number=$((number + 1))
	found=$build/fuzz/import-$format
	[ -d "$found" ] || continue
	[[ $wanted = "  " || $wanted = *" $format "* ]] || continue
	rm -rf "$tmp/new" "$tmp/all"
	mkdir "$tmp/new" "$tmp/all"
	cp "$corpus"/* "$tmp/all"
	find "$found" -type f -size -9 -exec cp {} "$tmp/new" \;
	(cd "$tmp/all" && ls) >"$tmp/before"
	NEAP_FUZZ_FORMAT=$format "$build/fuzz/fz_import" -set_cover_merge=1 -use_counters=0 "$tmp/all" "$tmp/new" 2>/dev/null
	(cd "$tmp/all" && ls) | comm -13 "$tmp/before" - | while read -r name; do
		{
			# shellcheck disable=SC2059 # the number is part of it
			printf "\\xf5\\x$(printf %02x "$number")"
			cat "$tmp/all/$name"
		} >"$corpus/$format-${name:0:10}"
		echo "kept $format-${name:0:10}"
	done
done < <(sed -n 's/^FORMAT([A-Z]*, "\([a-z]*\)".*/\1/p' "$source/src/exchange/formats.def")
