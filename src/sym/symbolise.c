/*
 * Names for all frames of a profile.
 *
 *   frames --by module--> jobs --threads--> results of a job --in order of frames--> symbols
 *
 * A job is one module file with its frames, sorted by address.  A thread takes the next
 * job, opens the module, looks its frames up, copies what it got into tables of the job
 * and closes the module.  Debug information is read in a child process, since the reader may
 * crash; then that module's names come from its symbols.  Only then are the jobs put together, in the order of frames:
 * so ids do not depend on which thread was faster.
 *
 * Functions that left with a jump (tail.h) are found with the names of all frames, and are then
 * named as if they were more frames.
 */
#include "config.h"

#include "src/sym/symbolise.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/limits.h"
#include "src/base/mem.h"
#include "src/sym/cache.h"
#include "src/sym/isolate.h"
#include "src/sym/jitmap.h"
#include "src/sym/job.h"
#include "src/sym/openmodule.h"
#include "src/sym/sym_priv.h"
#include "src/sym/tail.h"

#define LIMIT_THREADS 2u
#define PATIENCE_MS   60000u /* reading one unit of debug information may take seconds */

struct work {
	const struct symbolise_request *req;
	struct job *jobs;
	size_t job_count;
	struct job_frame *frames; /* of all jobs */
	size_t all_count;         /* frames in jobs */
	pthread_mutex_t lock;     /* guards what follows, and that progress runs once at a time */
	size_t next_job;
	size_t done_count;
	pthread_mutex_t fork_lock; /* one child is started at a time */
};

/* ---- making jobs ------------------------------------------------------------------ */

static bool is_lookup_possible(const struct symbolise_request *req, const struct profile_frame *f)
{
	return f->module ? f->module <= req->module_count : req->jit != NULL;
}

/* Stands for no module: of the job of code that was made at run time. */
static const struct profile_module no_module = {.path = "[jit]"};

static struct job *job_of(struct work *w, const uint32_t *job_of_module,
			  const struct profile_frame *f)
{
	return f->module ? &w->jobs[job_of_module[f->module - 1]] : &w->jobs[w->job_count - 1];
}

/* Modules that were loaded several times are one job: id of the job of every module. */
static bool assign_jobs(struct work *w, uint32_t *job_of_module)
{
	const struct symbolise_request *req = w->req;
	struct strtab keys = {0};
	struct buf key = {0};
	bool is_ok = true;
	for (size_t i = 0; is_ok && i < req->module_count; i++) {
		const struct profile_module *m = &req->modules[i];
		buf_clear(&key);
		buf_put(&key, m->build_id, m->build_id_bytes);
		buf_putc(&key, '/');
		buf_puts(&key, m->path);
		uint32_t id = strtab_add(&keys, key.data, key.count_bytes);
		is_ok = !key.has_failed && id != UINT32_MAX;
		if (!is_ok)
			break;
		struct job *job = &w->jobs[id];
		if (id == w->job_count) {
			*job = (struct job){.module = m, .fd = -1};
			w->job_count++;
		}
		if (job->fd < 0 && req->module_fds)
			job->fd = req->module_fds[i];
		job_of_module[i] = id;
	}
	strtab_release(&keys);
	buf_release(&key);
	return is_ok;
}

static int compare_frames(const void *pa, const void *pb)
{
	const struct job_frame *a = pa, *b = pb;
	if (a->va != b->va)
		return a->va < b->va ? -1 : 1;
	return (a->frame_idx > b->frame_idx) - (a->frame_idx < b->frame_idx);
}

