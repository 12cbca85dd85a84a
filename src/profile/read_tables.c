/* Single records and small tables: blocks into columns.  Every id is checked here. */
#include "config.h"

#include "src/profile/reader_priv.h"

#include <string.h>

bool columns_reserve(const struct column *columns, size_t count, size_t *cap, size_t need)
{
	size_t grown = *cap;
	for (size_t i = 0; i < count; i++) {
		grown = *cap;
		if (!vec_reserve(columns[i].data, &grown, need, columns[i].elem_bytes))
			return false;
	}
	*cap = grown;
	return true;
}

/* A string into the arena; NULL with code in *err if it is too long or memory runs out. */
static const char *read_text(struct loader *l, struct reader *r, enum neap_err *err)
{
	size_t bytes;
	const char *s = reader_str(r, &bytes);
	if (r->has_failed || bytes > LIMIT_NAME_BYTES) {
		*err = ERR_FORMAT;
		return NULL;
	}
	const char *copy = arena_strndup(&l->p->arena, s, bytes);
	if (!copy)
		*err = ERR_NOMEM;
	return copy;
}

static enum neap_err text_error(enum neap_err err, struct err *e)
{
	return err == ERR_NOMEM ? err_nomem(e, "strings of the profile")
				: broken(e, "a string that is cut or too long");
}

/* ---- run and end --------------------------------------------------------------------- */

static enum neap_err read_argv(struct loader *l, struct reader *r, struct profile_run *run)
{
	size_t count = reader_count(r, 1);
	const char **argv = arena_array(&l->p->arena, count + 1, sizeof *argv);
	if (!argv)
		return ERR_NOMEM;
	enum neap_err err = NEAP_OK;
	for (size_t i = 0; i < count && !err; i++)
		argv[i] = read_text(l, r, &err);
	run->argv = argv;
	run->argv_count = count;
	return err;
}

enum neap_err read_run(struct loader *l, struct reader *r, struct err *e)
{
	struct profile_run run = {0};
	enum neap_err err = NEAP_OK;
	const char **texts[] = {&run.tool, &run.exe, &run.cwd, &run.host, &run.kernel};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0] && !err; i++)
		*texts[i] = read_text(l, r, &err);
	if (!err)
		err = read_argv(l, r, &run);
	if (err)
		return text_error(err, e);
	run.pid = (uint32_t)get_varint(r);
	run.ppid = (uint32_t)get_varint(r);
	run.cpu_count = (uint32_t)get_varint(r);
	run.is_forked = get_varint(r) & 1;
	run.start_unix_ns = get_varint(r);
	run.interval_ns = get_varint(r);
	run.sample_bytes = get_varint(r);
	if (r->has_failed)
		return broken(e, "a run record that is too short");
	l->p->run = run;
	r->p = r->end; /* later versions may append */
	return NEAP_OK;
}

enum neap_err read_end(struct loader *l, struct reader *r, struct err *e)
{
	struct profile_end end = {0};
	uint64_t kind = get_varint(r);
	end.has_status = get_varint(r) & 1;
	int64_t status = get_svarint(r);
	end.time_ns = get_varint(r);
	enum neap_err err = NEAP_OK;
	end.reason = read_text(l, r, &err);
	if (err)
		return text_error(err, e);
	if (status < INT32_MIN || status > INT32_MAX)
		return broken(e, "an exit status that no process can have");
	end.status = (int)status;
	end.kind = kind <= END_STOPPED ? (enum profile_end_kind)kind : END_UNKNOWN;
	l->p->end = end;
	l->has_end = true;
	r->p = r->end;
	return NEAP_OK;
}

enum neap_err read_source(struct loader *l, struct reader *r, struct err *e)
{
	struct profile_source source = {0};
	const char **texts[] = {&source.format,   &source.title,     &source.file,
				&source.producer, &source.time_unit, &source.notes};
	enum neap_err err = NEAP_OK;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0] && !err; i++)
		*texts[i] = read_text(l, r, &err);
	if (err)
		return text_error(err, e);
	source.unknown = get_varint(r);
	uint64_t flags = get_varint(r);
	if (r->has_failed)
		return broken(e, "a source that is cut");
	source.is_estimated = flags & SOURCE_ESTIMATED;
	source.is_partial = flags & SOURCE_PARTIAL;
	source.has_left_out = flags & SOURCE_LEFT_OUT;
	l->p->source = source;
	l->p->has_source = true;
	r->p = r->end; /* later versions may append */
	return NEAP_OK;
}

/* ---- modules and threads ----------------------------------------------------------------- */

static enum neap_err read_module(struct loader *l, struct reader *r, struct profile_module *m)
{
	enum neap_err err = NEAP_OK;
	m->path = read_text(l, r, &err);
	if (err)
		return err;
	size_t id_bytes;
	const char *build_id = reader_str(r, &id_bytes);
	if (r->has_failed || id_bytes > sizeof m->build_id)
		return ERR_FORMAT;
	memcpy(m->build_id, build_id, id_bytes);
	m->build_id_bytes = (uint32_t)id_bytes;
	m->flags = (uint32_t)get_varint(r);
	m->start_va = get_varint(r);
	m->end_va = m->start_va + get_varint(r);
	m->bias = m->start_va + (uint64_t)get_svarint(r);
	m->first_snap = get_id(r);
	m->last_snap = get_id(r);
	return r->has_failed ? ERR_FORMAT : NEAP_OK;
}

