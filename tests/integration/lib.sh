# shellcheck shell=bash
# What the integration scripts share.  Source it first:
#
#   . "$(dirname "$0")/lib.sh"
#
# Run a script by hand from the build directory, for example
#
#   bash ../neap/tests/integration/targets.sh 12 26
#
# Variables from `make check`, with defaults for running by hand:
#   srcdir_abs    top of the source tree
#   builddir_abs  top of the build tree (where ./neap is)
#   NEAP          the program under test
#   KEEP=1        keep the scratch directory and say where it is
#   VERBOSE=1     print every check, not only the failed ones

set -u
srcdir_abs=${srcdir_abs:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
builddir_abs=${builddir_abs:-$PWD}
NEAP=${NEAP:-$builddir_abs/neap}
TRUTH=$builddir_abs/tests/integration/truth
targets=$builddir_abs/tests/targets
self=$(basename "$0")
export LC_ALL=C TZ=UTC
unset LD_PRELOAD

if [ ! -x "$NEAP" ]; then
	echo "SKIP: $NEAP is not built"
	exit 77
fi

tmp=$(mktemp -d "${TMPDIR:-/tmp}/neap-$self.XXXXXX") || exit 1
cleanup() {
	if [ "${KEEP:-0}" = 1 ]; then
		echo "# kept: $tmp"
	else
		rm -rf "$tmp"
	fi
}
trap cleanup EXIT

passed=0
failed=0
skipped=0

# wanted NAME: whether the words of the command line, only=("$@"), ask for this part; none: for all.
wanted() {
	local n
	# shellcheck disable=SC2154 # the script's
	[ ${#only[@]} -eq 0 ] && return 0
	for n in "${only[@]}"; do [ "$n" = "$1" ] && return 0; done
	return 1
}

# ok WHAT / bad WHAT [DETAIL...]: one check.
ok() {
	passed=$((passed + 1))
	if [ "${VERBOSE:-0}" = 1 ]; then echo "ok - $1"; fi
}
bad() {
	failed=$((failed + 1))
	echo "not ok - $1"
	shift
	local line
	for line in "$@"; do echo "#   $line"; done
}
skip() {
	skipped=$((skipped + 1))
	echo "ok - # SKIP $1"
}

# equal WHAT EXPECTED GOT
equal() {
	if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "expected $2" "got      $3"; fi
}

# record ARGS...: runs `neap record -q ARGS`; status in $status, what it said in $tmp/err.
# The target's output goes to $tmp/out.
record() {
	status=0
	timeout -k 5 "${RECORD_SECONDS:-60}" "$NEAP" record -q "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
	if [ "$status" = 124 ]; then bad "neap record $* ends within ${RECORD_SECONDS:-60} s"; fi
}

# truth TITLE ARGS...: runs the checks of truth(ARGS) and counts them.
truth() {
	local title=$1 line out rc=0
	shift
	out=$("$TRUTH" "$@" 2>&1) || rc=$?
	while IFS= read -r line; do
		case $line in
		"ok - "*) ok "$title: ${line#ok - }" ;;
		"not ok - "*) bad "$title: ${line#not ok - }" ;;
		"") ;;
		*) if [ "$rc" -gt 1 ]; then bad "$title: $line"; else echo "# $line"; fi ;;
		esac
	done <<<"$out"
	if [ "$rc" -gt 1 ] && [ -z "$out" ]; then bad "$title: truth ended with $rc"; fi
}

# one_file PATTERN: the only file matching the pattern, in $file; false if there is not just one.
one_file() {
	# shellcheck disable=SC2206 # the pattern is meant to be expanded
	local found=($1)
	file=${found[0]}
	if [ ${#found[@]} -ne 1 ] || [ ! -e "$file" ]; then
		bad "one profile $1" "got: ${found[*]}" "neap said: $(head -c 500 "$tmp/err")"
		return 1
	fi
}

# The kernel lets few open a file that is mapped and has no name: not every root, in a container.
opens_mapped() {
	local file
	for file in "/proc/$BASHPID/map_files"/*; do
		{ : <"$file"; } 2>/dev/null && return
	done
	return 1
}

# known_build: the program known.c is here, as `known` and source.
# whole TITLE FILE: the profile says what it did.
known='func=in_known allocs=100 bytes=100900 live_blocks=25 live_bytes=25225'
known_build() {
	cp "$srcdir_abs/tests/integration/known.c" . && ${CC:-gcc} -g -O2 -w -o known known.c
}
whole() {
	truth "$1" --undropped --consistent --end exited:7 --expect "$known" "$2"
}

# finish: prints the count and ends the script.
finish() {
	echo "# $self: $passed passed, $failed failed, $skipped skipped"
	if [ "$failed" -gt 0 ]; then
		echo "# again: cd $builddir_abs && KEEP=1 bash $srcdir_abs/tests/integration/$self [PART]"
		exit 1
	fi
	if [ "$passed" -eq 0 ]; then
		echo "SKIP: nothing could be tested"
		exit 77
	fi
	exit 0
}
