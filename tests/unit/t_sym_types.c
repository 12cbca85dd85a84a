/* Types that functions' names tell, and the names for the same addresses put together. */
#include "config.h"

#include "src/sym/types.h"

#include <criterion/criterion.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/sym/keep.h"

/* ---- types ------------------------------------------------------------------------- */

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static const struct {
	const char *name, *type; /* type NULL: the name does not tell */
} table[] = {
	/* allocators of C++, with and without what stands around */
	{"std::allocator<int>::allocate(unsigned long, void const*)", "int"},
	{"std::allocator<int>::allocate", "int"},
	{"std::__new_allocator<char const*>::allocate(unsigned long, void const*)", "char const*"},
	{"int* std::allocator<int>::allocate(unsigned long)", "int"},
	{"__gnu_cxx::new_allocator<std::pair<int const, Foo<3> > >::allocate(unsigned long)",
	 "std::pair<int const, Foo<3> >"},
	{"__gnu_cxx::new_allocator<void (*)(int, char)>::allocate(unsigned long)",
	 "void (*)(int, char)"},
	{"__gnu_cxx::new_allocator<main::{lambda(int)#1}>::allocate(unsigned long)",
	 "main::{lambda(int)#1}"},
	{"std::allocator<(anonymous namespace)::Foo>::allocate(unsigned long)",
	 "(anonymous namespace)::Foo"},
	{"std::allocator<(Colour)2>::allocate(unsigned long)", NULL},
	{"std::allocator<(Colour)-2>::allocate(unsigned long)", NULL},
	{"std::allocator<A<(b>c)> >::allocate(unsigned long)", NULL},
	{"std::allocator<B<&C::operator<> >::allocate(unsigned long)", "B<&C::operator<>"},
	{"std::allocator<B<&C::operator-> > >::allocate(unsigned long)", "B<&C::operator-> >"},
	{"std::allocator_traits<std::allocator<Foo> >::allocate(std::allocator<Foo>&, unsigned "
	 "long)",
	 "Foo"},
	{"__gnu_cxx::__alloc_traits<std::allocator<Foo>, Foo>::allocate(std::allocator<Foo>&)",
	 "Foo"},
	{"std::__allocated_ptr<std::allocator<Foo> > std::__allocate_guarded<std::allocator<Foo> "
	 ">(std::allocator<Foo>&)",
	 "Foo"},
	{"std::__1::allocator<Foo>::allocate[abi:v15007](unsigned long)", "Foo"},
	{"std::__new_allocator<" STRING " >::allocate(unsigned long, void const*)", "std::string"},
	{"std::_Vector_base<" STRING ", std::allocator<" STRING " > >::_M_allocate(unsigned long)",
	 "std::string"},
	{"std::_Rb_tree<int, std::pair<int const, Foo>, std::_Select1st<std::pair<int const, Foo> "
	 ">, "
	 "std::less<int>, std::allocator<std::pair<int const, Foo> > >::_M_get_node()",
	 "std::_Rb_tree_node<std::pair<int const, Foo> >"},
	{"std::__cxx11::_List_base<int, std::allocator<int> >::_M_get_node()",
	 "std::_List_node<int>"},
	{"std::_Deque_base<Job, std::allocator<Job> >::_M_allocate_map(unsigned long)", "Job*"},
	{"std::__cxx11::_List_base<" STRING ", std::allocator<" STRING " > >::_M_get_node()",
	 "std::_List_node<std::string>"},
	{"std::allocator<Foo<" STRING " > >::allocate(unsigned long)", "Foo<std::string>"},
	/* owners */
	{"std::shared_ptr<Foo> std::make_shared<Foo, int>(int&&)", "Foo"},
	{"std::make_shared<Foo>", "Foo"},
	{"std::_MakeUniq<Foo []>::__array std::make_unique<Foo []>(unsigned long)", "Foo []"},
	{"std::__new_allocator<std::_Sp_counted_ptr_inplace<Foo, std::allocator<Foo>, "
	 "(__gnu_cxx::_Lock_policy)2> >::allocate(unsigned long, void const*)",
	 "Foo"},
	/* what runs other code too, or allocates something else */
	{"std::vector<int, std::allocator<int> >::resize(unsigned long)", NULL},
	{"std::allocator<int>::deallocate(int*, unsigned long)", NULL},
	{"std::allocator<int>::allocate_all()", NULL},
	{"mine::std::allocator<int>::allocate(unsigned long)", NULL},
	{"f(std::allocator<int>::allocate)", NULL},
	{"f<std::allocator<int>::allocate(unsigned long)>(int)", NULL},
	{"operator new(unsigned long)", NULL},
	{"malloc", NULL},
	{"", NULL},
	{"<", NULL},
	{"std::allocator<int", NULL},
	{"std::allocator<>::allocate(unsigned long)", NULL},
	{"std::allocator<int>>::allocate", NULL},
	/* Rust */
	{"<alloc::boxed::Box<app::Node>>::new", "app::Node"},
	{"<alloc::vec::Vec<(u8, alloc::string::String)>>::push", "(u8, alloc::string::String)"},
	{"<alloc::boxed::Box<alloc::sync::ArcInner<app::Node>>>::new", "app::Node"},
	{"<alloc::boxed::Box<app::Node, &alloc::alloc::Global>>::try_new_uninit_in", "app::Node"},
	{"<hashbrown::raw::RawTable<(u64, app::Node)>>::reserve_rehash::<app::hash>",
	 "(u64, app::Node)"},
	{"<u128 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem::<alloc::alloc::Global>",
	 "u128"},
	{"<u128 as app::SpecFromElem>::from_elem", NULL},
	{"<alloc::vec::Vec<alloc::string::String>>::push", "alloc::string::String"},
	{"<alloc::vec::Vec<u8, alloc::alloc::Global>>::with_capacity_in", "u8"},
	{"<alloc::raw_vec::RawVec<fn(u8) -> u16>>::grow_one", "fn(u8) -> u16"},
	{"<alloc::sync::Arc<dyn app::Trait>>::new", "dyn app::Trait"},
	{"<alloc::vec::Vec<u8> as core::clone::Clone>::clone", NULL},
	{"alloc::vec::Vec<T,A>::push", NULL}, /* the older mangling lost it */
	{"alloc::raw_vec::RawVec<T,A>::reserve_for_push", NULL},
	{"alloc::vec::Vec<u8>::push", "u8"},
	/* Julia */
	{"Alloc: Array{Float64, 1}", "Array{Float64, 1}"},
	{"Alloc: ", NULL},
};

