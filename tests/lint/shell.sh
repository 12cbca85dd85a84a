#!/usr/bin/env bash
# Every script, by shellcheck.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_command shellcheck

mapfile -t files < <(list_files tests src collector -- '*.sh' '*.bash')
need_files shell ${#files[@]}
for script in bootstrap .ci/run; do
	[ ! -f "$script" ] || files+=("$script")
done
# Variables that only the sourcing script uses, and files found by a variable, are fine.
if ! shellcheck -x -S warning -e SC1091,SC2034 "${files[@]}"; then
	verdict shell 1 ${#files[@]}
fi
verdict shell 0 ${#files[@]}
