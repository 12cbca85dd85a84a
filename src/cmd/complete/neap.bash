# shellcheck shell=bash
# bash completion for neap(1)

# Options of a subcommand; the lint tests/lint/completions.sh compares them with its --help.
_neap_options() {
	case $1 in
	record) echo "--output --interval --children --wait-all --mmap --quiet --force --help" ;;
	browse) echo "--glyphs --color --plain --no-mouse --follow --no-state --keys --wrapper --source-path --help" ;;
	report) echo "--top --full-stacks --suspects --color --width --wrapper --help" ;;
	query) echo "--file --explain --strict --fields --formats --populations --complete --color --width --wrapper --source-path --help" ;;
	diff) echo "--explain --strict --color --width --wrapper --help" ;;
	symbolize) echo "--output --debug-dir --debuginfod --quiet --help" ;;
	import) echo "--output --format --formats --force --help" ;;
	export) echo "--output --format --formats --strict --wrapper --help" ;;
	info) echo "--json --dump --check --missing-symbols --help" ;;
	*) echo "--help --version" ;;
	esac
}

# What may follow the beginning of a quoted query, from neap itself: whole words with what is typed
# before them, because the quotes make one word of it all.
_neap_query() {
	local quote=${1:0:1} text=${1:1} bytes word rest i files=()
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*) ;;
		*.neap) files+=("${COMP_WORDS[i]}") ;;
		esac
	done
	compopt +o filenames 2>/dev/null
	while IFS=$'\t' read -r bytes word rest; do
		case $quote$word in
		\'*\'* | \"*\"*) continue ;;
		esac
		COMPREPLY+=("$quote${text:0:$((${#text} - bytes))}$word")
	done < <(neap query --complete "$text" "${files[@]}" 2>/dev/null)
}

# After `record [OPTIONS]` or `--` everything belongs to the program: 0 if the word is one of its.
_neap_is_in_program() {
	local i
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--)
			_neap_program_at=$((i + 1))
			return 0
			;;
		-o | --output | --interval | --children) i=$((i + 1)) ;;
		-*) ;;
		*)
			_neap_program_at=$i
			return 0
			;;
		esac
	done
	return 1
}

_neap() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
	local _neap_program_at=0
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "record browse report query diff symbolize info import export help --help --version" -- "$cur")
		return
	fi
	if [ "$verb" = record ] && _neap_is_in_program; then
		if [ "$_neap_program_at" = "$COMP_CWORD" ]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u)
		elif declare -F _command_offset >/dev/null; then
			_command_offset "$_neap_program_at"
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi
		return
	fi
	case $prev in
	--children)
		mapfile -t COMPREPLY < <(compgen -W "none all" -- "$cur")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur")
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W "$(neap "$verb" --formats 2>/dev/null | sed '1d;s/ .*//')" -- "$cur")
		return
		;;
	--glyphs)
		mapfile -t COMPREPLY < <(compgen -W "braille block ascii" -- "$cur")
		return
		;;
	--interval | --top | --width | -n | --complete | --wrapper | --source-path) return ;;
	--debug-dir)
		mapfile -t COMPREPLY < <(compgen -d -S / -- "$cur")
		return
		;;
	-o | --output | -f | --file)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac
	case $verb,$cur in
	query,[\'\"]* | diff,[\'\"]* | export,[\'\"]*) _neap_query "$cur" ;;
	*,-*) mapfile -t COMPREPLY < <(compgen -W "$(_neap_options "$verb")" -- "$cur") ;;
	record,*) mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u) ;;
	import,*) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	help,*) mapfile -t COMPREPLY < <(compgen -W "record browse report query diff symbolize info import export" -- "$cur") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -X '!*.neap' -- "$cur" && compgen -d -S / -- "$cur") ;;
	esac
}

complete -o filenames -F _neap neap
