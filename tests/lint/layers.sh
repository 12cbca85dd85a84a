#!/usr/bin/env bash
# Layers never point upward: who may include whom.  See HACKING.md, "Layers".
#
# Also: FOLDER_priv.h is for its folder only, no header includes a third-party
# header, and each third-party library is used in one place.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Headers of src/base that allocate nothing and are inline throughout.
collector_may="collector/"

allowed_for() {
	case $1 in
	collector/*) echo "$collector_may" ;;
	src/base/*) echo "src/base/" ;;
	src/profile/*) echo "src/profile/ src/base/" ;;
	src/graph/*) echo "src/graph/ src/profile/ src/base/" ;;
	src/sym/*) echo "src/sym/ src/profile/ src/base/" ;;
	src/record/*) echo "src/record/ collector/format.h src/sym/ src/profile/ src/base/" ;;
	src/exchange/*) echo "src/exchange/ src/graph/ src/profile/ src/base/" ;;
	query/*) echo "query/ src/graph/ src/sym/ src/profile/ src/base/" ;;
	src/report/*) echo "src/report/ query/ src/exchange/ src/graph/ src/sym/ src/profile/ src/base/" ;;
	src/lib/neap/*) echo "" ;; # installed: includes nothing of ours but <neap/...>
	src/lib/*) echo "src/lib/ query/ src/graph/ src/profile/ src/base/" ;;
	tui/*) echo "tui/ src/report/ query/ src/exchange/ src/graph/ src/sym/ src/profile/ src/base/" ;;
	src/cmd/* | src/main.c) echo "src/ query/" ;;
	*) echo "" ;;
	esac
}

# Third-party headers and the only folders that may include them.
owner_of() {
	case $1 in
	libdwarf/*.h | libdwarf.h | dwarf.h | libelf.h | gelf.h) echo src/sym/ ;;
	libiberty/*.h | demangle.h) echo src/sym/ ;;
	zstd.h | zstd_errors.h) echo "src/profile/ src/exchange/ src/sym/" ;;
	zlib.h | lzma.h) echo "src/exchange/ src/sym/" ;;
	bzlib.h | yajl/*.h) echo src/exchange/ ;;
	libdeflate.h) echo src/sym/ ;;
	pcre2.h) echo query/ ;;
	curses.h | ncurses.h | ncursesw/*.h) echo tui/ ;;
	libunwind.h | libunwind-*.h) echo collector/ ;;
	*) echo "" ;;
	esac
}

findings=0
finding() {
	echo "$1:$2: $3"
	findings=$((findings + 1))
}

# starts_with_one_of TEXT PREFIXES
starts_with_one_of() {
	local text=$1 prefix
	shift
	for prefix in "$@"; do
		[[ $text != "$prefix"* ]] || return 0
	done
	return 1
}

check_project() { # FILE LINE INCLUDED
	local allowed
	[ "$3" != config.h ] || return 0
	read -r -a allowed <<<"$(allowed_for "$1")"
	if [ ${#allowed[@]} -eq 0 ]; then
		finding "$1" "$2" "this folder has no place in the layers; add it to tests/lint/layers.sh"
	elif [[ $3 != */* ]]; then
		finding "$1" "$2" "write \"$3\" from the top of the source"
	elif ! starts_with_one_of "$3" "${allowed[@]}"; then
		finding "$1" "$2" "may not include $3 (may: ${allowed[*]})"
	elif [[ $3 == *_priv.h && $(dirname "$1") != $(dirname "$3") ]]; then
		finding "$1" "$2" "$3 is private to its folder"
	fi
}

check_system() { # FILE LINE INCLUDED
	local owner owners
	owner=$(owner_of "$3")
	[ -n "$owner" ] || return 0
	if [[ $1 == *.h ]]; then
		finding "$1" "$2" "a header may not include the third-party header $3"
	elif read -r -a owners <<<"$owner" && ! starts_with_one_of "$1" "${owners[@]}"; then
		finding "$1" "$2" "$3 may be included in $owner only"
	fi
}

# shellcheck disable=SC2086 # folders are words
mapfile -t files < <(list_files $product_folders -- '*.c' '*.h' '*.def')
need_files layers ${#files[@]}
while IFS=: read -r file line text; do
	included=${text#*[<\"]}
	included=${included%%[>\"]*}
	case $text in
	*\"*) check_project "$file" "$line" "$included" ;;
	*) check_system "$file" "$line" "$included" ;;
	esac
done < <(grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' "${files[@]}" || true)
verdict layers "$findings" ${#files[@]}
