#!/usr/bin/env bash
# The tables of neap-query(7) say what query/fields.def says, those of formats what src/exchange/formats.def says.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_command perl

findings=0
if ! perl man/query-tables.pl --check query/fields.def man/neap-query.7; then
	findings=$((findings + 1))
fi

for page in man/neap-import.1 man/neap-export.1; do
	[ -e "$page" ] || continue
	if ! perl man/format-tables.pl --check src/exchange/formats.def "$page"; then
		findings=$((findings + 1))
	fi
done

# A word that is missing must be found, or the comparison compares nothing.
planted=$(mktemp) || exit 1
sed '0,/^FIELD(SIZE/s/^FIELD(SIZE, "size"/FIELD(SIZE, "sighs"/' query/fields.def >"$planted"
if perl man/query-tables.pl --check "$planted" man/neap-query.7 >/dev/null; then
	echo "a changed word of query/fields.def is not noticed"
	findings=$((findings + 1))
fi
sed 's/"massif"/"massive"/' src/exchange/formats.def >"$planted"
if perl man/format-tables.pl --check "$planted" man/neap-import.1 >/dev/null; then
	echo "a changed name in src/exchange/formats.def is not noticed"
	findings=$((findings + 1))
fi
rm -f "$planted"
verdict man-tables "$findings" 1
