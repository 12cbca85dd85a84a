/* Demangling, wrappers, paths and flattened ranges. */
#include "config.h"

#include "src/sym/sym.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/sym/sym_priv.h"

/* ---- demangling --------------------------------------------------------------------- */

static void expect_text(const char *linkage, const char *text)
{
	struct buf out = {0};
	buf_puts(&out, "before ");
	bool is_mangled = sym_demangle(linkage, &out);
	cr_expect_eq(is_mangled, text != NULL, "%s", linkage);
	char expected[512];
	snprintf(expected, sizeof expected, "before %s", text ? text : "");
	cr_expect_str_eq(out.data, expected);
	buf_release(&out);
}

Test(demangle, shows_parameters_of_cxx)
{
	expect_text("_Z3addi", "add(int)");
	expect_text("_ZN4shop4cart3addERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
		    "shop::cart::add(std::__cxx11::basic_string<char, std::char_traits<char>, "
		    "std::allocator<char> > const&)");
	expect_text("_Znwm", "operator new(unsigned long)");
	expect_text("_ZNSt6vectorIiSaIiEE9push_backEOi",
		    "std::vector<int, std::allocator<int> >::push_back(int&&)");
	expect_text("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const");
	expect_text("_Z5parsev.cold", "parse() [clone .cold]");
	expect_text("_Z5parsev.llvm.123456", "parse()");
}

Test(demangle, hides_the_hash_of_rust)
{
	expect_text("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	expect_text("_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$16reserve_for_push17h9f2d6a1c0b3e4f58E",
		    "alloc::raw_vec::RawVec<T,A>::reserve_for_push");
	expect_text("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17he9b1bd0085d1beacE",
		    "std::rt::lang_start::{{closure}}");
	expect_text("_RNvMNtNtCsgvbsrvnw3yD_9hashbrown7control7bitmaskNtB2_7BitMask6invert",
		    "<hashbrown::control::bitmask::BitMask>::invert");
	expect_text("_RNvC6_123foo3bar", "123foo::bar");
}

/* Text NULL: nothing is filled in. */
static void expect_filled(const char *text, const char *name, const char *params,
			  const char *expected)
{
	struct buf out = {0};
	bool is_filled = rust_fill_types(text, name, params, &out);
	cr_expect_eq(is_filled, expected != NULL, "%s of %s", name, text);
	if (is_filled && expected)
		cr_expect_str_eq(out.data, expected);
	buf_release(&out);
}

Test(rust, fills_in_the_types_that_debug_information_tells)
{
	expect_filled("alloc::boxed::Box<T>::new", "new<app::Rec>", "T",
		      "alloc::boxed::Box<app::Rec>::new");
	expect_filled("alloc::vec::Vec<T,A>::push", "push<(u8, fn(u8) -> u16), app::Pool>", "T,A",
		      "alloc::vec::Vec<(u8, fn(u8) -> u16), app::Pool>::push");
	expect_filled("alloc::vec::Vec<T,A>::push",
		      "push<alloc::boxed::Box<u8, alloc::alloc::Global>, alloc::alloc::Global>",
		      "T,A", "alloc::vec::Vec<alloc::boxed::Box<u8>>::push");
	expect_filled("<alloc::vec::Vec<T,A> as core::SpecExtend<T,I>>::spec_extend",
		      "spec_extend<u8, app::Iter, alloc::Global>", "T,I,A",
		      "<alloc::vec::Vec<u8, alloc::Global> as core::SpecExtend<u8, "
		      "app::Iter>>::spec_extend");
	expect_filled("<&T as app::Show>::show", "show<app::Rec>", "T",
		      "<&app::Rec as app::Show>::show");
	expect_filled("app::Ring<T,_>::push", "push<app::Rec, 32>", "T",
		      "app::Ring<app::Rec, _>::push");
	expect_filled("app::Set<Key>::add", "add<u64>", "Key", "app::Set<u64>::add");
	expect_filled("app::run<F>::{{closure}}", "{closure#0}<app::main::{closure_env#1}>", "F",
		      "app::run<app::main::{closure_env#1}>::{{closure}}");
}

