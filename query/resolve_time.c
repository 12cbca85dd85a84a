/*
 * Instants and windows.
 *
 * A time is a number of nanoseconds of the run; what is known of it is the last snapshot
 * taken at or before it.  A mark stands for the snapshot taken for it.  Times outside the
 * run become its start or end, with a note.
 */
#include "config.h"

#include "query/plan.h"

#include "src/base/fmt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct instant {
	uint64_t ns;
	snap_id snap;
};

static const struct vocab_word *population_word(enum graph_pop pop)
{
	return &vocab_populations.words[pop];
}

/* ---- one time --------------------------------------------------------------------------- */

static enum neap_err unknown_mark(struct plan *pl, const struct query_file *f,
				  const struct ast_time *t)
{
	const struct profile *p = f->p;
	enum neap_err code =
		query_fail(pl->error, ERR_USAGE, t->span, "the profile has no mark '%.*s'",
			   (int)t->mark.bytes, t->mark.s);
	struct buf names = {0};
	const char **words = mem_array(p->mark_count, sizeof *words);
	for (size_t i = 0; words && i < p->mark_count; i++) {
		words[i] = p->marks[i].name;
		buf_printf(&names, "%s@%s", i ? ", " : "", p->marks[i].name);
	}
	if (p->mark_count && (!words || names.has_failed)) {
		code = query_no_memory(pl->error);
	} else if (p->mark_count && names.data) {
		const char *near = query_near(t->mark.s, t->mark.bytes, words, p->mark_count);
		query_fail_expected(pl->error, "%s", names.data);
		if (near)
			query_fail_help(pl->error, "did you mean '@%s'?", near);
	} else {
		query_fail_help(pl->error, "a program sets marks with neap_mark(\"name\")");
	}
	mem_free(words);
	buf_release(&names);
	return code;
}

static enum neap_err find_mark(struct plan *pl, const struct query_file *f,
			       const struct ast_time *t, struct instant *out)
{
	const struct profile *p = f->p;
	size_t found = 0;
	for (size_t i = 0; i < p->mark_count; i++) {
		const char *name = p->marks[i].name;
		if (strlen(name) != t->mark.bytes || memcmp(name, t->mark.s, t->mark.bytes) != 0)
			continue;
		if (!found++)
			*out = (struct instant){p->marks[i].time_ns, p->marks[i].snap};
	}
	if (!found)
		return unknown_mark(pl, f, t);
	if (out->snap > graph_last_snap(f->g))
		out->snap = graph_last_snap(f->g);
	if (found > 1)
		return plan_note(pl, "the mark '%.*s' was set %zu times; the first is meant",
				 (int)t->mark.bytes, t->mark.s, found);
	return NEAP_OK;
}

/* value + offset, kept inside 0 .. INT64_MAX */
static uint64_t add_offset(uint64_t ns, int64_t offset_ns)
{
	if (offset_ns < 0) {
		uint64_t back = 0 - (uint64_t)offset_ns;
		return ns > back ? ns - back : 0;
	}
	uint64_t sum = ns + (uint64_t)offset_ns;
	return sum < ns || sum > INT64_MAX ? INT64_MAX : sum;
}

static enum neap_err base_instant(struct plan *pl, const struct query_file *f,
				  const struct ast_time *t, struct instant *out)
{
	const struct graph *g = f->g;
	snap_id last = graph_last_snap(g);
	switch (t->base) {
	case TIME_START:
		*out = (struct instant){0, 0};
		break;
	case TIME_END:
		*out = (struct instant){graph_snap_time(g, last), last};
		break;
	case TIME_PEAK:
		out->ns = graph_peak(g).time_ns;
		break;
	case TIME_MARK:
		return find_mark(pl, f, t, out);
	case TIME_CURSOR:
		if (pl->session->options.cursor_ns == UINT64_MAX)
			return query_fail(pl->error, ERR_USAGE, t->span,
					  "'cursor' is the browser's instant; there is none here");
		out->ns = pl->session->options.cursor_ns;
		break;
	case TIME_DURATION:
		out->ns = t->quantity.value < 0 ? 0 : (uint64_t)t->quantity.value;
		break;
	case TIME_PERCENT: {
		double pct = t->quantity.number;
		if (!(pct >= 0 && pct <= 100))
			return query_fail(pl->error, ERR_USAGE, t->span,
					  "a percentage of the run is 0%% to 100%%");
		out->ns = (uint64_t)((double)graph_snap_time(g, last) * pct / 100);
		break;
	}
	}
	return NEAP_OK;
}

