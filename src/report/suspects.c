/* Judging places by the births of what they hold. */
#include "config.h"

#include "src/report/suspects.h"

#include "src/base/mem.h"
#include "src/report/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEAN_EARLIEST  0.25
#define MEAN_LATEST    0.75
#define LATER_LEAST    0.20 /* of what is live */
#define CLEAN_UP_PARTS 10u  /* the last tenth of the run may be cleaning up */
#define TIME_BYTES     32u

void suspects_release(struct suspects *s)
{
	mem_free(s->items);
	*s = (struct suspects){0};
}

/* ---- instants ---------------------------------------------------------------------------- */

static const struct {
	uint64_t ns;
	const char *name;
} units[] = {{1000000, "ms"}, {1000, "us"}, {1, "ns"}};
#define UNIT_COUNT (sizeof units / sizeof units[0])

/* Rounded up in the largest unit in which no later snapshot is meant. */
const char *suspects_time(const struct graph *g, snap_id snap, char *dst)
{
	uint64_t ns = graph_snap_time(g, snap), count = ns;
	size_t unit = 0;
	for (; unit < UNIT_COUNT - 1; unit++) {
		count = ns / units[unit].ns + (ns % units[unit].ns != 0);
		if (count <= UINT64_MAX / units[unit].ns &&
		    graph_snap_at(g, count * units[unit].ns) == graph_snap_at(g, ns))
			break;
		count = ns;
	}
	snprintf(dst, TIME_BYTES, "%" PRIu64 "%s", count, units[unit].name);
	return dst;
}

static void choose_instant(const struct graph *g, const struct answer *timeline, struct suspects *s)
{
	const struct query_result *r = timeline->result;
	uint64_t end_ns = graph_snap_time(g, graph_last_snap(g));
	int64_t most = INT64_MIN;
	for (size_t i = r->row_count; i-- > 0;) {
		uint64_t time_ns = r->rows[i].time_ns;
		int64_t live = answer_sum(timeline, i, "total").bytes;
		if (time_ns < end_ns - end_ns / CLEAN_UP_PARTS)
			break;
		if (live > most) {
			most = live;
			s->snap = graph_snap_at(g, time_ns);
		}
	}
	s->half_snap = graph_snap_at(g, graph_snap_time(g, s->snap) / 2);
}

/*
 * Programs free what they hold when they end, so that a place that grew all the time may hold
 * nothing at the end: the last tenth of the run counts by its highest snapshot.
 */
static enum neap_err find_instant(struct query_session *session, const struct graph *g,
				  struct suspects *s, struct err *e)
{
	struct answer timeline;
	char query[64], now[TIME_BYTES], half[TIME_BYTES];
	snap_id last = graph_last_snap(g);
	if (last < SUSPECT_SNAPSHOTS_LEAST)
		return err_set(e, ERR_UNSUPPORTED,
			       "%u snapshot%s too few to see what keeps growing (%u are needed); "
			       "record for longer, or with a shorter --interval",
			       last, last == 1 ? " is" : "s are", SUSPECT_SNAPSHOTS_LEAST);
	snprintf(query, sizeof query, "live | timeline %u", last); /* a row per snapshot */
	enum neap_err code = answer_get(session, query, &timeline, e);
	if (code)
		return code;
	choose_instant(g, &timeline, s);
	answer_release(&timeline);
	suspects_time(g, s->snap, now);
	suspects_time(g, s->half_snap, half);
	snprintf(s->births_query, sizeof s->births_query, "live at %s | by func,line,born", now);
	snprintf(s->growth_query, sizeof s->growth_query, "growth in %s..%s | by func,line,api",
		 half, now);
	return NEAP_OK;
}

/* ---- evidence --------------------------------------------------------------------------- */

struct evidence { /* of a place */
	struct suspect suspect;
	int64_t part_blocks[SUSPECT_PARTS];
	double birth_bytes; /* sum of bytes times birth */
};

struct judge {
	struct path_finder *f;
	struct suspects *s;
	struct evidence *items;
	size_t count, cap;
	struct map at; /* place -> index in items */
};

/* What is known of a row's place; NULL: no memory. */
static struct evidence *evidence_of(struct judge *j, entry_id entry)
{
	uint32_t place = path_finder_place(j->f, entry);
	uint32_t at = map_find(&j->at, place);
	if (at != MAP_ABSENT)
		return &j->items[at];
	if (!vec_reserve((void **)&j->items, &j->cap, j->count + 1, sizeof *j->items) ||
	    !map_put(&j->at, place, (uint32_t)j->count))
		return NULL;
	struct evidence *v = &j->items[j->count++];
	*v = (struct evidence){.suspect.row = {.entry = entry, .api = ROW_ANY_API}};
	return v;
}

/* Births lie between two snapshots: on average in the middle.  Part of the run before end_ns. */
static double mean_birth(const struct graph *g, uint64_t born_ns, double end_ns)
{
	snap_id birth = graph_snap_at(g, born_ns);
	double before = birth ? (double)graph_snap_time(g, birth - 1) : 0;
	return (before + (double)born_ns) / 2 / (end_ns > 0 ? end_ns : 1);
}

