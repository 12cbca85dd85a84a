#!/bin/bash
# libneap as it is installed: a program built with nothing but the flags of pkg-config, on a
# profile whose heap is known; the example of the manual page; C++.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../integration/lib.sh"
here=$srcdir_abs/tests/lib
root=$tmp/root
CC=${CC:-cc}
CXX=${CXX:-c++}
if ! command -v pkg-config >/dev/null 2>&1; then
	echo "SKIP: pkg-config is not installed"
	exit 77
fi

# ---- install ----------------------------------------------------------------------

if env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$builddir_abs" install DESTDIR="$root" >"$tmp/install" 2>&1; then
	ok "make install"
else
	bad "make install" "$(tail -n 5 "$tmp/install")"
	finish
fi
pc=$(find "$root" -name libneap.pc)
equal "one libneap.pc" 1 "$(grep -c . <<<"$pc")"
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_LIBDIR=$(dirname "$pc"):$(env -u PKG_CONFIG_SYSROOT_DIR pkg-config --variable=pc_path pkg-config)
read -r -a flags <<<"$(pkg-config --cflags --libs libneap)"
equal "the flags name the installed copy" 2 \
	"$(printf '%s\n' "${flags[@]}" | grep -cxE -e "-I$(dirname "$(find "$root" -path '*/neap/query.h' -printf '%h\n')")|-L${pc%/pkgconfig/*}")"
export LD_LIBRARY_PATH=${pc%/pkgconfig/*}
equal "the name that programs are linked with" libneap.so.0 \
	"$(basename "$(find "$root" -name 'libneap.so.0')")"

# build COMPILER SOURCE OUTPUT FLAGS...: in an empty directory, so that only what is installed is found.
mkdir "$tmp/empty"
build() {
	local compiler=$1 source=$2 output=$3
	shift 3
	# shellcheck disable=SC2086 # the compiler may have flags
	if (cd "$tmp/empty" && $compiler "$@" -Wall -Wextra -Werror -o "$output" "$source" "${flags[@]}") >"$tmp/build" 2>&1; then
		ok "$(basename "$source") builds"
	else
		bad "$(basename "$source") builds" "$(head -n 5 "$tmp/build")"
	fi
}

build "$CC" "$here/example.c" "$tmp/example" -std=c11 -pedantic
example() {
	status=0
	"$tmp/example" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
}

# ---- errors ------------------------------------------------------------------------

example "$tmp/none.neap"
equal "no such file: status" 3 "$status"
equal "no such file: message" "cannot open '$tmp/none.neap': No such file or directory" "$(cat "$tmp/err")"
example "$here/example.c"
equal "no profile: status" 3 "$status"
equal "no profile: nothing printed by the library" 1 "$(grep -c . "$tmp/err")"

# ---- C++ -------------------------------------------------------------------------------

if command -v "${CXX%% *}" >/dev/null 2>&1; then
	build "$CXX" "$here/example.cpp" "$tmp/example-cxx" -std=c++11 -pedantic
	equal "C++: an error is a value" "2 cannot open '': No such file or directory" \
		"$("$tmp/example-cxx" "")"
else
	skip "no C++ compiler"
fi

# ---- the example of the manual page --------------------------------------------------------

sed -n '/^\.\\" example: begin$/,/^\.\\" example: end$/p' "$srcdir_abs/man/libneap.3" |
	sed '/^\./d; s/\\e/\\/g; s/\\&//g' >"$tmp/manual.c"
equal "libneap(3) has a program" 1 "$(grep -c '^main(' "$tmp/manual.c")"
build "$CC" "$tmp/manual.c" "$tmp/manual" -std=c11

# ---- profiles made for tests ----------------------------------------------------------------------

"$builddir_abs/tests/golden/make_profiles" "$tmp" || bad "make_profiles"
example "$tmp/json.neap" "allocated | by func | where func ~ /new/"
equal "frames: wrappers are marked" 1 "$(grep -c '^    operator new(unsigned long) .*, wrapper$' "$tmp/out")"
example "$tmp/hostile.neap" "peak | by func"
equal "drops are told, and it is not exact" "0 exact: no" "$status $(grep '^exact: ' "$tmp/out")"
equal "drops have a meaning" yes "$(grep -q '^blocks not counted: .*: [0-9]*$' "$tmp/out" && echo yes)"

printf 'main;f 10\nmain;g many\n' >"$tmp/odd.folded"
"$NEAP" import -o "$tmp/odd.neap" "$tmp/odd.folded" >/dev/null 2>&1
example "$tmp/odd.neap" "live | by func"
equal "what an import left out is missing" "0 exact: no" "$status $(grep '^exact: ' "$tmp/out")"

# ---- a recorded profile -------------------------------------------------------------------------

if [ ! -e "${NEAP_COLLECTOR:-$builddir_abs/collector/.libs/libneap-collector.so}" ]; then
	skip "the collector is not built here: nothing to record"
	finish
fi
record -o "$tmp/peak.neap" -- "$targets/26-peak-between-snapshots"
equal "record: exit status" 0 "$status"

example "$tmp/peak.neap" "peak func = spike or func = phase_a | by func | top 2 by self" \
	"peak | by func | top 3"
equal "example: status" 0 "$status"
equal "example: the command" "command: $targets/26-peak-between-snapshots" "$(sed -n 1p "$tmp/out")"
equal "example: exact" 2 "$(sed -n '2,3p' "$tmp/out" | grep -c 'exact')"
equal "example: exit status of the program" 1 "$(grep -cx 'exit status: 0' "$tmp/out")"
equal "example: the program is among the modules" "program: $targets/26-peak-between-snapshots" \
	"$(grep '^program' "$tmp/out")"
# answer QUERY: the rows that example printed for a query in its canonical spelling, values between blanks.
answer() {
	awk -v want="query: $1" '/^query: / { on = $0 == want; next } on && !/^    /' "$tmp/out" | sed 1d | tr '\t' ' '
}
equal "example: rows and the others" "spike 64002112 64002112 64 0.865
phase_a 10000030 10000030 10 0.135" "$(answer "peak func=spike or func=phase_a | by func | top 2 by self" | grep -v '^(others)')"
from_tsv=$("$NEAP" query "$tmp/peak.neap" 'peak | by func | top 3 | as tsv' | grep -v '^(other' | sed 1d | cut -f1-4 | tr '\t' ' ')
equal "example: three rows" 3 "$(grep -c . <<<"$from_tsv")"
equal "example: the same values as neap query" "$from_tsv" \
	"$(answer "peak | by func | top 3" | grep -v '^(others)' | cut -d' ' -f1-4)"
equal "example: one row for the others" 1 "$(answer "peak | by func | top 3" | grep -c '^(others)')"

example "$tmp/peak.neap" "peak | stacks | limit 2"
equal "stacks: spike below main, with lines" "main spike" \
	"$(grep -o '^    [a-z_]* at .*/26-peak-between-snapshots.c:[0-9]*' "$tmp/out" | sed -n 1,2p |
		awk '{ print $1 }' | tr '\n' ' ' | sed 's/ $//')"

