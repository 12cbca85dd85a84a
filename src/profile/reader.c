/*
 * The reader: walks over the blocks, decodes what is whole, and says what is missing.
 *
 * Tables number their records, so a block that was lost shows in the next one: it
 * does not follow what is there, and is left out too.  What stays refers only to what
 * stays.
 */
#include "config.h"

#include "src/profile/reader_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/fmt.h"

#define READ_BYTES ((size_t)1 << 20)

/* ---- loader ----------------------------------------------------------------------------- */

enum neap_err loader_init(struct loader *l, const char *name, uint64_t bytes, struct err *e)
{
	*l = (struct loader){.name = name};
	struct profile *p = l->p = mem_zalloc(sizeof *p);
	l->opener = block_opener_new();
	l->snapshot_cap = 1;
	if (!p || !l->opener)
		return err_nomem(e, "the profile");
	p->file_bytes = bytes;
	p->path = mem_strdup(name);
	p->snapshots = mem_zarray(1, sizeof *p->snapshots);
	p->death_first = mem_zarray(1, sizeof *p->death_first);
	p->node_count = PROFILE_NODE_FIRST;
	const node_id no_parents[PROFILE_NODE_FIRST] = {0};
	const char **texts[] = {&p->run.tool,        &p->run.exe,      &p->run.cwd,
				&p->run.host,        &p->run.kernel,   &p->end.reason,
				&p->source.format,   &p->source.title, &p->source.file,
				&p->source.producer, &p->source.notes, &p->source.time_unit};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		*texts[i] = "";
	if (!p->path || !p->snapshots || !p->death_first ||
	    !parents_append(&p->node_parents, no_parents, PROFILE_NODE_FIRST) ||
	    !narrow_append_zeros(&p->node_frames, PROFILE_NODE_FIRST) ||
	    !narrow_append_zeros(&p->node_flags, PROFILE_NODE_FIRST))
		return err_nomem(e, "the profile");
	return NEAP_OK;
}

void loader_release(struct loader *l)
{
	block_opener_free(l->opener);
	mem_free(l->follower);
	mem_free(l->numbers);
	mem_free(l->parents);
	snap_reader_release(&l->snap);
}

enum neap_err loader_block(struct loader *l, const struct block *b, struct err *e)
{
	typedef enum neap_err (*read_fn)(struct loader *, struct reader *, struct err *);
	static const read_fn readers[BLOCK_TYPE_COUNT] = {
		[BLOCK_RUN] = read_run,
		[BLOCK_MODULES] = read_modules,
		[BLOCK_THREADS] = read_threads,
		[BLOCK_FRAMES] = read_frames,
		[BLOCK_NODES] = read_nodes,
		[BLOCK_SITES] = read_sites,
		[BLOCK_SNAPSHOTS] = read_snapshots,
		[BLOCK_MARKS] = read_marks,
		[BLOCK_DROPS] = read_drops,
		[BLOCK_PEAK] = read_peak,
		[BLOCK_SYMBOLS] = read_symbols,
		[BLOCK_END] = read_end,
		[BLOCK_SOURCE] = read_source,
		[BLOCK_TAILS] = read_tails,
	};
	if (b->type >= BLOCK_TYPE_COUNT || !readers[b->type])
		return NEAP_OK; /* of a later version */
	struct reader r;
	enum neap_err err = block_open(l->opener, b, &r, e);
	if (!err)
		err = readers[b->type](l, &r, e);
	if (!err && reader_left(&r))
		err = err_corrupt(e, "a block of %s has something left over",
				  block_type_name(b->type));
	if (!err)
		l->block_count++;
	else if (err == ERR_FORMAT)
		l->lost_count[b->type]++;
	return err;
}

/* ---- what is missing ---------------------------------------------------------------------- */

/* "snapshots, symbols": the types of the blocks that had no effect. */
static void say_lost(const struct loader *l, struct buf *text)
{
	const char *separator = "";
	for (unsigned type = 0; type < BLOCK_TYPE_COUNT; type++) {
		if (!l->lost_count[type])
			continue;
		buf_printf(text, "%s%s", separator,
			   type ? block_type_name(type) : "something unknown");
		separator = ", ";
	}
}