static void take_birth(const struct judge *j, struct evidence *v, uint64_t born_ns,
		       struct graph_sum sum)
{
	double end_ns = (double)graph_snap_time(j->f->g, j->s->snap);
	v->suspect.row.sum.blocks += sum.blocks;
	v->suspect.row.sum.bytes += sum.bytes;
	if (!born_ns)
		return; /* the inherited were not born here */
	double at = mean_birth(j->f->g, born_ns, end_ns);
	size_t part = at >= 1 ? SUSPECT_PARTS - 1 : (size_t)(at * SUSPECT_PARTS);
	v->part_blocks[part] += sum.blocks;
	v->birth_bytes += at * (double)sum.bytes;
}

static bool take_births(struct judge *j, const struct answer *births)
{
	for (size_t i = 0; i < births->result->row_count; i++) {
		struct evidence *v = evidence_of(j, answer_entry(births, i));
		if (!v)
			return false;
		take_birth(j, v, (uint64_t)answer_cell(births, i, "born")->value,
			   answer_sum(births, i, "total"));
	}
	j->s->total = answer_total(births);
	return true;
}

static bool take_growth(struct judge *j, const struct answer *growth)
{
	for (size_t i = 0; i < growth->result->row_count; i++) {
		if (growth->result->rows[i].kind == ROW_OTHER)
			continue; /* sites that did not change */
		struct evidence *v = evidence_of(j, answer_entry(growth, i));
		if (!v)
			return false;
		v->suspect.later_bytes += answer_cell(growth, i, "delta")->value;
	}
	return true;
}

static enum neap_err gather(struct judge *j, struct query_session *session, struct err *e)
{
	struct answer births = {.text = NULL}, growth = {.text = NULL};
	enum neap_err code = answer_get(session, j->s->births_query, &births, e);
	if (!code)
		code = answer_get(session, j->s->growth_query, &growth, e);
	if (!code && !(take_births(j, &births) && take_growth(j, &growth)))
		code = err_nomem(e, "the report");
	answer_release(&births);
	answer_release(&growth);
	return code;
}

/* ---- judging ----------------------------------------------------------------------------- */

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

static struct suspect conclude(const struct evidence *v)
{
	struct suspect s = v->suspect;
	for (size_t part = 0; part < SUSPECT_PARTS; part++)
		s.part_count += v->part_blocks[part] > 0;
	s.mean_birth = s.row.sum.bytes > 0 ? v->birth_bytes / (double)s.row.sum.bytes : 0;
	s.holding = judge_one(&s);
	return s;
}

static int compare_suspects(const void *left, const void *right, void *graph)
{
	const struct suspect *a = left, *b = right;
	if (a->holding != b->holding)
		return a->holding < b->holding ? -1 : 1;
	int order = row_compare_sums(a->row.sum, b->row.sum, ROW_BYTES);
	if (order)
		return order;
	struct graph_frame a_frame = graph_entry(graph, a->row.entry);
	struct graph_frame b_frame = graph_entry(graph, b->row.entry);
	order = name_compare(&a_frame, &b_frame);
	return order ? order : (a->row.entry > b->row.entry) - (a->row.entry < b->row.entry);
}

/* Places that only lost blocks since half time hold nothing, and are none. */
static enum neap_err sort_out(struct judge *j, struct err *e)
{
	struct suspects *s = j->s;
	s->items = mem_zarray(j->count, sizeof *s->items);
	if (!s->items)
		return err_nomem(e, "the report");
	for (size_t i = 0; i < j->count; i++) {
		struct graph_sum sum = j->items[i].suspect.row.sum;
		if (!sum.blocks && !sum.bytes)
			continue;
		struct suspect one = conclude(&j->items[i]);
		s->items[s->count++] = one;
		s->kind_count[one.holding]++;
		s->kind_sum[one.holding].blocks += sum.blocks;
		s->kind_sum[one.holding].bytes += sum.bytes;
	}
	if (s->count)
		qsort_r(s->items, s->count, sizeof *s->items, compare_suspects, (void *)j->f->g);
	s->suspect_count = s->kind_count[HOLDING_GROWING];
	return NEAP_OK;
}

static enum neap_err choose_paths(struct judge *j, size_t top_count, struct err *e)
{
	struct suspects *s = j->s;
	struct graph_window window = {.to = s->snap};
	size_t count = s->suspect_count < top_count ? s->suspect_count : top_count;
	struct row *rows = mem_array(count, sizeof *rows);
	if (!rows)
		return err_nomem(e, "the report");
	for (size_t i = 0; i < count; i++)
		rows[i] = s->items[i].row;
	enum neap_err code = paths_choose(j->f, POP_LIVE, window, ROW_BYTES, rows, count, e);
	for (size_t i = 0; i < count && !code; i++)
		s->items[i].row = rows[i];
	mem_free(rows);
	return code;
}

enum neap_err suspects_find(struct query_session *session, struct path_finder *f, size_t top_count,
			    struct suspects *out, struct err *e)
{
	struct judge j = {.f = f, .s = out};
	*out = (struct suspects){0};
	enum neap_err code = find_instant(session, f->g, out, e);
	if (!code)
		code = gather(&j, session, e);
	if (!code)
		code = sort_out(&j, e);
	if (!code)
		code = choose_paths(&j, top_count, e);
	mem_free(j.items);
	map_release(&j.at);
	if (code)
		suspects_release(out);
	return code;
}