static enum neap_err resolve_instant(struct plan *pl, const struct query_file *f,
				     const struct ast_time *t, struct instant *out)
{
	*out = (struct instant){0, 0};
	uint64_t end_ns = graph_snap_time(f->g, graph_last_snap(f->g));
	enum neap_err code = base_instant(pl, f, t, out);
	if (code)
		return code;
	bool is_exact = t->base == TIME_END || t->base == TIME_MARK || t->base == TIME_START;
	if (!t->offset_ns && is_exact)
		return NEAP_OK;
	out->ns = add_offset(out->ns, t->offset_ns);
	out->snap = graph_snap_at(f->g, out->ns);
	if (out->ns > graph_end_time(f->g)) {
		char asked[FMT_BYTES], end[FMT_BYTES];
		code = plan_note(pl, "the run has no instant %s; its last snapshot at %s is meant",
				 fmt_duration(asked, sizeof asked, out->ns),
				 fmt_duration(end, sizeof end, end_ns));
		out->ns = end_ns;
	}
	return code;
}

/* ---- sources ------------------------------------------------------------------------------ */

static enum neap_err check_instants(struct plan *pl, const struct ast_source *src)
{
	const struct vocab_word *word = population_word(src->pop);
	struct query_error *error = pl->error;
	enum neap_err code = NEAP_OK;
	if (src->has_at && word->instants != INSTANTS_AT) {
		code = query_fail(error, ERR_USAGE, src->at.span, "'%s' takes no 'at'", word->word);
		if (word->instants == INSTANTS_NONE)
			query_fail_help(error, "'live at ...' shows another instant");
		else
			query_fail_help(error, "give it a window: '%s in FROM..TO'", word->word);
	} else if (src->has_in && word->instants == INSTANTS_AT) {
		code = query_fail(error, ERR_USAGE, src->in.span, "'%s' takes no 'in'", word->word);
		query_fail_help(error, "'survivors in ...' or 'allocated in ...'?");
	} else if (src->has_in && word->instants == INSTANTS_NONE) {
		code = query_fail(error, ERR_USAGE, src->in.span, "'%s' takes no 'in'", word->word);
		query_fail_help(error, "'survivors in ...' or 'growth in ...'?");
	} else if (!src->has_in && word->instants == INSTANTS_IN_NEEDED) {
		code = query_fail(error, ERR_USAGE, src->span, "'%s' needs a window", word->word);
		query_fail_help(error, "for example '%s in 10%%..90%%'", word->word);
	}
	return code;
}

/* An imported file without times may have a length all the same, in a unit of its own. */
static bool has_time(const struct query_file *f, uint64_t ns)
{
	return ns || !f->p->has_source || !(f->p->source.unknown & FACT_TIME);
}

static const char *snap_text(char *dst, size_t cap, const struct query_file *f, snap_id s)
{
	char at[FMT_BYTES];
	if (!s)
		snprintf(dst, cap, "the start");
	else if (!has_time(f, graph_snap_time(f->g, s)))
		snprintf(dst, cap, "the end");
	else
		snprintf(dst, cap, "%s (snapshot %" PRIu32 " of %" PRIu32 ")",
			 fmt_duration(at, sizeof at, graph_snap_time(f->g, s)), s,
			 graph_last_snap(f->g));
	return dst;
}

