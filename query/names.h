/*
 * Parts of function names and paths, and comparing them with what a user typed.
 * Names come from profiles and are not to be trusted; they are only read.
 */
#ifndef NEAP_QUERY_NAMES_H
#define NEAP_QUERY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes start .. end of a text. */
struct part {
	size_t start, end;
};

/*
 * Brackets that are open at a place of a demangled name; zero-initialised is none.  In names
 * '<' and '>' are brackets, in "operator<<", "->" and the expressions of "f<((sizeof (int))>(2))>"
 * they are not.
 */
struct brackets {
	int depth;       /* -1 from where one was closed that was not open */
	uint64_t angles; /* bit n: that of depth n is a '<' */
};
/* brackets_step - over one character, or a whole operator's name; returns the next index. */
size_t brackets_step(const char *s, size_t i, struct brackets *b);
/* operator_symbol_bytes - of "operator" and its symbol at s + i, if that holds brackets; else 0. */
size_t operator_symbol_bytes(const char *s, size_t i);

bool name_is_word(char c); /* of an identifier: letters, digits, '_', '$', anything past ASCII */
/* name_is_tail - nothing but what may follow a parameter list: " const", " noexcept", " [clone ...]"? */
bool name_is_tail(const char *s);

/* name_declarator - the function in a declaration of what it returns, "void (*f(int))(char)" ->
 * "f(int)"; all of the name if it is no such declaration. */
struct part name_declarator(const char *name);
/* name_plain - a demangled name without its return type, parameter list and clone mark:
 * "void ns::f<int>(int) const [clone .cold]" -> "ns::f<int>". */
struct part name_plain(const char *name);
/*
 * name_scope_bytes - of what stands at s + i, outside of brackets, between a scope and a name in it: "::"
 * of C++ and Rust, the dot of OCaml, D, Go and Java; 0 if nothing does.  A dot separates in names that
 * begin with a capital or hold "(" or "/"; in others, as "copy.avx2", it is C's.
 */
size_t name_scope_bytes(const char *s, size_t i);
/* name_class - what encloses the function: the plain name before its last separator of scopes outside
 * of brackets; the plain name itself if there is none. */
struct part name_class(const char *name);
/* path_last - what follows the last slash. */
const char *path_last(const char *path);

/* wildcard_fits - does the whole text fit a pattern with * and ?  Linear space, no recursion. */
bool wildcard_fits(const char *pattern, size_t pattern_bytes, const char *text, size_t text_bytes);
bool has_wildcard(const char *pattern, size_t bytes);
/* text_contains - is the (pointer, length) part in the text?  The empty one is. */
bool text_contains(const char *text, const char *part, size_t bytes);

#endif
