/* See compose.h. */
#include "config.h"

#include "src/report/compose.h"

#include "src/report/derive.h"
#include "src/report/exported.h"
#include "src/report/head.h"

#include <string.h>

/* One more answer, and what a writer is given of it. */
struct part {
	struct query_result *r;
	struct out x;
	bool is_begun;
	struct exported ex;
	struct buf unused; /* struct out wants one; nothing is written there */
};

struct composing {
	struct query_session *s;
	const struct ast_script *script;
	size_t statement_idx;
	const struct query_result *r;
	const struct out_options *o;
	struct buf *out;
	struct err *e;
};

static void part_release(struct part *p)
{
	if (p->is_begun)
		out_end(&p->x);
	exported_release(&p->ex);
	buf_release(&p->unused);
	query_result_free(p->r);
	*p = (struct part){.r = NULL};
}

/* Fails: as derive_run; *p is to be released after failures too. */
static enum neap_err part_ask(const struct composing *c, const struct derived_head *head,
			      const char *stages, struct part *p, struct err *e)
{
	*p = (struct part){.r = NULL};
	enum neap_err code = derive_run(c->s, c->script, c->statement_idx, head, stages, &p->r, e);
	if (code)
		return code;
	if (!out_begin(&p->x, p->r, c->o, &p->unused))
		return err_nomem(e, "the report");
	p->is_begun = true;
	return exported_about(&p->x, &p->ex, e);
}

static int64_t total_of(const struct query_result *r, const char *word)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].word, word))
			return r->totals[i].value;
	}
	return 0;
}

static bool is_total_known(const struct query_result *r, const char *word)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].word, word))
			return !r->totals[i].is_unknown;
	}
	return false;
}

/* ---- the page -------------------------------------------------------------------------- */

struct page_section {
	const char *title, *stages, *empty;
	struct derived_head head; /* is_changed: this population, else the one asked for */
	bool is_signed;           /* of differences; the flame graph is of both */
};

#define OF(population)                                \
	{                                             \
		.is_changed = true, .pop = population \
	}
static const struct page_section page_sections[] = {
	{"Over time", "| by func | top 10 | timeline", "no snapshot was taken", OF(POP_LIVE),
	 false},
	{"Flame graph", "| flame", "nothing matches", {.is_changed = false}, true},
	{"Became more",
	 "| by func,api | top 25 by delta",
	 "no difference",
	 {.is_changed = false},
	 true},
	{"Became less",
	 "| by func,api | bottom 25 by delta",
	 "no difference",
	 {.is_changed = false},
	 true},
	{"At the peak", "| by func,line,api | top 25", "nothing was allocated, so there is no peak",
	 OF(POP_PEAK), false},
	{"Leaked", "| by func,line,api | top 25", "nothing leaked", OF(POP_LEAKED), false},
	{"Allocated most bytes", "| by func,line,api | top 25", "nothing was allocated",
	 OF(POP_ALLOCATED), false},
	{"Allocated most often", "| by func,line,api | top 25 by count", "nothing was allocated",
	 OF(POP_ALLOCATED), false},
	{"Temporary", "| by func,line,api | top 25 by count", "no allocation was temporary",
	 OF(POP_TEMPORARY), false},
};
#undef OF
#define FLAME_SECTION      1u /* its place in page_sections */
#define SECTION_COUNT_MOST (sizeof page_sections / sizeof page_sections[0])

/* What cannot be answered says why, in place of the answer. */
static enum neap_err ask_section(const struct composing *c, const struct page_section *ps,
				 struct part *p, struct export_section *section)
{
	struct err e = {0};
	enum neap_err code = part_ask(c, &ps->head, ps->stages, p, &e);
	if (!code)
		code = exported_section(&p->x, &p->ex, section, &e);
	if (code == ERR_NOMEM)
		return err_nomem(c->e, "the page");
	if (code) {
		*section = (struct export_section){.empty = exported_text(&p->ex, "%s", e.text)};
		if (!section->empty)
			return err_nomem(c->e, "the page");
	} else if (!section->tree && !section->series && !section->table) {
		section->empty = ps->empty;
	}
	section->title = ps->title;
	return NEAP_OK;
}