static void say_damage(const struct loader *l, struct buf *text)
{
	const struct profile *p = l->p;
	const struct profile_damage *d = &p->damage;
	if (d->lost_bytes)
		buf_printf(text, "the file is cut: its last %llu bytes are not a whole block",
			   (unsigned long long)d->lost_bytes);
	else if (!l->has_end)
		buf_puts(text, "the file has no end: the recording was interrupted");
	if (d->bad_blocks) {
		buf_printf(text, "%s%u damaged block%s left out (", text->count_bytes ? "; " : "",
			   d->bad_blocks, d->bad_blocks > 1 ? "s" : "");
		say_lost(l, text);
		buf_putc(text, ')');
	}
	if (!text->count_bytes)
		return;
	char when[FMT_BYTES];
	size_t n = p->snapshot_count;
	buf_printf(text, "; what is whole ends at %s, snapshot %zu",
		   fmt_duration(when, sizeof when, n ? p->snapshots[n - 1].time_ns : 0), n);
}

static enum neap_err describe_damage(struct loader *l, struct err *e)
{
	struct profile_damage *d = &l->p->damage;
	struct buf text = {0};
	for (unsigned type = 0; type < BLOCK_TYPE_COUNT; type++)
		d->bad_blocks += l->lost_count[type];
	d->is_cut = !l->has_end || d->lost_bytes;
	say_damage(l, &text);
	if (text.count_bytes)
		snprintf(d->text, sizeof d->text, "%s", text.data);
	bool has_failed = text.has_failed;
	buf_release(&text);
	return has_failed ? err_nomem(e, "a message") : NEAP_OK;
}

/* Snapshots that a record names may be missing from a cut file. */
static void clamp_snap(const struct profile *p, snap_id *first, snap_id *last)
{
	if (*first > p->snapshot_count)
		*first = (snap_id)p->snapshot_count;
	if (last && *last > p->snapshot_count)
		*last = 0;
}

enum neap_err loader_finish(struct loader *l, struct err *e)
{
	struct profile *p = l->p;
	if (!l->block_count)
		return err_corrupt(e, "'%s' has nothing whole in it", l->name);
	for (size_t i = 0; i < p->module_count; i++)
		clamp_snap(p, &p->modules[i].first_snap, &p->modules[i].last_snap);
	for (size_t i = 0; i < p->thread_count; i++)
		clamp_snap(p, &p->threads[i].first_snap, &p->threads[i].last_snap);
	for (size_t i = 0; i < p->mark_count; i++)
		clamp_snap(p, &p->marks[i].snap, NULL);
	clamp_snap(p, &p->peak.snap, NULL);
	if (!l->has_end && p->snapshot_count)
		p->end.time_ns = p->snapshots[p->snapshot_count - 1].time_ns;
	if (!tails_apply(l) || !preorder_apply(p))
		return err_nomem(e, "the call tree");
	if (!symbols_fit(p))
		return err_nomem(e, "symbols of the profile");
	return describe_damage(l, e);
}

/* ---- reading all --------------------------------------------------------------------------- */

/* Smaller files are read before a thread has started. */
#define THREAD_FROM_BYTES ((uint64_t)1 << 20)

static enum neap_err look_over(const uint8_t *data, size_t bytes, size_t pos, struct survey *s,
			       struct err *e)
{
	struct block b;
	enum block_state state;
	s->is_whole = true;
	while ((state = block_next(data, bytes, &pos, &b)) != BLOCK_LAST && state != BLOCK_CUT) {
		if (state != BLOCK_WHOLE) {
			s->is_whole = false;
			continue;
		}
		if (!vec_reserve((void **)&s->blocks, &s->cap, s->count + 1, sizeof *s->blocks))
			return err_nomem(e, "the profile");
		s->blocks[s->count++] = (struct surveyed){.block = b};
		s->raw_bytes += b.raw_bytes;
	}
	s->is_whole = s->is_whole && state == BLOCK_LAST;
	return NEAP_OK;
}

static enum neap_err load_blocks(struct loader *l, const uint8_t *data, size_t bytes, size_t pos,
				 struct err *e)
{
	struct block b;
	enum block_state state;
	while ((state = block_next(data, bytes, &pos, &b)) != BLOCK_LAST && state != BLOCK_CUT) {
		if (state == BLOCK_DAMAGED)
			l->lost_count[b.type < BLOCK_TYPE_COUNT ? b.type : 0]++;
		else if (loader_block(l, &b, e) == ERR_NOMEM)
			return ERR_NOMEM;
	}
	l->p->damage.whole_bytes = pos;
	l->p->damage.lost_bytes = bytes - pos;
	return NEAP_OK;
}

/* One block after the other, damaged or not.  *out is the caller's in any case. */
static enum neap_err read_in_order(const uint8_t *data, size_t bytes, size_t pos, const char *name,
				   struct loader *out, struct err *e)
{
	enum neap_err err = loader_init(out, name, bytes, e);
	return err ? err : load_blocks(out, data, bytes, pos, e);
}

