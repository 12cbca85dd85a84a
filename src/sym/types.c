/*
 * Types by the names of functions.  A name is read from left to right, brackets nest; at each
 * beginning of a qualified name outside of brackets the table (types.def) is asked.
 *
 *   void* std::allocator<std::pair<int const, Foo> >::allocate(unsigned long)
 *         '-- scope --'  '------ argument ------'    '- rest -'
 */
#include "config.h"

#include "src/sym/types.h"

#include <string.h>

#define LIMIT_NAME ((size_t)16 << 10) /* longer names are not looked at */
#define LIMIT_PEEL 4                  /* counted pointers and allocators around a type */

static const struct row {
	const char *scope;
	size_t scope_bytes;
	const char *rest;
	unsigned argument;
	const char *form;
	const char *trait; /* behind the type; "": none */
} rows[] = {
#define TYPE(scope, rest, argument, form) {scope, sizeof(scope) - 1, rest, argument, form, ""},
#define IMPL(trait, rest)                 {"", 0, rest, 0, "%s", " as " trait},
#include "src/sym/types.def"
#undef IMPL
#undef TYPE
};

/* ---- brackets ------------------------------------------------------------------------- */

bool sym_is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z');
}

/* Bytes of an operator's name whose symbol looks like brackets; 0: there is none here. */
static size_t operator_bytes(const char *name, const char *s)
{
	static const char *const symbols[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "->",
					      "<<", ">>", "<=",  ">=",  "<",   ">"};
	if (*s != 'o' || strncmp(s, "operator", 8) != 0 || (s > name && sym_is_word(s[-1])))
		return 0;
	for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
		if (!strncmp(s + 8, symbols[i], strlen(symbols[i])))
			return 8 + strlen(symbols[i]);
	}
	return 0;
}

/* One step onwards, with the depth of brackets after it. */
static const char *step(const char *name, const char *s, int *depth)
{
	size_t bytes = operator_bytes(name, s);
	if (bytes)
		return s + bytes;
	if (strchr("<([{", *s))
		++*depth;
	else if (strchr(")]}", *s) || (*s == '>' && s > name && s[-1] != '-' && s[-1] != '='))
		--*depth;
	return s + 1;
}

static struct sym_part trim(struct sym_part p)
{
	while (p.bytes && *p.s == ' ') {
		p.s++;
		p.bytes--;
	}
	while (p.bytes && p.s[p.bytes - 1] == ' ')
		p.bytes--;
	return p;
}

struct sym_part sym_argument(const char *name, const char *open, const char *end, unsigned wanted,
			     const char **end_out)
{
	struct sym_part found = {.bytes = 0};
	const char *s = open + 1, *start = s;
	unsigned at = 0;
	int depth = 1;
	*end_out = NULL;
	while (s < end) {
		const char *here = s;
		bool is_comma = depth == 1 && *s == ',';
		s = step(name, s, &depth);
		if ((!is_comma && depth > 0) || depth < 0)
			continue;
		if (at++ == wanted)
			found = (struct sym_part){start, (size_t)(here - start)};
		start = s;
		if (depth == 0) {
			*end_out = s;
			break;
		}
	}
	return trim(found);
}

/* ---- types ------------------------------------------------------------------------------- */

/* "std::allocator<X>" is about X, and so is the block of a counted pointer. */
static struct sym_part peel(struct sym_part type)
{
	static const char *const around[] = {
		"std::allocator<",
		"std::__1::allocator<",
		"std::_Sp_counted_ptr_inplace<",
		"std::__1::__shared_ptr_emplace<",
		"alloc::rc::RcBox<",
		"alloc::rc::RcInner<",
		"alloc::sync::ArcInner<",
	};
	for (int depth = 0; depth < LIMIT_PEEL; depth++) {
		struct sym_part inner = {.bytes = 0};
		for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
			size_t bytes = strlen(around[i]);
			const char *end;
			if (type.bytes > bytes && !memcmp(type.s, around[i], bytes))
				inner = sym_argument(type.s, type.s + bytes - 1,
						     type.s + type.bytes, 0, &end);
		}
		if (!inner.bytes)
			break;
		type = inner;
	}
	return type;
}