Test(rust, leaves_what_is_not_sure)
{
	/* the parameters are others than those of the name */
	expect_filled("app::Pair<A,B>::new", "new<u8, u16>", "A", NULL);
	expect_filled("app::Pair<A,B>::new", "new<u8>", "A,B", NULL);
	/* a type that is called so, and what only contains the name */
	expect_filled("core::ptr::drop_in_place<app::T>", "drop_in_place<u8>", "T", NULL);
	expect_filled("app::Tree<Tea>::T", "T<u8>", "T", NULL);
	expect_filled("<T::Item as app::Show>::show", "show<u8>", "T", NULL);
	expect_filled("app::T", "T", "T", NULL);
	expect_filled("app::new<T>", "new<u8", "T", NULL);
	expect_filled("app::new<T>", "new<>", "", NULL);
	expect_filled("", "", "", NULL);
}

Test(rust, goes_by_order_where_parameters_have_no_names)
{
	expect_filled("alloc::boxed::Box<T,A>::new_in", "new_in<app::Rec, app::Pool>", NULL,
		      "alloc::boxed::Box<app::Rec, app::Pool>::new_in");
	expect_filled("<T as alloc::vec::spec_from_elem::SpecFromElem>::from_elem",
		      "from_elem<u128, alloc::Global>", NULL,
		      "<u128 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem");
	expect_filled("app::One<T>::new", "new<u8>", NULL, "app::One<u8>::new");
	expect_filled("app::Two<T,A>::new", "new<u8, u16>", NULL, NULL);
	expect_filled("app::One<T>::with", "with<u8, u16>", NULL, NULL);
	expect_filled("alloc::boxed::Box<T,A>::new", "new<u8>", NULL, NULL);
}

Test(rust, tells_the_older_mangling)
{
	cr_expect(rust_is_legacy("_ZN3app3new17h0123456789abcdefE"));
	cr_expect(rust_is_legacy("_ZN3app3new17h0123456789abcdefE.llvm.17"));
	cr_expect_not(rust_is_legacy("_ZN3app3new17h0123456789abcdeGE"));
	cr_expect_not(rust_is_legacy("_ZN17h0123456789abcdef"));
	cr_expect_not(rust_is_legacy("_ZN3app3newEv"));
	cr_expect_not(rust_is_legacy("_RNvC6_123foo3bar"));
	cr_expect_not(rust_is_legacy(""));
}

Test(demangle, knows_d)
{
	expect_text("_D3foo3barFiZv", "foo.bar(int)");
	expect_text("_Dmain", "D main");
}

Test(demangle, knows_ocaml)
{
	expect_text("camlStdlib__Hashtbl__replace_1044", "Stdlib.Hashtbl.replace");
	expect_text("camlStdlib__Hashtbl.replace_1044", "Stdlib.Hashtbl.replace");
	expect_text("camlT__entry", "T.entry");
	expect_text("camlStdlib__$5e$5e_444", "Stdlib.^^");
	expect_text("camlCamlinternalFormat__k$27_3451", "CamlinternalFormat.k'");
	expect_text("camlT__fun_582", "T.fun_582");
	expect_text("camlT.anon_fn$5bt$2eml$3a3$2c4$2d$2d20$5d_17", "T.anon_fn[t.ml:3,4--20]");
	expect_text("camlDune__exe__Main__run_7", "Dune.exe.Main.run");
	expect_text("camlMy_lib__My_unit__do__it__now_12", "My_lib.My_unit.do__it__now");
	expect_text("camlT__f_3_12_code", "T.f");
	expect_text("camlT__fun_3_12_code", "T.fun_3_12_code");
	expect_text("camlT__f$09_1", "T.f$09"); /* a control character stays escaped */
	expect_text("camlT__f_$ff_1", "T.f_$ff");
}

Test(demangle, takes_no_c_for_ocaml)
{
	expect_text("caml_alloc_string", NULL);
	expect_text("caml_main", NULL);
	expect_text("camlParse", NULL);
	expect_text("camlParse__", NULL);
	expect_text("camel__Case", NULL);
	expect_text("caml", NULL);
	expect_text("main", NULL);
}

