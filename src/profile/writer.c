/*
 * The writer: blocks from what waits, and the file.
 *
 * Records wait in memory until profile_writer_flush or until enough have come
 * together; then every table becomes one block, those that are referred to first, so
 * that a reader that stops anywhere knows all ids it has met.
 */
#include "config.h"

#include "src/profile/writer_priv.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_BYTES      ((size_t)256 << 10) /* of all tables */
#define FLUSH_SNAP_BYTES ((size_t)64 << 10)  /* of snapshots */

void writer_text(struct buf *b, const char *s)
{
	buf_str(b, s ? s : "", s ? strlen(s) : 0);
}

void writer_fail(struct profile_writer *w, enum neap_err code, const char *what)
{
	if (writer_has_failed(w))
		return;
	if (code == ERR_NOMEM)
		err_nomem(&w->err, what);
	else
		err_set(&w->err, code, "cannot write '%s': %s", w->path, what);
}

bool writer_knows(struct profile_writer *w, uint32_t id, uint64_t count, const char *what)
{
	if (id && id <= count)
		return true;
	writer_fail(w, ERR_USAGE, what);
	return false;
}

/* ---- file ------------------------------------------------------------------------- */

static bool write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n < 0 ? errno : ENOSPC;
			return false;
		}
		data += n;
		bytes -= (size_t)n;
	}
	return true;
}

/* Everything in w->out goes to the file; a part that did not fit is cut off again. */
static void write_out(struct profile_writer *w)
{
	if (writer_has_failed(w) || !w->out.count_bytes)
		return;
	if (write_all(w->fd, w->out.data, w->out.count_bytes)) {
		w->written_bytes += w->out.count_bytes;
	} else {
		err_sys(&w->err, errno, "write to", w->path);
		/* A reader copes with a cut block as well, so it does not matter if this fails. */
		if (ftruncate(w->fd, (off_t)w->written_bytes))
			errno = 0;
	}
	buf_clear(&w->out);
}

void writer_pack(struct profile_writer *w, enum block_type type, struct buf *payload)
{
	struct err e;
	enum neap_err err = block_pack(w->packer, type, payload, &w->out, &e);
	if (err && !writer_has_failed(w))
		w->err = e;
	buf_clear(payload);
}

static void pack_all(struct profile_writer *w)
{
	pending_pack_rows(w, BLOCK_MODULES, &w->modules);
	pending_pack_rows(w, BLOCK_THREADS, &w->threads);
	pending_pack(w, BLOCK_FRAMES, &w->frames, true);
	pending_pack(w, BLOCK_NODES, &w->nodes, true);
	pending_pack(w, BLOCK_SITES, &w->sites, false);
	if (w->snap.pending_count) {
		snap_payload(&w->snap, &w->payload);
		writer_pack(w, BLOCK_SNAPSHOTS, &w->payload);
	}
	pending_pack_rows(w, BLOCK_MARKS, &w->marks);
	const struct {
		enum block_type type;
		struct buf *payload;
	} single[] = {{BLOCK_RUN, &w->run},         {BLOCK_SOURCE, &w->source},
		      {BLOCK_DROPS, &w->drops},     {BLOCK_PEAK, &w->peak},
		      {BLOCK_SYMBOLS, &w->symbols}, {BLOCK_TAILS, &w->tails},
		      {BLOCK_END, &w->end}};
	for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
		if (single[i].payload->count_bytes || single[i].payload->has_failed)
			writer_pack(w, single[i].type, single[i].payload);
}

static enum neap_err result(const struct profile_writer *w, struct err *e)
{
	if (e)
		*e = w->err;
	return w->err.code;
}

enum neap_err profile_writer_flush(struct profile_writer *w, struct err *e)
{
	if (!writer_has_failed(w)) {
		pack_all(w);
		write_out(w);
	}
	return result(w, e);
}

size_t profile_writer_pending_bytes(const struct profile_writer *w)
{
	return pending_bytes(&w->frames) + pending_bytes(&w->nodes) + pending_bytes(&w->sites) +
	       pending_bytes(&w->modules) + pending_bytes(&w->threads) + pending_bytes(&w->marks) +
	       snap_pending_bytes(&w->snap);
}

static void flush_if_much(struct profile_writer *w)
{
	if (profile_writer_pending_bytes(w) > FLUSH_BYTES ||
	    snap_pending_bytes(&w->snap) > FLUSH_SNAP_BYTES)
		profile_writer_flush(w, NULL);
}

/* ---- begin and end ------------------------------------------------------------------- */

static void put_run(struct buf *b, const struct profile_run *run)
{
	writer_text(b, run->tool);
	writer_text(b, run->exe);
	writer_text(b, run->cwd);
	writer_text(b, run->host);
	writer_text(b, run->kernel);
	buf_varint(b, run->argv_count);
	for (size_t i = 0; i < run->argv_count; i++)
		writer_text(b, run->argv[i]);
	buf_varint(b, run->pid);
	buf_varint(b, run->ppid);
	buf_varint(b, run->cpu_count);
	buf_varint(b, run->is_forked);
	buf_varint(b, run->start_unix_ns);
	buf_varint(b, run->interval_ns);
	buf_varint(b, run->sample_bytes);
}

