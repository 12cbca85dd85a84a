#!/bin/bash
# Usage: fuzz.sh SOURCE BUILD SECONDS
# Builds the fuzzers with clang and runs each for SECONDS, or only those that FUZZ_ONLY names; import:FORMAT is the importer
# of that format alone, and imports is each importer by itself.  FUZZ_SEEDS names a directory of more files to begin with.
# New inputs go to BUILD/fuzz; keep.sh copies those worth keeping to tests/fuzz/corpus.  Exits 1 on a finding.
set -euo pipefail

source=$1 build=$2 seconds=$3
if ! command -v clang >/dev/null; then
	echo "fuzz: clang is needed (Debian: apt-get install clang libclang-rt-14-dev)" >&2
	exit 1
fi

build() { # NAME OPTIONS-AND-SOURCES...
	local name=$1
	shift
	mkdir -p "$build/fuzz/$name"
	clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-I"$build" -I"$source" -o "$build/fuzz/fz_$name" "$source/tests/fuzz/fz_$name.c" \
		"$source"/src/base/*.c "$@"
}

run() { # NAME or NAME:FORMAT
	local name=${1%%:*} found=${1/:/-}
	mkdir -p "$found"
	if [ "$name" != "$1" ]; then
		local -x NEAP_FUZZ_FORMAT=${1#*:}
	fi
	echo "fuzz: $1, $seconds s"
	nice "./fz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
		-artifact_prefix="$found." "$found" "$source/tests/fuzz/corpus/$name" ${FUZZ_SEEDS:+"$FUZZ_SEEDS"}
}

importers() {
	sed -n 's/^FORMAT([A-Z]*, "\([a-z]*\)".* READS(.*/import:\1/p' "$source/src/exchange/formats.def"
}

build profile "$source/tests/unit/sample_profile.c" "$source"/src/profile/*.c -lzstd
build query "$source/tests/unit/query_dump.c" "$source"/query/{lex,parse}*.c \
	"$source"/query/{complete,near,print,vocab}.c
build exec "$source"/tests/unit/{build_profile,random_world}.c "$source"/{query,src/graph,src/profile,src/sym}/*.c \
	-lpcre2-8 -lzstd -ldwarf -liberty -lelf -ldeflate -lz -llzma -lpthread -lm
build sym "$source"/src/sym/*.c "$source"/src/profile/*.c -lzstd -ldwarf -liberty -lelf \
	-ldeflate -lz -llzma -lpthread
make -C "$build" --no-print-directory exchange-made src/exchange/assets.c >/dev/null
build import "$source/tests/unit/sample_profile.c" "$source"/src/{profile,graph,exchange}/*.c \
	"$build"/src/exchange/*.c -lzstd -lz -lbz2 -llzma -lyajl -lprotobuf-c -lm
cd "$build/fuzz"
status=0
names=${FUZZ_ONLY:-profile query exec sym import}
for name in ${names/#imports/$(importers)}; do
	run "$name" || status=1
done
exit "$status"
