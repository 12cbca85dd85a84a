#!/usr/bin/env bash
# Every header compiles alone and has the guard NEAP_FOLDER_FILE_H.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
compiler=${CC:-gcc}
need_command "${compiler%% *}"

findings=0
# Headers that are installed, as <neap/NAME.h>; programs of any kind include them.
public="collector/neap.h src/lib/neap/profile.h src/lib/neap/query.h"
guard_of() { # src/base/err.h -> NEAP_BASE_ERR_H; <neap/neap.h> NEAP_NEAP_H, <neap/query.h> NEAP_NEAP_QUERY_H
	local name=${1#src/}
	case $1 in
	collector/neap.h) name=neap_h ;;
	src/lib/neap/*) name=neap_${1##*/} ;;
	esac
	name=${name//[\/.-]/_}
	echo "NEAP_${name^^}"
}

check_guard() {
	local guard
	guard=$(guard_of "$1")
	if ! grep -qx "#ifndef $guard" "$1" || ! grep -q "^#define $guard\$" "$1"; then
		echo "$1:1: no guard named $guard"
		findings=$((findings + 1))
	fi
}

compiles() { # LANGUAGE STANDARD FILE
	if ! printf '#include "%s"\n' "$3" |
		$compiler -x "$1" -std="$2" -D_GNU_SOURCE -I"$root" -I"$root/src/lib" -fsyntax-only -Wall -Wextra -Werror -; then
		echo "$3:1: does not compile alone as $2"
		findings=$((findings + 1))
	fi
}

# shellcheck disable=SC2086 # folders are words
mapfile -t files < <(list_files $product_folders -- '*.h')
need_files headers ${#files[@]}
for file in "${files[@]}"; do
	check_guard "$file"
	compiles c gnu11 "$file"
done
for file in $public; do
	[ -e "$file" ] || continue
	compiles c c99 "$file"
	compiles c++ c++98 "$file"
done
verdict headers "$findings" ${#files[@]}
