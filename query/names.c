/*
 * A demangled C++ or Rust name is a sequence of words in which brackets nest:
 *
 *   unsigned long ns::Table<K, V>::find<int>(int const&) const [clone .cold]
 *   '-- return -' '------- plain ---------''--- parameters ---' '-- clone --'
 *
 * Names of operators hold brackets that do not nest and are stepped over as one.  A name
 * whose brackets do not match is left whole.
 */
#include "config.h"

#include "query/names.h"
#include "src/sym/sym.h"

#include <stdint.h>
#include <string.h>

bool name_is_word(char c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

size_t operator_symbol_bytes(const char *s, size_t i)
{
	static const char *const symbols[] = {
		"()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "<", ">",
	};
	if (s[i] != 'o' || strncmp(s + i, "operator", 8) != 0 || (i && name_is_word(s[i - 1])))
		return 0;
	for (size_t k = 0; k < sizeof symbols / sizeof symbols[0]; k++) {
		size_t bytes = strlen(symbols[k]);
		if (!strncmp(s + i + 8, symbols[k], bytes))
			return 8 + bytes;
	}
	return 0;
}

#define ANGLES_DEPTH 64 /* deeper ones may be either */

static bool is_angle(const struct brackets *b)
{
	return b->depth > 0 && b->depth < ANGLES_DEPTH && b->angles >> b->depth & 1;
}

static void open_bracket(struct brackets *b, bool is_angle)
{
	b->depth++;
	if (b->depth < ANGLES_DEPTH)
		b->angles = (b->angles & ~(UINT64_C(1) << b->depth)) | (uint64_t)is_angle
									       << b->depth;
}

/* A '<' behind a ')' compares, but for that behind "operator()". */
static bool is_less_than(const char *s, size_t i)
{
	static const char call[] = "operator()";
	size_t bytes = sizeof call - 1;
	return i && s[i - 1] == ')' && !(i >= bytes && !memcmp(s + i - bytes, call, bytes));
}

size_t brackets_step(const char *s, size_t i, struct brackets *b)
{
	bool is_deep = b->depth >= ANGLES_DEPTH;
	size_t bytes;
	if (b->depth < 0)
		return i + 1;
	switch (s[i]) {
	case 'o':
		bytes = operator_symbol_bytes(s, i);
		return bytes ? i + bytes : i + 1;
	case '(':
	case '[':
	case '{':
		open_bracket(b, false);
		break;
	case '<':
		if (!is_less_than(s, i))
			open_bracket(b, true);
		break;
	case '>':
		if ((!i || s[i - 1] != '-') && (is_angle(b) || is_deep || !b->depth))
			b->depth--;
		break;
	case ')':
	case ']':
	case '}':
		b->depth = is_angle(b) && !is_deep ? -1 : b->depth - 1;
		break;
	default:
		break;
	}
	return i + 1;
}

bool name_is_tail(const char *s)
{
	static const char *const words[] = {" const",    " volatile", " &&",        " &",
					    " noexcept", " shared",   " immutable", " inout"};
	while (*s) {
		size_t bytes = 0;
		for (size_t k = 0; k < sizeof words / sizeof words[0] && !bytes; k++) {
			if (!strncmp(s, words[k], strlen(words[k])))
				bytes = strlen(words[k]);
		}
		if (!bytes)
			return !strncmp(s, " [clone", 7);
		s += bytes;
	}
	return true;
}

/* "decltype (*f(1)) g<int>(int)" declares nothing in these brackets. */
static bool is_after_keyword(const char *s, size_t i)
{
	static const char *const words[] = {"decltype ", "sizeof ", "noexcept ", "alignof ",
					    "requires "};
	for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
		size_t bytes = strlen(words[k]);
		if (i >= bytes && !memcmp(s + i - bytes, words[k], bytes))
			return true;
	}
	return false;
}

/* What the bracket at `open` declares, as "*f(int)" and "A<int>::*f(int)" do; empty: nothing. */
static struct part declared_in(const char *s, size_t open)
{
	struct brackets b = {0};
	size_t i = open + 1, end, list = 0;
	while (s[i] && (b.depth > 0 || name_is_word(s[i]) || s[i] == ':' || s[i] == '<')) {
		i = brackets_step(s, i, &b);
		if (b.depth < 0)
			return (struct part){0, 0};
	}
	if (s[i] != '*' && s[i] != '&')
		return (struct part){0, 0};
	while (s[i] == '*' || s[i] == '&')
		i++;
	for (end = i; s[end] && !(b.depth == 0 && s[end] == ')');) {
		if (b.depth == 0 && s[end] == '(')
			list = end;
		end = brackets_step(s, end, &b);
		if (b.depth < 0)
			return (struct part){0, 0};
	}
	return list && s[end] ? (struct part){i, end} : (struct part){0, 0};
}

#define DECLARATORS_MOST 8 /* a function that returns one that returns one ... */

