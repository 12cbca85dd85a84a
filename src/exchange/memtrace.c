/*
 * Traces of OCaml's memtrace: what ctf.c decodes, booked.
 *
 * A trace has samples: each word of a block was taken with the same small chance (the rate), so a
 * block with n samples stands for n / rate words.  Bytes are those.  A block of w words (the
 * header is one) was seen with the chance 1 - (1 - rate)^w, so it stands for one over that many
 * blocks.  Both are summed as fractions and booked when they pass the next whole number, so no
 * rounding adds up.
 *
 *   site (stack, domain) -> its lot of the current interval -> account
 *
 * The trace says which block died, so births of each interval have an account of their own.
 *
 * Snapshots are a thousandth of the trace apart.  How long that is, and what came first where several
 * domains write their packets one after the other, is known when all events are there, so they
 * are kept, 48 bytes each.  Of one domain only the first few million are: from these and how much
 * of the file they took it is known well enough.  Stacks are a tree: each domain keeps the
 * node of every depth of its last stack, and only what is new in the next one is looked up.
 */
#include "config.h"

#include "src/exchange/ctf.h"
#include "src/exchange/exchange_priv.h"

#include "src/base/map.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_LG      6u /* ids of live blocks are kept in pages of so many */
#define PAGE         (1u << PAGE_LG)
#define SNAPSHOTS    1000u
#define TIME_MOST_US (UINT64_C(1) << 53) /* 285 years */
#define KEPT_EVENTS  ((size_t)4 << 20)

/* What was born at one site in one interval. */
struct lot {
	account_id account;
	double born_blocks, died_blocks; /* all so far, as fractions */
	uint64_t born_samples, died_samples;
	uint64_t births, deaths, born_bytes, died_bytes; /* of these, booked */
};

struct site {
	account_id account; /* of its first lot */
	uint32_t lot;       /* index, of the newest */
	snap_id step;       /* how many intervals were closed when it began */
	bool has_lot;
};

struct block {
	uint32_t lot; /* index + 1; 0: none, or dead */
	uint32_t sample_count;
	double blocks; /* what it stands for */
};

struct path { /* of one domain */
	uint32_t domain;
	node_id *nodes; /* of the last stack, outermost first */
	size_t node_count, node_cap;
};

struct event {
	uint64_t time_us, id, seq;
	uint32_t site;         /* index + 1; 0: a block died */
	uint32_t sample_count; /* of a block that was born */
	double blocks;
};

struct memtrace {
	struct input *in;
	struct import *im;
	struct ctf *ctf;
	const struct ctf_info *info;

	struct map frame_of; /* code -> frame */
	struct path *paths;
	size_t path_count, path_cap;
	struct site *sites;
	size_t site_count, site_cap;
	struct map site_of; /* account -> index */
	struct lot *lots;
	size_t lot_count, lot_cap;
	struct block (*pages)[PAGE];
	size_t page_count, page_cap;
	struct map page_of; /* id >> PAGE_LG -> index */

	struct event *events; /* that have not happened yet */
	size_t event_count, event_cap;
	bool is_streaming;            /* events happen at once */
	uint64_t interval_us, due_us; /* since the trace began */
	size_t step_count, step_limit;

	uint64_t alloc_count, sample_count, promote_count, collect_count, cut_count, node_count;
};

bool memtrace_detect(const uint8_t *head, size_t bytes)
{
	static const uint8_t magic[4] = {0xc1, 0x1f, 0xfc, 0xc1};
	return bytes >= sizeof magic && !memcmp(head, magic, sizeof magic);
}

/* ---- stacks -------------------------------------------------------------------------------- */

/* A code stands for a function and what is inlined in it, outermost first. */
static enum neap_err add_location(struct memtrace *m, const struct ctf_event *ev, struct err *e)
{
	struct profile_line lines[UINT8_MAX] = {{0}};
	if (map_find(&m->frame_of, ev->code) != MAP_ABSENT)
		return NEAP_OK; /* other domains say it again */
	for (size_t i = 0; i < ev->location_count; i++) {
		const struct ctf_location *l = &ev->locations[ev->location_count - 1 - i];
		lines[i] = (struct profile_line){
			.func = import_func(m->im, l->def, strlen(l->def)),
			.file = import_file(m->im, l->file, strlen(l->file)),
			.line = l->line,
		};
	}
	size_t count = ev->location_count;
	if (count == 0) { /* code without debug information */
		static const char name[] = "[no name]";
		lines[count++].func = import_func(m->im, name, strlen(name));
	}
	frame_id frame =
		import_frame(m->im, &(struct import_frame){.lines = lines, .line_count = count});
	return map_put(&m->frame_of, ev->code, frame) ? NEAP_OK : err_nomem(e, "locations");
}

