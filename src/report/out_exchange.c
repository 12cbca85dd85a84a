/* Formats of other tools: the result as the writers of src/exchange take it. */
#include "config.h"

#include "src/report/exported.h"

#define DOT_MIN_SHARE 0.005

static enum neap_err write_tree(struct out *x, const struct exported *ex)
{
	struct buf *out = x->text.out;
	switch (x->r->format) {
	case FORMAT_PPROF:
		return export_pprof(&ex->about, &ex->tree, out, x->e);
	case FORMAT_SPEEDSCOPE:
		return export_speedscope(&ex->about, &ex->tree, out, x->e);
	case FORMAT_CALLGRIND:
		return export_callgrind(&ex->about, &ex->tree, out, x->e);
	case FORMAT_DOT:
		return export_dot(&ex->about, &ex->tree, DOT_MIN_SHARE, out, x->e);
	default:
		return export_flame(&ex->about, &ex->tree, out, x->e);
	}
}

static enum neap_err write_chart(struct out *x, struct exported *ex)
{
	enum neap_err code = exported_series(x, ex, x->e);
	return code ? code : export_chart(&ex->about, &ex->series, x->text.out, x->e);
}

/* Without a session there is no more than the totals. */
static enum neap_err write_massif(struct out *x, struct exported *ex)
{
	enum neap_err code = exported_series(x, ex, x->e);
	const struct export_series *s = &ex->series;
	if (code)
		return code;
	struct export_snapshot *snapshots =
		arena_array(&ex->arena, s->point_count + 1, sizeof *snapshots);
	if (!snapshots)
		return err_nomem(x->e, "the result");
	for (size_t i = 0; i < s->point_count; i++)
		snapshots[i] = (struct export_snapshot){.time_ns = s->points[i].time_ns,
							.bytes = s->points[i].value};
	return export_massif(&ex->about, snapshots, s->point_count, 1, x->text.out, x->e);
}

static enum neap_err write_page(struct out *x, struct exported *ex)
{
	struct export_section section;
	struct export_page page = {.sections = &section, .section_count = 1};
	enum neap_err code = exported_section(x, ex, &section, x->e);
	return code ? code : export_html(&ex->about, &page, x->text.out, x->e);
}

enum neap_err exported_section(struct out *x, struct exported *ex, struct export_section *out,
			       struct err *e)
{
	enum neap_err code = NEAP_OK;
	*out = (struct export_section){
		.title = "Answer",
		.query = ex->about.query,
		.population = ex->about.population,
		.empty = x->r->is_signed ? "no difference" : "nothing matches",
	};
	if (!x->r->row_count && x->r->view != VIEW_SUM)
		return NEAP_OK;
	if (x->r->view == VIEW_FLAME) {
		code = exported_tree(x, ex, e);
		out->tree = &ex->tree;
	} else if (x->r->view == VIEW_TIMELINE) {
		code = exported_series(x, ex, e);
		out->series = &ex->series;
		out->population = NULL; /* it names one instant */
	} else {
		code = exported_table(x, ex, e);
		out->table = &ex->table;
	}
	return code;
}

void out_exchange(struct out *x)
{
	struct exported ex = {.nodes = NULL};
	x->code = exported_about(x, &ex, x->e);
	if (!x->code && x->r->format == FORMAT_HTML)
		x->code = write_page(x, &ex);
	else if (!x->code && x->r->format == FORMAT_MASSIF)
		x->code = write_massif(x, &ex);
	else if (!x->code && x->r->view == VIEW_TIMELINE)
		x->code = write_chart(x, &ex);
	else if (!x->code) {
		x->code = exported_tree(x, &ex, x->e);
		if (!x->code)
			x->code = write_tree(x, &ex);
	}
	exported_release(&ex);
}