static void writer_free(struct profile_writer *w)
{
	struct pending *tables[] = {&w->modules, &w->threads, &w->frames,
				    &w->nodes,   &w->sites,   &w->marks};
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		pending_release(tables[i]);
	struct buf *buffers[] = {&w->payload, &w->out,     &w->run,   &w->source, &w->drops,
				 &w->peak,    &w->symbols, &w->tails, &w->end};
	for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
		buf_release(buffers[i]);
	snap_writer_release(&w->snap);
	block_packer_free(w->packer);
	mem_free(w->node_frame);
	mem_free(w->follower);
	mem_free(w->node_parent);
	mem_free(w->site_size);
	mem_free(w->site_node);
	mem_free(w->site_api);
	mem_free(w->path);
	mem_free(w);
}

static bool writer_init(struct profile_writer *w, const char *path)
{
	w->path = mem_strdup(path);
	w->packer = block_packer_new();
	w->node_frame = mem_zarray(PROFILE_NODE_FIRST, sizeof *w->node_frame);
	w->node_frame_cap = PROFILE_NODE_FIRST;
	w->nodes.total_count = PROFILE_NODE_FIRST - 1;
	w->snap.first_cohort = 1;
	snap_writer_units(&w->snap);
	return w->path && w->packer && w->node_frame;
}

enum neap_err profile_writer_new(int fd, const char *path, const struct profile_run *run,
				 struct profile_writer **out, struct err *e)
{
	*out = NULL;
	struct profile_writer *w = mem_zalloc(sizeof *w);
	if (!w || !writer_init(w, path)) {
		if (w)
			writer_free(w);
		close(fd);
		return err_nomem(e, "the profile's writer");
	}
	w->fd = fd;
	file_header_put(&w->out);
	put_run(&w->payload, run);
	writer_pack(w, BLOCK_RUN, &w->payload);
	write_out(w);
	if (writer_has_failed(w))
		return profile_writer_close(w, e);
	*out = w;
	return NEAP_OK;
}

uint64_t profile_writer_bytes(const struct profile_writer *w)
{
	return w->written_bytes;
}

enum neap_err profile_writer_close(struct profile_writer *w, struct err *e)
{
	if (!w)
		return NEAP_OK;
	profile_writer_flush(w, NULL);
	if (close(w->fd) && !writer_has_failed(w))
		err_sys(&w->err, errno, "close", w->path);
	enum neap_err err = result(w, e);
	writer_free(w);
	return err;
}

/* ---- snapshots ---------------------------------------------------------------------------------- */

snap_id profile_snapshot_begin(struct profile_writer *w, const struct profile_snapshot *snap)
{
	struct snap_writer *s = &w->snap;
	if (s->is_open || s->total_count >= LIMIT_IDS) {
		writer_fail(w, ERR_USAGE,
			    s->is_open ? "snapshot inside a snapshot"
				       : "more snapshots than LIMIT_IDS");
		return 0;
	}
	/* Times never go back in a file. */
	uint64_t last_ns = s->current.time_ns;
	s->current = *snap;
	if (s->current.time_ns < last_ns)
		s->current.time_ns = last_ns;
	s->newborn_count = s->changed_count = 0;
	s->is_open = true;
	return ++s->total_count;
}

static bool add_newborn(struct snap_writer *s, const struct newborn *b)
{
	if (s->cohort_count >= LIMIT_IDS ||
	    !vec_reserve((void **)&s->newborn, &s->newborn_cap, s->newborn_count + 1,
			 sizeof *s->newborn) ||
	    !vec_reserve((void **)&s->cohort_site, &s->cohort_cap, s->cohort_count + 1,
			 sizeof *s->cohort_site))
		return false;
	s->newborn[s->newborn_count++] = *b;
	s->cohort_site[s->cohort_count++] = b->site;
	return true;
}

cohort_id profile_add_cohort(struct profile_writer *w, site_id site, thread_id thread,
			     snap_id birth, uint32_t flags, const struct profile_change *first)
{
	struct snap_writer *s = &w->snap;
	if (!writer_knows(w, s->is_open, 1, "cohort outside of a snapshot") ||
	    !writer_knows(w, site, w->sites.total_count, "cohort of an unknown site") ||
	    !writer_knows(w, thread, w->threads.total_count, "cohort of an unknown thread") ||
	    !writer_knows(w, birth, s->total_count, "cohort born in an unknown interval"))
		return 0;
	const struct newborn b = {.site = site,
				  .thread = thread,
				  .birth = birth,
				  .flags = flags & 0xff,
				  .change = *first};
	if (!add_newborn(s, &b)) {
		writer_fail(w, ERR_NOMEM, "the cohorts");
		return 0;
	}
	return (cohort_id)s->cohort_count;
}

