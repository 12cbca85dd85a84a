/*
 * Functions of .symtab and .dynsym, sorted by address.
 *
 *   va      0x1000          0x1400      0x1800
 *           | parse ......................|        outer = NONE
 *                           | helper |             outer = parse
 *
 * Several symbols often share an address.  One stays, the one a reader expects:
 * functions before labels, sized before unsized, the default version before
 * others, names without a leading underscore before others, global before weak
 * before local, then the shorter, then by name - so the choice never depends on
 * the order in the file.
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_OUTER_STEPS    64   /* nesting of symbols is 1 or 2 in practice */
#define LIMIT_COMPARED_BYTES 4096 /* a hostile table can have a million names of megabytes each */

enum {
	RANK_GLOBAL = 1,
	RANK_WEAK = 0,
	RANK_PLAIN = 4,
	RANK_DEFAULT = 8,
	RANK_SIZED = 16,
	RANK_FUNC = 32
};

bool elf_is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) || !strncmp(name, "_D", 2);
}

/* `version` is the symbol's entry of .gnu.version, 0 if there is none; bit 15 hides it. */
static uint32_t symbol_rank(const Elf64_Sym *s, const char *name, uint16_t version)
{
	uint32_t rank = 0;
	unsigned bind = ELF64_ST_BIND(s->st_info);
	if (ELF64_ST_TYPE(s->st_info) != STT_NOTYPE)
		rank |= RANK_FUNC;
	if (s->st_size)
		rank |= RANK_SIZED;
	const char *at = memchr(name, '@', strnlen(name, LIMIT_COMPARED_BYTES));
	if (!(version & 0x8000) && (!at || at[1] == '@'))
		rank |= RANK_DEFAULT;
	if (name[0] != '_' || elf_is_mangled(name))
		rank |= RANK_PLAIN;
	if (bind == STB_GLOBAL || bind == STB_GNU_UNIQUE)
		rank |= 2 + RANK_GLOBAL;
	else if (bind == STB_WEAK)
		rank |= 2 + RANK_WEAK;
	return rank;
}

/* Is it code?  Assembler often leaves functions without a type; local labels are not wanted. */
static const Elf64_Shdr *code_section(const struct elf_file *f, const Elf64_Sym *s,
				      const char *name)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);
	if (s->st_shndx == SHN_UNDEF || s->st_shndx >= f->section_count || !*name)
		return NULL;
	const Elf64_Shdr *in = &f->sections[s->st_shndx];
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return in;
	bool is_label = name[0] == '.' || name[0] == '$';
	return type == STT_NOTYPE && (in->sh_flags & SHF_EXECINSTR) && !is_label ? in : NULL;
}

static uint64_t section_end(const Elf64_Shdr *s)
{
	uint64_t end;
	return __builtin_add_overflow(s->sh_addr, s->sh_size, &end) ? UINT64_MAX : end;
}

struct raw_table {
	const Elf64_Sym *syms;
	size_t count;
	const uint16_t *versions; /* [version_count] */
	size_t version_count;
	uint64_t shift;
	const char *strings;
	size_t strings_bytes; /* up to and including the last NUL */
};

static bool add_all(struct elf_symbols *t, const struct elf_file *f, const struct raw_table *raw)
{
	for (size_t i = 1; i < raw->count; i++) {
		Elf64_Sym s = raw->syms[i];
		if (s.st_name >= raw->strings_bytes)
			continue;
		const char *name = raw->strings + s.st_name;
		const Elf64_Shdr *in = code_section(f, &s, name);
		if (!in)
			continue;
		if (!vec_reserve((void **)&t->items, &t->cap, t->count + 1, sizeof *t->items))
			return false;
		uint64_t end;
		if (__builtin_add_overflow(s.st_value, s.st_size, &end))
			end = UINT64_MAX;
		uint16_t version = i < raw->version_count ? raw->versions[i] : 0;
		/* unsized: seal cuts it at the next symbol */
		t->items[t->count++] = (struct elf_symbol){
			.va = s.st_value - raw->shift,
			.end_va = (s.st_size ? end : section_end(in)) - raw->shift,
			.name = name,
			.outer = SYM_NONE,
			.rank = symbol_rank(&s, name, version),
			.is_indirect = ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC,
		};
	}
	return true;
}

