#!/bin/bash
# One program in all the forms in which debug information comes, every address of it looked up by
# neap and by addr2line -i, eu-addr2line -i and llvm-addr2line -i.
#
# Bases are compiled: compiler, version and format of DWARF, kind of linking.  What neap says of a
# base has to be what the tools say; differences that are known are in sym/compare.py, each with
# its reason, and are counted in the output.  Forms are made of a base (stripped, split, compressed,
# shared by dwz, ...).  They have the same code, so neap has to say of them what it says of the base.
# A tool that is not installed costs its own column, and a line that says SKIP.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
symlook=$builddir_abs/tests/integration/symlook
source_dir=$srcdir_abs/tests/integration/sym
compare="python3 $source_dir/compare.py"
for tool in python3 nm objcopy strip addr2line; do
	command -v $tool >/dev/null || {
		echo "SKIP: $tool is not installed"
		exit 77
	}
done
cp -r "$source_dir" "$tmp/src"
cd "$tmp" || exit 1

has() { command -v "$1" >/dev/null; }
need() { # TOOL FOR-WHAT
	has "$1" && return
	skip "$1 is not installed: no $2"
	return 1
}

# build DIR CC CXX FLAGS...: prog and liblib.so in DIR, of $sources; false: the compiler has no such flag.
build() {
	local dir=$1 cc=$2 cxx=$3 src=${sources:-../src}
	shift 3
	mkdir -p "$dir"
	# shellcheck disable=SC2086 # $link is words
	(
		cd "$dir" &&
			"$cxx" -O2 -g "$@" -fPIC -c "$src/lib.cpp" -o lib.o &&
			"$cxx" -O2 -g "$@" -fPIC -c "$src/main.cpp" -o main.o &&
			"$cc" -O2 -g "$@" -fPIC -c "$src/part.c" -o part.o &&
			"$cxx" -O2 -g "$@" -shared -Wl,--build-id -o liblib.so lib.o &&
			"$cxx" -O2 -g "$@" ${link:-} -Wl,--build-id -o prog main.o part.o ./liblib.so
	) >"$dir.log" 2>&1
}

# look FILE OUT [OPTIONS]: what neap says of all addresses of $addresses.
look() {
	local file=$1 out=$2
	shift 2
	"$symlook" "$@" "$file" <"$addresses" >"$out" 2>"$out.source" || echo "symlook failed" >>"$out"
}

# same WHAT FILE [OPTIONS]: neap says of it what it said of the base in $base.
same() {
	local what=$1 file=$2 said
	shift 2
	look "$file" form.out "$@"
	if said=$($compare same "$base/neap.out" form.out); then ok "$what"; else bad "$what" "$said"; fi
}

# names_only WHAT FILE SOURCE [OPTIONS]: no lines, and the names of this source.
names_only() {
	local what=$1 file=$2 source=$3
	shift 3
	look "$file" form.out "$@"
	equal "$what: names come from" "$source" "$(tail -1 form.out.source)"
	equal "$what: lines" 0 "$(grep -c ':[1-9][0-9]*$' form.out)"
}

# base NAME CC CXX FLAGS...: builds it and compares it with the tools.
base() {
	local name=$1
	shift
	base=$name
	if ! build "$name" "$@"; then
		skip "$name: $(grep -m1 -i error "$name.log" | cut -c1-120)"
		return 1
	fi
	compare_base
}

# compare_base: the tools say of the files in $base what neap says.
compare_base() {
	local name=$base said arguments file
	for file in ${files:-prog liblib.so}; do
		addresses=$name/$file.addresses
		$compare all "$name/$file" | sort -u >"$addresses"
		nm -S --defined-only "$name/$file" >"$name/$file.nm"
		look "$name/$file" "$name/$file.out"
		arguments=""
		for tool in $tools; do
			"$tool" -a -f -i -e "$name/$file" <"$addresses" >"$name/$file.$tool" 2>/dev/null
			arguments="$arguments $tool=$name/$file.$tool"
		done
		# shellcheck disable=SC2086 # words
		if said=$($compare tools "$name/$file.out" "$name/$file.nm" $arguments); then
			ok "$name: $file"
			echo "# $name: $file: $said"
		else
			bad "$name: $file" "$said"
		fi
	done
	addresses=$name/prog.addresses
	if [ -e "$name/prog.out" ]; then cp "$name/prog.out" "$name/neap.out"; fi
}