example "$tmp/peak.neap" "peak | by fnuc"
equal "a wrong query: status" 1 "$status"
equal "a wrong query: where" "column 11: unknown key 'fnuc'" "$(tail -n 1 "$tmp/out")"
equal "a wrong query: as neap query says it" \
	"$("$NEAP" query "$tmp/peak.neap" "peak | by fnuc" 2>&1)" \
	"$(sed -n '/^error: /,/^ = help/p' "$tmp/out")"
example "$tmp/peak.neap" "live; peak"
equal "two queries: where" "column 7: a second query" "$(tail -n 1 "$tmp/out")"
example "$tmp/peak.neap" 'let a = func = spike;'
equal "no query" 1 "$status"
example "$tmp/peak.neap" 'peak | assert total < 1KiB "too much"'
equal "an assertion is part of the answer" "0 failed: too much" "$status $(tail -n 1 "$tmp/out")"

equal "manual: what it prints" "$(cut -d' ' -f1,3 <<<"$from_tsv")" \
	"$("$tmp/manual" "$tmp/peak.neap" | awk -F'\t' '{ print $2 " " $1 }')"
if [ -x "$targets/56-inline" ]; then
	record -o "$tmp/inline.neap" -- "$targets/56-inline"
	example "$tmp/inline.neap" "leaked func ~ inlined_twice | stacks | limit 1"
	equal "stacks: what was inlined into what" "deep::outer deep::inlined_twice" \
		"$(sed -n '/inlined_twice | stacks/,$p' "$tmp/out" | grep -A1 '^    middle(int) at .*:[0-9]*, inlined$' -B1 |
			sed -n '1s/^    \([a-z:]*\)(.*/\1/p; 3s/^    void \([a-z:_]*\)<.*, inlined$/\1/p' | tr '\n' ' ' | sed 's/ $//')"
fi
if [ -x "$tmp/example-cxx" ]; then
	equal "C++: cancelled" "version $("$NEAP" --version | sed 's/^neap //;q'), cancelled 1" \
		"$("$tmp/example-cxx" "$tmp/peak.neap")"
fi
finish
