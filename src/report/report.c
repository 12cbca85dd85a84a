/* The order of the report's parts. */
#include "config.h"

#include "src/report/report.h"

#include "src/report/chart.h"
#include "src/report/head.h"
#include "src/report/section.h"

struct report {
	struct text text;
	struct shortener names;
	struct row_maker maker;
	const struct report_options *options;
};

static enum neap_err write_sections(struct report *r, const struct rows *at_peak, struct err *e)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; i < report_section_count && !code; i++) {
		const struct section *section = &report_sections[i];
		struct rows own = {0};
		const struct rows *rows = at_peak;
		if (section->pop != POP_PEAK || section->key != ROW_BYTES) {
			code = rows_build(&r->maker, section->pop, section->key,
					  r->options->top_count, &own, e);
			rows = &own;
		}
		if (!code) {
			text_newline(&r->text);
			code = section_write(&r->text, &r->names, r->maker.g, r->options, section,
					     rows, e);
		}
		rows_release(&own);
	}
	return code;
}

static enum neap_err write_all(struct report *r, struct err *e)
{
	struct graph *g = r->maker.g;
	struct rows at_peak = {0}, by_function = {0};
	enum neap_err code =
		rows_build(&r->maker, POP_PEAK, ROW_BYTES, r->options->top_count, &at_peak, e);
	if (!code)
		code = rows_by_function(g, &at_peak, ROW_BYTES, &by_function, e);
	if (code)
		goto out;
	struct head_totals totals = head_totals(g, r->maker.cohorts);
	head_run(&r->text, &r->names, g);
	head_warnings(&r->text, &r->names, g);
	text_newline(&r->text);
	head_figures(&r->text, &r->names, g, &totals, &by_function);
	text_newline(&r->text);
	code = chart_write(&r->text, &r->names, g, e);
	if (!code)
		code = write_sections(r, &at_peak, e);
out:
	rows_release(&at_peak);
	rows_release(&by_function);
	return code;
}

enum neap_err report_write(struct graph *g, const struct report_options *options, struct buf *out,
			   struct err *e)
{
	struct report r = {
		.text = {.out = out,
			 .width_cols = options->width_cols,
			 .has_colour = options->has_colour,
			 .is_utf8 = options->is_utf8},
		.names = {.is_utf8 = options->is_utf8, .cwd = graph_profile(g)->run.cwd},
		.options = options,
	};
	enum neap_err code = row_maker_init(&r.maker, g, e);
	if (!code)
		code = write_all(&r, e);
	if (!code && (r.names.has_failed || out->has_failed))
		code = err_nomem(e, "the report");
	row_maker_release(&r.maker);
	shortener_release(&r.names);
	return code;
}
