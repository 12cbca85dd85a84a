/*
 * What an imported profile does not know.
 *
 * A population or a condition that needs it is an error; a column or a key that does is shown as [unknown],
 * with a note, but rows cannot be put in order or chosen by it.
 */
#include "config.h"

#include "query/plan.h"

#include "src/base/buf.h"

#include <inttypes.h>

static uint64_t unknown_of(const struct query_file *f)
{
	return f->p->has_source ? f->p->source.unknown : 0;
}

static uint64_t needed_by_population(enum graph_pop pop)
{
	switch (pop) {
	case POP_LIVE:
	case POP_LEAKED:
		return FACT_LIVE;
	case POP_PEAK:
		return FACT_PEAK;
	case POP_ALLOCATED:
		return FACT_ALLOCATED;
	case POP_FREED:
		return FACT_FREED;
	case POP_TEMPORARY:
		return FACT_TEMPORARY;
	case POP_SURVIVORS:
		return FACT_ALLOCATED | FACT_TIME | FACT_LIFETIMES;
	case POP_GROWTH:
		return FACT_LIVE | FACT_TIME;
	case POP_COUNT:
		break;
	}
	return 0;
}

static uint64_t needed_by_column(enum ast_column column)
{
	switch (column) {
	case COL_COUNT:
	case COL_AVG:
		return FACT_COUNTS;
	case COL_ALLOCS:
		return FACT_ALLOCATED | FACT_COUNTS;
	case COL_FREES:
		return FACT_FREED | FACT_COUNTS;
	case COL_TEMP:
		return FACT_TEMPORARY | FACT_COUNTS;
	case COL_MAX:
		return FACT_SIZES;
	case COL_P50:
	case COL_P99:
		return FACT_TIME | FACT_LIFETIMES;
	case COL_PEAK:
		return FACT_PEAK;
	case COL_RATE:
		return FACT_TIME | FACT_ALLOCATED;
	case COL_FIRST:
	case COL_LAST:
		return FACT_TIME;
	default:
		return 0;
	}
}

static uint64_t needed_by_field(enum ast_field field)
{
	switch (field) {
	case FIELD_SIZE:
		return FACT_SIZES;
	case FIELD_THREAD:
	case FIELD_TID:
		return FACT_THREADS;
	case FIELD_API:
		return FACT_APIS;
	case FIELD_LIFETIME:
		return FACT_TIME | FACT_LIFETIMES;
	case FIELD_BORN:
		return FACT_TIME;
	case FIELD_DIED:
		return FACT_TIME | FACT_FREED;
	case FIELD_ADDR:
		return FACT_ADDRESSES;
	default:
		return 0;
	}
}

/* ---- errors and notes ------------------------------------------------------------------- */

static const struct profile_source *source_of(const struct plan *pl, uint64_t facts)
{
	for (size_t i = 0; i < pl->side_count; i++) {
		if (unknown_of(pl->sides[i].file) & facts)
			return &pl->sides[i].file->p->source;
	}
	return NULL;
}

static enum neap_err fail(struct plan *pl, struct ast_span span, uint64_t facts,
			  const struct profile_source *s)
{
	struct buf text = {0};
	profile_facts_text(facts & (s ? s->unknown : facts), &text);
	query_fail(pl->error, ERR_UNSUPPORTED, span, "the profile does not know %s",
		   text.count_bytes && !text.has_failed ? text.data : "this");
	buf_release(&text);
	return query_fail_help(pl->error,
			       "it was imported from %s; neap info lists what is unknown",
			       s ? s->title : "another tool");
}