static void deal_frames(struct work *w, const uint32_t *job_of_module)
{
	const struct symbolise_request *req = w->req;
	for (size_t i = 0; i < req->frame_count; i++)
		if (is_lookup_possible(req, &req->frames[i]))
			job_of(w, job_of_module, &req->frames[i])->frame_count++;
	struct job_frame *next = w->frames;
	for (size_t i = 0; i < w->job_count; i++) {
		w->jobs[i].frames = next;
		next += w->jobs[i].frame_count;
		w->all_count += w->jobs[i].frame_count;
		w->jobs[i].frame_count = 0;
	}
	for (size_t i = 0; i < req->frame_count; i++) {
		const struct profile_frame *f = &req->frames[i];
		if (!is_lookup_possible(req, f))
			continue;
		struct job *job = job_of(w, job_of_module, f);
		job->frames[job->frame_count++] =
			(struct job_frame){.va = f->pc - 1, .frame_idx = (uint32_t)i};
	}
	for (size_t i = 0; i < w->job_count; i++)
		if (w->jobs[i].frame_count)
			qsort(w->jobs[i].frames, w->jobs[i].frame_count, sizeof *w->frames,
			      compare_frames);
}

static bool make_jobs(struct work *w)
{
	const struct symbolise_request *req = w->req;
	uint32_t *job_of_module = mem_array(req->module_count, sizeof *job_of_module);
	w->jobs = mem_zarray(req->module_count + 1, sizeof *w->jobs);
	w->frames = mem_array(req->frame_count, sizeof *w->frames);
	bool is_ok = job_of_module && w->jobs && w->frames && assign_jobs(w, job_of_module);
	if (is_ok && req->jit)
		w->jobs[w->job_count++] = (struct job){.module = &no_module, .fd = -1};
	if (is_ok)
		deal_frames(w, job_of_module);
	mem_free(job_of_module);
	return is_ok;
}

/* ---- running one ------------------------------------------------------------------ */

/* What runs one job. */
struct runner {
	struct work *work;
	struct job *job;
	struct sym_module *module;
	size_t reported_count; /* of the job's frames, in work->done_count */
	atomic_size_t *done;   /* in the child */
};

static void report_done(void *context, size_t done_count)
{
	struct runner *r = context;
	struct work *w = r->work;
	if (done_count <= r->reported_count) /* the second try counts again */
		return;
	pthread_mutex_lock(&w->lock);
	w->done_count += done_count - r->reported_count;
	if (w->done_count > w->all_count) /* a rest, and then all of its module */
		w->done_count = w->all_count;
	if (w->req->progress)
		w->req->progress(w->req->progress_context, w->done_count, w->all_count);
	pthread_mutex_unlock(&w->lock);
	r->reported_count = done_count;
}

static void count_in_child(void *context, size_t done_count)
{
	struct runner *r = context;
	atomic_store_explicit(r->done, done_count, memory_order_relaxed); /* only a hint */
}

static bool work_in_child(void *context, atomic_size_t *done, struct buf *out)
{
	struct runner *r = context;
	r->done = done;
	if (sym_module_load_debuginfo(r->module, NULL) != NEAP_OK ||
	    !job_look_up(r->job, r->module, count_in_child, r))
		return false;
	job_encode(r->job, out);
	return true;
}

/* False: the child gave no result. */
static bool look_up_isolated(struct runner *r)
{
	struct buf result = {0};
	struct isolated child = {
		.work = work_in_child,
		.tick = report_done,
		.context = r,
		.lock = &r->work->fork_lock,
		.patience_ms = PATIENCE_MS,
	};
	sym_module_descriptors(r->module, child.fds);
	bool is_ok =
		isolate_run(&child, &result) && job_decode(r->job, result.data, result.count_bytes);
	buf_release(&result);
	if (!is_ok)
		job_clear(r->job);
	return is_ok;
}

/* With debug information if that can be read; with symbols alone if not. */
static void look_up_all(struct runner *r)
{
	struct job *job = r->job;
	if (sym_module_has_debuginfo(r->module)) {
		if (look_up_isolated(r))
			return;
		job->has_crashed = true;
	}
	if (!job_look_up(job, r->module, report_done, r))
		job->result = err_nomem(&job->error, "names of functions");
}

