/* Which renderer a result gets, and what stands above and below. */
#include "config.h"

#include "src/report/out.h"

#include "src/base/mem.h"
#include "src/report/out_priv.h"

#include <string.h>

/* The population with the instants really used, and how the numbers are to be read. */
static void write_heading(struct out *x)
{
	const struct query_result *r = x->r;
	if (!r->population || !*r->population)
		return;
	text_put(&x->text, STYLE_HEADING,
		 name_text(&x->names, r->population, 4 * x->text.width_cols));
	text_newline(&x->text);
}

static void write_view(struct out *x)
{
	const struct query_result *r = x->r;
	write_heading(x);
	if (!r->row_count && r->view != VIEW_SUM) {
		text_put(&x->text, STYLE_PLAIN,
			 r->is_signed ? "  no difference" : "  nothing matches");
		text_newline(&x->text);
		return;
	}
	switch (r->view) {
	case VIEW_TABLE:
		out_table(x);
		break;
	case VIEW_TREE:
	case VIEW_CALLERS:
	case VIEW_CALLEES:
		out_tree(x);
		break;
	case VIEW_PEEK:
		out_peek(x);
		break;
	case VIEW_STACKS:
		out_stacks(x);
		break;
	case VIEW_FLAME:
		out_flame(x);
		break;
	case VIEW_TIMELINE:
		out_timeline(x);
		break;
	case VIEW_HIST:
		out_hist(x);
		break;
	case VIEW_SUM:
		out_sum(x);
		break;
	case VIEW_SOURCE:
		out_source(x);
		break;
	}
}

static void write_format(struct out *x)
{
	switch (x->r->format) {
	case FORMAT_TSV:
		out_separated(x, false);
		break;
	case FORMAT_CSV:
		out_separated(x, true);
		break;
	case FORMAT_JSON:
		out_json(x);
		break;
	case FORMAT_JSONL:
		out_jsonl(x);
		break;
	case FORMAT_MARKDOWN:
		out_markdown(x);
		break;
	case FORMAT_FOLDED:
		out_folded(x);
		break;
	case FORMAT_PPROF:
	case FORMAT_SPEEDSCOPE:
	case FORMAT_CALLGRIND:
	case FORMAT_DOT:
	case FORMAT_MASSIF:
	case FORMAT_SVG:
	case FORMAT_HTML:
		out_exchange(x);
		break;
	default:
		write_view(x);
		break;
	}
}

/* Columns by the same word hold the same: one is enough, and JSON wants no more. */
static bool is_shown_already(const struct out *x, size_t column)
{
	for (size_t i = 0; i < x->shown_count; i++) {
		if (!strcmp(x->r->columns[x->shown[i]].word, x->r->columns[column].word))
			return true;
	}
	return false;
}

bool out_begin(struct out *x, const struct query_result *r, const struct out_options *o,
	       struct buf *out)
{
	*x = (struct out){.r = r, .o = o};
	x->text = (struct text){.out = out,
				.width_cols = o->width_cols,
				.has_colour = o->has_colour,
				.is_utf8 = o->is_utf8};
	x->names = (struct shortener){.is_utf8 = o->is_utf8,
				      .cwd = r->graph ? graph_profile(r->graph)->run.cwd : NULL};
	x->shown = mem_array(r->column_count, sizeof *x->shown);
	for (size_t i = 0; x->shown && i < r->column_count; i++) {
		if (!r->columns[i].is_hidden && !is_shown_already(x, i))
			x->shown[x->shown_count++] = i;
	}
	return x->shown;
}

bool out_end(struct out *x)
{
	bool has_failed = x->has_failed || x->names.has_failed || x->scratch.has_failed ||
			  x->text.out->has_failed;
	mem_free(x->shown);
	out_release_names(x);
	buf_release(&x->scratch);
	shortener_release(&x->names);
	return !has_failed;
}

enum neap_err out_write(const struct query_result *r, const struct out_options *o, struct buf *out,
			struct err *e)
{
	struct out x;
	if (!out_begin(&x, r, o, out))
		return err_nomem(e, "the result");
	x.e = e;
	write_format(&x);
	return out_end(&x) || x.code ? x.code : err_nomem(e, "the result");
}

void out_totals(const struct query_result *r, struct buf *out)
{
	char number[OUT_NUMBER_BYTES];
	bool is_first = true;
	for (size_t i = 0; i < r->column_count; i++) {
		const struct result_column *c = &r->columns[i];
		if (c->is_key || out_is_text(c))
			continue;
		buf_printf(out, "%s%s %s", is_first ? "" : ", ", c->word,
			   out_number(number, r, c, &r->totals[i]));
		if (c->type == RESULT_BYTES && !r->totals[i].is_unknown &&
		    (r->totals[i].value >= 1024 || r->totals[i].value <= -1024))
			buf_printf(out, " = %s bytes",
				   fmt_count(number, sizeof number, r->totals[i].value));
		is_first = false;
	}
}
