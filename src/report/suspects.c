/* Judging places by the births of what they hold. */
#include "config.h"

#include "src/report/suspects.h"

#include "src/base/mem.h"
#include "src/report/paths.h"

#include <stdlib.h>
#include <string.h>

#define MEAN_EARLIEST  0.25
#define MEAN_LATEST    0.75
#define LATER_LEAST    0.20 /* of what is live */
#define CLEAN_UP_PARTS 10u  /* the last tenth of the run may be cleaning up */

void suspects_release(struct suspects *s)
{
	mem_free(s->items);
	*s = (struct suspects){0};
}

/* ---- the instant looked at ------------------------------------------------------------ */

/*
 * Programs free what they hold when they end, so that a place that grew all the time may hold
 * nothing at the end: the last tenth of the run counts by its highest snapshot.
 */
static enum neap_err find_instant(const struct graph *g, struct suspects *s, struct err *e)
{
	snap_id last = graph_last_snap(g);
	if (last < SUSPECT_SNAPSHOTS_LEAST)
		return err_set(e, ERR_UNSUPPORTED,
			       "%u snapshots are too few to see what keeps growing (%u are "
			       "needed); record for longer, or with a shorter --interval",
			       last, SUSPECT_SNAPSHOTS_LEAST);
	struct graph_tick *ticks = mem_array((size_t)last + 1, sizeof *ticks);
	if (!ticks)
		return err_nomem(e, "the report");
	graph_timeline(g, NULL, ticks);
	uint64_t end_ns = ticks[last].time_ns;
	s->snap = last;
	for (snap_id i = last; i > 0 && ticks[i].time_ns >= end_ns - end_ns / CLEAN_UP_PARTS; i--) {
		if (ticks[i].live.bytes > ticks[s->snap].live.bytes)
			s->snap = i;
	}
	s->half_snap = graph_snap_at(g, ticks[s->snap].time_ns / 2);
	mem_free(ticks);
	return NEAP_OK;
}

/* ---- evidence --------------------------------------------------------------------------- */

struct evidence { /* of a group */
	int64_t part_blocks[SUSPECT_PARTS];
	double birth_bytes; /* sum of bytes times birth */
	int64_t half_bytes;
};

struct judge {
	struct row_maker *m;
	struct suspects *s;
	struct evidence *groups;
	struct graph_sum *live, *half; /* by cohort */
};

static uint32_t group_of_cohort(const struct judge *j, size_t cohort)
{
	const struct graph *g = j->m->g;
	node_id leaf = graph_leaf_node(g, graph_columns(g).cohort_node[cohort]);
	return graph_group_of(j->m->places, graph_leaf_entry(g, leaf));
}

static void gather(struct judge *j)
{
	const struct graph *g = j->m->g;
	size_t count = graph_profile(g)->cohort_count;
	double end = (double)graph_snap_time(g, j->s->snap);
	for (size_t i = 0; i < count; i++) {
		bool is_live = j->live[i].blocks || j->live[i].bytes;
		if (!is_live && !j->half[i].bytes)
			continue;
		struct evidence *v = &j->groups[group_of_cohort(j, i)];
		v->half_bytes += j->half[i].bytes;
		snap_id birth = graph_cohort_birth(g, i);
		if (!is_live || !birth)
			continue; /* the inherited were not born here */
		/* Births lie between two snapshots: on average in the middle. */
		double at = ((double)graph_snap_time(g, birth - 1) +
			     (double)graph_snap_time(g, birth)) /
			    2 / (end > 0 ? end : 1);
		size_t part = at >= 1 ? SUSPECT_PARTS - 1 : (size_t)(at * SUSPECT_PARTS);
		v->part_blocks[part] += j->live[i].blocks;
		v->birth_bytes += at * (double)j->live[i].bytes;
	}
}

