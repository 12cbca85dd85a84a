# shellcheck shell=bash
# What the lints share.  Source it first; it leaves the root of the source in $root.
#
# A lint prints one line per finding, `file:line: what is wrong`, and exits 1; it
# exits 77 with a reason if it cannot run here.  A lint that lists files fails when
# the list is empty: a check of nothing must not pass.

set -euo pipefail
export LC_ALL=C

root=${LINT_ROOT:-${srcdir_abs:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}}
cd "$root"

# Folders of the product: what is compiled into neap and the collector.
# shellcheck disable=SC2034 # for the lints
product_folders="collector src query tui"

# list_files FOLDERS -- PATTERNS: regular files of these names, sorted, one a line.
list_files() {
	local folders=() names=()
	while [ "$1" != -- ]; do
		[ ! -d "$1" ] || folders+=("$1")
		shift
	done
	shift
	while [ $# -gt 0 ]; do
		[ ${#names[@]} -eq 0 ] || names+=(-o)
		names+=(-name "$1")
		shift
	done
	[ ${#folders[@]} -gt 0 ] || return 0
	find "${folders[@]}" -type f \( "${names[@]}" \) | sort
}

# need_files NAME COUNT: ends the lint if its list is empty.
need_files() {
	if [ "$2" -eq 0 ]; then
		echo "$1: found no file to look at under $root; the lint itself is broken"
		exit 1
	fi
}

need_command() {
	if ! command -v "$1" >/dev/null 2>&1; then
		echo "SKIP: $1 is not installed (./bootstrap deps installs it)"
		exit 77
	fi
}

# compare_exports FILE WANTED WHERE: says which names of exports=(...) are too many or too few, and
# counts them in findings; WANTED has one name a line and stands in WHERE.
compare_exports() {
	local name
	# shellcheck disable=SC2154 # the lint's
	while read -r name; do
		echo "$1: exports $name, which is not in $3"
		findings=$((findings + 1))
	done < <(comm -23 <(printf '%s\n' "${exports[@]}") <(printf '%s\n' "$2"))
	while read -r name; do
		echo "$1: does not export $name, which is in $3"
		findings=$((findings + 1))
	done < <(comm -13 <(printf '%s\n' "${exports[@]}") <(printf '%s\n' "$2"))
}

# verdict NAME FINDINGS FILES: the last line of every lint.
verdict() {
	if [ "$2" -gt 0 ]; then
		echo "$1: $2 findings in $3 files"
		exit 1
	fi
	echo "$1: $3 files, nothing found"
}