enum neap_err read_modules(struct loader *l, struct reader *r, struct err *e)
{
	struct profile *p = l->p;
	for (size_t left = reader_count(r, 9); left && !r->has_failed; left--) {
		uint32_t id = get_id(r);
		struct profile_module m = {0};
		if (!id || id > p->module_count + 1)
			return broken(e, "a module whose id is out of turn");
		enum neap_err err = read_module(l, r, &m);
		if (err)
			return text_error(err, e);
		if (!vec_reserve((void **)&p->modules, &l->module_cap, id, sizeof m))
			return err_nomem(e, "modules of the profile");
		p->modules[id - 1] = m;
		if (id > p->module_count)
			p->module_count = id;
		if (l->on_record)
			l->on_record(l->ctx, p, BLOCK_MODULES, id);
	}
	return r->has_failed ? broken(e, "modules that are cut") : NEAP_OK;
}

enum neap_err read_threads(struct loader *l, struct reader *r, struct err *e)
{
	struct profile *p = l->p;
	for (size_t left = reader_count(r, 6); left && !r->has_failed; left--) {
		uint32_t id = get_id(r);
		struct profile_thread t = {0};
		if (!id || id > p->thread_count + 1)
			return broken(e, "a thread whose id is out of turn");
		enum neap_err err = NEAP_OK;
		t.name = read_text(l, r, &err);
		if (err)
			return text_error(err, e);
		t.tid = (uint32_t)get_varint(r);
		t.flags = (uint32_t)get_varint(r);
		t.first_snap = get_id(r);
		t.last_snap = get_id(r);
		if (r->has_failed)
			break;
		if (!vec_reserve((void **)&p->threads, &l->thread_cap, id, sizeof t))
			return err_nomem(e, "threads of the profile");
		p->threads[id - 1] = t;
		if (id > p->thread_count)
			p->thread_count = id;
		if (l->on_record)
			l->on_record(l->ctx, p, BLOCK_THREADS, id);
	}
	return r->has_failed ? broken(e, "threads that are cut") : NEAP_OK;
}

/* ---- the rest ------------------------------------------------------------------------------------ */

enum neap_err read_marks(struct loader *l, struct reader *r, struct err *e)
{
	struct profile *p = l->p;
	for (size_t left = reader_count(r, 3); left && !r->has_failed; left--) {
		enum neap_err err = NEAP_OK;
		struct profile_mark m = {.name = read_text(l, r, &err)};
		if (err)
			return text_error(err, e);
		m.snap = get_id(r);
		m.time_ns = get_varint(r);
		if (r->has_failed)
			break;
		if (!vec_reserve((void **)&p->marks, &l->mark_cap, p->mark_count + 1, sizeof m))
			return err_nomem(e, "marks of the profile");
		p->marks[p->mark_count++] = m;
		if (l->on_record)
			l->on_record(l->ctx, p, BLOCK_MARKS, p->mark_count);
	}
	return r->has_failed ? broken(e, "marks that are cut") : NEAP_OK;
}

enum neap_err read_drops(struct loader *l, struct reader *r, struct err *e)
{
	uint64_t drops[DROP_COUNT] = {0};
	size_t count = reader_count(r, 1);
	for (size_t i = 0; i < count; i++) {
		uint64_t v = get_varint(r);
		if (i < DROP_COUNT) /* a later version may have more causes */
			drops[i] = v;
	}
	if (r->has_failed)
		return broken(e, "drops that are cut");
	memcpy(l->p->drops, drops, sizeof drops);
	r->p = r->end;
	return NEAP_OK;
}

static enum neap_err read_peak_entries(const struct profile *p, struct reader *r,
				       struct profile_peak_entry *entries, size_t count,
				       struct err *e)
{
	int64_t cohort = 0;
	for (size_t i = 0; i < count; i++) {
		cohort = (int64_t)((uint64_t)cohort + (uint64_t)get_svarint(r));
		if (cohort < 1 || cohort > (int64_t)p->cohort_count)
			return broken(e, "a peak with an unknown cohort");
		entries[i].cohort = (cohort_id)cohort;
	}
	for (size_t i = 0; i < count; i++)
		entries[i].blocks = get_varint(r);
	for (size_t i = 0; i < count; i++) {
		uint64_t size = profile_cohort_size_bytes(p, entries[i].cohort - 1);
		if (size == PROFILE_SIZE_MIXED)
			entries[i].bytes = get_varint(r);
		else if (__builtin_mul_overflow(entries[i].blocks, size, &entries[i].bytes))
			return broken(e, "a peak with more bytes than there can be");
	}
	return r->has_failed ? broken(e, "a peak that is cut") : NEAP_OK;
}

enum neap_err read_peak(struct loader *l, struct reader *r, struct err *e)
{
	struct profile_peak peak = {0};
	peak.bytes = get_varint(r);
	peak.time_ns = get_varint(r);
	peak.bound_bytes = get_varint(r);
	peak.snap = get_id(r);
	size_t count = reader_count(r, 2);
	if (r->has_failed)
		return broken(e, "a peak that is cut");
	struct profile_peak_entry *entries = mem_array(count, sizeof *entries);
	if (!entries)
		return err_nomem(e, "the peak of the profile");
	enum neap_err err = read_peak_entries(l->p, r, entries, count, e);
	if (err) {
		mem_free(entries);
		return err;
	}
	mem_free(l->p->peak_entries);
	l->p->peak_entries = entries;
	l->p->peak_entry_count = count;
	l->p->peak = peak;
	l->p->has_peak = true;
	return NEAP_OK;
}
