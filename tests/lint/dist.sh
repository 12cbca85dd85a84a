#!/usr/bin/env bash
# Every file under version control is in the release archive, so that what is
# unpacked can be built and tested.  Works in a checkout that has a build directory.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_command git
if [ ! -e .git ]; then
	echo "SKIP: this is not a checkout"
	exit 77
fi
build=${builddir_abs:?run it by make check}

shipped=$(mktemp)
trap 'rm -f "$shipped"' EXIT
env -u MAKEFLAGS -u MAKELEVEL make -s -C "$build" list-distfiles |
	sed "s|^$root/||" | sort -u >"$shipped"
mapfile -t files < <(git ls-files | grep -vxE '\.gitignore|\.ci/run')
need_files dist ${#files[@]}

# A folder that is shipped stands for all that is in it.
is_shipped() {
	local path=$1
	while [ "$path" != . ]; do
		! grep -qxF -- "$path" "$shipped" || return 0
		path=$(dirname "$path")
	done
	return 1
}

findings=0
for file in "${files[@]}"; do
	# What was moved or deleted but not committed yet is nobody's mistake.
	if [ -e "$file" ] && ! is_shipped "$file"; then
		echo "$file:1: is in no _SOURCES, _HEADERS, _MANS or EXTRA_DIST"
		findings=$((findings + 1))
	fi
done
verdict dist "$findings" ${#files[@]}