tools=addr2line
for tool in eu-addr2line llvm-addr2line; do
	if need $tool "comparison with $tool"; then tools="$tools $tool"; fi
done

compilers="gcc:g++"
if need clang "programs by clang"; then compilers="$compilers clang:clang++"; fi

# ---- forms of one base -----------------------------------------------------------------

compressed() {
	local kind
	for kind in zlib zlib-gnu zstd; do
		if objcopy --compress-debug-sections=$kind "$base/prog" "$base/$kind" 2>/dev/null; then
			same "$base: $kind" "$base/$kind"
		else
			skip "$base: objcopy cannot compress with $kind"
		fi
	done
}

separate() {
	local id dir=$base/sep
	mkdir -p "$dir/.debug" "$dir/ids" "$dir/flat"
	objcopy --only-keep-debug "$base/prog" "$dir/prog.debug"
	strip -o "$dir/bare" "$base/prog"
	(cd "$dir" && objcopy --add-gnu-debuglink=prog.debug bare prog)
	same "$base: debuglink beside" "$dir/prog"
	mv "$dir/prog.debug" "$dir/.debug/"
	same "$base: debuglink in .debug" "$dir/prog"
	mv "$dir/.debug/prog.debug" "$dir/flat/"
	same "$base: debuglink in --debug-dir" "$dir/prog" -d "$dir/flat"
	id=$(readelf -n "$base/prog" | awk '/Build ID/ { print $3 }')
	mkdir -p "$dir/ids/.build-id/${id:0:2}"
	objcopy --compress-debug-sections=zlib "$dir/flat/prog.debug" "$dir/ids/.build-id/${id:0:2}/${id:2}.debug"
	same "$base: folder of build ids" "$dir/bare" -d "$dir/ids"
	# Another program's debug file in this one's place.
	objcopy --only-keep-debug "$base/liblib.so" "$dir/prog.debug" 2>/dev/null
	names_only "$base: debug file with another build id" "$dir/prog" none
	rm "$dir/prog.debug"
	# Without build ids the checksum decides.
	objcopy --remove-section=.note.gnu.build-id "$base/prog" "$dir/no-id"
	objcopy --only-keep-debug "$dir/no-id" "$dir/prog.debug" 2>/dev/null
	strip -o "$dir/bare-no-id" "$dir/no-id"
	(cd "$dir" && objcopy --add-gnu-debuglink=prog.debug bare-no-id prog-no-id)
	same "$base: debuglink by checksum" "$dir/prog-no-id"
	echo >>"$dir/prog.debug"
	names_only "$base: debuglink with another checksum" "$dir/prog-no-id" none
}

# A prelinked library has other addresses than its debug file.
prelinked() {
	local dir=$base/prelink
	mkdir -p "$dir"
	objcopy --only-keep-debug "$base/prog" "$dir/prog.debug"
	strip -o "$dir/bare" "$base/prog"
	(cd "$dir" && objcopy --add-gnu-debuglink=prog.debug bare bare2 &&
		objcopy --change-addresses=0x40000000 bare2 prog 2>/dev/null)
	$compare shift 0x40000000 <"$addresses" >moved.addresses
	"$symlook" "$dir/prog" <moved.addresses 2>/dev/null | $compare shift -0x40000000 >form.out
	local said
	if said=$($compare same "$base/neap.out" form.out); then ok "$base: prelinked"; else bad "$base: prelinked" "$said"; fi
}