static void look_up_module(struct work *w, struct job *job)
{
	struct runner r = {.work = w, .job = job};
	job->result = profile_module_open(w->req, job->module, job->fd, &r.module, &job->error);
	if (!job->result)
		look_up_all(&r);
	sym_module_free(r.module);
	report_done(&r, job->frame_count);
}

/* With the help of what is known.  False: that did not work, and the job is as it was. */
static bool look_up_rest(struct work *w, struct job *job, struct job *known)
{
	struct job rest;
	bool is_ok = symbol_cache_missing(known, job, &rest);
	if (is_ok && rest.frame_count) {
		look_up_module(w, &rest);
		is_ok = !rest.result && !rest.has_crashed && symbol_cache_learn(known, &rest);
	}
	is_ok = is_ok && symbol_cache_recall(known, job);
	struct runner r = {.work = w, .job = job, .reported_count = rest.frame_count};
	if (is_ok)
		report_done(&r, job->frame_count);
	job_clear(&rest);
	mem_free(rest.frames);
	if (!is_ok)
		job_clear(job);
	return is_ok;
}

static void look_up_jit(struct work *w, struct job *job)
{
	for (size_t i = 0; !job->result && i < job->frame_count; i++) {
		const char *name = jit_map_find(w->req->jit, job->frames[i].va);
		if (name && !job_name_frame(job, i, name))
			job->result = err_nomem(&job->error, "names of functions");
	}
}

/* It has no file; if it is not this machine's own (sym_priv.h), nobody need hear of that. */
static void look_up_vdso(struct work *w, struct job *job)
{
	if (job->module->build_id_bytes)
		look_up_module(w, job);
	if (job->result != ERR_NOMEM)
		job->result = NEAP_OK;
}

static void run_job(struct work *w, struct job *job)
{
	if (!job->frame_count)
		return;
	if (job->module == &no_module) {
		look_up_jit(w, job);
		return;
	}
	if (job->module->flags & MODULE_VDSO) {
		look_up_vdso(w, job);
		return;
	}
	struct job *known = symbol_cache_find(w->req->cache, job->module);
	if (!known || !look_up_rest(w, job, known))
		look_up_module(w, job);
}

static void *run_jobs(void *context)
{
	struct work *w = context;
	for (;;) {
		pthread_mutex_lock(&w->lock);
		struct job *job = w->next_job < w->job_count ? &w->jobs[w->next_job++] : NULL;
		pthread_mutex_unlock(&w->lock);
		if (!job)
			return NULL;
		run_job(w, job);
	}
}

static void run_threads(struct work *w)
{
	unsigned wanted = w->req->thread_count;
	if (!wanted) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);
		wanted = cpus > 0 && cpus < (long)LIMIT_THREADS ? (unsigned)cpus : LIMIT_THREADS;
	}
	pthread_t others[LIMIT_THREADS - 1];
	unsigned started = 0;
	while (started + 1 < wanted && started < LIMIT_THREADS - 1 && started + 1 < w->job_count &&
	       !pthread_create(&others[started], NULL, run_jobs, w))
		started++;
	run_jobs(w); /* does all of it if no thread could be started */
	for (unsigned i = 0; i < started; i++)
		pthread_join(others[i], NULL);
}

/* The longest first, so that the last thread is not left alone with it. */
static int compare_jobs(const void *pa, const void *pb)
{
	const struct job *a = pa, *b = pb;
	if (a->frame_count != b->frame_count)
		return a->frame_count > b->frame_count ? -1 : 1;
	return (a->module > b->module) - (a->module < b->module);
}

/* ---- putting together ----------------------------------------------------------------- */

struct merge {
	struct symbolise_result *out;
	const struct work *work;
	struct strtab linkages, files; /* of all jobs */
	const struct job_frame *
		*frames;         /* [frame_count]: where each frame's result is; NULL: none */
	const struct job **jobs; /* [frame_count]: and in which job */
	size_t func_cap, file_cap, line_cap, frames_cap, jobs_cap;
};