enum neap_err known_note(struct plan *pl, const struct query_file *f)
{
	const struct profile_source *s = &f->p->source;
	struct buf text = {0};
	enum neap_err code = NEAP_OK;
	pl->unknown_facts |= unknown_of(f);
	if (!f->p->has_source)
		return NEAP_OK;
	profile_facts_text(s->unknown, &text);
	code = plan_note(pl, "%s: imported from %s%s%s%s", f->path, s->title,
			 s->is_estimated ? ", estimated from samples" : "",
			 text.count_bytes ? "; not known: " : "",
			 text.count_bytes ? text.data : "");
	buf_release(&text);
	if (!code && *s->time_unit)
		code = plan_note(pl, "%s: times are counted in %s: 1 ns stands for one", f->path,
				 s->time_unit);
	if (!code && s->is_partial) {
		pl->is_incomplete = true;
		code = plan_note(pl, "%s: the file that was imported ends too early", f->path);
	}
	if (!code && s->has_left_out) {
		pl->is_incomplete = true;
		code = plan_note(
			pl, "%s: parts that made no sense were left out; neap report names them",
			f->path);
	}
	return code;
}

/* ---- checks --------------------------------------------------------------------------------- */

/* The whole run needs no clock. */
static bool needs_clock(const struct ast_source *src)
{
	const struct ast_time *at = &src->at;
	if (src->has_at)
		return at->base != TIME_END || at->offset_ns;
	return src->has_in && (src->in.has_from || src->in.has_to);
}

enum neap_err known_population(struct plan *pl, const struct ast_source *src,
			       const struct query_file *f)
{
	uint64_t facts = needed_by_population(src->pop) | (needs_clock(src) ? FACT_TIME : 0);
	facts &= unknown_of(f);
	return facts ? fail(pl, src->span, facts, &f->p->source) : NEAP_OK;
}

/* Births of what died are known, of what lives on only if it is known which blocks died. */
static enum neap_err note_births(struct plan *pl, enum ast_field field)
{
	bool is_exact = pl->sides[0].pop == POP_ALLOCATED || !(pl->unknown_facts & FACT_LIFETIMES);
	if (field != FIELD_BORN || is_exact)
		return NEAP_OK;
	return plan_note(pl, "it is not known which blocks died: the youngest of each place are "
			     "taken, so 'born' may be too early");
}

enum neap_err known_condition(struct plan *pl, const struct ast_compare *c)
{
	uint64_t facts = c->field < FIELD_COUNT ? needed_by_field(c->field)
			 : c->column < COL_NONE ? needed_by_column(c->column)
						: 0;
	facts &= pl->unknown_facts;
	if (facts)
		return fail(pl, c->word.span, facts, source_of(pl, facts));
	return note_births(pl, c->field);
}

bool known_has_column(const struct plan *pl, enum ast_column column)
{
	return !(needed_by_column(column) & pl->unknown_facts);
}

bool known_has_field(const struct plan *pl, enum ast_field field)
{
	return !(needed_by_field(field) & pl->unknown_facts);
}

/* Addresses tell frames apart even where they are mere numbers: they cannot be shown. */
static enum neap_err check_keys(struct plan *pl)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < pl->key_count; i++) {
		code = note_births(pl, pl->keys[i].field);
		if (pl->keys[i].field == FIELD_ADDR && !known_has_field(pl, FIELD_ADDR))
			return fail(pl, pl->query->span, FACT_ADDRESSES,
				    source_of(pl, FACT_ADDRESSES));
	}
	return code;
}

static enum neap_err check_order(struct plan *pl, const struct ast_stage *stage)
{
	for (size_t i = 0; i < stage->col_count; i++) {
		enum ast_column column = stage->cols[i].column;
		uint64_t facts = column < COL_NONE ? needed_by_column(column) : 0;
		facts &= pl->unknown_facts;
		if (facts)
			return fail(pl, stage->cols[i].word.span, facts, source_of(pl, facts));
	}
	return NEAP_OK;
}

enum neap_err known_check(struct plan *pl)
{
	uint64_t facts = pl->uses_time ? FACT_TIME : 0;
	if (pl->is_hist_of_rows)
		facts |= needed_by_column(pl->hist_column);
	facts &= pl->unknown_facts;
	if (facts)
		return fail(pl, pl->view_stage ? pl->view_stage->span : pl->query->span, facts,
			    source_of(pl, facts));
	enum neap_err code = check_keys(pl);
	for (size_t i = 0; !code && i < pl->row_stages.count; i++)
		code = check_order(pl, pl->row_stages.items[i]);
	return code;
}
