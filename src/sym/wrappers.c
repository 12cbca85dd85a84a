/* Is a function an allocation wrapper?  The table is wrappers.def. */
#include "config.h"

#include "src/sym/sym.h"

#include <string.h>

#define LIMIT_NAME 4096u /* wrappers have short names; longer ones are not looked at */

struct wrapper {
	const char *name;
	size_t name_bytes;
	enum {
		AT_BEGIN = 1,
		AT_END = 2
	} place; /* of a longer name; both: all of it */
};

#define EXACT(s)  {s, sizeof(s) - 1, AT_BEGIN | AT_END},
#define PREFIX(s) {s, sizeof(s) - 1, AT_BEGIN},
#define SUFFIX(s) {s, sizeof(s) - 1, AT_END},
static const struct wrapper wrappers[] = {
#include "src/sym/wrappers.def"
};
#undef EXACT
#undef PREFIX
#undef SUFFIX

/* The end of the bracketed part that begins at s, past its closing bracket. */
static const char *skip_brackets(const char *s, char open, char close)
{
	size_t depth = 0;
	for (; *s; s++) {
		if (*s == open)
			depth++;
		else if (*s == close && --depth == 0)
			return s + 1;
	}
	return s;
}

/* Is this "operator" as a word of its own? */
static bool is_operator(const char *name, const char *s)
{
	char before = s > name ? s[-1] : ':';
	bool is_word = before == ':' || before == ' ' || before == '*' || before == '&';
	return is_word && !strncmp(s, "operator", 8) && !strchr("_", s[8] ? s[8] : '_') &&
	       !(s[8] >= 'a' && s[8] <= 'z') && !(s[8] >= 'A' && s[8] <= 'Z') &&
	       !(s[8] >= '0' && s[8] <= '9');
}

/* Past the symbol of an operator: "new[]" in "operator new[](unsigned long)". */
static const char *skip_operator(const char *s)
{
	static const char *const words[] = {" new[]", " new", " delete[]", " delete", "()", "[]",
					    "<=>",    "<<=",  ">>=",       "->*",     "<<", ">>",
					    "<=",     ">=",   "->",        "<",       ">"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (!strncmp(s, words[i], strlen(words[i])))
			return s + strlen(words[i]);
	return s;
}

bool sym_is_clone_suffix(const char *s)
{
	static const char *const suffixes[] = {".cold",  ".constprop.", ".isra.",  ".llvm.",
					       ".part.", ".lto_priv.",  ".__uniq."};
	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
		if (!strncmp(s, suffixes[i], strlen(suffixes[i])))
			return true;
	return false;
}

/*
 * The qualified name alone.  At a '(' the parameters begin, and the name ends there unless
 * it goes on with "::", as for things local to a function.
 */
static void bare_name(const char *name, char out[LIMIT_NAME])
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t n = 0;
	const char *s = name;
	while (*s && n < LIMIT_NAME - 1) {
		const char *next = s + 1;
		if (*s == '<') {
			s = skip_brackets(s, '<', '>');
			continue;
		}
		if (*s == '[') { /* [abi:cxx11] */
			s = skip_brackets(s, '[', ']');
			continue;
		}
		if (*s == ' ') { /* what was before it is the return type */
			if (s[1] == '[')
				break;   /* [clone ...] */
			if (s[1] != '<') /* as in "operator< <int>" */
				n = 0;
			s++;
			continue;
		}
		if (*s == '.' && sym_is_clone_suffix(s))
			break;
		if (is_operator(name, s)) {
			next = skip_operator(s + 8);
		} else if (!strncmp(s, anonymous, sizeof anonymous - 1)) {
			next = s + sizeof anonymous - 1;
		} else if (*s == '{') {
			next = skip_brackets(s, '{', '}');
		} else if (*s == '(') {
			s = skip_brackets(s, '(', ')');
			if (!strncmp(s, " const", 6))
				s += 6;
			if (strncmp(s, "::", 2) != 0)
				break;
			continue;
		}
		for (; s < next && n < LIMIT_NAME - 1; s++)
			out[n++] = *s;
		s = next;
	}
	out[n] = '\0';
}

bool sym_is_wrapper(const char *name)
{
	char bare[LIMIT_NAME];
	const char *key = name;
	if (strnlen(name, LIMIT_NAME) == LIMIT_NAME)
		return false;
	if (name[0] != '<') {
		bare_name(name, bare);
		key = bare;
	}
	size_t bytes = strlen(key);
	for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
		const struct wrapper *w = &wrappers[i];
		bool is_whole = w->place == (AT_BEGIN | AT_END);
		if (is_whole ? bytes != w->name_bytes : bytes < w->name_bytes)
			continue;
		const char *at = w->place == AT_END ? key + bytes - w->name_bytes : key;
		if (!memcmp(at, w->name, w->name_bytes))
			return true;
	}
	return false;
}
