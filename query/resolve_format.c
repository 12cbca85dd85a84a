/*
 * What a format makes of a query: which views it can show, what rows are then, and what has to be
 * computed besides.
 *
 *   folded                     whole stacks
 *   pprof, speedscope,
 *   callgrind, dot             the same as a tree from the root down
 *   svg                        a tree, from either end, or a timeline
 *   massif                     a timeline of what is live; its trees are queries of their own
 *   html, and all others       any view
 */
#include "config.h"

#include "query/plan.h"

#include <string.h>

static const char *format_word(const struct plan *pl)
{
	return vocab_formats.words[pl->format].word;
}

/* Are rows whole stacks, whatever shows them? */
static bool is_of_stacks(const struct plan *pl)
{
	return pl->view == VIEW_TREE || pl->view == VIEW_STACKS ||
	       (pl->view == VIEW_FLAME && !pl->view_stage->is_inverted) ||
	       (pl->view == VIEW_CALLEES && !pl->view_stage->has_step) ||
	       (pl->view == VIEW_TABLE && (!pl->has_by || pl->is_by_stack));
}

static enum neap_err need_stacks(struct plan *pl)
{
	if (is_of_stacks(pl))
		return NEAP_OK;
	query_fail(pl->error, ERR_USAGE, pl->as_stage->span, "'%s' shows whole stacks only",
		   format_word(pl));
	return query_fail_help(pl->error, "leave out '%s', or take another format",
			       pl->view_stage ? vocab_views.words[pl->view].word : "by");
}

static enum neap_err need_unsigned(struct plan *pl, const char *instead)
{
	if (!pl->is_signed)
		return NEAP_OK;
	query_fail(pl->error, ERR_USAGE, pl->as_stage->span, "'%s' has no negative numbers",
		   format_word(pl));
	return query_fail_help(pl->error, "%s", instead);
}

static enum neap_err resolve_tree(struct plan *pl)
{
	enum neap_err code = need_stacks(pl);
	if (!code && pl->format == FORMAT_CALLGRIND)
		code = need_unsigned(pl, "differences can be had as svg, speedscope, pprof or dot");
	pl->view = VIEW_TREE;
	pl->needs_samples = pl->format == FORMAT_PPROF;
	return code;
}

static enum neap_err resolve_svg(struct plan *pl)
{
	switch (pl->view) {
	case VIEW_FLAME:
	case VIEW_TREE:
	case VIEW_CALLERS:
	case VIEW_CALLEES:
		pl->needs_pixels = true;
		return NEAP_OK;
	case VIEW_TIMELINE:
		return NEAP_OK;
	default:
		break;
	}
	if (is_of_stacks(pl)) {
		pl->view = VIEW_TREE;
		pl->needs_pixels = true;
		return NEAP_OK;
	}
	query_fail(pl->error, ERR_USAGE, pl->as_stage->span,
		   "'svg' draws flame graphs and timelines, not %s",
		   pl->view_stage ? vocab_views.words[pl->view].word : "tables");
	return query_fail_help(pl->error,
			       "'| flame | as svg' draws who holds what, '| timeline | as "
			       "svg' how it went");
}

/* What is live at every instant, whichever instant was asked for. */
static enum neap_err resolve_massif(struct plan *pl)
{
	struct plan_side *side = &pl->sides[0];
	enum neap_err code = need_unsigned(pl, "'live | as massif' has all snapshots in it");
	if (code)
		return code;
	if (side->pop != POP_LIVE && side->pop != POP_PEAK && side->pop != POP_LEAKED) {
		query_fail(pl->error, ERR_USAGE, pl->as_stage->span,
			   "'massif' shows what is live over time, and '%s' is not that",
			   graph_pop_name(side->pop));
		return query_fail_help(pl->error, "'live | as massif', or another format");
	}
	if (pl->has_by || pl->row_stages.count) {
		query_fail(pl->error, ERR_USAGE, pl->as_stage->span,
			   "'massif' has trees of all stacks, no rows to choose from");
		return query_fail_help(pl->error, "leave out 'by' and the stages on rows");
	}
	if (pl->view != VIEW_TIMELINE)
		code = need_stacks(pl);
	if (side->pop != POP_LIVE) {
		side->pop = POP_LIVE;
		side->window = graph_whole_run(side->file->g);
		side->instant_ns = side->seconds_ns =
			graph_snap_time(side->file->g, side->window.to);
	}
	pl->view = VIEW_TIMELINE;
	return code;
}