static enum neap_err read_blocks(const void *data, size_t bytes, const char *name,
				 uint64_t thread_from_bytes, struct loader *out, struct err *e)
{
	size_t pos;
	struct survey s = {0};
	*out = (struct loader){.p = NULL};
	enum neap_err err = file_header_check(data, bytes, name, &pos, e);
	if (!err)
		err = look_over(data, bytes, pos, &s, e);
	bool is_done = err != NEAP_OK;
	if (!is_done && s.is_whole && s.raw_bytes >= thread_from_bytes) {
		err = read_in_lanes(&s, name, bytes, out, e);
		is_done = !err || err == ERR_NOMEM;
	}
	if (!is_done)
		err = read_in_order(data, bytes, pos, name, out, e);
	mem_free(s.blocks);
	return err;
}

/* After the last block only the profile is needed: `owned`, the file if it is ours, makes room. */
static enum neap_err parse(const void *data, size_t bytes, const char *name,
			   uint64_t thread_from_bytes, struct buf *owned, struct profile **out,
			   struct err *e)
{
	struct loader l;
	*out = NULL;
	enum neap_err err = read_blocks(data, bytes, name, thread_from_bytes, &l, e);
	loader_release(&l);
	if (owned)
		buf_release(owned);
	if (!err)
		err = loader_finish(&l, e);
	if (err)
		profile_free(l.p);
	else
		*out = l.p;
	return err;
}

enum neap_err profile_parse_with(const void *data, size_t bytes, const char *name,
				 uint64_t thread_from_bytes, struct profile **out, struct err *e)
{
	return parse(data, bytes, name, thread_from_bytes, NULL, out, e);
}

enum neap_err profile_parse(const void *data, size_t bytes, const char *name, struct profile **out,
			    struct err *e)
{
	return profile_parse_with(data, bytes, name, THREAD_FROM_BYTES, out, e);
}

/* How much of the file to make room for at first: all of it if that is known. */
static enum neap_err file_room(int fd, const char *path, size_t *bytes_out, struct err *e)
{
	struct stat st;
	*bytes_out = READ_BYTES;
	if (fstat(fd, &st))
		return err_sys(e, errno, "read", path);
	if (S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "'%s' is a directory, not a profile", path);
	if (S_ISREG(st.st_mode) && st.st_size > 0)
		*bytes_out = (size_t)st.st_size + 1;
	return NEAP_OK;
}

/* Read to the end; the file may be a pipe, and may grow meanwhile. */
static enum neap_err read_all(int fd, const char *path, struct buf *out, struct err *e)
{
	size_t room;
	enum neap_err err = file_room(fd, path, &room, e);
	while (!err) {
		if (!vec_reserve((void **)&out->data, &out->cap_bytes, out->count_bytes + room, 1))
			return err_nomem(e, "the file");
		ssize_t n =
			read(fd, out->data + out->count_bytes, out->cap_bytes - out->count_bytes);
		if (n == 0)
			return NEAP_OK;
		if (n < 0 && errno != EINTR)
			return err_sys(e, errno, "read", path);
		out->count_bytes += n > 0 ? (size_t)n : 0;
		room = out->cap_bytes > out->count_bytes ? 1 : READ_BYTES;
	}
	return err;
}

enum neap_err profile_read_file(const char *path, struct buf *out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "open", path);
	enum neap_err err = read_all(fd, path, out, e);
	close(fd);
	return err;
}

enum neap_err profile_open(const char *path, struct profile **out, struct err *e)
{
	*out = NULL;
	struct buf file = {0};
	enum neap_err err = profile_read_file(path, &file, e);
	if (!err)
		err = parse(file.data, file.count_bytes, path, THREAD_FROM_BYTES, &file, out, e);
	buf_release(&file);
	return err;
}

static void release_narrow(struct profile *p)
{
	struct narrow *columns[] = {
		&p->node_frames,      &p->node_flags,
		&p->site_nodes,       &p->site_sizes,
		&p->site_apis,        &p->cohort_sites,
		&p->cohort_threads,   &p->cohort_birth_snaps,
		&p->cohort_flags,     &p->cohort_births,
		&p->cohort_temporary, &p->mixed_born_bytes,
		&p->death_cohorts,    &p->mixed_temporary_bytes,
		&p->death_blocks,     &p->mixed_died_bytes,
	};
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		narrow_release(columns[i]);
	parents_release(&p->node_parents);
	rowset_release(&p->cohort_mixed);
	rowset_release(&p->death_mixed);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	void *columns[] = {
		p->path,        p->modules,   p->threads, p->frames,
		p->death_first, p->snapshots, p->marks,   p->peak_entries,
	};
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		mem_free(columns[i]);
	release_narrow(p);
	arena_release(&p->arena);
	mem_free(p);
}