/* What c++filt makes of them. */
Test(demangle, knows_the_hard_ones)
{
	expect_text("_Z6getterIiEPFvcET_", "void (*getter<int>(int))(char)");
	expect_text("_Z6memberIiEM1AIT_EFiiES1_", "int (A<int>::*member<int>(int))(int)");
	expect_text("_Z6taggedB2v2i", "tagged[abi:v2](int)");
	expect_text("_Z3bigIiENSt9enable_ifIXgtstT_Li2EEiE4typeES1_",
		    "std::enable_if<((sizeof (int))>(2)), int>::type big<int>(int)");
	expect_text(
		"_ZZN12_GLOBAL__N_16Hidden2goEiENKUliE_clEi",
		"(anonymous namespace)::Hidden::go(int)::{lambda(int)#1}::operator()(int) const");
	expect_text("_ZNK1AIiEcvT_IiEEv", "A<int>::operator int<int>() const");
	expect_text("_ZZ4mainENKUlT_E_clIdEEDaS_",
		    "auto main::{lambda(auto:1)#1}::operator()<double>(double) const");
	expect_text("_ZN1AIiElsEi", "A<int>::operator<<(int)");
	expect_text("_ZN1AIiEptEv", "A<int>::operator->()");
	expect_text("_ZNK1AIiEgtERKS0_", "A<int>::operator>(A<int> const&) const");
	expect_text("_ZN2FpIXadL_Z6targetiEEE1fEv", "Fp<&(target(int))>::f()");
	expect_text("_ZTv0_n24_N1S1fEv", "virtual thunk to S::f()");
	expect_text("_ZThn8_N1S1fEv", "non-virtual thunk to S::f()");
	expect_text("_ZN1AIiEixEi", "A<int>::operator[](int)");
	expect_text("_RNCNvC7mycrate4main0", "mycrate::main::{closure#0}");
	expect_text("_RNvMs_NtCs_5alloc5boxedINtB4_3BoxNtC3app4NodeE3new",
		    "<alloc::boxed::Box<app::Node>>::new");
	expect_text("_RNvXs_NtC3app4nodeNtB4_4NodeNtNtC4core5clone5Clone5clone",
		    "<app::node::Node as core::clone::Clone>::clone");
	expect_text("_D4core6memory2GC6mallocFNbmkxC8TypeInfoZPv",
		    "core.memory.GC.malloc(ulong, uint, const(TypeInfo))");
	expect_text("_D3std5stdio__T7writelnTAyaZQnFNfQjZv",
		    "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])");
}

Test(demangle, leaves_other_names_alone)
{
	const char *const names[] = {"main",
				     "",
				     "_",
				     "_Z",
				     "_Zfoo",
				     "_ZN",
				     "_start",
				     "__libc_start_main",
				     "_D",
				     "_Dfoo",
				     "_R",
				     "_Rust",
				     "_ZN3fooE17h",
				     "Z3addi",
				     "_exit",
				     "$s4main3fooyyF",
				     "_$s4main3fooyyF",
				     "_D3foo",
				     "_RNv",
				     "_ZN4coreE.llvm.",
				     "?f@@YAXXZ"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		expect_text(names[i], NULL);
}

/* Each argument is a pair of the one before, twice: the text doubles with every step. */
static void doubling_name(struct buf *name, unsigned steps)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	buf_clear(name);
	buf_puts(name, "_Z1fSt4pairIiiE");
	for (unsigned i = 0; i < steps; i++) {
		char ref[8];
		snprintf(ref, sizeof ref, i < 36 ? "S%c_" : "S1%c_", digits[i % 36]);
		buf_printf(name, "S_I%s%sE", ref, ref);
	}
}

Test(demangle, gives_up_on_names_that_explode, .timeout = 30)
{
	struct buf name = {0}, out = {0};
	doubling_name(&name, 10);
	cr_expect(sym_demangle(name.data, &out), "a harmless one");
	cr_expect_gt(out.count_bytes, 20000);
	buf_clear(&out);
	doubling_name(&name, 60);
	cr_expect_not(sym_demangle(name.data, &out));
	cr_expect_eq(out.count_bytes, 0);
	buf_clear(&name);
	buf_puts(&name, "_Z1f");
	buf_repeat(&name, "P", 20000); /* pointers to pointers to ... */
	buf_puts(&name, "i");
	sym_demangle(name.data, &out); /* yes or no, but it returns */
	buf_clear(&name);
	buf_puts(&name, "_R");
	buf_repeat(&name, "NvNtC3foo", 2000);
	sym_demangle(name.data, &out);
	buf_clear(&name);
	buf_puts(&name, "_Z");
	buf_repeat(&name, "9", 1 << 20);
	cr_expect_not(sym_demangle(name.data, &out));
	buf_release(&name);
	buf_release(&out);
}

/* ---- wrappers ------------------------------------------------------------------------ */

