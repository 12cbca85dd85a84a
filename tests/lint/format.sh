#!/usr/bin/env bash
# The layout is clang-format's (`make format` rewrites it).

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
formatter=${CLANG_FORMAT:-clang-format}
need_command "$formatter"
# Versions disagree in details; one has to be the measure.
if ! "$formatter" --version | grep -q 'version 14\.'; then
	echo "SKIP: the layout is checked with clang-format 14, here is $("$formatter" --version)"
	exit 77
fi

# tests/targets are programs as people write them.
# shellcheck disable=SC2086 # folders are words
mapfile -t files < <(list_files $product_folders tests -- '*.c' '*.h' | grep -v '^tests/targets/')
need_files format ${#files[@]}
if ! "$formatter" --dry-run -Werror --style=file "${files[@]}"; then
	verdict format 1 ${#files[@]}
fi
verdict format 0 ${#files[@]}