struct page_facts {
	struct export_fact facts[5];
	size_t count;
};

static void add_fact(struct page_facts *f, const char *name, const char *value, const char *more)
{
	if (value && more)
		f->facts[f->count++] = (struct export_fact){name, value, more};
}

/* Bytes and blocks of a population; nothing if they are not known. */
static enum neap_err add_sum(const struct composing *c, struct exported *ex, struct page_facts *f,
			     enum graph_pop pop, const char *name)
{
	struct derived_head head = {.is_changed = true, .pop = pop};
	struct part p;
	struct err e = {0};
	char bytes[FMT_BYTES], count[FMT_BYTES] = "[unknown]", when[FMT_BYTES];
	enum neap_err code = part_ask(c, &head, "| sum", &p, &e);
	if (!code) {
		fmt_bytes(bytes, sizeof bytes, total_of(p.r, "total"));
		if (is_total_known(p.r, "count"))
			fmt_count(count, sizeof count, total_of(p.r, "count"));
		bool is_peak = pop == POP_PEAK && p.r->graph && head_knows(p.r->graph, FACT_TIME);
		if (is_peak)
			fmt_duration(when, sizeof when, graph_peak(p.r->graph).time_ns);
		add_fact(f, name, exported_text(ex, "%s", bytes),
			 exported_text(ex, "%s blocks%s%s", count, is_peak ? ", at " : "",
				       is_peak ? when : ""));
	}
	part_release(&p);
	return code == ERR_NOMEM ? err_nomem(c->e, "the page") : NEAP_OK;
}

static enum neap_err add_facts(const struct composing *c, struct exported *ex, struct page_facts *f)
{
	static const struct {
		enum graph_pop pop;
		const char *name;
	} sums[] = {{POP_PEAK, "peak"},
		    {POP_LEAKED, "leaked"},
		    {POP_ALLOCATED, "allocated"},
		    {POP_TEMPORARY, "temporary"}};
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < sizeof sums / sizeof sums[0]; i++)
		code = add_sum(c, ex, f, sums[i].pop, sums[i].name);
	return code;
}

static bool is_wanted(const struct composing *c, size_t i)
{
	return c->r->is_signed == page_sections[i].is_signed || i == FLAME_SECTION;
}

/* The whole report on the blocks that were asked for. */
static enum neap_err write_page(const struct composing *c)
{
	struct part parts[SECTION_COUNT_MOST] = {{.r = NULL}};
	struct export_section sections[SECTION_COUNT_MOST];
	struct page_facts facts = {.count = 0};
	struct part whole = {.r = NULL};
	size_t count = 0;
	enum neap_err code = out_begin(&whole.x, c->r, c->o, &whole.unused)
				     ? NEAP_OK
				     : err_nomem(c->e, "the page");
	whole.is_begun = !code;
	if (!code)
		code = exported_about(&whole.x, &whole.ex, c->e);
	if (!code && !c->r->is_signed)
		code = add_facts(c, &whole.ex, &facts);
	for (size_t i = 0; !code && i < SECTION_COUNT_MOST; i++) {
		if (!is_wanted(c, i))
			continue;
		code = ask_section(c, &page_sections[i], &parts[i], &sections[count]);
		count += !code;
	}
	if (!code) {
		const struct export_page page = {.facts = facts.facts,
						 .fact_count = facts.count,
						 .sections = sections,
						 .section_count = count};
		code = export_html(&whole.ex.about, &page, c->out, c->e);
	}
	for (size_t i = 0; i < SECTION_COUNT_MOST; i++)
		part_release(&parts[i]);
	part_release(&whole);
	return code;
}

/* ---- massif ------------------------------------------------------------------------------- */

#define MASSIF_STAGES        "| by func,line | min 1% | callers | as json"
#define MASSIF_THRESHOLD_PCT 1.0
#define MASSIF_DETAILED_EACH 10u /* as valgrind does it */

struct massif {
	const struct composing *c;
	struct export_snapshot *snapshots;
	struct part *parts;
	size_t count, part_count;
};

