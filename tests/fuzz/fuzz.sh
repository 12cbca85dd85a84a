#!/bin/bash
# Usage: fuzz.sh SOURCE BUILD SECONDS
# Builds the fuzzers with clang and runs each for SECONDS.  New inputs go to BUILD/fuzz;
# copy those worth keeping to tests/fuzz/corpus.  Exits 1 on a finding.
set -euo pipefail

source=$1 build=$2 seconds=$3
if ! command -v clang >/dev/null; then
	echo "fuzz: clang is needed (Debian: apt-get install clang libclang-rt-14-dev)" >&2
	exit 1
fi
mkdir -p "$build/fuzz/profile"
clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-I"$build" -I"$source" -o "$build/fuzz/fz_profile" \
	"$source/tests/fuzz/fz_profile.c" "$source/tests/unit/sample_profile.c" \
	"$source"/src/profile/*.c "$source"/src/base/*.c -lzstd
cd "$build/fuzz"
exec nice ./fz_profile -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
	-max_len=65536 -print_final_stats=1 profile "$source/tests/fuzz/corpus/profile"
