/* Global functions of one file by name: .dynsym has what others see, .symtab the rest too. */
#include "config.h"

#include <string.h>

#include "src/base/limits.h"
#include "src/sym/sym_priv.h"

struct global {
	uint64_t va;
	enum sym_global kind;
};

struct globals {
	struct strtab names; /* id: index in items */
	struct global *items;
	size_t cap;
};

static bool add(struct globals *g, const struct elf_symbol *s, enum sym_global kind)
{
	size_t bytes = strnlen(s->name, LIMIT_NAME_BYTES + 1), before = g->names.count;
	if (!elf_symbol_is_global(s) || bytes > LIMIT_NAME_BYTES)
		return true;
	const char *version = memchr(s->name, '@', bytes); /* as .symtab has it */
	if (version)
		bytes = (size_t)(version - s->name);
	uint32_t id = strtab_add(&g->names, s->name, bytes);
	if (id == UINT32_MAX ||
	    !vec_reserve((void **)&g->items, &g->cap, g->names.count, sizeof *g->items))
		return false;
	struct global *item = &g->items[id];
	if (id == before)
		*item = (struct global){s->va, kind};
	if (item->va != s->va || s->is_indirect)
		item->kind = SYM_GLOBAL_UNCLEAR;
	return true;
}

static bool add_all(struct globals *g, const struct elf_file *f, uint32_t section_type,
		    uint64_t shift, enum sym_global kind)
{
	struct elf_symbols symbols = {0};
	bool is_ok = !f || elf_symbols_add(&symbols, f, section_type, shift);
	for (size_t i = 0; is_ok && i < symbols.count; i++)
		is_ok = add(g, &symbols.items[i], kind);
	elf_symbols_release(&symbols);
	return is_ok;
}

struct globals *globals_new(const struct elf_file *file, const struct elf_file *debug_file,
			    uint64_t shift)
{
	struct globals *g = mem_zalloc(sizeof *g);
	if (g && add_all(g, file, SHT_DYNSYM, 0, SYM_GLOBAL_SHARED) &&
	    add_all(g, file, SHT_SYMTAB, 0, SYM_GLOBAL_HIDDEN) &&
	    add_all(g, debug_file, SHT_SYMTAB, shift, SYM_GLOBAL_HIDDEN))
		return g;
	globals_free(g);
	return NULL;
}

void globals_free(struct globals *g)
{
	if (!g)
		return;
	strtab_release(&g->names);
	mem_free(g->items);
	mem_free(g);
}

enum sym_global globals_find(const struct globals *g, const char *name, bool is_from_inside,
			     uint64_t *va_out)
{
	uint32_t id = strtab_find(&g->names, name, strlen(name));
	if (id == UINT32_MAX || (g->items[id].kind == SYM_GLOBAL_HIDDEN && !is_from_inside))
		return SYM_GLOBAL_ABSENT;
	*va_out = g->items[id].va;
	return g->items[id].kind;
}
