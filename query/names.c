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

#include <stdint.h>
#include <string.h>

static bool is_word(char c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

/* Bytes of "operator" and its symbol at s + i; 0 if there is none. */
static size_t operator_bytes(const char *s, size_t i)
{
	static const char *const symbols[] = {
		"()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "<", ">",
	};
	if (s[i] != 'o' || strncmp(s + i, "operator", 8) != 0 || (i && is_word(s[i - 1])))
		return 0;
	for (size_t k = 0; k < sizeof symbols / sizeof symbols[0]; k++) {
		size_t bytes = strlen(symbols[k]);
		if (!strncmp(s + i + 8, symbols[k], bytes))
			return 8 + bytes;
	}
	return 0;
}

/* Step over one character or one operator's name, keeping the depth of brackets. */
static size_t step(const char *s, size_t i, int *depth)
{
	size_t bytes = operator_bytes(s, i);
	if (bytes)
		return i + bytes;
	if (strchr("(<[{", s[i]))
		++*depth;
	else if (strchr(")]}", s[i]) || (s[i] == '>' && (!i || s[i - 1] != '-')))
		--*depth;
	return i + 1;
}

/* Nothing but qualifiers and clone marks? */
static bool is_tail(const char *s)
{
	static const char *const words[] = {" const", " volatile", " &&", " &", " noexcept"};
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

/*
 * One pass: where the parameter list begins (it is the last bracket at depth 0 that only a
 * tail follows), and the last blank at depth 0 before it.
 */
struct part name_plain(const char *name)
{
	size_t bytes = strlen(name), list = bytes, blank = 0, open = 0;
	bool is_operator = false;
	int depth = 0;
	const char *clone = strstr(name, " [clone");
	for (size_t i = 0; i < bytes;) {
		if (depth == 0 && name[i] == '(' && !operator_bytes(name, i))
			open = i;
		if (depth == 0 && name[i] == ' ' && !is_operator && is_word(name[i + 1]) &&
		    list == bytes)
			blank = i + 1;
		if (depth == 0 && !strncmp(name + i, "operator", 8) && !is_word(name[i + 8]) &&
		    (!i || !is_word(name[i - 1])))
			is_operator = true; /* "operator bool", "operator new[]" */
		int before = depth;
		i = step(name, i, &depth);
		if (depth < 0)
			return (struct part){0, bytes};
		if (before == 1 && depth == 0 && name[i - 1] == ')' && open && is_tail(name + i)) {
			list = open;
			break;
		}
	}
	if (depth != 0)
		return (struct part){0, bytes};
	if (list == bytes && clone)
		list = (size_t)(clone - name);
	return (struct part){blank < list ? blank : 0, list};
}

struct part name_class(const char *name)
{
	struct part plain = name_plain(name);
	size_t scope = 0;
	int depth = 0;
	for (size_t i = plain.start; i < plain.end; i = step(name, i, &depth)) {
		if (depth == 0 && i > plain.start && name[i] == ':' && name[i + 1] == ':')
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
