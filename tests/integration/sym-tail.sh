#!/bin/bash
# Functions that called the next one with a jump, and so left no frame, are in stacks as [tail] if
# call sites prove that they were there, and are not if anything else could have been.
#
#   caller      what it calls, and who asks for memory          expected between the two
#   main        one -> leaf                                     one
#               two -> one -> leaf                              two, one
#               either -> one -> leaf, or leaf                  nothing: two ways
#               both -> two or three, which -> one -> leaf      what both ways end with: one
#               ping -> pong -> ping ... or leaf                ping, pong
#               pointed -> whatever a pointer says              nothing
#               lib_one -> lib_leaf, in a library               lib_one
#               cxx_one -> cxx_leaf, of another file in C++     cxx_one
#               wrap -> malloc                                  wrap, by GCC: inside the leaf
#               zeroed -> wrap2 -> calloc                       zeroed, wrap2, by GCC: inside the leaf

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
cp "$srcdir_abs"/tests/integration/sym/tail* "$tmp" || exit 1
cd "$tmp" || exit 1

# build DIR CC CXX FLAGS...: prog and libtail.so in DIR; false: the compiler cannot do it.
build() {
	local dir=$1 cc=$2 cxx=$3
	shift 3
	mkdir -p "$dir"
	(
		cd "$dir" &&
			"$cc" -O2 -g "$@" -fPIC -shared -Wl,--build-id -o libtail.so ../tail_lib.c &&
			"$cc" -O2 -g "$@" -c ../tail.c -o tail.o &&
			"$cxx" -O2 -g "$@" -c ../tail_cxx.cpp -o cxx.o &&
			"$cxx" -Wl,--build-id -o prog tail.o cxx.o -L. -ltail -Wl,-rpath,'$ORIGIN'
	) >"$dir.log" 2>&1
}

# between FILE BYTES: the functions between main and the allocation of that many bytes
between() {
	"$NEAP" query "$1" "allocated size=$2 | stacks | as json" |
		python3 -c '
import json, sys
frames = json.load(sys.stdin)["rows"][0]["stack"]
names = [f["func"].split("(")[0] for f in frames]
tails = [n for n, f in zip(names, frames) if f["is_tail"]]
print(" ".join(tails))'
}

# proved WHAT FILE BYTES FUNCTIONS
proved() { equal "$1: $3 bytes" "$4" "$(between "$2" "$3")"; }

# innermost WHAT FILE BYTES FUNCTIONS: what jumped to the allocator is shown in full stacks, and never charged
innermost() {
	local tails
	tails=$("$NEAP" report --top 100 --full-stacks "$2" | awk -v bytes="$3 B" '
		/^[A-Z]/ { is_in = /^ALLOCATED MOST BYTES/ }
		is_in && /%/ { is_it = index($0, " " bytes " ") }
		is_in && is_it && /\[tail\]/ { printf "%s%s", separator, $2; separator = " " }')
	equal "$1: $3 bytes, innermost" "$4" "$tails"
	equal "$1: $3 bytes, charged to" main "$("$NEAP" query "$2" "allocated size=$3 | stacks | as json" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"][0]["stack"][-1]["func"])')"
}

# as_gdb WHAT DIR: GDB shows no fewer of them; it does not read the jumps of Clang's DWARF 5
as_gdb() {
	command -v gdb >/dev/null || {
		skip "gdb is not installed: $1 is not compared with its stacks"
		return
	}
	cat >gdb.cmds <<-'CMDS'
		set breakpoint pending on
		set confirm off
		set debuginfod enabled off
		break leaf
		break lib_leaf
		break tail_cxx.cpp:13
		run
		bt
		continue
		bt
		continue
		bt
		continue
		bt
		continue
		bt
		continue
		bt
		continue
		bt
		continue
		bt
	CMDS
	(cd "$2" && gdb -q -batch -x ../gdb.cmds ./prog) >"$2.gdb" 2>&1
	# one line a stack: what lies between the function of the breakpoint and main
	awk '/^#0/ { if (line != "") print line; line = "" ; next }
		/ in main| main \(/ && /^#/ { print "-" line; line = ""; inside = 0; next }
		/^#[0-9]/ { sub(/^#[0-9]+ +/, ""); sub(/^0x[0-9a-f]+ in /, ""); sub(/ *\(.*/, "")
			line = " " $1 line }' "$2.gdb" | sed 's/^-//; s/^ //' >"$2.stacks"
	local bytes
	for bytes in 11 12 13 14 15 16 17 18; do between "$2/run.neap" $bytes; done >"$2.ours"
	if said=$(diff "$2.stacks" "$2.ours"); then ok "$1: as GDB"; else bad "$1: as GDB" "$said"; fi
}

