/*
 * Types for the parameters in names of Rust's older mangling.
 *
 *   linkage   alloc::vec::Vec<T,A>::with_capacity_in     all that the mangled name tells
 *   name      with_capacity_in<shop::Item, alloc::alloc::Global>     DW_AT_name
 *   params    T,A     the DIE's type parameters, which lie in the order of those in the name
 *   becomes   alloc::vec::Vec<shop::Item>::with_capacity_in     as the newer mangling has it
 *
 * Units with line tables only have no parameters in them.  Those that the text has stand for the
 * arguments if there is one of each, and in the containers of the standard library, whose
 * parameters are declared in the order in which they are written.  Everything else stays.
 */
#include "config.h"

#include <string.h>

#include "src/sym/sym_priv.h"
#include "src/sym/types.h"

#define LIMIT_PARAMS 16u

struct params {
	struct sym_part names[LIMIT_PARAMS], types[LIMIT_PARAMS];
	size_t name_count, type_count;
};

bool rust_is_legacy(const char *linkage)
{
	const char *dot = strchr(linkage, '.'); /* ".llvm.1" */
	size_t bytes = dot ? (size_t)(dot - linkage) : strlen(linkage);
	if (bytes < 24 || memcmp(linkage, "_ZN", 3) != 0 || linkage[bytes - 1] != 'E')
		return false;
	const char *hash = linkage + bytes - 20;
	return !memcmp(hash, "17h", 3) && strspn(hash + 3, "0123456789abcdef") == 16;
}

/* ---- what the parameters stand for ---------------------------------------------------------- */

/* A constant, as that of "[T; 3]": the DIE has type parameters only. */
static bool is_constant(struct sym_part p)
{
	return (*p.s >= '0' && *p.s <= '9') || strchr("-{'", *p.s) ||
	       (p.bytes == 4 && !memcmp(p.s, "true", 4)) ||
	       (p.bytes == 5 && !memcmp(p.s, "false", 5));
}

static bool read_types(const char *name, struct params *p)
{
	const char *end = name + strlen(name), *open = name;
	if (*open == '{') /* "{closure#0}<...>" */
		open = strchr(open, '}');
	open = open ? strchr(open, '<') : NULL;
	for (unsigned i = 0; open && p->type_count < LIMIT_PARAMS; i++) {
		const char *after;
		struct sym_part type = sym_argument(name, open, end, i, &after);
		if (after != end)
			return false;
		if (!type.bytes)
			break;
		if (!is_constant(type))
			p->types[p->type_count++] = type;
	}
	return p->type_count > 0;
}

static bool read_names(const char *params, struct params *p)
{
	for (const char *s = params; *s;) {
		size_t bytes = strcspn(s, ",");
		if (p->name_count == LIMIT_PARAMS)
			return false;
		p->names[p->name_count++] = (struct sym_part){s, bytes};
		s += bytes + (s[bytes] == ',');
	}
	return p->name_count == p->type_count;
}

/* ---- the text ------------------------------------------------------------------------------------ */

/* Bytes of the word that begins at s and could be a parameter: one of its own, not of a path; else 0. */
static size_t lone_word(const char *text, const char *s)
{
	size_t bytes = 0;
	if (s == text || !strchr("<,& [(*", s[-1]))
		return 0;
	while (sym_is_word(s[bytes]))
		bytes++;
	return s[bytes] && strchr(">,)]; ", s[bytes]) ? bytes : 0;
}

static size_t find_name(const struct params *p, const char *s, size_t bytes)
{
	size_t i = 0;
	while (i < p->name_count &&
	       (p->names[i].bytes != bytes || memcmp(p->names[i].s, s, bytes) != 0))
		i++;
	return i;
}

/* Without parameters in the DIE: those in the text, if it is sure which stands for what. */
static bool guess_names(const char *text, struct params *p)
{
	static const char *const ordered[] = {"alloc::", "hashbrown::raw::", "<T as alloc::"};
	bool is_ordered = false;
	for (size_t i = 0; i < sizeof ordered / sizeof ordered[0]; i++)
		is_ordered |= !strncmp(text, ordered[i], strlen(ordered[i]));
	for (const char *s = text; *s; s++) {
		size_t bytes = lone_word(text, s);
		if (bytes != 1 || *s < 'A' || *s > 'Z' || find_name(p, s, 1) < p->name_count)
			continue;
		if (p->name_count == p->type_count)
			return false;
		p->names[p->name_count++] = (struct sym_part){s, bytes};
	}
	return p->name_count && (is_ordered || (p->name_count == 1 && p->type_count == 1));
}

/* The allocator that all have but those that say so; the newer mangling leaves it out. */
static void put_without_allocator(const struct buf *text, struct buf *out)
{
	static const char allocator[] = ", alloc::alloc::Global>";
	for (const char *s = text->data; *s;) {
		bool is_it = !strncmp(s, allocator, sizeof allocator - 1);
		buf_putc(out, is_it ? '>' : *s);
		s += is_it ? sizeof allocator - 1 : 1;
	}
}

static bool fill(const char *text, const struct params *p, struct buf *out)
{
	bool has_filled = false;
	for (const char *s = text; *s;) {
		size_t bytes = lone_word(text, s), i = bytes ? find_name(p, s, bytes) : 0;
		bool is_param = bytes && i < p->name_count;
		if (is_param)
			buf_put(out, p->types[i].s, p->types[i].bytes);
		else
			buf_putc(out, *s);
		has_filled |= is_param;
		s += is_param ? bytes : 1;
		if (s[-1] == ',' && *s != ' ')
			buf_putc(out, ' ');
	}
	return has_filled && !out->has_failed;
}

bool rust_fill_types(const char *text, const char *name, const char *params, struct buf *out)
{
	struct params p = {.name_count = 0};
	if (!read_types(name, &p) || !(params ? read_names(params, &p) : guess_names(text, &p)))
		return false;
	struct buf filled = {0};
	bool is_ok = fill(text, &p, &filled);
	if (is_ok)
		put_without_allocator(&filled, out);
	buf_release(&filled);
	return is_ok;
}
