#!/bin/bash
# Replays the saved corpora of the fuzzers.
# shellcheck disable=SC2154  # the variables of tests/local.mk
set -euo pipefail

for name in profile query exec sym import; do
	corpus=$srcdir_abs/tests/fuzz/corpus/$name
	files=("$corpus"/*)
	if [ ! -e "${files[0]}" ]; then
		echo "no files in $corpus"
		exit 1
	fi
	"$builddir_abs/tests/fuzz/replay_$name" "${files[@]}"
done
