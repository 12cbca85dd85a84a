#!/usr/bin/env bash
# Functions over 60 lines and files over 900 lines.
#
# A function is what stands between a line that is just "{" and the next that is
# just "}": clang-format's layout guarantees both.  Its name is the last word before
# the "(" of the last line before it that starts at the margin.  Exceptions stand in
# sizes.txt with their own limit and reason; one that is no longer needed is a finding.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

max_function_lines=60
max_file_lines=900
exceptions=tests/lint/sizes.txt

# shellcheck disable=SC2086 # folders are words
mapfile -t files < <(list_files $product_folders tests -- '*.c' '*.h' '*.cpp' '*.sh')
need_files sizes ${#files[@]}
# shellcheck disable=SC2016 # awk's variables
awk -v max_fn="$max_function_lines" -v max_file="$max_file_lines" '
function allowed(key, default_max) {
	if (!(key in limit))
		return default_max
	used[key] = 1
	return limit[key]
}
function close_file() {
	if (name != "" && lines > allowed(name, max_file))
		bad(name ":" lines ": file of " lines " lines, at most " allowed(name, max_file))
	if (start)
		bad(name ":" start ": \"{\" at the margin is never closed")
}
function bad(text) {
	print text
	findings++
}
function check_function(len) {
	biggest[name ":" fn] = len
	if (len > allowed(name ":" fn, max_fn))
		bad(name ":" start ": " fn " has " len " lines, at most " allowed(name ":" fn, max_fn))
}
FNR == NR {
	if ($0 !~ /^#/ && NF > 0) {
		if (NF < 3 || $2 !~ /^[0-9]+$/)
			bad(FILENAME ":" FNR ": want PATH[:FUNCTION] LIMIT REASON")
		limit[$1] = $2 + 0
		where[$1] = FILENAME ":" FNR
	}
	next
}
FNR == 1 {
	close_file()
	name = FILENAME
	start = 0
	fn = "?"
	is_shell = name ~ /\.sh$/
}
{ lines = FNR }
is_shell && /^[a-z_]+\(\) \{/ { fn = $1; sub(/\(.*/, "", fn); start = FNR; next }
!is_shell && /^\{$/ { start = FNR; next }
/^\}/ && start { check_function(FNR - start - 1); start = 0; next }
!is_shell && !start && /^[A-Za-z_].*\(/ {
	fn = $0
	sub(/\(.*/, "", fn)
	if (fn ~ /^(Test|ParameterizedTest|Theory)$/) {
		fn = $0
		gsub(/[(), ]+/, ".", fn)
		sub(/\.$/, "", fn)
	} else
		sub(/.*[ *]/, "", fn)
}
END {
	close_file()
	for (k in limit) {
		real = (k in biggest) ? biggest[k] : -1
		if (k !~ /:/)
			continue
		if (real < 0)
			bad(where[k] ": there is no " k)
		else if (real <= max_fn)
			bad(where[k] ": " k " has " real " lines and needs no exception")
	}
	exit findings > 0
}' "$exceptions" "${files[@]}" || verdict sizes 1 ${#files[@]}
verdict sizes 0 ${#files[@]}