static const char *describe(struct plan *pl, const struct plan_side *side)
{
	const struct query_file *f = side->file;
	const char *name = graph_pop_name(side->pop);
	char from[96], to[96], bound[FMT_BYTES];
	struct graph_peak peak = graph_peak(f->g);
	snap_text(to, sizeof to, f, side->window.to);
	snap_text(from, sizeof from, f, side->window.from);
	switch (side->pop) {
	case POP_LIVE:
		return plan_printf(pl, "live at %s", to);
	case POP_PEAK:
		if (!has_time(f, peak.time_ns))
			return name;
		fmt_duration(to, sizeof to, peak.time_ns);
		if (!peak.is_exact)
			return plan_printf(pl, "peak at %s (the highest snapshot)", to);
		if (!peak.bound_bytes)
			return plan_printf(pl, "peak at %s", to);
		return plan_printf(pl, "peak at %s (within %s)", to,
				   fmt_bytes(bound, sizeof bound, (int64_t)peak.bound_bytes));
	case POP_LEAKED:
		return plan_printf(pl, "leaked at %s", to);
	default:
		return plan_printf(pl, "%s from %s to %s", name, from, to);
	}
}

static enum neap_err resolve_window(struct plan *pl, const struct ast_source *src,
				    struct plan_side *side)
{
	const struct query_file *f = side->file;
	struct instant from = {0, 0}, to = {0, graph_last_snap(f->g)};
	enum neap_err code = NEAP_OK;
	to.ns = graph_snap_time(f->g, to.snap);
	if (src->has_at)
		code = resolve_instant(pl, f, &src->at, &to);
	if (!code && src->has_in && src->in.has_from)
		code = resolve_instant(pl, f, &src->in.from, &from);
	if (!code && src->has_in && src->in.has_to)
		code = resolve_instant(pl, f, &src->in.to, &to);
	if (code)
		return code;
	if (src->has_in && (from.snap > to.snap || from.ns > to.ns))
		return query_fail(pl->error, ERR_USAGE, src->in.span,
				  "the window ends before it begins");
	if (src->pop == POP_PEAK) {
		struct graph_peak peak = graph_peak(f->g);
		to = (struct instant){peak.time_ns, peak.snap};
		if (to.snap > graph_last_snap(f->g))
			to.snap = graph_last_snap(f->g);
	}
	side->window = (struct graph_window){.from = from.snap, .to = to.snap};
	side->instant_ns = src->pop == POP_PEAK ? to.ns : graph_snap_time(f->g, side->window.to);
	uint64_t from_ns = graph_snap_time(f->g, from.snap);
	uint64_t to_ns = graph_snap_time(f->g, to.snap);
	side->seconds_ns = to_ns > from_ns ? to_ns - from_ns : 0;
	if (src->has_in && from.snap == to.snap)
		return plan_note(pl, "no snapshot was taken in the window; it is empty");
	return NEAP_OK;
}

enum neap_err resolve_side(struct plan *pl, const struct ast_source *src, struct query_file *file,
			   struct plan_side *out, const char **text_out)
{
	*out = (struct plan_side){.file = file, .pop = src->pop};
	*text_out = NULL;
	enum neap_err code = check_instants(pl, src);
	if (!code && src->has_file)
		code = session_file(pl->session, &src->file, &out->file, pl->error);
	if (!code && !out->file) {
		code = query_fail(pl->error, ERR_USAGE, src->span, "which profile?");
		query_fail_help(pl->error, "open one, or name it: '%s of FILE'",
				graph_pop_name(src->pop));
	}
	if (!code)
		code = known_population(pl, src, out->file);
	if (!code)
		code = resolve_window(pl, src, out);
	if (code)
		return code;
	*text_out = describe(pl, out);
	if (*text_out && out->file->p->source.is_estimated)
		*text_out = plan_printf(pl, "%s, estimated", *text_out);
	return *text_out ? NEAP_OK : query_no_memory(pl->error);
}
