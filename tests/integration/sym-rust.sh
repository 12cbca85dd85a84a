#!/bin/bash
# Types of Rust's blocks, for which the older mangling has "T": from debug information written by
# hand, and from rustc where there is one, in all its manglings.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
sources=$srcdir_abs/tests/integration/sym

# types FILE: bytes and count by type
types() { "$NEAP" query "$1" 'leaked | by type | as tsv' | awk -F '\t' 'NR > 1 { print $2, $3, $1 }'; }
# has WHAT LINE: $got has the line
has() {
	if grep -qxF "$2" <<<"$got"; then ok "$1"; else bad "$1: $2" "got:" "$got"; fi
}

gcc -no-pie -o "$tmp/hand" "$sources/rust.s" || exit 1
record -o "$tmp/hand.neap" -- "$tmp/hand"
got=$(types "$tmp/hand.neap")
has "by hand: with a parameter" "80 1 shop::Rec"
has "by hand: without one" "640 1 (u64, u16)"
got=$("$NEAP" export "$tmp/hand.neap" leaked -o "$tmp/hand.folded" && sed 's/.*main;//' "$tmp/hand.folded")
has "by hand: names" "alloc::boxed::Box<shop::Rec>::new 80"
has "by hand: names" "alloc::vec::Vec<(u64, u16)>::with_capacity_in 640"

# rust NAME FLAGS...
rust() {
	local name=$1
	shift
	rustc -g "$@" -o "$tmp/$name" "$sources/boxes.rs" >"$tmp/$name.log" 2>&1 || {
		skip "$name: $(grep -m1 error "$tmp/$name.log" | cut -c1-100)"
		return
	}
	record -o "$tmp/$name.neap" -- "$tmp/$name"
	got=$(types "$tmp/$name.neap")
	has "$name: Box" "8000 100 boxes::Rec"
	has "$name: Rc" "2400 100 boxes::Node<u16>"
	has "$name: vec![]" "16000 1 u128"
	# optimised, equal code of different types is one function
	[ "${name#*-}" = 2 ] || has "$name: Vec" "1024 1 alloc::boxed::Box<boxes::Rec>"
	if grep -q '^[0-9]* 1 (u64, boxes::Rec)$' <<<"$got"; then
		ok "$name: HashMap"
	else
		bad "$name: HashMap" "$got"
	fi
}
if command -v rustc >/dev/null && rustc --version >/dev/null 2>&1; then
	for optimised in 0 2; do
		rust "plain-$optimised" -Copt-level=$optimised
		rust "v0-$optimised" -Copt-level=$optimised -Csymbol-mangling-version=v0
		rust "lines-$optimised" -Copt-level=$optimised -Cdebuginfo=1
	done
else
	skip "rustc is not installed: only what was written by hand"
fi
finish