mini() {
	local dir=$base/mini
	need xz "comparison with .gnu_debugdata" || return
	mkdir -p "$dir"
	objcopy --only-keep-debug "$base/prog" "$dir/full"
	strip -o "$dir/bare" "$base/prog"
	objcopy -S --remove-section .comment --keep-symbol=main --keep-symbol=part_stop --keep-symbol=_ZL6hiddeni \
		"$dir/full" "$dir/mini"
	xz -f "$dir/mini"
	objcopy --add-section ".gnu_debugdata=$dir/mini.xz" "$dir/bare" "$dir/prog"
	look "$dir/prog" form.out
	equal "$base: .gnu_debugdata: names come from" "symbol table" "$(tail -1 form.out.source)"
	equal "$base: .gnu_debugdata: a static function" "_ZL6hiddeni" \
		"$(nm "$base/prog" | awk '$3 == "_ZL6hiddeni" { print "0x" $1 }' | "$symlook" "$dir/prog" 2>/dev/null | sed -n 2p)"
	equal "$base: without .gnu_debugdata it has no name" "??" \
		"$(nm "$base/prog" | awk '$3 == "_ZL6hiddeni" { print "0x" $1 }' | "$symlook" "$dir/bare" 2>/dev/null | sed -n 2p)"
}

# shared_by_dwz WHAT SECTION [OPTION]: what $dwz/prog and its library have in common in a file of its own.
shared_by_dwz() {
	local what=$1 section=$2 dir=$base/$1
	mkdir -p "$dir"
	cp "$dwz/prog" "$dwz/liblib.so" "$dir"
	# shellcheck disable=SC2086 # an option or none
	(cd "$dir" && dwz ${3:-} -m common.debug -M common.debug prog liblib.so) 2>log
	if grep -q 'Unknown debugging section' log; then
		skip "$base: $what: $(head -1 log)"
		return 1
	fi
	equal "$base: $what shares something" 1 "$(readelf -SW "$dir/prog" | grep -c " $section ")"
	same "$base: $what" "$dir/prog"
	mkdir "$dir/.dwz" && mv "$dir/common.debug" "$dir/.dwz/"
	same "$base: $what, in --debug-dir" "$dir/prog" -d "$dir"
}

# DWARF 5 has forms and a section of its own for it, and a checksum in place of the build id.
checksum_of_dwz() {
	local dir=$base/dwz-5 form at bytes
	for form in DW_FORM_ref_sup4 DW_FORM_strp_sup; do
		equal "$base: dwz-5 uses $form" 1 "$(readelf --debug-dump=abbrev "$dir/prog" 2>/dev/null | grep -cm1 $form)"
	done
	look "$dir/prog" without.out
	read -r at bytes < <(readelf -SW "$dir/.dwz/common.debug" |
		sed -n 's/.* \.debug_sup *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/0x\1 0x\2/p')
	printf 'X' | dd of="$dir/.dwz/common.debug" bs=1 seek=$((at + bytes - 1)) conv=notrunc status=none
	look "$dir/prog" form.out -d "$dir"
	equal "$base: dwz-5 with another checksum" "$(cksum <without.out)" "$(cksum <form.out)"
	equal "$base: without it names are missing" 1 "$(cmp -s without.out "$base/neap.out"; echo $?)"
}

# dwz takes headers of DWARF 5 for the same only if their paths are whole ones.
made_by_dwz() { # CC CXX FLAGS...
	dwz=$base-dwz
	need dwz "form made by dwz" || return
	sources=$tmp/src build "$dwz" "$@"
	shared_by_dwz dwz .gnu_debugaltlink
	if shared_by_dwz dwz-5 .debug_sup --dwarf-5; then checksum_of_dwz; fi
	cp "$dwz/prog" "$base/alone"
	if dwz "$base/alone" 2>/dev/null; then same "$base: dwz, one file" "$base/alone"; fi
}