static struct path *path_of(struct memtrace *m, uint32_t domain)
{
	for (size_t i = 0; i < m->path_count; i++)
		if (m->paths[i].domain == domain)
			return &m->paths[i];
	if (!vec_reserve((void **)&m->paths, &m->path_cap, m->path_count + 1, sizeof m->paths[0]))
		return NULL;
	m->paths[m->path_count] = (struct path){.domain = domain};
	return &m->paths[m->path_count++];
}

/*
 * Predictions let a few bytes stand for many frames.  In traces of real programs these are frames that
 * are there already; a file whose tree grows far beyond its size was made to fill memory.
 */
static enum neap_err check_nodes(const struct memtrace *m, struct err *e)
{
	if (m->node_count < (1u << 22) + 8 * input_offset(m->in))
		return NEAP_OK;
	return err_set(e, ERR_LIMIT,
		       "a call tree of %" PRIu64 " frames after %" PRIu64 " bytes of the file",
		       m->node_count, input_offset(m->in));
}

static enum neap_err find_node(struct memtrace *m, const struct ctf_event *ev, node_id *out,
			       struct err *e)
{
	struct path *path = path_of(m, ev->domain);
	*out = PROFILE_NODE_ROOT;
	if (!path || !vec_reserve((void **)&path->nodes, &path->node_cap, ev->code_count,
				  sizeof path->nodes[0]))
		return err_nomem(e, "a stack of a memtrace file");
	for (size_t i = ev->common_count; i < ev->code_count; i++) {
		uint32_t frame = map_find(&m->frame_of, ev->codes[i]);
		if (frame == MAP_ABSENT)
			return err_corrupt(e,
					   "byte %" PRIu64 ": a stack goes through %" PRIx64
					   ", of which the file has not said what it is",
					   input_offset(m->in), ev->codes[i]);
		node_id parent = i > 0 ? path->nodes[i - 1] : PROFILE_NODE_ROOT;
		path->nodes[i] = import_node(m->im, parent, frame);
		m->node_count++;
	}
	path->node_count = ev->code_count;
	if (ev->code_count > 0)
		*out = path->nodes[ev->code_count - 1];
	return check_nodes(m, e);
}

static enum neap_err find_site(struct memtrace *m, const struct ctf_event *ev, uint32_t *out,
			       struct err *e)
{
	struct import_account where = {.size_bytes = PROFILE_SIZE_MIXED};
	enum neap_err err = find_node(m, ev, &where.node, e);
	*out = 0;
	if (err)
		return err;
	if (m->info->version >= 3)
		where.thread = import_thread(m->im, ev->domain, "", 0);
	account_id account = import_account(m->im, &where);
	uint32_t idx = map_find(&m->site_of, account);
	if (idx == MAP_ABSENT) {
		idx = (uint32_t)m->site_count;
		if (!vec_reserve((void **)&m->sites, &m->site_cap, m->site_count + 1,
				 sizeof m->sites[0]) ||
		    !map_put(&m->site_of, account, idx))
			return err_nomem(e, "the sites of a memtrace file");
		m->sites[m->site_count++] = (struct site){.account = account};
	}
	*out = idx + 1;
	return NEAP_OK;
}

/* ---- bookings -------------------------------------------------------------------------------- */