static uint32_t merge_func(struct merge *g, const struct job *job, uint32_t local)
{
	struct profile_symbols *s = &g->out->symbols;
	struct arena *arena = &g->out->arena;
	const char *linkage = strtab_get(&job->linkages, local);
	uint32_t id = strtab_add(&g->linkages, linkage, strlen(linkage));
	if (id == UINT32_MAX)
		return 0;
	if (id == s->func_count) {
		const char *name = job->names[local];
		if (!vec_reserve((void **)&s->funcs, &g->func_cap, id + 1, sizeof *s->funcs))
			return 0;
		struct profile_func *f = &s->funcs[id];
		f->linkage = arena_strndup(arena, linkage, strlen(linkage));
		f->name = name ? arena_strndup(arena, name, strlen(name)) : f->linkage;
		if (!f->linkage || !f->name)
			return 0;
		s->func_count++;
	}
	return id + 1;
}

static bool merge_file(struct merge *g, const struct job *job, uint32_t local, file_id *id_out)
{
	struct profile_symbols *s = &g->out->symbols;
	const char *path = strtab_get(&job->files, local);
	*id_out = 0;
	if (!*path)
		return true;
	uint32_t id = strtab_add(&g->files, path, strlen(path));
	if (id == UINT32_MAX)
		return false;
	if (id == s->file_count) {
		if (!vec_reserve((void **)&s->files, &g->file_cap, id + 1, sizeof *s->files))
			return false;
		s->files[id] = arena_strndup(&g->out->arena, path, strlen(path));
		if (!s->files[id])
			return false;
		s->file_count++;
	}
	*id_out = id + 1;
	return true;
}

static bool merge_frame(struct merge *g, size_t frame_idx)
{
	struct profile_symbols *s = &g->out->symbols;
	const struct job_frame *f = g->frames[frame_idx];
	const struct job *job = g->jobs[frame_idx];
	bool has_line = false;
	for (uint32_t k = 0; f && k < f->line_count; k++) {
		const struct profile_line *local = &job->lines[f->first_line + k];
		struct profile_line line = {.func = merge_func(g, job, local->func),
					    .line = local->line};
		if (!line.func || !merge_file(g, job, local->file, &line.file) ||
		    !vec_reserve((void **)&s->lines, &g->line_cap, s->line_count + 1,
				 sizeof *s->lines))
			return false;
		s->lines[s->line_count++] = line;
		has_line |= line.line && line.file;
	}
	if (frame_idx < g->work->req->frame_count) {
		g->out->named_count += f && f->line_count;
		g->out->lined_count += has_line;
	}
	s->first_line[frame_idx + 1] = (uint32_t)s->line_count;
	return s->line_count < UINT32_MAX - LIMIT_INLINE_DEPTH;
}

/* first_frame: where the frames of its request begin. */
static void merge_job(struct merge *g, const struct job *job, size_t first_frame)
{
	for (size_t k = 0; !job->result && k < job->frame_count; k++) {
		g->frames[first_frame + job->frames[k].frame_idx] = &job->frames[k];
		g->jobs[first_frame + job->frames[k].frame_idx] = job;
	}
}

static void release_work(struct work *w)
{
	for (size_t i = 0; w->jobs && i < w->job_count; i++)
		job_clear(&w->jobs[i]);
	mem_free(w->jobs);
	mem_free(w->frames);
	pthread_mutex_destroy(&w->lock);
	pthread_mutex_destroy(&w->fork_lock);
}

/* ---- functions that left with a jump ---------------------------------------------- */

/* Ids of names: functions of the symbols first, then what else is called. */
struct callees {
	const struct merge *merge;
	struct strtab others;
	uint32_t *func, *callee; /* [frame_count] as in struct tail_names */
};

static const char *callee_text(const void *context, uint32_t id)
{
	const struct callees *c = context;
	size_t func_count = c->merge->linkages.count;
	return id < func_count ? strtab_get(&c->merge->linkages, id)
			       : strtab_get(&c->others, id - (uint32_t)func_count);
}