/* In "(Enum)2" the brackets belong to a number; tuples and what is in no named namespace are types. */
static bool is_number_with_type(struct sym_part p)
{
	int depth = 0;
	const char *s = p.s, *end = p.s + p.bytes;
	do
		s = step(p.s, s, &depth);
	while (s < end && depth > 0);
	return s < end && strchr("-0123456789", *s);
}

/* "T" where the compiler kept the parameter's name only, and what is no type at all. */
static bool is_type(struct sym_part p)
{
	if (p.bytes == 1 && p.s[0] >= 'A' && p.s[0] <= 'Z')
		return false;
	return p.bytes && p.s[0] != '>' && !(p.s[0] == '(' && is_number_with_type(p));
}

/* The type, with the longest of all spellings as everybody writes it. */
static void put_type(struct buf *out, struct sym_part p)
{
	static const char *const strings[] = {
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>",
		"std::__1::basic_string<char, std::__1::char_traits<char>, "
		"std::__1::allocator<char> >",
		"std::__1::basic_string<char, std::__1::char_traits<char>, "
		"std::__1::allocator<char>>",
	};
	for (size_t i = 0; i < p.bytes;) {
		size_t skip = 0;
		for (size_t k = 0; !skip && k < sizeof strings / sizeof strings[0]; k++) {
			size_t bytes = strlen(strings[k]);
			if (p.bytes - i >= bytes && !memcmp(p.s + i, strings[k], bytes))
				skip = bytes;
		}
		if (skip)
			buf_puts(out, "std::string");
		else
			buf_putc(out, p.s[i]);
		i += skip ? skip : 1;
		if (skip && i + 1 < p.bytes && p.s[i] == ' ' && p.s[i + 1] == '>')
			i++; /* "Foo<std::string>" */
	}
}

static bool ends_well(const char *s, const char *rest)
{
	size_t bytes = strlen(rest);
	/* "::<" are types of the function itself, as Rust has them */
	return !strncmp(s, rest, bytes) &&
	       (strchr("(<[ ", s[bytes]) || !strncmp(s + bytes, "::<", 3));
}

/* T of "T as Trait"; empty: it is another trait, or there is none. */
static struct sym_part without_trait(struct sym_part p, const char *trait)
{
	size_t bytes = strlen(trait);
	if (bytes > p.bytes || memcmp(p.s + p.bytes - bytes, trait, bytes) != 0)
		return (struct sym_part){.bytes = 0};
	p.bytes -= bytes;
	return p;
}

static bool take_row(const struct row *r, const char *name, const char *s, const char *end,
		     struct buf *out)
{
	const char *after;
	if (strncmp(s, r->scope, r->scope_bytes) != 0 || s[r->scope_bytes] != '<')
		return false;
	struct sym_part type = sym_argument(name, s + r->scope_bytes, end, r->argument, &after);
	if (!after || !ends_well(after, r->rest))
		return false;
	type = peel(without_trait(type, r->trait));
	if (!is_type(type))
		return false;
	const char *mark = strstr(r->form, "%s");
	buf_put(out, r->form, (size_t)(mark - r->form));
	put_type(out, type);
	/* "Foo<Bar> >" as the demangler writes it */
	if (mark[2] == '>' && !out->has_failed && out->data[out->count_bytes - 1] == '>')
		buf_putc(out, ' ');
	buf_puts(out, mark + 2);
	return true;
}

bool sym_type_of(const char *name, struct buf *out)
{
	static const char julia[] = "Alloc: ";
	size_t bytes = strnlen(name, LIMIT_NAME);
	if (bytes == LIMIT_NAME)
		return false;
	if (!strncmp(name, julia, sizeof julia - 1) && name[sizeof julia - 1]) {
		buf_puts(out, name + sizeof julia - 1);
		return true;
	}
	if (!memchr(name, '<', bytes))
		return false;
	int depth = 0;
	for (const char *s = name; *s && depth >= 0; s = step(name, s, &depth)) {
		if (depth || (s > name && !strchr(" *&", s[-1])) || !strchr("_bshQa<", *s))
			continue;
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
			if (take_row(&rows[i], name, s, name + bytes, out))
				return true;
		}
	}
	return false;
}