/* The lot of births at a site now; NULL if memory ran out. */
static struct lot *lot_of(struct memtrace *m, uint32_t site_idx, uint32_t *idx_out)
{
	struct site *s = &m->sites[site_idx];
	snap_id step = import_step_count(m->im);
	if (!s->has_lot || s->step != step) {
		if (!vec_reserve((void **)&m->lots, &m->lot_cap, m->lot_count + 1,
				 sizeof m->lots[0]))
			return NULL;
		m->lots[m->lot_count] =
			(struct lot){.account = s->has_lot ? import_account_again(m->im, s->account)
							   : s->account};
		s->lot = (uint32_t)m->lot_count++;
		s->step = step;
		s->has_lot = true;
	}
	*idx_out = s->lot;
	return &m->lots[s->lot];
}

/* The whole number that a sum of fractions has reached. */
static uint64_t whole(double sum)
{
	return sum < 0x1p62 ? (uint64_t)(sum + 0.5) : UINT64_C(1) << 62;
}

static uint64_t bytes_of(const struct memtrace *m, uint64_t sample_count)
{
	return whole((double)sample_count / m->info->rate * m->info->word_bytes);
}

/* Where bytes are live, so is a block: fractions are at least 1, and so is what they reach. */
static void book_births(struct memtrace *m, struct lot *l)
{
	uint64_t bytes = bytes_of(m, l->born_samples), blocks = whole(l->born_blocks);
	if (blocks <= l->deaths)
		blocks = l->deaths + 1;
	if (blocks < l->births)
		blocks = l->births;
	import_born(m->im, l->account, blocks - l->births, bytes - l->born_bytes);
	l->births = blocks;
	l->born_bytes = bytes;
}

/* The last block goes with the last byte, not before and not after. */
static void book_deaths(struct memtrace *m, struct lot *l)
{
	uint64_t bytes = bytes_of(m, l->died_samples), blocks = whole(l->died_blocks);
	if (l->died_samples == l->born_samples)
		blocks = l->births;
	else if (blocks >= l->births)
		blocks = l->births - 1;
	if (blocks < l->deaths)
		blocks = l->deaths;
	import_died(m->im, l->account, blocks - l->deaths, bytes - l->died_bytes, 0);
	l->deaths = blocks;
	l->died_bytes = bytes;
}

static struct block *block_of(struct memtrace *m, uint64_t id, bool makes)
{
	uint32_t page = map_find(&m->page_of, id >> PAGE_LG);
	if (page == MAP_ABSENT) {
		if (!makes ||
		    !vec_reserve((void **)&m->pages, &m->page_cap, m->page_count + 1,
				 sizeof m->pages[0]) ||
		    !map_put(&m->page_of, id >> PAGE_LG, (uint32_t)m->page_count))
			return NULL;
		page = (uint32_t)m->page_count;
		memset(m->pages[m->page_count++], 0, sizeof m->pages[0]);
	}
	return &m->pages[page][id & (PAGE - 1)];
}

static enum neap_err born(struct memtrace *m, const struct event *ev, struct err *e)
{
	uint32_t idx;
	struct block *b = block_of(m, ev->id, true);
	struct lot *l = lot_of(m, ev->site - 1, &idx);
	if (!b || !l)
		return err_nomem(e, "the live blocks of a memtrace file");
	*b = (struct block){idx + 1, ev->sample_count, ev->blocks};
	l->born_samples += b->sample_count;
	l->born_blocks += b->blocks;
	book_births(m, l);
	return NEAP_OK;
}

static void died(struct memtrace *m, uint64_t id)
{
	struct block *b = block_of(m, id, false);
	if (!b || b->lot == 0)
		return; /* of a packet that was skipped, or twice */
	struct lot *l = &m->lots[b->lot - 1];
	b->lot = 0;
	l->died_samples += b->sample_count;
	l->died_blocks += b->blocks;
	book_deaths(m, l);
}

/* Since the trace began; hostile times stay small enough to be added. */
static uint64_t since_start(const struct memtrace *m, uint64_t time_us)
{
	uint64_t us = time_us > m->info->start_us ? time_us - m->info->start_us : 0;
	return us < TIME_MOST_US ? us : TIME_MOST_US;
}

static void step_at(struct memtrace *m, uint64_t us)
{
	import_step(m->im, &(struct import_instant){.time_ns = us * 1000});
}