Test(types, tells_what_the_name_tells)
{
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct buf out = {0};
		buf_puts(&out, "is ");
		bool is_known = sym_type_of(table[i].name, &out);
		cr_expect_eq(is_known, table[i].type != NULL, "%s", table[i].name);
		cr_expect_str_eq(out.data + 3, table[i].type ? table[i].type : "", "%s",
				 table[i].name);
		buf_release(&out);
	}
}

Test(types, takes_any_bytes)
{
	static const char alphabet[] = "std::allocator<>()[]{}, :operator<->*&Alloc: \xff";
	uint64_t state = 1;
	for (int round = 0; round < 20000; round++) {
		char name[200] = "std::allocator<";
		size_t at = round % 2 ? strlen(name) : 0;
		while (at < sizeof name - 1) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			name[at++] = alphabet[(state >> 33) % (sizeof alphabet - 1)];
		}
		name[at] = 0;
		struct buf out = {0};
		bool is_known = sym_type_of(name, &out);
		cr_assert_eq(is_known, out.count_bytes > 0);
		buf_release(&out);
	}
}

/* ---- keeping --------------------------------------------------------------------------- */

struct side {
	struct profile_func funcs[4];
	const char *files[4];
	struct profile_line lines[8];
	uint32_t first[5];
	struct profile_symbols s;
};

static void make_side(struct side *a, size_t frame_count)
{
	a->s = (struct profile_symbols){
		.funcs = a->funcs,
		.func_count = 4,
		.files = a->files,
		.file_count = 4,
		.lines = a->lines,
		.line_count = a->first[frame_count],
		.first_line = a->first,
		.frame_count = frame_count,
	};
}

static const char *func_at(const struct profile_symbols *s, frame_id f, uint32_t k)
{
	return s->funcs[s->lines[s->first_line[f - 1] + k].func - 1].name;
}

/* Frames: 1 known better before, 2 found better, 3 inlined found, 4 nothing found. */
static struct side known = {
	.funcs = {{"old", "old"}, {"plain", "plain"}, {"gone", "gone"}, {"outer", "outer"}},
	.files = {"/a.c", "/b.c", "/c.c", "/d.c"},
	.lines = {{1, 1, 10}, {2, 0, 0}, {4, 2, 7}, {3, 3, 8}},
	.first = {0, 1, 2, 3, 4},
};
static struct side found = {
	.funcs = {{"sym()", "_Z3symv"}, {"full", "full"}, {"inner", "inner"}, {"outer", "outer"}},
	.files = {"/x.c", "/b.c", "/y.c", "/z.c"},
	.lines = {{1, 0, 0}, {2, 1, 20}, {3, 3, 30}, {4, 2, 7}},
	.first = {0, 1, 2, 4, 4},
};

Test(keep, takes_for_each_address_what_says_more)
{
	struct kept_symbols k;
	struct err e;
	make_side(&known, 4);
	make_side(&found, 4);
	cr_assert_eq(symbols_keep(&known.s, &found.s, &k, &e), NEAP_OK);
	cr_expect_eq(k.better_count, 2);
	cr_expect_eq(k.named_count, 4);
	cr_expect_eq(k.lined_count, 4);
	cr_expect_str_eq(func_at(&k.symbols, 1, 0), "old");
	cr_expect_str_eq(func_at(&k.symbols, 2, 0), "full");
	cr_expect_str_eq(func_at(&k.symbols, 3, 0), "inner");
	cr_expect_str_eq(func_at(&k.symbols, 3, 1), "outer");
	cr_expect_str_eq(func_at(&k.symbols, 4, 0), "gone");
	const struct profile_line *line = &k.symbols.lines[k.symbols.first_line[3]];
	cr_expect_str_eq(k.symbols.files[line->file - 1], "/c.c");
	cr_expect_eq(line->line, 8);

	struct kept_symbols again;
	cr_assert_eq(symbols_keep(&k.symbols, &found.s, &again, &e), NEAP_OK);
	cr_expect_eq(again.better_count, 0);
	kept_symbols_release(&again);
	kept_symbols_release(&k);
}

Test(keep, begins_with_nothing)
{
	static const struct profile_symbols none;
	struct kept_symbols k;
	struct err e;
	make_side(&found, 4);
	cr_assert_eq(symbols_keep(&none, &found.s, &k, &e), NEAP_OK);
	cr_expect_eq(k.better_count, 3);
	cr_expect_eq(k.named_count, 3);
	cr_expect(symbols_is_named(&k.symbols, 3));
	cr_expect_not(symbols_is_named(&k.symbols, 4));
	cr_expect_not(symbols_is_named(&k.symbols, 5));
	kept_symbols_release(&k);
}
