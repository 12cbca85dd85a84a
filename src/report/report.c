/* The order of the report's parts. */
#include "config.h"

#include "src/report/report.h"

#include "src/base/both.h"
#include "src/report/chart.h"
#include "src/report/head.h"
#include "src/report/section.h"

struct report {
	struct text text;
	struct shortener names;
	struct query_session *session;
	const struct graph *g;
	const struct report_options *options;
	struct path_finder finder, second_finder;
	struct missing missing;
	struct answer holders; /* of the peak, by function */
	struct section_table tables[SECTION_COUNT];
	struct head_totals totals;
};

static enum neap_err ask_inherited(struct report *r, struct err *e)
{
	struct answer a = {.text = NULL};
	if (graph_profile(r->g)->has_source)
		return NEAP_OK;
	enum neap_err code = answer_get(r->session, "live at start | sum", &a, e);
	if (!code)
		r->totals.inherited = answer_total(&a);
	answer_release(&a);
	return code;
}

/* Mappings are in every figure (neap record --mmap): which part of the peak they are. */
static enum neap_err ask_mapped(struct report *r, struct err *e)
{
	struct answer a = {.text = NULL};
	const struct profile *p = graph_profile(r->g);
	for (size_t i = 0; i < p->site_count && !r->totals.has_mappings; i++)
		r->totals.has_mappings = profile_site_api(p, i) == API_MMAP;
	if (!r->totals.has_mappings || !head_knows(r->g, FACT_PEAK))
		return NEAP_OK;
	enum neap_err code = answer_get(r->session, "peak api=mmap | sum", &a, e);
	if (!code)
		r->totals.mapped = answer_total(&a);
	answer_release(&a);
	return code;
}

static enum neap_err ask_sections(struct report *r, struct err *e)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0, alike; i < SECTION_COUNT && !code; i += alike) {
		alike = sections_alike(&report_sections[i], SECTION_COUNT - i);
		code = sections_ask(r->session, &report_sections[i], alike, r->options->top_count,
				    &r->tables[i], e);
	}
	return code;
}

/* All queries come first: the top of the page says what they all add up to. */
static enum neap_err ask(struct report *r, struct err *e)
{
	enum neap_err code = answer_get(r->session, HEAD_HOLDERS_QUERY, &r->holders, e);
	if (code == ERR_UNSUPPORTED) /* an imported profile that does not know its peak */
		code = NEAP_OK;
	if (!code)
		code = ask_sections(r, e);
	if (!code)
		code = ask_inherited(r, e);
	if (!code)
		code = ask_mapped(r, e);
	r->totals.peak = r->tables[SECTION_PEAK].rows.total;
	r->totals.leaked = r->tables[SECTION_LEAKED].rows.total;
	r->totals.allocated = r->tables[SECTION_ALLOCATED].rows.total;
	r->totals.temporary = r->tables[SECTION_TEMPORARY].rows.total;
	return code;
}

static enum neap_err prepare(struct report *r, struct err *e)
{
	enum neap_err code = path_finder_init(&r->finder, r->g, e);
	if (!code)
		code = path_finder_borrow(&r->second_finder, &r->finder, e);
	return code ? code : missing_find(r->g, &r->missing, e);
}

/* The two tables of what was allocated take as long as the others. */
static bool is_of_allocated(size_t section_id)
{
	return report_sections[section_id].pop == POP_ALLOCATED;
}

static enum neap_err choose_paths(struct report *r, bool of_allocated, struct path_finder *f,
				  struct err *e)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; i < SECTION_COUNT && !code; i++) {
		if (is_of_allocated(i) == of_allocated)
			code = section_choose_paths(&r->tables[i], f, e);
	}
	return code;
}

static enum neap_err choose_allocated(struct report *r, struct err *e)
{
	return choose_paths(r, true, &r->second_finder, e);
}

static enum neap_err choose_others(struct report *r, struct err *e)
{
	return choose_paths(r, false, &r->finder, e);
}

typedef enum neap_err (*report_work)(struct report *r, struct err *e);

struct half {
	struct report *r;
	report_work work;
	enum neap_err code;
	struct err e;
};

static void work_on_half(void *arg)
{
	struct half *h = arg;
	h->code = h->work(h->r, &h->e);
}

#define TWO_THREADS_FROM 100000u /* nodes */

static enum neap_err do_both(struct report *r, report_work one, report_work other, struct err *e)
{
	struct half first = {.r = r, .work = one}, second = {.r = r, .work = other};
	if (graph_profile(r->g)->node_count >= TWO_THREADS_FROM) {
		both_run(work_on_half, &first, &second);
	} else {
		work_on_half(&first);
		work_on_half(&second);
	}
	const struct half *failed = first.code ? &first : &second;
	if (failed->code)
		*e = failed->e;
	return failed->code;
}

/* What no query is needed for is found beside the queries. */
static enum neap_err gather(struct report *r, struct err *e)
{
	enum neap_err code = do_both(r, ask, prepare, e);
	return code ? code : do_both(r, choose_allocated, choose_others, e);
}

static enum neap_err write_page(struct report *r, struct err *e)
{
	struct text *t = &r->text;
	head_run(t, &r->names, r->g);
	head_warnings_with(t, &r->names, r->g, &r->missing);
	text_newline(t);
	head_figures(t, &r->names, r->g, &r->totals, &r->holders);
	text_newline(t);
	enum neap_err code = NEAP_OK;
	if (head_knows(r->g, FACT_TIME))
		code = chart_write(t, &r->names, r->g, e);
	for (size_t i = 0; i < SECTION_COUNT && !code; i++) {
		text_newline(t);
		code = section_write(t, &r->names, r->g, r->options, &r->tables[i], e);
	}
	return code;
}

static void report_release(struct report *r)
{
	for (size_t i = 0; i < SECTION_COUNT; i++)
		section_release(&r->tables[i]);
	answer_release(&r->holders);
	path_finder_release(&r->second_finder);
	path_finder_release(&r->finder);
	missing_release(&r->missing);
	shortener_release(&r->names);
}

enum neap_err report_write(struct query_session *s, const struct report_options *options,
			   struct buf *out, struct err *e)
{
	const struct graph *g = query_session_graph(s);
	struct report r = {
		.text = {.out = out,
			 .width_cols = options->width_cols,
			 .has_colour = options->has_colour,
			 .is_utf8 = options->is_utf8},
		.names = {.is_utf8 = options->is_utf8, .cwd = graph_profile(g)->run.cwd},
		.session = s,
		.g = g,
		.options = options,
	};
	enum neap_err code = gather(&r, e);
	if (!code)
		code = write_page(&r, e);
	if (!code && (r.names.has_failed || out->has_failed))
		code = err_nomem(e, "the report");
	report_release(&r);
	return code;
}