struct part name_declarator(const char *name)
{
	struct part found = {0, strlen(name)};
	struct brackets b = {0};
	int rounds = 0;
	if (name[0] != '(' &&
	    !strstr(name, " (")) /* most names: none of its brackets may begin one */
		return found;
	for (size_t i = 0; i < found.end && b.depth >= 0;) {
		bool may_begin = i == found.start || (i && name[i - 1] == ' ');
		if (b.depth == 0 && name[i] == '(' && may_begin && !is_after_keyword(name, i)) {
			struct part inner = declared_in(name, i);
			if (inner.end && inner.end <= found.end && rounds++ < DECLARATORS_MOST) {
				found = inner;
				i = inner.start;
				continue;
			}
		}
		i = brackets_step(name, i, &b);
	}
	return found;
}

/* A declarator ends with its parameter list. */
static struct part without_list(const char *name, struct part p)
{
	struct brackets b = {0};
	size_t list = p.end;
	for (size_t i = p.start; i < p.end && b.depth >= 0;) {
		if (b.depth == 0 && name[i] == '(' && !operator_symbol_bytes(name, i))
			list = i;
		i = brackets_step(name, i, &b);
	}
	return (struct part){p.start, list};
}

static bool may_begin(const char *s)
{
	static const char nameless[] = "(anonymous namespace)::";
	return name_is_word(*s) || !strncmp(s, nameless, sizeof nameless - 1);
}

/*
 * One pass: where the parameter list begins (it is the last bracket at depth 0 that only a
 * tail follows), and the last blank at depth 0 before it.
 */
struct part name_plain(const char *name)
{
	size_t bytes = strlen(name), list = bytes, blank = 0, open = 0;
	bool is_operator = false;
	struct brackets b = {0};
	struct part inner = name_declarator(name);
	if (inner.end < bytes)
		return without_list(name, inner);
	const char *clone = strstr(name, " [clone");
	for (size_t i = 0; i < bytes;) {
		if (b.depth == 0 && name[i] == '(' && !operator_symbol_bytes(name, i))
			open = i;
		if (b.depth == 0 && name[i] == ' ' && !is_operator && may_begin(name + i + 1) &&
		    list == bytes)
			blank = i + 1;
		if (b.depth == 0 && name[i] == 'o' && !strncmp(name + i, "operator", 8) &&
		    !name_is_word(name[i + 8]) && (!i || !name_is_word(name[i - 1])))
			is_operator = true; /* "operator bool", "operator new[]" */
		int before = b.depth;
		i = brackets_step(name, i, &b);
		if (b.depth < 0)
			return (struct part){0, bytes};
		if (before == 1 && b.depth == 0 && name[i - 1] == ')' && open &&
		    name_is_tail(name + i)) {
			list = open;
			break;
		}
	}
	if (b.depth != 0)
		return (struct part){0, bytes};
	if (list == bytes && clone)
		list = (size_t)(clone - name);
	return (struct part){blank < list ? blank : 0, list};
}

static bool has_dotted_scopes(const char *s)
{
	bool is_capital = *s >= 'A' && *s <= 'Z';
	return (is_capital || strpbrk(s, "(/")) && !strstr(s, "::");
}

size_t name_scope_bytes(const char *s, size_t i)
{
	if (s[i] == ':' && s[i + 1] == ':')
		return 2;
	bool is_dot = i && s[i] == '.' && s[i + 1] && s[i + 1] != '.' &&
		      !(s[i + 1] >= '0' && s[i + 1] <= '9');
	return is_dot && !sym_is_clone_suffix(s + i) && has_dotted_scopes(s);
}

struct part name_class(const char *name)
{
	struct part plain = name_plain(name);
	size_t scope = 0;
	struct brackets b = {0};
	for (size_t i = plain.start; i < plain.end; i = brackets_step(name, i, &b)) {
		if (b.depth == 0 && i > plain.start && name_scope_bytes(name, i))
			scope = i;
	}
	if (scope)
		plain.end = scope;
	return plain;
}

const char *path_last(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

bool has_wildcard(const char *pattern, size_t bytes)
{
	return memchr(pattern, '*', bytes) || memchr(pattern, '?', bytes);
}

/* On a mismatch go back to the last star and let it take one more byte. */
bool wildcard_fits(const char *pattern, size_t pattern_bytes, const char *text, size_t text_bytes)
{
	size_t p = 0, t = 0, star = SIZE_MAX, taken = 0;
	while (t < text_bytes) {
		if (p < pattern_bytes && pattern[p] == '*') {
			star = p++;
			taken = t;
		} else if (p < pattern_bytes && (pattern[p] == '?' || pattern[p] == text[t])) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++taken;
		} else {
			return false;
		}
	}
	while (p < pattern_bytes && pattern[p] == '*')
		p++;
	return p == pattern_bytes;
}

bool text_contains(const char *text, const char *part, size_t bytes)
{
	return memmem(text, strlen(text), part, bytes) != NULL;
}
