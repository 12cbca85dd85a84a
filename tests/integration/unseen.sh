#!/bin/bash
# Strange programs see, print and return under neap what they do alone.  Where they do not, the preload that
# does nothing (tests/bench/nop.c) shows whether preloading itself makes the difference.
#
#   unseen.sh [WORD...]     only these words of tests/targets/83-strange.c, 88-hostile.c, 92-unlikely.c and
#                          95-unforeseen.c

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
${CC:-gcc} -O2 -w -fPIC -shared -o "$tmp/nop.so" "$srcdir_abs/tests/bench/nop.c" -ldl || exit 1
mkdir "$tmp/p"
ulimit -c 0

# alone NAME COMMAND...: output and status to $tmp/NAME.
alone() {
	local name=$1 got=0
	shift
	timeout -k 5 60 "$@" >"$tmp/$name" 2>"$tmp/$name.err" </dev/null || got=$?
	cat "$tmp/$name.err" >>"$tmp/$name"
	echo "status $got" >>"$tmp/$name"
}
# said WORD: what neap has to say of it, as a pattern.
said() {
	case $1 in
	fdtable | nolimits | filterfork | filtererrors)
		echo '1 forked child of process [0-9]* (.[89][2358]-.*) is not recorded'
		;;
	closing) echo '.*not recorded' ;; # if the moment wants it
	esac
}
# loses WORD: programs that free what was never counted, or leave no room for the first event.
loses() {
	case $1 in
	direct | mapcount | filtererrors) return 0 ;;
	esac
	return 1
}
# names_mapped WORD: false if it has libraries without a name, which not everybody may open.
names_mapped() {
	case $1 in
	fdlib | manylibs) opens_mapped ;;
	esac
}
try() {
	local name=$1 word=$2 program=$targets/$1 first="" file whole=(--undropped)
	rm -f "$tmp"/p/*
	alone native "$program" "$word"
	alone recorded "$NEAP" record -q --wait-all -o "$tmp/p/%n.%p.neap" -- "$program" "$word"
	if [ -n "$(said "$word")" ]; then
		[ "$word" = closing ] || equal "$word: said" 1 "$(grep -c "^neap: $(said "$word")" "$tmp/recorded")"
		sed -i "/^neap: $(said "$word")/d" "$tmp/recorded"
	fi
	names_mapped "$word" || sed -i '/^neap: \(no names for\|neap symbolize\)/d' "$tmp/recorded"
	if cmp -s "$tmp/native" "$tmp/recorded"; then
		ok "$word: the same"
	else
		alone nothing env LD_PRELOAD="$tmp/nop.so" "$program" "$word"
		if cmp -s "$tmp/nothing" "$tmp/recorded"; then
			ok "$word: the same as with a preload that does nothing"
		else
			bad "$word: the same (- alone, + recorded)" "$(diff -U0 "$tmp/native" "$tmp/recorded" | tail -n +3 | head -20)"
		fi
	fi
	# What it starts in its turn, such as a shell, has another name; what it becomes ends with 7.
	for file in "$tmp"/p/*.neap; do
		"$NEAP" info --check "$file" >"$tmp/check" 2>&1 || bad "$word: info --check" "$(head -3 "$tmp/check")"
		[[ $file == */$name.* ]] && "$TRUTH" --forked 0 --end exited:7 "$file" >/dev/null 2>&1 && first=$file
	done
	[ "$word" = strict ] && return # it ends before in_known
	loses "$word" && whole=()
	truth "$word" --source "$srcdir_abs/tests/targets/$name.c" "${whole[@]}" --consistent --end exited:7 "$first"
	if grep -q '^TRUTH ' "$tmp/native" && names_mapped "$word"; then
		truth "$word, its own functions" --source "$tmp/native" "$first"
	fi
}
tried=0
for name in 83-strange 88-hostile 92-unlikely 95-unforeseen; do
	if [ ! -x "$targets/$name" ]; then
		skip "$name is not built"
		continue
	fi
	while read -r word; do
		case " $* " in
		"  " | *" $word "*) try "$name" "$word" && tried=$((tried + 1)) ;;
		esac
	done < <("$targets/$name")
done
[ "$tried" -gt 0 ] || [ "$skipped" -gt 0 ] || bad "no such word: $*"
finish
