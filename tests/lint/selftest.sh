#!/usr/bin/env bash
# Does each lint find what it is for?  A violation is planted in a small copy of the
# source, and the lint has to fail there, naming the planted line - after it passed
# on the copy without it.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
here=$root/tests/lint
passed=0
failed=0
skipped=0

fresh_copy() {
	rm -rf "${copy:?}"/*
	mkdir -p "$copy"/{collector,src/{base,profile,graph,report,cmd},query,tests/{lint,unit}}
	cp "$root/tests/lint/"*.{sh,txt} "$copy/tests/lint/"
	printf '# none\n' >"$copy/tests/lint/sizes.txt"
	cp "$root/.clang-format" "$copy/"
	cat >"$copy/src/base/clean.h" <<'C'
/* A header. */
#ifndef NEAP_BASE_CLEAN_H
#define NEAP_BASE_CLEAN_H

int clean_one(int a);

#endif
C
	cat >"$copy/src/base/clean.c" <<'C'
/* "strcpy(" in a string or a comment is not a call: sprintf(. */
#include "config.h"

#include "src/base/clean.h"

int clean_one(int a)
{
	return a + (int)sizeof "malloc(";
}
C
}

# expect LINT STATUS WHAT: runs LINT in the copy; WHAT must stand in its output.
expect() {
	local lint=$1 want=$2 what=$3 status=0 output
	output=$(LINT_ROOT=$copy bash "$here/$lint.sh" 2>&1) || status=$?
	if [ "$status" = 77 ]; then
		echo "$lint: ${output##*SKIP: }"
		skipped=$((skipped + 1))
	elif [ "$status" = "$want" ] && grep -qF -- "$what" <<<"$output"; then
		passed=$((passed + 1))
	else
		echo "$lint: want status $want and \"$what\", got status $status:"
		printf '%s\n' "$output" | sed 's/^/    /'
		failed=$((failed + 1))
	fi
}

# plant LINT FILE WHAT TEXT: TEXT goes to the end of FILE; LINT must then say WHAT.
plant() {
	fresh_copy
	expect "$1" 0 "nothing found"
	mkdir -p "$(dirname "$copy/$2")"
	printf '%s\n' "$4" >>"$copy/$2"
	expect "$1" 1 "$3"
}

function_of() { # LINES: a function with that many lines in its body
	local i
	printf 'int long_one(void)\n{\n'
	for ((i = 1; i < $1; i++)); do printf '\tclean_one(%d);\n' "$i"; done
	printf '\treturn 0;\n}\n'
}

test_layers() {
	plant layers src/base/clean.c "may not include src/graph/graph.h" '#include "src/graph/graph.h"'
	plant layers src/profile/x.c "may not include src/report/report.h" '# include "src/report/report.h"'
	plant layers collector/x.c "may not include src/base/mem.h" '#include "src/base/mem.h"'
	plant layers src/graph/x.c "src/profile/profile_priv.h is private" '#include "src/profile/profile_priv.h"'
	plant layers src/graph/x.c 'write "y.h" from the top' '#include "y.h"'
	plant layers src/profile/x.h "may not include the third-party header zstd.h" '#include <zstd.h>'
	plant layers src/graph/x.c "zstd.h may be included in src/profile/ src/exchange/ src/sym/ only" '#include <zstd.h>'
	plant layers src/new/x.c "no place in the layers" '#include "src/base/clean.h"'
}

test_sizes() {
	plant sizes src/base/clean.c "long_one has 61 lines" "$(function_of 61)"
	fresh_copy
	function_of 60 >>"$copy/src/base/clean.c"
	expect sizes 0 "nothing found"
	printf 'src/base/clean.c:long_one 60 no reason\n' >>"$copy/tests/lint/sizes.txt"
	expect sizes 1 "needs no exception"
	plant sizes src/base/clean.c "lines, at most 900" "$(seq -f '/* %g */' 900)"
	plant sizes tests/lint/sizes.txt "there is no src/gone.c:f" 'src/gone.c:f 70 gone'
}

