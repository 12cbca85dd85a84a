#!/usr/bin/env bash
# What the collector shows to the program: exactly the names of collector-exports.txt.
# A name too many would replace a function of the program; one too few would let its
# allocations go by unseen.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
collector=${LINT_COLLECTOR:-${NEAP_COLLECTOR:-}}
list=tests/lint/collector-exports.txt
need_command nm
if [ ! -e "${collector:-/nonexistent}" ]; then
	echo "SKIP: the collector is not built here (${collector:-NEAP_COLLECTOR is not set})"
	exit 77
fi

mapfile -t exports < <(nm -D --defined-only "$collector" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u)
need_files exports ${#exports[@]}
wanted=$(sed 's/[[:space:]]*#.*//; /^$/d' "$list" | sort -u)
findings=0
compare_exports "$collector" "$wanted" "$list"
verdict exports "$findings" ${#exports[@]}