void profile_change_cohort(struct profile_writer *w, cohort_id c,
			   const struct profile_change *change)
{
	struct snap_writer *s = &w->snap;
	if (!writer_knows(w, s->is_open, 1, "change outside of a snapshot") ||
	    !writer_knows(w, c, s->cohort_count, "change of an unknown cohort"))
		return;
	if (!vec_reserve((void **)&s->changed, &s->changed_cap, s->changed_count + 1,
			 sizeof *s->changed)) {
		writer_fail(w, ERR_NOMEM, "the cohorts");
		return;
	}
	s->changed[s->changed_count++] = (struct changed){c, *change};
}

enum neap_err profile_snapshot_end(struct profile_writer *w, struct err *e)
{
	if (!w->snap.is_open)
		writer_fail(w, ERR_USAGE, "end of a snapshot that was not begun");
	w->snap.is_open = false;
	if (!writer_has_failed(w)) {
		enum neap_err err = snap_encode(w);
		if (err)
			writer_fail(w, err, "a snapshot");
		flush_if_much(w);
	}
	return result(w, e);
}

/* ---- where it comes from ------------------------------------------------------------------------ */

void profile_update_run(struct profile_writer *w, const struct profile_run *run)
{
	buf_clear(&w->run);
	put_run(&w->run, run);
}

void profile_set_source(struct profile_writer *w, const struct profile_source *s)
{
	struct buf *b = &w->source;
	buf_clear(b);
	writer_text(b, s->format);
	writer_text(b, s->title);
	writer_text(b, s->file);
	writer_text(b, s->producer);
	writer_text(b, s->time_unit);
	writer_text(b, s->notes);
	buf_varint(b, s->unknown);
	buf_varint(b, (s->is_estimated ? SOURCE_ESTIMATED : 0) |
			      (s->is_partial ? SOURCE_PARTIAL : 0) |
			      (s->has_left_out ? SOURCE_LEFT_OUT : 0));
}

/* ---- the rest ---------------------------------------------------------------------------------------- */

void profile_set_drops(struct profile_writer *w, const uint64_t drops[DROP_COUNT])
{
	if (!memcmp(drops, w->last_drops, sizeof w->last_drops))
		return;
	memcpy(w->last_drops, drops, sizeof w->last_drops);
	buf_clear(&w->drops);
	buf_varint(&w->drops, DROP_COUNT);
	for (size_t i = 0; i < DROP_COUNT; i++)
		buf_varint(&w->drops, drops[i]);
}

static bool has_mixed_size(const struct profile_writer *w, cohort_id c)
{
	return w->site_size[w->snap.cohort_site[c - 1] - 1] == PROFILE_SIZE_MIXED;
}

void profile_set_peak(struct profile_writer *w, const struct profile_peak *p,
		      const struct profile_peak_entry *entries, size_t count)
{
	struct buf *b = &w->peak;
	size_t known_count = w->snap.cohort_count - (w->snap.is_open ? w->snap.newborn_count : 0);
	for (size_t i = 0; i < count; i++)
		if (!writer_knows(w, entries[i].cohort, known_count, "peak of an unknown cohort"))
			return;
	buf_clear(b);
	buf_varint(b, p->bytes);
	buf_varint(b, p->time_ns);
	buf_varint(b, p->bound_bytes);
	buf_varint(b, p->snap);
	buf_varint(b, count);
	for (size_t i = 0; i < count; i++)
		buf_svarint(b, (int64_t)entries[i].cohort - (i ? entries[i - 1].cohort : 0));
	for (size_t i = 0; i < count; i++)
		buf_varint(b, entries[i].blocks);
	for (size_t i = 0; i < count; i++)
		if (has_mixed_size(w, entries[i].cohort))
			buf_varint(b, entries[i].bytes);
}

void profile_add_symbols(struct profile_writer *w, const struct profile_symbols *s)
{
	if (s->frame_count - s->tails.frame_count > w->frames.total_count) {
		writer_fail(w, ERR_USAGE, "symbols of unknown frames");
		return;
	}
	buf_clear(&w->symbols);
	symbols_payload(s, &w->symbols);
	buf_clear(&w->tails);
	if (s->tails.count)
		tails_payload(s, &w->tails);
}

struct profile_tree profile_writer_tree(const struct profile_writer *w)
{
	return (struct profile_tree){
		.node_parent = w->node_parent,
		.node_frame = w->node_frame,
		.node_count = (size_t)w->nodes.total_count + 1,
		.site_node = w->site_node,
		.site_api = w->site_api,
		.site_count = w->sites.total_count,
	};
}

void profile_add_end(struct profile_writer *w, const struct profile_end *end)
{
	buf_clear(&w->end);
	buf_varint(&w->end, (uint64_t)end->kind);
	buf_varint(&w->end, end->has_status);
	buf_svarint(&w->end, end->status);
	buf_varint(&w->end, end->time_ns);
	writer_text(&w->end, end->reason);
}