/* A snapshot at the last boundary before this event, if one was passed. */
static void step(struct memtrace *m, uint64_t us)
{
	if (us < m->due_us || !m->interval_us)
		return;
	uint64_t passed = (us - m->due_us) / m->interval_us;
	step_at(m, m->due_us + passed * m->interval_us);
	m->due_us += (passed + 1) * m->interval_us;
	if (++m->step_count == m->step_limit) { /* longer than it looked */
		m->interval_us *= 2;
		m->step_limit += SNAPSHOTS;
	}
}

static enum neap_err happen(struct memtrace *m, const struct event *ev, struct err *e)
{
	step(m, since_start(m, ev->time_us));
	if (ev->site)
		return born(m, ev, e);
	died(m, ev->id);
	return NEAP_OK;
}

/* ---- events ------------------------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	if (x->time_us != y->time_us)
		return x->time_us < y->time_us ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* How long the trace is, of which the file was read up to here. */
static uint64_t guess_duration(const struct memtrace *m, bool is_all)
{
	uint64_t so_far = since_start(m, ctf_packet_end_us(m->ctf)), done, all;
	input_progress(m->in, &done, &all);
	if (is_all)
		return so_far;
	double times = all > done && done > 0 ? (double)all / (double)done : 16;
	double us = (double)so_far * times;
	return us < (double)TIME_MOST_US ? (uint64_t)us : TIME_MOST_US;
}

/* What was kept happens.  A block can die in the stream of one domain before it was born in another's. */
static enum neap_err let_happen(struct memtrace *m, bool is_all, struct err *e)
{
	enum neap_err err = NEAP_OK;
	if (!m->interval_us) {
		m->interval_us = guess_duration(m, is_all) / SNAPSHOTS + 1;
		m->due_us = m->interval_us;
		m->step_limit = 2 * SNAPSHOTS;
	}
	if (m->event_count > 0 && m->info->version >= 3)
		qsort(m->events, m->event_count, sizeof m->events[0], by_time);
	for (size_t i = 0; i < m->event_count && !err; i++)
		err = happen(m, &m->events[i], e);
	m->event_count = 0;
	return err;
}

static enum neap_err take(struct memtrace *m, struct event *ev, struct err *e)
{
	if (m->is_streaming)
		return happen(m, ev, e);
	if (!vec_reserve((void **)&m->events, &m->event_cap, m->event_count + 1,
			 sizeof m->events[0]))
		return err_nomem(e, "the events of a memtrace file");
	ev->seq = m->event_count;
	m->events[m->event_count++] = *ev;
	if (m->event_count < KEPT_EVENTS || m->info->version >= 3)
		return NEAP_OK;
	m->is_streaming = true;
	return let_happen(m, false, e);
}

static enum neap_err take_alloc(struct memtrace *m, const struct ctf_event *ev, struct err *e)
{
	struct event out = {.time_us = ev->time_us, .id = ev->id};
	enum neap_err err = find_site(m, ev, &out.site, e);
	if (err || ev->sample_count == 0)
		return err;
	out.sample_count = ev->sample_count < UINT32_MAX ? (uint32_t)ev->sample_count : UINT32_MAX;
	out.blocks = 1 / -expm1(((double)ev->length_words + 1) * log1p(-m->info->rate));
	m->alloc_count++;
	m->sample_count += out.sample_count;
	m->cut_count += ev->is_cut;
	return take(m, &out, e);
}

static enum neap_err take_event(struct memtrace *m, const struct ctf_event *ev, struct err *e)
{
	switch (ev->kind) {
	case CTF_LOCATION:
		return add_location(m, ev, e);
	case CTF_ALLOC:
		return take_alloc(m, ev, e);
	case CTF_COLLECT:
		m->collect_count++;
		return take(m, &(struct event){.time_us = ev->time_us, .id = ev->id}, e);
	case CTF_PROMOTE: /* moved from the minor heap to the major one: still live */
		m->promote_count++;
		return NEAP_OK;
	default:
		return NEAP_OK;
	}
}

/* ---- packets ------------------------------------------------------------------------------------ */

static enum neap_err read_events(struct memtrace *m, struct err *e)
{
	struct ctf_event ev;
	enum neap_err err = NEAP_OK;
	m->info = ctf_info(m->ctf);
	while (!err && ctf_next(m->ctf, &ev, e) != CTF_END)
		err = ev.kind == CTF_FAILED ? (e ? e->code : ERR_FORMAT) : take_event(m, &ev, e);
	return err;
}