# split CC CXX FLAGS...: .dwo files where they were made, beside the program, in a .dwp
split() {
	local dir=${base}-split dwp
	build "$dir" "$@" -gsplit-dwarf || {
		skip "$dir: $(grep -m1 -i error "$dir.log" | cut -c1-120)"
		return
	}
	objcopy -O binary -j .text "$base/prog" a.text
	objcopy -O binary -j .text "$dir/prog" b.text
	cmp -s a.text b.text || {
		bad "$dir: its code is the base's"
		return
	}
	same "$dir: .dwo" "$dir/prog"
	cp "$dir/prog" "$dir/without"
	mkdir "$dir/moved" "$dir/pack"
	cp "$dir/prog" "$dir"/*.dwo "$dir/moved/"
	for dwp in llvm-dwp dwp; do
		need $dwp "form made by $dwp" || continue
		rm -f "$dir/prog.dwp"
		if (cd "$dir" && { [ $dwp = dwp ] && timeout 20 dwp -e prog -o prog.dwp || timeout 20 llvm-dwp main.dwo part.dwo -o prog.dwp; }) >log 2>&1 &&
			[ -s "$dir/prog.dwp" ]; then
			cp "$dir/prog" "$dir/pack/prog-$dwp"
			mv "$dir/prog.dwp" "$dir/pack/prog-$dwp.dwp"
		else
			skip "$dir: $dwp cannot make a .dwp: $(head -1 log)"
		fi
	done
	rm "$dir"/*.dwo
	same "$dir: .dwo beside the program" "$dir/moved/prog"
	for dwp in llvm-dwp dwp; do
		if [ -e "$dir/pack/prog-$dwp.dwp" ]; then same "$dir: .dwp by $dwp" "$dir/pack/prog-$dwp"; fi
	done
	# Lines stay without it, names of what was inlined do not.
	look "$dir/without" form.out
	equal "$dir: lines without .dwo" "$(grep -c ':[1-9]' <(lines_of "$base/neap.out"))" "$(grep -c ':[1-9]' <(lines_of form.out))"
	# A .dwo of another compilation is not used.
	build "$dir-other" "$@" -gsplit-dwarf -DOTHER && mkdir "$dir/mixed" && cp "$dir/prog" "$dir-other"/*.dwo "$dir/mixed/"
	look "$dir/mixed/prog" other.out
	equal "$dir: .dwo of another compilation" "$(cksum <form.out)" "$(cksum <other.out)"
}
lines_of() { awk '/^0x/ { getline; getline; print }' "$1"; }

forms() { # CC CXX FLAGS...
	compressed
	separate
	prelinked
	mini
	made_by_dwz "$@"
	split "$@"
}

# text_at_0 CXX BASE: the objects of a base, linked so that code begins at address 0.
text_at_0() {
	base=$2-text-at-0
	mkdir -p "$base"
	if (cd "$2" && "$1" -static -no-pie -nostdlib -Wl,-N,-Ttext=0,-e,main -o "../$base/prog" main.o part.o lib.o) >log 2>&1; then
		files=prog compare_base
		equal "$base: it has code at 0" 1 "$(grep -c '^0x0$' "$base/prog.addresses")"
	else
		skip "$base: $(head -1 log)"
	fi
}

# ---- bases -----------------------------------------------------------------------------

for pair in $compilers; do
	cc=${pair%:*} cxx=${pair#*:}
	for version in 2 3 4 5; do
		base "$cc-$version" "$cc" "$cxx" -gdwarf-$version || continue
		if [ $version -ge 4 ]; then forms "$cc" "$cxx" -gdwarf-$version; fi
		if [ $version = 2 ]; then base "$cc-2-strict" "$cc" "$cxx" -gdwarf-2 -gstrict-dwarf; fi
		if [ $version -ge 3 ]; then base "$cc-$version-64" "$cc" "$cxx" -gdwarf-$version -gdwarf64; fi
		if [ $version -ge 4 ]; then base "$cc-$version-types" "$cc" "$cxx" -gdwarf-$version -fdebug-types-section; fi
	done
	files=prog base "$cc-lto" "$cc" "$cxx" -flto
	base "$cc-unoptimised" "$cc" "$cxx" -O0
	link=-no-pie files=prog base "$cc-no-pie" "$cc" "$cxx" -no-pie -fno-pie
	link="-no-pie -Wl,-Ttext-segment=0x7654000" files=prog base "$cc-text-elsewhere" "$cc" "$cxx" -fno-pie
	text_at_0 "$cxx" "$cc-5"
	if base "$cc-sections" "$cc" "$cxx" -ffunction-sections; then
		link="-Wl,--gc-sections" files=prog base "$cc-gc-sections" "$cc" "$cxx" -ffunction-sections
	fi
done

finish
