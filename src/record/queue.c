/*
 * Snapshots that were read from the region and are not in the file yet.
 *
 * Reading a snapshot costs little; encoding it costs a few times as much, most of all
 * for a program that is always at new places: their call paths have to be written.  The
 * recorder must not take the processor away from the program, so it encodes what its share
 * of time allows, oldest first, and the rest when the program has ended.  Two bounds keep
 * what a dead recorder would lose small: what waits longer than MOST_AGE_NS, and whatever
 * takes more than MOST_BYTES, is encoded all the same.
 *
 * Paths need not be read with the snapshot: nodes of the region never change.  Cohorts are
 * numbered in the order in which they are read, since their ids in the file are given when
 * they are written.
 */
#include "config.h"

#include "src/record/record_priv.h"

#define TIME_SHARE  128u /* of the processor, while the program runs */
#define MOST_AGE_NS (10 * NS_PER_S)
#define MOST_BYTES  ((size_t)64 << 20)

#define IS_WIDE UINT32_MAX /* births of a change that is in `wide`, at `deaths` */

void queue_init(struct queue *q)
{
	*q = (struct queue){
		.newborn = {.elem_bytes = sizeof(struct queued_cohort)},
		.moved = {.elem_bytes = sizeof(struct queued_change)},
		.ids = {.elem_bytes = sizeof(cohort_id)},
	};
}

void queue_release(struct queue *q)
{
	chunks_release(&q->newborn);
	chunks_release(&q->moved);
	chunks_release(&q->ids);
	mem_free(q->snapshots);
	mem_free(q->wide);
	mem_free(q->order);
	mem_free(q->order_tmp);
	queue_init(q);
}

/* ---- putting in ------------------------------------------------------------------ */

static bool is_narrow(const struct profile_change *c)
{
	return c->births < IS_WIDE && c->deaths <= UINT32_MAX && c->temporary <= UINT32_MAX &&
	       !(c->born_bytes | c->died_bytes | c->temporary_bytes);
}

static bool pack(struct queue *q, const struct profile_change *c, struct queued_counts *out)
{
	if (is_narrow(c)) {
		out->births = (uint32_t)c->births;
		out->deaths = (uint32_t)c->deaths;
		out->temporary = (uint32_t)c->temporary;
		return true;
	}
	if (!vec_reserve((void **)&q->wide, &q->wide_cap, q->wide_count + 1, sizeof q->wide[0]))
		return false;
	out->births = IS_WIDE;
	out->deaths = (uint32_t)q->wide_count;
	out->temporary = 0;
	q->wide[q->wide_count++] = *c;
	return true;
}

uint32_t queue_newborn(struct queue *q, const struct queued_cohort *cohort,
		       const struct profile_change *change)
{
	struct queued_cohort *c = chunks_at(&q->newborn, q->newborn_count);
	if (!c)
		return 0;
	*c = *cohort;
	if (!pack(q, change, &c->counts))
		return 0;
	return q->number_base + ++q->newborn_count;
}

bool queue_moved(struct queue *q, uint32_t number, const struct profile_change *change)
{
	struct queued_change *c = chunks_at(&q->moved, q->moved_count);
	if (!c)
		return false;
	c->number = number;
	if (!pack(q, change, &c->counts))
		return false;
	q->moved_count++;
	return true;
}

/* Where what was put in since the last snapshot begins. */
static uint32_t closed_newborn(const struct queue *q)
{
	return q->snapshot_count ? q->snapshots[q->snapshot_count - 1].newborn_end : 0;
}

static uint32_t closed_moved(const struct queue *q)
{
	return q->snapshot_count ? q->snapshots[q->snapshot_count - 1].moved_end : 0;
}

bool queue_has_open(const struct queue *q)
{
	return q->newborn_count > closed_newborn(q) || q->moved_count > closed_moved(q);
}

bool queue_close(struct queue *q, const struct profile_snapshot *head)
{
	if (!vec_reserve((void **)&q->snapshots, &q->snapshot_cap, q->snapshot_count + 1,
			 sizeof q->snapshots[0]))
		return false;
	q->snapshots[q->snapshot_count++] = (struct queued_snapshot){
		.head = *head,
		.newborn_end = q->newborn_count,
		.moved_end = q->moved_count,
	};
	return true;
}

/* ---- taking out ------------------------------------------------------------------- */