test_banned() {
	plant banned src/base/clean.c "strcpy is not used here" 'void f(char *a) { strcpy(a, a); }'
	plant banned collector/x.c "alloca is not used here" 'void *f(void) { return alloca (8); }'
	plant banned tests/unit/x.c "sprintf is not used here" 'void f(char *a) { sprintf(a, "x"); }'
	plant banned src/base/clean.c "malloc goes around" 'void *f(void) { return malloc(1); }'
	plant banned query/x.c "free goes around" 'void f(char *p) { free(p); /* libc free: */ }'
	fresh_copy
	printf 'void f(char *p)\n{\n\tfree(p); /* libc free: realpath made it */\n}\n' >>"$copy/src/base/clean.c"
	printf 'void f(struct x *p) { p->free(p); snprintf(0, 0, "x"); }\n' >>"$copy/src/base/clean.c"
	expect banned 0 "nothing found"
}

test_headers() {
	plant headers src/base/x.h "no guard named NEAP_BASE_X_H" 'int x;'
	plant headers query/x.h "does not compile alone" '#ifndef NEAP_QUERY_X_H
#define NEAP_QUERY_X_H
uint32_t x(void);
#endif'
}

test_words() {
	plant words src/base/clean.c "src/base/clean.c:" "/* as said in an earlier ses""sion */"
	plant words src/base/clean.c "src/base/clean.c:" "/* see /wo""rk/main */"
}

test_format() {
	plant format src/base/clean.c "should be clang-formatted" 'int  f (void) {return 0;}'
}

test_shell() {
	plant shell tests/x.sh "SC2068" '#!/bin/sh
cp $@ /tmp'
}

# A lint that finds no files must fail.
test_empty() {
	local lint
	for lint in layers sizes banned headers format; do
		fresh_copy
		rm -rf "$copy"/{collector,src,query}
		find "$copy/tests" -name '*.sh' -delete
		expect "$lint" 1 "found no file"
	done
}

library_from() { # C-SOURCE: builds $copy/x.so
	printf '%s\n' "$1" | ${CC:-gcc} -x c -shared -fPIC -O1 -fno-builtin -w -Wl,-z,now -o "$copy/x.so" - || return 1
	export LINT_COLLECTOR=$copy/x.so
}

test_nolibc() {
	fresh_copy
	library_from 'unsigned long strlen(const char *); long f(char *s) { return strlen(s); }'
	expect nolibc 0 "nothing found"
	library_from 'int snprintf(char *, long, const char *, ...); int f(void) { return snprintf(0, 0, "x"); }'
	expect nolibc 1 "imports snprintf"
	library_from '__thread int t[99]; int *f(void) { return t; }'
	expect nolibc 1 "thread-local storage"
	library_from 'double f(double x) { return 2 * x; }'
	expect nolibc 1 "vector registers"
}

test_exports_lib() {
	local build=$copy/build
	fresh_copy
	mkdir -p "$copy/src/lib/neap"
	printf '/* neap_comment() is no function. */\nint neap_one(void);\n' >"$copy/src/lib/neap/one.h"
	printf 'NEAP_0 { global: neap_*; local: *; };\n' >"$copy/lib.map"
	mkdir -p "$build"
	# library CODE: a library made of it.
	library() {
		printf '%s\n' "$1" >"$build/lib.c"
		${CC:-gcc} -shared -fPIC -w -Wl,--version-script="$copy/lib.map" -o "$build/lib.so" "$build/lib.c"
	}
	export LINT_LIBRARY=$build/lib.so
	library 'int neap_one(void) { return 1; }'
	expect exports-lib 0 "nothing found"
	library 'int neap_one(void) { return 1; } int neap_two(void) { return 2; }'
	expect exports-lib 1 "exports neap_two"
	library 'int neap_three(void) { return 3; }'
	expect exports-lib 1 "does not export neap_one"
	library 'void exit(int); int neap_one(void) { exit(1); return 1; }'
	expect exports-lib 1 "calls exit"
	unset LINT_LIBRARY
}

test_exports() {
	local all
	fresh_copy
	all=$(sed 's/[[:space:]]*#.*//; /^$/d; s/.*/void &(void) { }/' "$here/collector-exports.txt")
	library_from "$all"
	expect exports 0 "nothing found"
	library_from "$all
	void printf(void) { }"
	expect exports 1 "exports printf"
	library_from "$(sed '/ malloc(/d' <<<"$all")"
	expect exports 1 "does not export malloc"
}

for lint in layers sizes banned headers words format shell empty nolibc exports exports_lib; do
	"test_$lint"
done
echo "selftest: $passed held, $failed did not, $skipped could not be tried"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
