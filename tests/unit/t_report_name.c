#include "config.h"

#include "src/report/name.h"

#include "query/names.h"
#include "query/plan.h"
#include "src/base/fmt.h"

#include <criterion/criterion.h>
#include <string.h>

#define WIDE 1000u

static void assert_name(const char *demangled, size_t width, bool is_utf8, const char *want)
{
	struct shortener nm = {.is_utf8 = is_utf8};
	const char *got = name_function(&nm, demangled, width);
	cr_assert_str_eq(got, want, "'%s' in %zu columns: '%s', not '%s'", demangled, width, got,
			 want);
	cr_assert_not(nm.has_failed);
	shortener_release(&nm);
}

Test(report_name, drops_parameters_and_return_types)
{
	static const char *const cases[][2] = {
		{"main", "main"},
		{"f(int, char const*)", "f"},
		{"ns::f(int) const", "ns::f"},
		{"ns::f(void (*)(int)) &&", "ns::f"},
		{"unsigned long ns::f<int>(int)", "ns::f<int>"},
		{"char const* f<char>(char)", "f<char>"},
		{"void (anonymous namespace)::f<int>(int)", "{anon}::f<int>"},
		{"(anonymous namespace)::f()", "{anon}::f"},
		{"S::operator()(int) const", "S::operator()"},
		{"std::function<void (int)>::operator()(int) const",
		 "std::function<void (int)>::operator()"},
		{"f(int)::{lambda(int)#1}::operator()(int) const", "f::{lambda#1}::operator()"},
		{"f()::'lambda'(int)::operator()(int) const", "f::'lambda'::operator()"},
		{"operator new(unsigned long)", "operator new"},
		{"operator new[](unsigned long, std::nothrow_t const&)", "operator new[]"},
		{"S::operator unsigned long() const", "S::operator unsigned long"},
		{"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>"},
		{"bool operator< <int>(int, int)", "operator< <int>"},
		{"S::operator->() const", "S::operator->"},
		{"f(int) [clone .cold]", "f"},
		{"f [clone .part.0]", "f"},
		{"f.isra.0", "f.isra.0"},
		{"non-virtual thunk to ns::S::f()", "ns::S::f"},
		{"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
		 "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop"},
		{"core::ops::function::FnOnce::call_once{{vtable.shim}}",
		 "core::ops::function::FnOnce::call_once{{vtable.shim}}"},
		{"-[NSString initWith:and:]", "-[NSString initWith:and:]"},
		{"decltype(auto) f<int>(int)", "f<int>"},
		{"operators::run(int)", "operators::run"},
		{"app.Pool.take(ulong) shared const", "app.Pool.take"},
		{"app.split!(\"a\", 1).split() const.inner(int) immutable",
		 "app.split!(\"a\", 1).split.inner"},
		{"app.chars!(16, char).chars(ulong).Result.this(ulong)",
		 "app.chars!(16, char).chars.Result.this"},
		{"main.(*Pool).take", "main.(*Pool).take"},
		{"no C++ name", "no C++ name"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_name(cases[i][0], WIDE, true, cases[i][1]);
}

Test(report_name, keeps_the_own_name_of_the_hard_ones)
{
	static const char *const cases[][2] = {
		{"void (*getter<int>(int))(char)", "getter<int>"},
		{"void (*(*getters<int>(int))(char))(long)", "getters<int>"},
		{"int (&arr<int>(int)) [3]", "arr<int>"},
		{"int (A<int>::*member<int>(int))(int)", "member<int>"},
		{"decltype (*f(1)) g<int>(int)", "g<int>"},
		{"decltype ({parm#1}->x) arrow<X*>(X*)", "arrow<X*>"},
		{"auto main::{lambda(auto:1)#1}::operator()<int>(int) const",
		 "main::{lambda#1}::operator()<int>"},
		{"(anonymous namespace)::Hidden::go(int)::{lambda(int)#1}::operator()(int) const",
		 "{anon}::Hidden::go::{lambda#1}::operator()"},
		{"std::enable_if<((sizeof (int))>(2)), int>::type big<int>(int)", "big<int>"},
		{"big<((4)<(8))>(int)", "big<((4)<(8))>"},
		{"Fp<&(target(int))>::f()", "Fp<&(target(int))>::f"},
		{"A<int>::operator,(int)", "A<int>::operator,"},
		{"A<int>::operator>(A<int> const&) const", "A<int>::operator>"},
		{"A<int>::operator std::vector<int, std::allocator<int> ><std::vector<int, "
		 "std::allocator<int> > >() const",
		 "A<int>::operator std::vector<int><std::vector<int> >"},
		{"tagged[abi:v2](int)", "tagged"},
		{"N::text[abi:cxx11]() const", "N::text"},
		{"<mycrate::Foo as core::fmt::Debug>::fmt::h0123456789abcdef",
		 "<mycrate::Foo as core::fmt::Debug>::fmt::h0123456789abcdef"},
		{"std::mem::align_of::<std::mem::Discriminant>",
		 "std::mem::align_of::<std::mem::Discriminant>"},
		{"<dyn core::ops::function::Fn(u8) -> u16 as app::Run>::run",
		 "<dyn core::ops::function::Fn(u8) -> u16 as app::Run>::run"},
		{"core.memory.GC.malloc(ulong, uint, const(TypeInfo))", "core.memory.GC.malloc"},
		{"std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])",
		 "std.stdio.writeln!(immutable(char)[]).writeln"},
		{"$s4main3fooyyF", "$s4main3fooyyF"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_name(cases[i][0], WIDE, true, cases[i][1]);
}

Test(report_name, shows_strings_and_default_arguments_as_people_write_them)
{
	assert_name("g(std::__cxx11::basic_string<char, std::char_traits<char>, "
		    "std::allocator<char> >)::h",
		    WIDE, true, "g::h");
	assert_name("std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, "
		    "std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, "
		    "std::char_traits<char>, std::allocator<char> > > >::push_back(int)",
		    WIDE, true, "std::vector<std::string>::push_back");
	assert_name("std::make_shared<std::__cxx11::basic_string<char, std::char_traits<char>, "
		    "std::allocator<char> > >()",
		    WIDE, true, "std::make_shared<std::string>");
	assert_name("S[abi:cxx11]::get<T[abi:cxx11] >() const", WIDE, true, "S::get<T>");
	assert_name("std::map<int, long, std::less<int>, std::allocator<std::pair<int const, "
		    "long> > >::clear()",
		    WIDE, true, "std::map<int, long>::clear");
}

Test(report_name, gives_up_inner_arguments_first_and_the_own_name_last)
{
	const char *name = "outer::inner::Table<Key<A<long> >, Value>::find<int>(int)";
	assert_name(name, 52, true, "outer::inner::Table<Key<A<long> >, Value>::find<int>");
	assert_name(name, 51, true, "outer::inner::Table<Key<A<\u2026> >, Value>::find<int>");
	assert_name(name, 48, true, "outer::inner::Table<Key<\u2026>, Value>::find<int>");
	assert_name(name, 44, true, "outer::inner::Table<Key<\u2026>, Value>::find<\u2026>");
	assert_name(name, 33, true, "outer::inner::Table<\u2026>::find<\u2026>");
	assert_name(name, 30, true, "outer::inner::Table<\u2026>::find");
	assert_name(name, 27, true, "outer::inner::Table::find");
	assert_name(name, 24, true, "\u2026::inner::Table::find");
	assert_name(name, 15, true, "\u2026::Table::find");
	assert_name(name, 13, true, "\u2026::find");
	assert_name(name, 24, false, "..::inner::Table::find");
	/* No room for it with "...::": its own name is cut, not the namespace shown. */
	assert_name("clang::Parser::ParseExternalDeclaration(int)", 24, true,
		    "ParseExternalDeclaration");
	assert_name("clang::Parser::ParseExternalDeclaration(int)", 21, true,
		    "ParseE\u2026nalDeclaration");
	assert_name("std::vector<json::value>::insert<json::value>(int)", 35, true,
		    "std::vector<json::value>::insert<\u2026>");
	assert_name("<T<U> as Trait>::f", 16, true, "<\u2026>::f");
	assert_name("<T<U> as Trait>::f", 5, true, "<>::f");
	assert_name("a_very_long_function_name_of_c", 12, false, "a_v...e_of_c");
}

Test(report_name, shows_less_or_all_of_a_name_when_asked)
{
	static const char name[] =
		"unsigned long ns::Table<K, V<int>>::find<int>(int const&) const";
	static const struct {
		enum name_detail detail;
		size_t width;
		const char *want;
	} cases[] = {
		{NAME_FITTING, WIDE, "ns::Table<K, V<int>>::find<int>"},
		{NAME_SHORT, WIDE, "ns::Table::find"},
		{NAME_SHORT, 12, "..::find"},
		{NAME_FULL, WIDE, name},
		{NAME_FULL, 20, "unsig...onst&) const"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct shortener nm = {.detail = cases[i].detail};
		cr_expect_str_eq(name_function(&nm, name, cases[i].width), cases[i].want, "'%s'",
				 name_function(&nm, name, cases[i].width));
		shortener_release(&nm);
	}
}

Test(report_name, never_takes_more_columns_than_it_has)
{
	static const char *const names[] = {
		"outer::inner::Table<Key<A<B> >, Value>::find<int>(int)",
		"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97::f<int>("
		"int)",
		"((((((((((((((",
		"<<<<<<>>>>>>",
		"::::::::::::::::",
		"a::b::c::d::e::f::g::h::i::j",
		"\033[31mred\033[0m\033[31mred\033[0m",
		"operatoroperatoroperator<<<<<",
		"lambda(lambda(lambda(lambda(",
		"f()()()()()()()()()()",
		"\xff\xff\xff\xff\xff\xff",
		"[[[[[]]]]](()){}{}<>",
		"x [clone y] [clone z]",
		"operator",
		" ",
		"a  b  c  d",
	};
	struct shortener nm = {0};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		for (size_t width = 1; width < 70; width++) {
			nm.is_utf8 = width % 2;
			const char *got = name_function(&nm, names[i], width);
			cr_assert_leq(fmt_width(got, strlen(got)), width, "'%s' in %zu: '%s'",
				      names[i], width, got);
			cr_assert_null(strpbrk(got, "\033\n\t"));
		}
	}
	shortener_release(&nm);
}

Test(report_name, names_frames_without_a_function)
{
	struct shortener nm = {.is_utf8 = true};
	struct graph_frame f = {.kind = FRAME_ADDRESS,
				.module = 1,
				.module_path = "/usr/lib/libx.so.1",
				.pc = 0x12ab};
	cr_assert_str_eq(name_frame(&nm, &f, 40), "libx.so.1+0x12ab");
	cr_assert_str_eq(name_place(&nm, &f, 40, false), "");
	f = (struct graph_frame){.kind = FRAME_ADDRESS, .pc = 0x7f00};
	cr_assert_str_eq(name_frame(&nm, &f, 40), "0x7f00");
	f.kind = FRAME_SIGNAL;
	cr_assert_str_eq(name_frame(&nm, &f, 40), "[signal]");
	f.kind = FRAME_TRUNCATED;
	cr_assert_str_eq(name_frame(&nm, &f, 40), "[truncated]");
	f.kind = FRAME_NO_STACK;
	cr_assert_str_eq(name_frame(&nm, &f, 40), "[no stack]");
	shortener_release(&nm);
}

Test(report_name, says_where_a_frame_is_as_briefly_as_is_clear)
{
	struct shortener nm = {.is_utf8 = true, .cwd = "/home/user/demo"};
	struct graph_frame f = {.kind = FRAME_NAMED,
				.name = "f",
				.file_path = "/home/user/demo/src/deep/f.c",
				.line = 12,
				.module_path = "/usr/lib/libx.so.1"};
	cr_assert_str_eq(name_place(&nm, &f, 40, false), "src/deep/f.c:12");
	cr_assert_str_eq(name_place(&nm, &f, 10, false), "f.c:12");
	cr_assert_str_eq(name_place(&nm, &f, 40, true), "f.c:12");
	f.file_path = "/usr/include/c++/12/bits/vector.tcc";
	cr_assert_str_eq(name_place(&nm, &f, 40, false), "bits/vector.tcc:12");
	f.file_path = "lib/g.c";
	f.line = 0;
	cr_assert_str_eq(name_place(&nm, &f, 40, false), "lib/g.c");
	f.file_path = NULL;
	cr_assert_str_eq(name_place(&nm, &f, 40, false), "libx.so.1");
	shortener_release(&nm);
}

Test(report_name, orders_frames_by_name_then_place)
{
	struct graph_frame a = {.kind = FRAME_NAMED, .name = "a", .file_path = "x", .line = 2};
	struct graph_frame b = a;
	cr_assert_eq(name_compare(&a, &b), 0);
	b.line = 10;
	cr_assert_lt(name_compare(&a, &b), 0);
	b.file_path = NULL;
	cr_assert_gt(name_compare(&a, &b), 0);
	b.name = "b";
	cr_assert_lt(name_compare(&a, &b), 0);
}

/* What func= accepts beside the whole name. */
Test(report_name, agrees_with_queries_on_what_a_function_is_called)
{
	static const char *const cases[][2] = {
		{"f(int)", "f"},
		{"void f<int>(int)", "f<int>"},
		{"void (*getter<int>(int))(char)", "getter<int>"},
		{"int (A<int>::*member<int>(int))(int)", "member<int>"},
		{"S::operator()(int) const", "S::operator()"},
		{"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>"},
		{"A<int>::operator>(A<int> const&) const", "A<int>::operator>"},
		{"std::enable_if<((sizeof (int))>(2)), int>::type big<int>(int)", "big<int>"},
		{"f(int)::{lambda(int)#1}::operator()(int) const",
		 "f(int)::{lambda(int)#1}::operator()"},
		{"S::operator unsigned long() const", "S::operator unsigned long"},
		{"operator new[](unsigned long)", "operator new[]"},
		{"<T as Trait>::f", "<T as Trait>::f"},
		{"f(int) [clone .cold]", "f"},
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
		{"void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>"},
		{"A::f(void (*)(int))", "A::f"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct part p = name_plain(cases[i][0]);
		cr_expect_eq(p.end - p.start, strlen(cases[i][1]), "%s", cases[i][0]);
		cr_expect_eq(strncmp(cases[i][0] + p.start, cases[i][1], p.end - p.start), 0, "%s",
			     cases[i][0]);
	}
}

/* ---- scopes ------------------------------------------------------------------------------ */

static void assert_class(const char *name, const char *want)
{
	struct part part = name_class(name);
	size_t bytes = part.end - part.start;
	cr_expect(bytes == strlen(want) && !memcmp(name + part.start, want, bytes),
		  "'%s' is of '%.*s', not '%s'", name, (int)bytes, name + part.start, want);
}

Test(report_name, knows_what_a_function_belongs_to)
{
	static const char *const cases[][2] = {
		{"void ns::Table<K::V>::find<int>(int) const", "ns::Table<K::V>"},
		{"f(int)", "f"},
		{"main", "main"},
		{"Stdlib.Hashtbl.replace", "Stdlib.Hashtbl"},
		{"Stdlib.^^", "Stdlib"},
		{"T.fun_582", "T"},
		{"std.stdio.File.open(int)", "std.stdio.File"},
		{"github.com/shop/cart.(*Cart).Add", "github.com/shop/cart.(*Cart)"},
		{"github.com/shop/cart.New", "github.com/shop/cart"},
		{"copy.avx2", "copy.avx2"},
		{"XCopy.part.0", "XCopy.part.0"},
		{"XCopy.constprop.0.isra.0", "XCopy.constprop.0.isra.0"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_class(cases[i][0], cases[i][1]);
}

Test(report_name, leaves_out_scopes_with_dots)
{
	assert_name("Stdlib.Hashtbl.replace_seq", 16, true, "\u2026.replace_seq");
	assert_name("github.com/shop/cart.(*Cart).Add", 12, true, "\u2026.Add");
}

/* ---- conditions on names ------------------------------------------------------------------------- */

static bool fits(const char *pattern, const char *name)
{
	const struct ast_pattern p = {.kind = PATTERN_STRING,
				      .text = {.s = pattern, .bytes = (uint32_t)strlen(pattern)}};
	struct query_error error;
	struct text_match m;
	bool is_it = false;
	cr_assert_eq(text_match_init(&m, OP_EQ, FIELD_FUNC, &p, 1, &error), NEAP_OK);
	cr_assert_eq(text_match_run(&m, name, NULL, &is_it), NEAP_OK);
	text_match_release(&m);
	return is_it;
}

Test(query_match, knows_a_function_without_its_tags)
{
	static const char name[] = "json::Parser::text[abi:cxx11][abi:v2](int)";
	cr_expect(fits("json::Parser::text", name));
	cr_expect(fits("json::Parser::text[abi:cxx11][abi:v2]", name));
	cr_expect(fits(name, name));
	cr_expect(!fits("json::Parser::text[abi:cxx11", name));
	cr_expect(!fits("json::Parser::tex", name));
	cr_expect(fits("text", "text[abi:v1]"));
	cr_expect(!fits("operator", "operator[](int)"));
}

/* Names of other languages have brackets that do not nest: ")::(<x>". */
Test(query_names, stays_outside_once_a_bracket_did_not_match)
{
	static const char *const names[] = {"a)", "a))", ")::(<x>", ">b(c)", "f(a]<b>(c)"};
	for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
		struct brackets b = {0};
		bool was_wrong = false;
		for (size_t i = 0; names[k][i]; i = brackets_step(names[k], i, &b)) {
			cr_expect(!was_wrong || b.depth == -1, "'%s' at %zu", names[k], i);
			was_wrong = was_wrong || b.depth < 0;
		}
		cr_expect_eq(b.depth, k + 1 < sizeof names / sizeof names[0] ? -1 : 0, "'%s'",
			     names[k]);
	}
}
