#!/usr/bin/env bash
# What the collector takes from outside: only the functions of collector-imports.txt,
# only libc, no lazy binding, no thread-local storage that may allocate, no relocations
# in its code.  Each rule keeps it from calling malloc inside somebody's malloc.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
collector=${LINT_COLLECTOR:-${NEAP_COLLECTOR:-}}
allowed=tests/lint/collector-imports.txt
need_command nm
need_command readelf
need_command objdump
if [ ! -e "${collector:-/nonexistent}" ]; then
	echo "SKIP: the collector is not built here (${collector:-NEAP_COLLECTOR is not set})"
	exit 77
fi

findings=0
finding() {
	echo "$collector: $*"
	findings=$((findings + 1))
}

mapfile -t imports < <(nm -D --undefined-only "$collector" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u)
need_files nolibc ${#imports[@]}
for import in "${imports[@]}"; do
	grep -qxE "$import([[:space:]]+#.*)?" "$allowed" ||
		finding "imports $import, which is not in $allowed"
done

# Tools write to a file first: grep -q would end them early, which pipefail counts.
dynamic=$(readelf -dW "$collector")
while read -r library; do
	case $library in
	libc.so.6 | ld-linux-x86-64.so.2) ;;
	*) finding "needs $library: it would be loaded into every program" ;;
	esac
done < <(sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' <<<"$dynamic")
grep -qE '\(BIND_NOW\)|FLAGS.*BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || finding "is bound lazily (want -z now)"
! grep -q '(TEXTREL)' <<<"$dynamic" || finding "has relocations in its code"
# Programs may call malloc on a stack that is 8 off, which libc survives.
vectors=$(objdump -d --no-show-raw-insn "$collector" | grep -c '%[xyz]mm' || true)
[ "$vectors" -eq 0 ] || finding "uses vector registers ($vectors times): they need an aligned stack"
grep -q 'STATIC_TLS' <<<"$dynamic" ||
	! readelf -lW "$collector" | grep '^ *TLS ' >/dev/null ||
	finding "has thread-local storage that is not initial-exec"
verdict nolibc "$findings" ${#imports[@]}