enum neap_err resolve_format(struct plan *pl)
{
	const struct ast_stage *as = pl->as_stage;
	enum neap_err code = NEAP_OK;
	pl->format = as && as->format < FORMAT_COUNT ? as->format : FORMAT_TABLE;
	if (as && as->has_file) {
		pl->to_file = plan_printf(pl, "%.*s", (int)as->file.bytes, as->file.s);
		if (!pl->to_file)
			return query_no_memory(pl->error);
	}
	switch (pl->format) {
	case FORMAT_FOLDED:
		code = need_stacks(pl);
		pl->view = VIEW_STACKS;
		break;
	case FORMAT_PPROF:
	case FORMAT_SPEEDSCOPE:
	case FORMAT_CALLGRIND:
	case FORMAT_DOT:
		return resolve_tree(pl);
	case FORMAT_SVG:
		return resolve_svg(pl);
	case FORMAT_MASSIF:
		return resolve_massif(pl);
	case FORMAT_HTML:
		pl->needs_pixels = pl->view == VIEW_FLAME;
		break;
	default:
		break;
	}
	return code;
}

static bool knows_addresses(const struct query_file *f)
{
	return !f->p->has_source || !(f->p->source.unknown & FACT_ADDRESSES);
}

const enum ast_field *resolve_format_keys(const struct plan *pl, size_t *count_out)
{
	static const enum ast_field fields[] = {FIELD_FUNC, FIELD_LINE, FIELD_MODULE, FIELD_ADDR};
	/* Between two files only names mean the same. */
	bool has_lines = pl->format == FORMAT_PPROF || pl->format == FORMAT_CALLGRIND;
	*count_out = 1;
	if (has_lines && !pl->is_two_files)
		*count_out =
			pl->format == FORMAT_PPROF && knows_addresses(pl->sides[0].file) ? 4 : 3;
	return fields;
}

static bool has_column(const struct plan *pl, enum ast_column column)
{
	for (size_t i = 0; i < pl->column_count; i++) {
		if (!pl->columns[i].is_key && pl->columns[i].column == column)
			return true;
	}
	return false;
}

static void add_hidden(struct plan *pl, enum ast_column column)
{
	if (has_column(pl, column))
		return;
	pl->columns[pl->column_count++] = (struct plan_column){.column = column, .is_hidden = true};
	plan_needs(pl, column);
}

/* The measures that files of samples always have, as far as the population is none of them. */
static void need_measures(struct plan *pl)
{
	enum graph_pop pop = pl->sides[0].pop;
	if (pl->side_count == 2)
		return;
	pl->needs_measure[MEASURE_ALLOCS] = pop != POP_ALLOCATED;
	pl->needs_measure[MEASURE_LIVE] = pop != POP_LIVE && pop != POP_LEAKED;
	pl->needs_measure[MEASURE_PEAK] = pop != POP_PEAK;
}

enum neap_err resolve_format_columns(struct plan *pl)
{
	bool is_drawn = pl->format == FORMAT_SVG || pl->format == FORMAT_HTML;
	if (pl->needs_samples)
		need_measures(pl);
	if (is_drawn && pl->is_signed && pl->view != VIEW_TIMELINE) {
		add_hidden(pl, COL_A);
		add_hidden(pl, COL_B);
	}
	if (is_drawn && pl->view == VIEW_TIMELINE && pl->side_count == 1)
		add_hidden(pl, COL_PEAK);
	return NEAP_OK;
}
