#!/usr/bin/env bash
# Nothing that ships speaks of how or where it was written.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Each with a class in it, so that this file does not find itself.
patterns=(
	'\b([p]revious|[e]arlier|[l]ater|[l]ast|[n]ext|[o]ther) sessions?\b' '\b[a]ssistants?\b' '\b[A]I\b' '\b[L]LMs?\b' '\b[C]laude\b' '\b[G]PT\b'
	'(^|[^[:alnum:]_])/[w]ork(/|\b)' '(^|[^.])\.\./[s]hared' 'issue [0-9]+ [o]f [0-9]+'
	'/tmp/[b]-'
)

if [ -e .git ] && command -v git >/dev/null 2>&1; then
	mapfile -t files < <(git ls-files | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)
else
	mapfile -t files < <(find . -type f -not -path './build*' -not -path './autom4te.cache/*' \
		-not -path './m4/*' -not -name 'aclocal.m4' -not -name 'configure*' -not -name 'Makefile.in' \
		-not -name 'config.*' -not -name '*.o' -not -name '*.log' -printf '%P\n' | sort)
fi
need_files words ${#files[@]}
findings=0
for pattern in "${patterns[@]}"; do
	while IFS= read -r hit; do
		echo "$hit"
		findings=$((findings + 1))
	done < <(grep -InHE -- "$pattern" "${files[@]}" || true)
done
verdict words "$findings" ${#files[@]}