/* One packet; *is_end at the end of the file.  A cut packet is ERR_FORMAT too. */
static enum neap_err read_packet(struct memtrace *m, bool *is_end, struct err *e)
{
	const uint8_t *data;
	uint64_t at = input_offset(m->in);
	size_t bytes, there = input_peek(m->in, CTF_HEAD_BYTES, &data);
	*is_end = there == 0;
	if (*is_end)
		return NEAP_OK;
	if (there < CTF_HEAD_BYTES)
		return err_corrupt(e, "byte %" PRIu64 ": the file ends inside a packet", at);
	enum neap_err err = ctf_packet_bytes(data, at, &bytes, e);
	if (err)
		return err;
	there = input_peek(m->in, bytes, &data);
	if (there < bytes)
		return err_corrupt(e,
				   "byte %" PRIu64
				   ": the file ends inside a packet (%zu of %zu bytes are there)",
				   at, there, bytes);
	err = ctf_begin(m->ctf, data, bytes, at, e);
	if (!err)
		err = read_events(m, e);
	input_skip(m->in, bytes);
	return err;
}

static void say_facts(struct memtrace *m)
{
	const struct ctf_info *i = m->info;
	import_argv(m->im, &i->exe, 1);
	import_process(
		m->im,
		&(struct import_process){
			.pid = (uint32_t)i->pid,
			.exe = i->exe,
			.host = i->host,
			.start_unix_ns = i->start_us < UINT64_MAX / 1000 ? i->start_us * 1000 : 0,
			.sample_bytes = whole(i->word_bytes / i->rate),
		});
	import_producer(m->im, "memtrace, version %" PRIu32, i->version);
	if (i->rate < 1)
		import_estimated(m->im);
	if (i->version < 3)
		import_lacks(m->im, FACT_THREADS);
	if (*i->context)
		import_note(m->im, "its context: %.200s", i->context);
	import_note(m->im,
		    "%" PRIu64 " blocks were sampled, %" PRIu64 " times (%g of all words); %" PRIu64
		    " of them were promoted, %" PRIu64 " collected",
		    m->alloc_count, m->sample_count, i->rate, m->promote_count, m->collect_count);
	if (m->cut_count > 0)
		import_note(m->im, "%" PRIu64 " stacks are there in their outer part only",
			    m->cut_count);
	if (ctf_skipped_packet_count(m->ctf) > 0)
		import_note(m->im, "%" PRIu64 " packets of a forked process were passed over",
			    ctf_skipped_packet_count(m->ctf));
}

/* What was read up to a damaged or missing part is right and is kept. */
static enum neap_err read_packets(struct memtrace *m, struct err *e)
{
	struct err failed = {0};
	enum neap_err err = NEAP_OK;
	bool is_end = false;
	while (!err && !is_end && !input_has_failed(m->in))
		err = read_packet(m, &is_end, &failed);
	if (err == ERR_FORMAT && m->alloc_count > 0 && !input_has_failed(m->in)) {
		import_partial(m->im, "%s", failed.text);
		err = NEAP_OK;
	}
	if (err && e)
		*e = failed;
	return err;
}

static void release(struct memtrace *m)
{
	for (size_t i = 0; i < m->path_count; i++)
		mem_free(m->paths[i].nodes);
	mem_free(m->paths);
	mem_free(m->sites);
	mem_free(m->lots);
	mem_free(m->pages);
	mem_free(m->events);
	map_release(&m->frame_of);
	map_release(&m->site_of);
	map_release(&m->page_of);
	ctf_free(m->ctf);
}

enum neap_err memtrace_read(struct input *in, struct import *im, struct err *e)
{
	struct memtrace m = {.in = in, .im = im, .ctf = ctf_new()};
	import_track_peak(im);
	enum neap_err err = m.ctf ? read_packets(&m, e) : err_nomem(e, "a memtrace file");

	if (!err && m.info && !input_has_failed(in)) {
		err = let_happen(&m, true, e);
		step_at(&m, since_start(&m, ctf_packet_end_us(m.ctf)));
		say_facts(&m);
	}
	release(&m);
	return err;
}