/* UINT32_MAX: out of memory. */
static uint32_t callee_id(struct callees *c, const char *name)
{
	const struct strtab *funcs = &c->merge->linkages;
	uint32_t id = strtab_find(funcs, name, strlen(name));
	if (id != UINT32_MAX)
		return id;
	id = strtab_add(&c->others, name, strlen(name));
	return id == UINT32_MAX ? id : id + (uint32_t)funcs->count;
}

static bool name_callees_of(struct callees *c, const struct job *job)
{
	uint32_t *ids = mem_array(job->callees.count, sizeof *ids);
	bool is_ok = ids;
	for (uint32_t i = 0; is_ok && i < job->callees.count; i++) {
		ids[i] = callee_id(c, strtab_get(&job->callees, i));
		is_ok = ids[i] != UINT32_MAX;
	}
	for (size_t k = 0; is_ok && !job->result && k < job->frame_count; k++)
		if (job->frames[k].callee)
			c->callee[job->frames[k].frame_idx] = ids[job->frames[k].callee - 1] + 1;
	mem_free(ids);
	return is_ok;
}

static bool find_tails(struct work *w, const struct merge *g, struct tail_chains *out)
{
	const struct profile_symbols *s = &g->out->symbols;
	struct callees c = {.merge = g};
	c.func = mem_zarray(s->frame_count, sizeof *c.func);
	c.callee = mem_zarray(s->frame_count, sizeof *c.callee);
	bool is_ok = c.func && c.callee;
	for (size_t i = 0; is_ok && i < s->frame_count; i++)
		if (s->first_line[i + 1] > s->first_line[i])
			c.func[i] = s->lines[s->first_line[i + 1] - 1].func;
	for (size_t i = 0; is_ok && i < w->job_count; i++)
		is_ok = name_callees_of(&c, &w->jobs[i]);
	const struct tail_names names = {c.func, c.callee, callee_text, &c};
	is_ok = is_ok && tail_find(w->req, &names, &w->fork_lock, out);
	strtab_release(&c.others);
	mem_free(c.func);
	mem_free(c.callee);
	return is_ok;
}

/* Room for more frames, nameless so far. */
static bool merge_reserve(struct merge *g, size_t frame_count)
{
	struct profile_symbols *s = &g->out->symbols;
	size_t old_count = s->frame_count, line_cap = old_count ? old_count + 1 : 0;
	if (!vec_reserve((void **)&s->first_line, &line_cap, frame_count + 1,
			 sizeof *s->first_line) ||
	    !vec_reserve((void **)&g->frames, &g->frames_cap, frame_count, sizeof *g->frames) ||
	    !vec_reserve((void **)&g->jobs, &g->jobs_cap, frame_count, sizeof *g->jobs))
		return false;
	if (frame_count > old_count) {
		memset(g->frames + old_count, 0, (frame_count - old_count) * sizeof *g->frames);
		memset(g->jobs + old_count, 0, (frame_count - old_count) * sizeof *g->jobs);
	}
	s->first_line[0] = 0;
	s->frame_count = frame_count;
	return true;
}

/* Names for the frames of tails, which come after all others. */
static bool name_tails(struct work *w, struct merge *g)
{
	size_t first = w->req->frame_count;
	const struct profile_tails *tails = &g->out->symbols.tails;
	struct symbolise_request req = *w->req;
	req.frames = tails->frames;
	req.frame_count = tails->frame_count;
	req.jit = NULL;
	req.progress = NULL;
	struct work more = {.req = &req,
			    .lock = PTHREAD_MUTEX_INITIALIZER,
			    .fork_lock = PTHREAD_MUTEX_INITIALIZER};
	bool is_ok = make_jobs(&more) && merge_reserve(g, first + tails->frame_count);
	if (is_ok)
		run_threads(&more);
	for (size_t i = 0; is_ok && i < more.job_count; i++) {
		is_ok = more.jobs[i].result != ERR_NOMEM;
		merge_job(g, &more.jobs[i], first);
	}
	for (size_t i = first; is_ok && i < first + tails->frame_count; i++)
		is_ok = merge_frame(g, i);
	release_work(&more);
	return is_ok;
}