static bool add_section(struct elf_symbols *t, const struct elf_file *f, const Elf64_Shdr *table,
			uint64_t shift)
{
	size_t bytes, strings_bytes, version_bytes = 0;
	char *strings = elf_read_section(f, &f->sections[table->sh_link], &strings_bytes);
	Elf64_Sym *syms = elf_read_section(f, table, &bytes);
	const Elf64_Shdr *version = elf_find_section(f, ".gnu.version");
	uint16_t *versions = NULL;
	if (table->sh_type == SHT_DYNSYM && version)
		versions = elf_read_section(f, version, &version_bytes);
	bool is_ok = true;
	if (strings && syms) {
		struct raw_table raw = {
			.syms = syms,
			.count = bytes / sizeof *syms,
			.versions = versions,
			.version_count = version_bytes / sizeof *versions,
			.shift = shift,
			.strings = strings,
			.strings_bytes = strings_bytes, /* one more NUL follows */
		};
		t->strings[t->strings_count++] = strings;
		strings = NULL;
		is_ok = add_all(t, f, &raw);
	}
	mem_free(strings);
	mem_free(syms);
	mem_free(versions);
	return is_ok;
}

bool elf_symbols_add(struct elf_symbols *t, const struct elf_file *f, uint32_t section_type,
		     uint64_t shift)
{
	for (size_t i = 1; i < f->section_count; i++) {
		const Elf64_Shdr *s = &f->sections[i];
		if (s->sh_type != section_type || s->sh_link >= f->section_count)
			continue;
		if (s->sh_entsize != sizeof(Elf64_Sym) ||
		    t->strings_count == sizeof t->strings / sizeof t->strings[0])
			continue;
		return add_section(t, f, s, shift);
	}
	return true;
}

bool elf_symbol_is_global(const struct elf_symbol *s)
{
	return s->rank & RANK_FUNC && s->rank & RANK_DEFAULT && s->rank & (2 + RANK_GLOBAL);
}

/* By address; the symbol that is to stay comes first. */
static int compare_symbols(const void *pa, const void *pb)
{
	const struct elf_symbol *a = pa, *b = pb;
	if (a->va != b->va)
		return a->va < b->va ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	size_t a_bytes = strnlen(a->name, LIMIT_COMPARED_BYTES);
	size_t b_bytes = strnlen(b->name, LIMIT_COMPARED_BYTES);
	if (a_bytes != b_bytes)
		return a_bytes < b_bytes ? -1 : 1;
	return memcmp(a->name, b->name, a_bytes);
}

static void keep_one_per_address(struct elf_symbols *t)
{
	size_t kept = 0;
	for (size_t i = 0; i < t->count; i++)
		if (!kept || t->items[kept - 1].va != t->items[i].va)
			t->items[kept++] = t->items[i];
	t->count = kept;
	for (size_t i = 0; i + 1 < kept; i++) {
		struct elf_symbol *s = &t->items[i];
		if (!(s->rank & RANK_SIZED) && s->end_va > s[1].va)
			s->end_va = s[1].va;
	}
}

/* Sets outer; drops labels inside a function that has a size. */
static void nest(struct elf_symbols *t)
{
	size_t kept = 0;
	for (size_t i = 0; i < t->count; i++) {
		struct elf_symbol s = t->items[i];
		uint32_t outer = kept ? (uint32_t)(kept - 1) : SYM_NONE;
		while (outer != SYM_NONE && t->items[outer].end_va <= s.va)
			outer = t->items[outer].outer;
		if (outer != SYM_NONE && (t->items[outer].rank & RANK_SIZED) &&
		    !(s.rank & RANK_FUNC))
			continue;
		s.outer = outer;
		t->items[kept++] = s;
	}
	t->count = kept;
}

void elf_symbols_seal(struct elf_symbols *t)
{
	if (t->count > SYM_NONE - 1)
		t->count = SYM_NONE - 1;
	if (t->count)
		qsort(t->items, t->count, sizeof *t->items, compare_symbols);
	keep_one_per_address(t);
	nest(t);
}

const struct elf_symbol *elf_symbols_find(const struct elf_symbols *t, uint64_t va)
{
	size_t low = 0, high = t->count; /* first symbol after va */
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (t->items[mid].va <= va)
			low = mid + 1;
		else
			high = mid;
	}
	uint32_t i = low ? (uint32_t)(low - 1) : SYM_NONE;
	for (int steps = 0; i != SYM_NONE && steps < LIMIT_OUTER_STEPS; steps++) {
		if (va < t->items[i].end_va)
			return &t->items[i];
		i = t->items[i].outer;
	}
	return NULL;
}

void elf_symbols_release(struct elf_symbols *t)
{
	for (size_t i = 0; i < t->strings_count; i++)
		mem_free(t->strings[i]);
	mem_free(t->items);
	*t = (struct elf_symbols){0};
}
