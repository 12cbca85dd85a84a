/* Types of allocated objects, where the name of the function that allocates tells. */
#ifndef NEAP_SYM_TYPES_H
#define NEAP_SYM_TYPES_H

#include <stdbool.h>

#include "src/base/buf.h"

/*
 * sym_type_of - the type of what a function allocates, by its demangled name.
 *
 *   std::allocator<T>::allocate, std::make_shared<T>     T
 *   <alloc::boxed::Box<T>>::new, <alloc::vec::Vec<T>>::push  T
 *   Alloc: T                                             T, as profiles of Julia have it
 *
 * Only functions that do nothing else but allocate T, or whose T is all they are for, are in the
 * table (types.def): std::vector<T>::resize may run constructors of T that allocate something
 * else.  A counted pointer's block is named by the object in it; nodes of lists and maps keep
 * their own types.  Appends to out; false and nothing appended if the name does not tell.
 * Cost: linear in the name.
 */
bool sym_type_of(const char *name, struct buf *out);

/* For rustname.c: a piece of a name, and the characters of words. */
struct sym_part {
	const char *s;
	size_t bytes;
};
bool sym_is_word(char c);
/*
 * sym_argument - the argument number `wanted` of a list that begins at the '<' at `open`, where
 * `name` is the beginning of it all.  *end_out is after the '>', or NULL if there is none.  Empty:
 * there are not so many.
 */
struct sym_part sym_argument(const char *name, const char *open, const char *end, unsigned wanted,
			     const char **end_out);

#endif