Test(wrappers, are_allocators_by_name)
{
	const char *const names[] = {
		"malloc",
		"__libc_calloc",
		"xrealloc",
		"strdup",
		"__vasprintf_internal",
		"_mid_memalign.isra.0",
		"g_malloc0_n",
		"operator new(unsigned long)",
		"operator new[](unsigned long, std::align_val_t)",
		"std::allocator<int>::allocate(unsigned long, void const*)",
		"std::__new_allocator<std::_Rb_tree_node<std::pair<int const, long> > "
		">::allocate(unsigned "
		"long, void const*)",
		"__gnu_cxx::new_allocator<char>::allocate(unsigned long, void const*)",
		"std::allocator_traits<std::allocator<char> >::allocate(std::allocator<char>&, "
		"unsigned "
		"long)",
		"std::_Vector_base<bool (*)(int), std::allocator<bool (*)(int)> "
		">::_M_allocate(unsigned "
		"long)",
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
		">::_M_create(unsigned long&, unsigned long)",
		"std::__allocated_ptr<std::allocator<int> > "
		"std::__allocate_guarded<std::allocator<int> >(std::allocator<int>&)",
		"__rust_alloc",
		"__rdl_alloc",
		"alloc::alloc::exchange_malloc",
		"alloc::boxed::box_new_uninit",
		"alloc::raw_vec::RawVec<T,A>::grow_one",
		"<alloc::alloc::Global as core::alloc::Allocator>::allocate",
		"<alloc::raw_vec::RawVec<u8>>::grow_one",
		"<app::Counting as core::alloc::global::GlobalAlloc>::alloc",
		"<tikv_jemallocator::Jemalloc as core::alloc::global::GlobalAlloc>::realloc",
		"apr_palloc",
		"uv__malloc",
		"g_strdup_inline",
		"QHashData::allocateNode(int)",
		"caml_alloc_string",
		"mem.Allocator.create__anon_4711",
		"heap.CAllocator.alloc",
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		cr_expect(sym_is_wrapper(names[i]), "%s", names[i]);
}

Test(wrappers, are_not_what_only_looks_like_them)
{
	const char *const names[] = {
		"",
		"main",
		"mallocator",
		"my_malloc_user",
		"malloc_stats(int)::helper()",
		"shop::malloc(int)",
		"free",
		"operator delete(void*)",
		"shop::operator new_item(int)",
		"std::vector<int, std::allocator<int> >::push_back(int&&)",
		"void std::vector<int, std::allocator<int> "
		">::_M_realloc_insert<int>(__gnu_cxx::__normal_iterator<int*, std::vector<int, "
		"std::allocator<int> > >, int&&)",
		"std::allocator<int>* make(std::allocator<int>::allocate)",
		"void use<&std::allocator<int>::allocate>(int)",
		"std::map<int, operator new(unsigned long)>::find(int const&)",
		"bool std::operator< <char>(std::string const&, std::string const&)",
		"alloc::vec::Vec<T,A>::push",
		"<alloc::string::String as core::clone::Clone>::clone",
		"(anonymous namespace)::malloc(int)",
		"main::{lambda(int)#1}::operator()(int) const",
		"<<<<<<((((((",
		">>>)))",
		"operator",
		"f(",
		"<app::Counting as core::alloc::global::GlobalAlloc>::dealloc",
		"<x as core::alloc::global::GlobalAlloc>::alloc_more",
		"mem.copy",
		"uv_run",
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		cr_expect_not(sym_is_wrapper(names[i]), "%s", names[i]);
}

/* ---- paths ---------------------------------------------------------------------------- */

static void expect_path(const char *comp_dir, const char *part, const char *name, const char *path)
{
	struct buf out = {0};
	path_join_clean(&out, comp_dir, part, name);
	cr_expect_str_eq(out.count_bytes ? out.data : "", path);
	buf_release(&out);
}

Test(paths, are_joined_and_cleaned_textually)
{
	expect_path("/build", "src", "a.c", "/build/src/a.c");
	expect_path("/build", NULL, "a.c", "/build/a.c");
	expect_path("/build", "/usr/include", "stdio.h", "/usr/include/stdio.h");
	expect_path("/build", "src", "/abs/a.c", "/abs/a.c");
	expect_path("/build/", "./x/../src//", "./a.c", "/build/src/a.c");
	expect_path("/b", "../../../x", "a.c", "/x/a.c");
	expect_path(NULL, "../x", "a.c", "../x/a.c");
	expect_path(NULL, "../../x/..", "../a.c", "../../../a.c");
	expect_path("rel", "..", "a.c", "a.c");
	expect_path("", "", "", "");
	expect_path("/", "", "a.c", "/a.c");
	expect_path("/a/...", "b..", ".c", "/a/.../b../.c");
}

/* ---- ranges ------------------------------------------------------------------------------ */

Test(spans, nest_and_leave_gaps)
{
	struct span_list l = {0};
	struct segments s;
	spans_add(&l, 10, 50, 1); /* f */
	spans_add(&l, 20, 40, 2); /*   a */
	spans_add(&l, 25, 30, 3); /*     b */
	spans_add(&l, 40, 50, 4); /*   c ends with f */
	spans_add(&l, 60, 70, 5); /* g */
	spans_add(&l, 60, 70, 6); /*   covers all of g */
	spans_add(&l, 80, 80, 7); /* empty */
	cr_assert(spans_flatten(&l, &s));
	const struct {
		uint64_t va;
		uint32_t value;
	} expected[] = {{9, SYM_NONE},  {10, 1},        {19, 1},        {20, 2}, {24, 2},
			{25, 3},        {29, 3},        {30, 2},        {39, 2}, {40, 4},
			{49, 4},        {50, SYM_NONE}, {59, SYM_NONE}, {60, 6}, {69, 6},
			{70, SYM_NONE}, {80, SYM_NONE}};
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
		cr_expect_eq(segments_find(&s, expected[i].va), expected[i].value, "at %u",
			     (unsigned)expected[i].va);
	segments_release(&s);
	mem_free(l.items);
}

/* The rule, without the sweep: of the spans over va, the one that started last, then the shortest. */
static uint32_t slow_find(const struct span_list *l, uint64_t va)
{
	const struct span *best = NULL;
	for (size_t i = 0; i < l->count; i++) {
		const struct span *s = &l->items[i];
		if (va < s->low_va || va >= s->high_va)
			continue;
		if (!best || s->low_va > best->low_va ||
		    (s->low_va == best->low_va &&
		     (s->high_va < best->high_va ||
		      (s->high_va == best->high_va && s->value > best->value))))
			best = s;
	}
	return best ? best->value : SYM_NONE;
}

Test(spans, agree_with_a_slow_search_on_any_overlap)
{
	uint32_t seed = 12345;
	for (int round = 0; round < 300; round++) {
		struct span_list l = {0};
		struct segments s;
		for (uint32_t i = 0; i < 12; i++) {
			seed = seed * 1664525 + 1013904223;
			uint32_t low = seed >> 26;
			seed = seed * 1664525 + 1013904223;
			spans_add(&l, low, low + (seed >> 27), i);
		}
		cr_assert(spans_flatten(&l, &s));
		for (uint64_t va = 0; va < 110; va++)
			cr_assert_eq(segments_find(&s, va), slow_find(&l, va), "round %d at %u",
				     round, (unsigned)va);
		segments_release(&s);
		mem_free(l.items);
	}
}

/* ---- rows ---------------------------------------------------------------------------------- */

Test(rows, belong_to_sequences)
{
	struct dw_unit u = {.first_file = 1};
	unit_add_row(&u, 0, 1, 999, false); /* thrown away by the linker */
	unit_add_row(&u, 0, 1, 999, true);
	unit_add_row(&u, 0, 1, 998, false);
	unit_add_row(&u, 500, 1, 998, true);
	unit_add_row(&u, 200, 1, 20, false);
	unit_add_row(&u, 200, 1, 21, false); /* the last of one address holds */
	unit_add_row(&u, 210, 1, 22, false);
	unit_add_row(&u, 220, 1, 22, true);
	unit_add_row(&u, 100, 1, 10, false); /* out of order */
	unit_add_row(&u, 150, 1, 11, false);
	unit_add_row(&u, 200, 1, 11, true);
	unit_add_row(&u, 300, 1, 30, false); /* falls inside a sequence: broken, but not fatal */
	unit_add_row(&u, 310, 1, 31, false);
	unit_add_row(&u, 250, 1, 25, false);
	unit_add_row(&u, 260, 1, 25, true);
	unit_seal_rows(&u, false);
	const struct {
		uint64_t va;
		uint32_t line;
	} expected[] = {{50, 0},   {100, 10}, {149, 10}, {150, 11}, {199, 11}, {200, 21},
			{209, 21}, {210, 22}, {219, 22}, {220, 0},  {250, 25}, {259, 25},
			{260, 0},  {300, 30}, {309, 30}, {310, 0},  {499, 0}};
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		const struct dw_row *row = unit_find_row(&u, expected[i].va);
		cr_expect_eq(row ? row->line : 0, expected[i].line, "at %u",
			     (unsigned)expected[i].va);
	}
	unit_clear(&u);
}