static enum holding judge_one(const struct suspect *s)
{
	double later = (double)s->later_bytes / (double)(s->row.sum.bytes ? s->row.sum.bytes : 1);
	if (s->mean_birth < MEAN_EARLIEST)
		return HOLDING_FROM_EARLY;
	if (s->mean_birth > MEAN_LATEST)
		return HOLDING_RECENT;
	if (s->part_count < SUSPECT_PARTS_LEAST)
		return s->mean_birth < 0.5 ? HOLDING_FROM_EARLY : HOLDING_RECENT;
	return later < LATER_LEAST ? HOLDING_LEVEL : HOLDING_GROWING;
}

static void fill_one(struct judge *j, const struct row *row, struct suspect *out)
{
	const struct evidence *v = &j->groups[graph_group_of(j->m->places, row->entry)];
	*out = (struct suspect){.row = *row, .later_bytes = row->sum.bytes - v->half_bytes};
	for (size_t part = 0; part < SUSPECT_PARTS; part++)
		out->part_count += v->part_blocks[part] > 0;
	out->mean_birth = row->sum.bytes > 0 ? v->birth_bytes / (double)row->sum.bytes : 0;
	out->holding = judge_one(out);
}

static bool judge_init(struct judge *j)
{
	size_t cohort_count = graph_profile(j->m->g)->cohort_count;
	j->groups = mem_zarray(graph_group_count(j->m->places), sizeof *j->groups);
	j->live = mem_array(cohort_count, sizeof *j->live);
	j->half = mem_array(cohort_count, sizeof *j->half);
	if (!j->groups || !j->live || !j->half)
		return false;
	struct graph_window window = {.to = j->s->snap};
	graph_pop_cohorts(j->m->g, POP_LIVE, window, j->live);
	window.to = j->s->half_snap;
	graph_pop_cohorts(j->m->g, POP_LIVE, window, j->half);
	return true;
}

/* Rows come by bytes; the suspects move to the front and keep that order. */
static enum neap_err sort_out(struct judge *j, const struct rows *rows, struct err *e)
{
	struct suspects *s = j->s;
	s->items = mem_zarray(rows->count, sizeof *s->items);
	if (!s->items)
		return err_nomem(e, "the report");
	for (int kind = 0; kind < HOLDING_COUNT; kind++) {
		for (size_t i = 0; i < rows->count; i++) {
			struct suspect one;
			fill_one(j, &rows->rows[i], &one);
			if ((int)one.holding != kind)
				continue;
			s->items[s->count++] = one;
			s->kind_count[kind]++;
			s->kind_sum[kind].blocks += one.row.sum.blocks;
			s->kind_sum[kind].bytes += one.row.sum.bytes;
		}
	}
	s->suspect_count = s->kind_count[HOLDING_GROWING];
	s->total = rows->total;
	return NEAP_OK;
}

static enum neap_err choose_paths(struct judge *j, size_t top_count, struct err *e)
{
	struct suspects *s = j->s;
	size_t count = s->suspect_count < top_count ? s->suspect_count : top_count;
	struct row *rows = mem_array(count, sizeof *rows);
	if (!rows)
		return err_nomem(e, "the report");
	for (size_t i = 0; i < count; i++)
		rows[i] = s->items[i].row;
	enum neap_err code = paths_choose(j->m, ROW_BYTES, rows, count, e);
	for (size_t i = 0; i < count && !code; i++)
		s->items[i].row = rows[i];
	mem_free(rows);
	return code;
}

enum neap_err suspects_find(struct row_maker *m, size_t top_count, struct suspects *out,
			    struct err *e)
{
	struct rows rows = {0};
	struct judge j = {.m = m, .s = out};
	*out = (struct suspects){0};
	enum neap_err code = find_instant(m->g, out, e);
	if (!code)
		code = rows_build_in(m, POP_LIVE, (struct graph_window){.to = out->snap}, ROW_BYTES,
				     0, &rows, e);
	if (!code && !judge_init(&j))
		code = err_nomem(e, "the report");
	if (!code) {
		gather(&j);
		code = sort_out(&j, &rows, e);
	}
	if (!code)
		code = choose_paths(&j, top_count, e);
	rows_release(&rows);
	mem_free(j.groups);
	mem_free(j.live);
	mem_free(j.half);
	if (code)
		suspects_release(out);
	return code;
}