static enum neap_err add_tree(struct massif *m, const struct derived_head *head,
			      struct export_snapshot *snapshot)
{
	struct part *p = &m->parts[m->part_count++];
	enum neap_err code = part_ask(m->c, head, MASSIF_STAGES, p, m->c->e);
	if (!code)
		code = exported_tree(&p->x, &p->ex, m->c->e);
	if (code)
		return code;
	snapshot->tree = &p->ex.tree;
	snapshot->bytes = total_of(p->r, "total"); /* of the very blocks that the tree is of */
	return NEAP_OK;
}

/* The exact peak is a snapshot of its own, unless nothing of it is asked for. */
static enum neap_err add_peak(struct massif *m, uint64_t time_ns)
{
	const struct derived_head head = {.is_changed = true, .pop = POP_PEAK};
	struct export_snapshot *snapshot = &m->snapshots[m->count];
	*snapshot = (struct export_snapshot){.time_ns = time_ns, .is_peak = true};
	enum neap_err code = add_tree(m, &head, snapshot);
	m->count += !code && snapshot->bytes;
	return code;
}

static enum neap_err fill_snapshots(struct massif *m, const struct export_series *s,
				    const struct graph *g)
{
	enum neap_err code = NEAP_OK;
	struct graph_peak peak = graph_peak(g);
	bool has_peak = peak.bytes && s->point_count &&
			peak.time_ns <= s->points[s->point_count - 1].time_ns;
	if (!s->point_count) /* massif's readers want one: nothing was live at the start */
		m->snapshots[m->count++] = (struct export_snapshot){.time_ns = 0};
	for (size_t i = 0; !code && i < s->point_count; i++) {
		const struct export_point *p = &s->points[i];
		if (has_peak && peak.time_ns <= p->time_ns) {
			has_peak = false;
			code = add_peak(m, peak.time_ns);
		}
		struct export_snapshot *snapshot = &m->snapshots[m->count];
		*snapshot = (struct export_snapshot){.time_ns = p->time_ns, .bytes = p->value};
		struct derived_head head = {
			.is_changed = true, .pop = POP_LIVE, .has_at = true, .at_ns = p->time_ns};
		bool is_detailed = (i + 1) % MASSIF_DETAILED_EACH == 0 || i + 1 == s->point_count;
		if (!code && is_detailed && p->value)
			code = add_tree(m, &head, snapshot);
		m->count++;
	}
	return code;
}

static enum neap_err write_massif(const struct composing *c)
{
	struct part whole = {.r = NULL};
	struct massif m = {.c = c};
	enum neap_err code = out_begin(&whole.x, c->r, c->o, &whole.unused)
				     ? NEAP_OK
				     : err_nomem(c->e, "the massif file");
	whole.is_begun = !code;
	if (!code)
		code = exported_about(&whole.x, &whole.ex, c->e);
	if (!code)
		code = exported_series(&whole.x, &whole.ex, c->e);
	if (!code) {
		m.snapshots = mem_zarray(c->r->row_count + 2, sizeof *m.snapshots);
		m.parts = mem_zarray(c->r->row_count + 2, sizeof *m.parts);
		if (!m.snapshots || !m.parts)
			code = err_nomem(c->e, "the massif file");
	}
	if (!code)
		code = fill_snapshots(&m, &whole.ex.series, c->r->graph);
	if (!code)
		code = export_massif(&whole.ex.about, m.snapshots, m.count, MASSIF_THRESHOLD_PCT,
				     c->out, c->e);
	for (size_t i = 0; i < m.part_count; i++)
		part_release(&m.parts[i]);
	mem_free(m.parts);
	mem_free(m.snapshots);
	part_release(&whole);
	return code;
}

enum neap_err compose_write(struct query_session *s, const struct ast_script *script,
			    size_t statement_idx, const struct query_result *r,
			    const struct out_options *o, struct buf *out, struct err *e)
{
	const struct composing c = {s, script, statement_idx, r, o, out, e};
	if (r->format == FORMAT_MASSIF)
		return write_massif(&c);
	if (r->format == FORMAT_HTML && derive_is_plain(script, statement_idx))
		return write_page(&c);
	return out_write(r, o, out, e);
}
