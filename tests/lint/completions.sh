#!/usr/bin/env bash
# The completions of all three shells know every long option of every subcommand,
# and no other.  The measure is what `neap NAME --help` says.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
neap=${LINT_NEAP:-${NEAP:-}}
folder=src/cmd/complete
if [ ! -x "${neap:-/nonexistent}" ]; then
	echo "SKIP: neap is not built here (${neap:-NEAP is not set})"
	exit 77
fi

findings=0
options_of_help() { # VERB
	"$neap" "$1" --help | grep -oE '(^|[[:space:],[])--[a-z][a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u
}
options_of_bash() {
	(. "$folder/neap.bash" 2>/dev/null && _neap_options "$1") | tr ' ' '\n' | sort -u
}
options_of_zsh() {
	sed -n "/^	$1)/,/;;/p" "$folder/_neap" | grep -oE -- "[]*)},'({]--[a-z][a-z-]+" | grep -oE -- '--[a-z-]+' | sort -u
}
options_of_fish() {
	{
		sed -nE "s/^complete .*__neap_verb_is ([a-z ]*)'.* -l ([a-z-]+) .*/ \1 \2/p" "$folder/neap.fish" |
			grep " $1 " | sed 's/.* /--/'
		sed -nE 's/^complete -c neap -s h -l ([a-z-]+) .*/--\1/p' "$folder/neap.fish"
	} | sort -u
}

mapfile -t verbs < <("$neap" --help | sed -nE 's/^  ([a-z]+)  +[a-z].*/\1/p' | grep -vx help)
need_files completions ${#verbs[@]}
for verb in "${verbs[@]}"; do
	want=$(options_of_help "$verb")
	if [ "$(grep -c . <<<"$want")" -lt 2 ]; then
		echo "neap $verb --help: names no options"
		findings=$((findings + 1))
	fi
	for shell in bash zsh fish; do
		if ! difference=$(diff <(echo "$want") <("options_of_$shell" "$verb")); then
			echo "$folder, $shell, neap $verb (< only in --help, > only in the completion):"
			grep '^[<>]' <<<"$difference"
			findings=$((findings + 1))
		fi
	done
done
verdict completions "$findings" 3
