#!/usr/bin/env bash
# What users set for reading profiles: more allocation wrappers, where sources lie now; by options
# and by the file of settings.  And types, in a program whose heap is known.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CXX=${CXX:-c++}
unset DEBUGINFOD_URLS
export NEAP_CONFIG=
cd "$tmp" || exit 1
mkdir src
cat >src/prog.cpp <<'CXX'
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Foo {
	char x[100];
};
static void *kept[4];
__attribute__((noinline)) void *pool_grow(size_t n)
{
	return malloc(n);
}
__attribute__((noinline)) void *arena_get(size_t n)
{
	return pool_grow(n);
}
__attribute__((noinline)) void use_arena()
{
	kept[0] = arena_get(5000);
}
int main()
{
	static std::vector<Foo> v;
	v.reserve(10); /* 1000 bytes of Foo */
	static std::list<int> l;
	for (int i = 0; i < 5; i++)
		l.push_back(i); /* 5 nodes of 24 bytes */
	static std::map<short, Foo> m;
	m[1]; /* a node */
	static std::shared_ptr<Foo> s = std::make_shared<Foo>(); /* Foo with its counts */
	static std::unique_ptr<Foo> u = std::make_unique<Foo>(); /* 100 bytes of Foo */
	static std::string text(1000, 'x');                      /* 1001 bytes of char */
	use_arena();
	return 0;
}
CXX
if ! (cd src && $CXX -std=c++17 -g -O1 -o ../prog prog.cpp) 2>cxx.log; then
	echo "SKIP: $CXX does not build: $(head -n 1 cxx.log)"
	exit 77
fi
record -o p.neap -- ./prog
equal "the program is recorded" 0 "$status"

ask() { # ARGS...: the answer in out and err, the status in $status
	status=0
	"$NEAP" query "$@" >out 2>err || status=$?
}
leaf() { # OPTION...: who asked for the 5000 bytes
	"$NEAP" query "$@" p.neap 'allocated size=5000 | by func,size | as tsv' 2>err | sed -n 2p | cut -f1
}
has_text() { # WHAT FILE PATTERN
	if grep -q -- "$3" "$2"; then ok "$1"; else bad "$1" "no '$3' in: $(head -c 600 "$2")"; fi
}

# ---- wrappers
equal "what is no wrapper is the leaf" "pool_grow(unsigned long)" "$(leaf)"
equal "the user's wrapper is none" "arena_get(unsigned long)" "$(leaf --wrapper '^pool_')"
equal "two of them" "use_arena()" "$(leaf --wrapper '^pool_' --wrapper 'arena_get')"
equal "neap's own stay" "use_arena()" "$(leaf --wrapper '_(grow|get)\(')"
printf '# ours\n\n wrapper = ^pool_\n\twrapper=^arena_get\\(unsigned  \r\n' >config
equal "from the file of settings" "use_arena()" "$(NEAP_CONFIG=config leaf)"
mkdir -p home/.config/neap xdg/neap
cp config home/.config/neap/config
printf 'wrapper = ^pool_' >xdg/neap/config
equal "that of the home directory" "use_arena()" \
	"$(unset NEAP_CONFIG XDG_CONFIG_HOME; HOME=$tmp/home leaf)"
equal "that of XDG_CONFIG_HOME" "arena_get(unsigned long)" \
	"$(unset NEAP_CONFIG; HOME=$tmp/home XDG_CONFIG_HOME=$tmp/xdg leaf)"
equal "none if NEAP_CONFIG is empty" "pool_grow(unsigned long)" \
	"$(NEAP_CONFIG='' HOME=$tmp/home leaf)"
equal "options add to it" "use_arena()" \
	"$(NEAP_CONFIG=xdg/neap/config leaf --wrapper arena_get)"
"$NEAP" report --wrapper '^(pool|arena)_' p.neap >out 2>err
has_text "the report goes by it" out '  use_arena  src/prog.cpp:21'
"$NEAP" report --wrapper '^(pool|arena)_' --full-stacks p.neap >out 2>err
has_text "whole stacks show what was skipped" out ' pool_grow(unsigned long) .*(wrapper)$'
equal "and nothing else" 0 "$(grep -c 'use_arena.*(wrapper)' out)"
"$NEAP" diff --wrapper '^(pool|arena)_' p.neap p.neap 'live at start, allocated size=5000 | by func,size | as tsv' >out 2>err
has_text "diff goes by it" out '^use_arena()'
if [ -x "$builddir_abs/neap-browse" ]; then
	printf 'size 30 110\n2\n:expect use_arena\n' >keys
	status=0
	"$NEAP" browse --wrapper '^(pool|arena)_' --keys=keys p.neap >out 2>&1 || status=$?
	equal "the browser takes it" 0 "$status"
fi

# ---- mistakes
ask --wrapper '(' p.neap 'live | sum'
equal "no regular expression is wrong usage" 2 "$status"
has_text "that is said" err "'(' is no regular expression"
ask --source-path /x p.neap 'live | sum'
equal "no pair of paths is wrong usage" 2 "$status"
printf 'wrapper = a\nwraper = b\n' >bad
NEAP_CONFIG=bad ask p.neap 'live | sum'
equal "an unknown setting is wrong usage" 2 "$status"
has_text "with its line" err "bad:2: there is no setting 'wraper'"
NEAP_CONFIG=nowhere ask p.neap 'live | sum'
equal "a file that is named must be there" 1 "$status"
NEAP_CONFIG=bad "$NEAP" query --help >out 2>err
equal "help needs no settings" 0 $?

# ---- sources
mv src moved
ask p.neap 'allocated | source use_arena'
has_text "a source that is gone is said" out 'prog.cpp  (not found here'
equal "how to help is said once" 1 "$(grep -c -- '--source-path' out)"
ask --source-path "$tmp/src=$tmp/moved" p.neap 'allocated | source use_arena'
has_text "the source is found where it lies now" out 'kept\[0\] = arena_get(5000);'
equal "and nothing is missed" 0 "$(grep -c -- '--source-path' out)"
printf 'source-path = %s=~/moved\n' "$tmp/src" >config
export HOME=$tmp
NEAP_CONFIG=config ask p.neap 'allocated | source use_arena'
has_text "by the file of settings, below ~" out 'kept\[0\] = arena_get(5000);'

# ---- types
bytes_of() { # TYPE
	"$NEAP" query p.neap 'allocated path main | by type | select total | as tsv' 2>err |
		awk -F '\t' -v t="$1" '$1 == t { print $2 }'
}
equal "a vector's memory has the type of its elements, as do owners of one" $((1000 + 120 + 100)) \
	"$(bytes_of Foo)"
equal "nodes of lists keep their own" 120 "$(bytes_of 'std::_List_node<int>')"
equal "and those of maps" 136 "$(bytes_of 'std::_Rb_tree_node<std::pair<short const, Foo> >')"
equal "a string is of characters" 1001 "$(bytes_of char)"
equal "what malloc was asked for is unknown" 5000 "$(bytes_of '[unknown]')$(bytes_of '')"
ask p.neap 'allocated type=Foo | sum | select count | as tsv'
equal "type= finds them" 3 "$(tail -n 1 out)"
ask p.neap 'allocated type~_node | by func | as tsv'
equal "type~ takes a part" 0 "$status"
ask p.neap 'allocated type=Fo | sum'
has_text "a near type is offered" err "did you mean 'Foo'?"
finish
