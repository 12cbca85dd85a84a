#!/usr/bin/env bash
# The tools that look for bugs: clang-tidy, cppcheck, and mandoc for the manual pages.
# `make lint-tools`.  A tool that is not installed is named, not passed over.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${builddir_abs:?run it by 'make lint-tools'}
defines=(-D_GNU_SOURCE -DNEAP_PKGLIBDIR='"/usr/lib/neap"' -DNEAP_PKGLIBEXECDIR='"/usr/libexec/neap"' -DNEAP_COLLECTOR_BUILD_DIR='"collector/.libs"'
	-DNEAP_COLLECTOR_NAME='"libneap-collector.so"')

# Called again by xargs for some files each, to use both processors.
if [ "${1:-}" = --tidy ]; then
	shift
	exec clang-tidy --quiet "$@" -- -std=gnu11 -I"$build" -I"$root" -I"$root/src/lib" "${defines[@]}"
fi

# shellcheck disable=SC2086 # folders are words
mapfile -t sources < <(list_files $product_folders -- '*.c')
need_files tools ${#sources[@]}
mapfile -t pages < <(list_files man -- '*.[1-9]')

run_tidy() {
	printf '%s\0' "${sources[@]}" | xargs -0 -P 2 -n 5 "$BASH" "${BASH_SOURCE[0]}" --tidy
}

run_cppcheck() {
	cppcheck --quiet --std=c11 --platform=unix64 --error-exitcode=1 --inline-suppr \
		--enable=warning,portability --suppressions-list=tests/lint/cppcheck.txt -j 2 \
		-DPROTOBUF_C_VERSION_NUMBER=1004001 -DPROTOBUF_C_MIN_COMPILER_VERSION=1000000 \
		-I "$build" -I "$root" -I "$root/src/lib" "${defines[@]}" "${sources[@]}"
}

run_mandoc() {
	[ ${#pages[@]} -gt 0 ] || return 0
	mandoc -Tlint -Wwarning "${pages[@]}"
}

failed=0
run() { # NAME FUNCTION
	if ! command -v "$1" >/dev/null 2>&1; then
		echo "$1: SKIP, not installed (./bootstrap deps installs it)"
	elif "$2"; then
		echo "$1: nothing found"
	else
		echo "$1: findings, see above"
		failed=1
	fi
}

run mandoc run_mandoc
run cppcheck run_cppcheck
run clang-tidy run_tidy
exit "$failed"