static struct profile_change unpack(const struct queue *q, const struct queued_counts *c)
{
	if (c->births == IS_WIDE)
		return q->wide[c->deaths];
	return (struct profile_change){
		.births = c->births, .deaths = c->deaths, .temporary = c->temporary};
}

static bool reserve(struct queue *q, size_t newborn_count)
{
	return vec_reserve((void **)&q->order, &q->order_cap, newborn_count, sizeof q->order[0]) &&
	       vec_reserve((void **)&q->order_tmp, &q->order_tmp_cap, newborn_count,
			   sizeof q->order_tmp[0]);
}

cohort_id queue_cohort_id(const struct queue *q, uint32_t number)
{
	const cohort_id *id = number ? chunks_find(&q->ids, number) : NULL;
	return id ? *id : 0;
}

/* In any order: the writer sorts them. */
static void write_moved(struct process *p, uint32_t end)
{
	struct queue *q = &p->queue;
	for (; q->moved_first < end; q->moved_first++) {
		const struct queued_change *c = chunks_find(&q->moved, q->moved_first);
		struct profile_change change = unpack(q, &c->counts);
		cohort_id id = queue_cohort_id(q, c->number);
		if (id)
			profile_change_cohort(p->writer, id, &change);
	}
}

/* Paths and sites that the file does not know; the order to write cohorts in: ascending by site
 * and thread, which compresses best.  Returns how many: those that make sense. */
static size_t write_places(struct process *p, uint32_t end)
{
	struct queue *q = &p->queue;
	size_t count = 0;
	for (uint32_t i = q->newborn_first; i < end; i++) {
		const struct queued_cohort *c = chunks_find(&q->newborn, i);
		site_id site = tree_site(p, c->site_node);
		if (!site)
			p->scanner.odd_count++;
		else
			q->order[count++] = (struct sort_item){(uint64_t)site << 32 | c->thread, i};
	}
	sort_items(q->order, q->order_tmp, count);
	return count;
}

static void write_newborn(struct process *p, size_t count)
{
	struct queue *q = &p->queue;
	for (size_t i = 0; i < count; i++) {
		const struct queued_cohort *c = chunks_find(&q->newborn, q->order[i].i);
		struct profile_change change = unpack(q, &c->counts);
		cohort_id *id = chunks_at(&q->ids, q->number_base + q->order[i].i + 1);
		if (!id) {
			p->is_starved = true;
			return;
		}
		*id = profile_add_cohort(p->writer, (site_id)(q->order[i].key >> 32), c->thread,
					 c->birth, c->is_inherited ? COHORT_INHERITED : 0, &change);
	}
}

static void write_snapshot(struct process *p, const struct queued_snapshot *s)
{
	struct queue *q = &p->queue;
	struct err e;
	if (!reserve(q, s->newborn_end - q->newborn_first)) {
		p->is_starved = true;
		return;
	}
	size_t count = write_places(p, s->newborn_end);
	profile_snapshot_begin(p->writer, &s->head);
	write_moved(p, s->moved_end);
	write_newborn(p, count);
	q->newborn_first = s->newborn_end;
	q->written_count++;
	if (profile_snapshot_end(p->writer, &e))
		process_break(p, &e);
}

/* All of it is in the file: begin anew. */
static void empty(struct queue *q)
{
	q->number_base += q->newborn_count;
	q->snapshot_first = q->snapshot_count = 0;
	q->newborn_first = q->newborn_count = 0;
	q->moved_first = q->moved_count = 0;
	q->wide_count = 0;
}

static size_t waiting_bytes(const struct queue *q)
{
	return q->newborn_count * q->newborn.elem_bytes + q->moved_count * q->moved.elem_bytes +
	       q->wide_count * sizeof q->wide[0];
}

static bool may_work(const struct process *p, uint64_t now)
{
	const struct queue *q = &p->queue;
	uint64_t age_ns = now - p->base_ns - q->snapshots[q->snapshot_first].head.time_ns;
	return recorder_spent_ns(p->recorder) * TIME_SHARE < now - p->recorder->start_ns ||
	       age_ns > MOST_AGE_NS || waiting_bytes(q) > MOST_BYTES;
}

void queue_work(struct process *p, uint64_t now, bool is_last)
{
	struct queue *q = &p->queue;
	while (q->snapshot_first < q->snapshot_count && !p->is_starved && !p->is_broken) {
		if (!is_last && !may_work(p, now))
			return;
		write_snapshot(p, &q->snapshots[q->snapshot_first++]);
	}
	empty(q);
}