check() {
	local what=$1 dir=$2 f=$2/run.neap
	record -o "$f" -- "$dir/prog"
	equal "$what: exit status" 0 "$status"
	proved "$what" "$f" 11 "one"
	proved "$what" "$f" 12 "two one"
	proved "$what" "$f" 13 ""
	proved "$what" "$f" 14 "one"
	proved "$what" "$f" 15 "ping pong"
	proved "$what" "$f" 16 ""
	proved "$what" "$f" 17 "lib_one"
	proved "$what" "$f" 18 "cxx_one"
}

# total FILE QUERY: bytes of all of it
total() {
	"$NEAP" query "$1" "$2 | by func | as csv" | awk -F, '$1 == "main" { print $3 }'
}

# sums FILE: every way of asking counts a function that left like any other
sums() {
	local f=$1
	equal "a path goes through it" 12 "$(total "$f" 'allocated path main > two > one > leaf')"
	equal "func= finds what it asked for" 37 "$(total "$f" 'allocated func=one')"
	equal "inclusive totals have it" 37 \
		"$("$NEAP" query "$f" 'allocated | by func | as csv' | awk -F, '$1 == "one" { print $3 }')"
	equal "folded stacks have it" 12 "$("$NEAP" query "$f" 'allocated | as folded' |
		awk '/;main;two;one;leaf / { print $NF }')"
	equal "stacks for people mark it" 2 "$("$NEAP" query "$f" 'allocated size=12 | stacks' |
		grep -c 'tail.c:[0-9]* \[tail\]$')"
	equal "a report marks it" 1 "$("$NEAP" report "$f" | grep -cm1 'one  tail.c:[0-9]* \[tail\]')"
	equal "the file is sound" 1 "$("$NEAP" info --check "$f" 2>&1 | grep -c '^no findings')"
}
for form in "gcc DWARF 5:gcc:g++:-gdwarf-5" "gcc DWARF 4:gcc:g++:-gdwarf-4" \
	"gcc split:gcc:g++:-gdwarf-5 -gsplit-dwarf" "clang DWARF 5:clang:clang++:-gdwarf-5"; do
	IFS=: read -r what cc cxx flags <<<"$form"
	dir=${what// /-}
	# shellcheck disable=SC2086 # $flags is words
	if ! build "$dir" "$cc" "$cxx" $flags; then
		skip "$what cannot be built here"
		continue
	fi
	check "$what" "$dir"
	case $what in
	gcc*)
		innermost "$what" "$dir/run.neap" 19 "wrap"
		innermost "$what" "$dir/run.neap" 20 "wrap2 zeroed"
		as_gdb "$what" "$dir"
		;;
	*) # it leaves out calls of the C library, so more of them may have been there
		innermost "$what" "$dir/run.neap" 19 ""
		;;
	esac
done

sums gcc-DWARF-5/run.neap
cp gcc-DWARF-5/run.neap again.neap
"$NEAP" symbolize again.neap >symbolize.out 2>&1
equal "symbolized again: no more than before" 1 "$(grep -c 'no more than before' symbolize.out)"

# nothing is known where the other end has no debug information
cp -r gcc-DWARF-5 bare && rm bare/run.neap && strip -g bare/libtail.so
record -o bare/run.neap -- bare/prog
proved "library without debug information" bare/run.neap 17 ""
proved "library without debug information" bare/run.neap 11 "one"
cp gcc-DWARF-5/libtail.so bare/libtail.so
"$NEAP" symbolize bare/run.neap >symbolize.out 2>&1
proved "and with it, later" bare/run.neap 17 "lib_one"
rm bare/libtail.so
"$NEAP" symbolize bare/run.neap >symbolize.out 2>&1
proved "and once it is gone" bare/run.neap 17 "lib_one"
finish