static bool add_tails(struct work *w, struct merge *g)
{
	struct tail_chains chains = {0};
	bool is_ok = !w->req->tree.node_count || find_tails(w, g, &chains);
	if (is_ok && chains.count)
		is_ok = tails_of_chains(&chains, &g->out->symbols.tails) && name_tails(w, g);
	tail_chains_release(&chains);
	return is_ok;
}

static bool merge_jobs(struct work *w, struct symbolise_result *out)
{
	struct merge g = {.out = out, .work = w};
	bool is_ok = merge_reserve(&g, w->req->frame_count);
	for (size_t i = 0; is_ok && i < w->job_count; i++)
		merge_job(&g, &w->jobs[i], 0);
	for (size_t i = 0; is_ok && i < w->req->frame_count; i++)
		is_ok = merge_frame(&g, i);
	is_ok = is_ok && add_tails(w, &g);
	strtab_release(&g.linkages);
	strtab_release(&g.files);
	mem_free(g.frames);
	mem_free(g.jobs);
	return is_ok;
}

static bool add_warning(struct symbolise_result *out, struct buf *text, size_t module_idx)
{
	size_t count = out->warning_count + 1;
	if (text->has_failed ||
	    !vec_reserve((void **)&out->warnings, &out->warning_cap, count,
			 sizeof *out->warnings) ||
	    !vec_reserve((void **)&out->warning_module_idx, &out->warning_module_cap, count,
			 sizeof *out->warning_module_idx)) {
		buf_release(text);
		return false;
	}
	out->warning_module_idx[out->warning_count] = module_idx;
	out->warnings[out->warning_count++] = text->data;
	return true;
}

static bool add_warnings(const struct work *w, struct symbolise_result *out)
{
	for (size_t i = 0; i < w->job_count; i++) {
		const struct job *job = &w->jobs[i];
		struct buf text = {0};
		if (job->result)
			buf_printf(&text, "no names for the code of %s: %s", job->module->path,
				   job->error.text);
		else if (job->has_crashed)
			buf_printf(
				&text,
				"no lines for the code of %s: its debug information cannot be read",
				job->module->path);
		else
			continue;
		if (!add_warning(out, &text, (size_t)(job->module - w->req->modules)))
			return false;
	}
	return true;
}

enum neap_err symbolise_frames(const struct symbolise_request *req, struct symbolise_result *out,
			       struct err *e)
{
	*out = (struct symbolise_result){0};
	struct work w = {
		.req = req,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.fork_lock = PTHREAD_MUTEX_INITIALIZER,
	};
	bool is_ok = make_jobs(&w);
	if (is_ok) {
		qsort(w.jobs, w.job_count, sizeof *w.jobs, compare_jobs);
		run_threads(&w);
		for (size_t i = 0; i < w.job_count; i++)
			is_ok &= w.jobs[i].result != ERR_NOMEM;
		is_ok = is_ok && merge_jobs(&w, out) && add_warnings(&w, out);
	}
	release_work(&w);
	if (is_ok)
		return NEAP_OK;
	symbolise_release(out);
	return err_nomem(e, "names of functions");
}

void symbolise_release(struct symbolise_result *out)
{
	for (size_t i = 0; i < out->warning_count; i++)
		mem_free(out->warnings[i]);
	mem_free(out->warnings);
	mem_free(out->warning_module_idx);
	mem_free(out->symbols.funcs);
	mem_free(out->symbols.files);
	mem_free(out->symbols.lines);
	mem_free(out->symbols.first_line);
	tails_release(&out->symbols.tails);
	arena_release(&out->arena);
	*out = (struct symbolise_result){0};
}
