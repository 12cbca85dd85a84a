/*
 * Which unit has code at an address.
 *
 *   1. .debug_aranges, which GCC writes: nothing else need be read
 *   2. an address that is not in there: all other units are visited, once, for the ranges that
 *      their own DIE gives; one that gives none (DWARF 2 has no way to, if the code is in
 *      several pieces) is read, for those of its functions
 */
#include "config.h"

#include "src/sym/debuginfo_priv.h"

/* The unit with its DIE there, added if it is new; SYM_NONE: out of memory. */
static uint32_t unit_at(struct debuginfo *d, uint64_t die_off)
{
	uint32_t id = map_find(&d->unit_ids, die_off);
	if (id != MAP_ABSENT)
		return id;
	if (d->unit_count >= LIMIT_UNITS ||
	    !vec_reserve((void **)&d->units, &d->unit_cap, d->unit_count + 1, sizeof *d->units))
		return SYM_NONE;
	id = (uint32_t)d->unit_count;
	if (!map_put(&d->unit_ids, die_off, id))
		return SYM_NONE;
	d->units[d->unit_count++] = (struct dw_unit){.die_off = die_off};
	return id;
}

struct arange_context {
	struct debuginfo *d;
	struct span_list spans;
};

static bool take_arange(void *context, uint64_t low_va, uint64_t high_va, uint64_t die_off)
{
	struct arange_context *c = context;
	uint32_t id = unit_at(c->d, die_off);
	if (id == SYM_NONE)
		return false;
	c->d->units[id].has_aranges = true;
	return spans_add(&c->spans, low_va, high_va, id);
}

bool unitindex_open(struct debuginfo *d)
{
	struct arange_context c = {.d = d};
	bool has_memory =
		dw_aranges(d->dw, take_arange, &c) && spans_flatten(&c.spans, &d->aranges);
	mem_free(c.spans.items);
	return has_memory;
}

/* The last resort: where its functions are. */
static bool add_functions_of(struct debuginfo *d, uint32_t id, struct span_list *spans)
{
	struct dw_unit *u = &d->units[id];
	if (!unit_read(d, u))
		return false;
	for (size_t i = 0; i + 1 < u->where.count; i++)
		if (u->where.items[i].value != SYM_NONE &&
		    !spans_add(spans, u->where.items[i].low_va, u->where.items[i + 1].low_va, id))
			return false;
	unit_trim_cache(d, u);
	return true;
}

static bool add_unit(struct debuginfo *d, uint64_t die_off, struct span_list *spans)
{
	uint32_t id = map_find(&d->unit_ids, die_off);
	if (id != MAP_ABSENT && d->units[id].has_aranges)
		return true;
	struct dw_die *die = dw_die_at(d->dw, die_off);
	bool has_memory = true, has_code = false;
	if (die && dw_kind(d->dw, die) == DW_UNIT) {
		id = unit_at(d, die_off);
		has_memory = id != SYM_NONE &&
			     dw_ranges(d->dw, die, dw_unit_base(d->dw, die), spans, id, &has_code);
		if (has_memory && !has_code && !dw_says_where(d->dw, die))
			has_memory = add_functions_of(d, id, spans);
	}
	dw_die_free(die);
	return has_memory;
}

static bool add_other_units(struct debuginfo *d)
{
	struct span_list spans = {0};
	uint64_t *offs;
	size_t count;
	bool has_memory = dw_unit_offs(d->dw, &offs, &count);
	for (size_t i = 0; has_memory && i < count; i++)
		has_memory = add_unit(d, offs[i], &spans);
	has_memory = has_memory && spans_flatten(&spans, &d->where);
	mem_free(spans.items);
	mem_free(offs);
	return has_memory;
}

uint32_t unitindex_find(struct debuginfo *d, uint64_t va)
{
	uint32_t id = segments_find(&d->aranges, va);
	if (id != SYM_NONE)
		return id;
	if (!d->is_whole) {
		d->is_whole = true;
		if (!add_other_units(d))
			return SYM_NONE; /* out of memory: its functions have names in the symbol table */
	}
	return segments_find(&d->where, va);
}
