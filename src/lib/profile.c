/* Opening a profile, and what is known of it as a whole. */
#include "config.h"

#include "src/lib/neap/profile.h"

#include "src/base/mem.h"
#include "src/lib/lib_priv.h"

const char *neap_version(void)
{
	return PACKAGE_VERSION;
}

/* ---- opening ---------------------------------------------------------------------- */

_Static_assert(PROFILE_AMOUNTS == NEAP_LEAKED + 1, "one amount for each population");

/* The populations of the whole run. */
static enum neap_err add_up(struct neap_profile *np, struct err *e)
{
	static const enum graph_pop pops[PROFILE_AMOUNTS] = {
		[NEAP_ALLOCATED] = POP_ALLOCATED, [NEAP_FREED] = POP_FREED,
		[NEAP_TEMPORARY] = POP_TEMPORARY, [NEAP_PEAK] = POP_PEAK,
		[NEAP_LEAKED] = POP_LEAKED,
	};
	size_t count = np->p->cohort_count;
	struct graph_sum *cohorts = mem_array(count, sizeof *cohorts);
	if (!cohorts)
		return err_nomem(e, "sums of a profile");
	for (size_t i = 0; i < PROFILE_AMOUNTS; i++) {
		graph_pop_cohorts(np->g, pops[i], graph_whole_run(np->g), cohorts);
		np->amounts[i] = graph_add_up(cohorts, count);
	}
	mem_free(cohorts);
	return NEAP_OK;
}

static enum neap_err open_profile(struct neap_profile *np, const char *path, struct err *e)
{
	enum neap_err code = query_session_new(NULL, &np->session, e);
	if (!code)
		code = query_session_open(np->session, path, e);
	if (code)
		return code;
	np->g = query_session_graph(np->session);
	np->p = graph_profile(np->g);
	return add_up(np, e);
}

enum neap_status neap_profile_open(const char *path, struct neap_profile **out,
				   struct neap_error **error_out)
{
	struct err e = {.code = NEAP_OK};
	*out = NULL;
	if (error_out)
		*error_out = NULL;
	struct neap_profile *np = mem_zalloc(sizeof *np);
	if (!np)
		err_nomem(&e, "a profile");
	else if (!open_profile(np, path, &e))
		*out = np;
	if (*out)
		return NEAP_STATUS_OK;
	neap_profile_free(np);
	return error_from_err(&e, error_out);
}

void neap_profile_free(struct neap_profile *p)
{
	if (!p)
		return;
	query_session_free(p->session);
	mem_free(p);
}

/* ---- facts -------------------------------------------------------------------------- */

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

void neap_profile_run(const struct neap_profile *p, struct neap_run *out)
{
	const struct profile_run *run = &p->p->run;
	*out = (struct neap_run){
		.path = p->p->path,
		.tool = or_empty(run->tool),
		.argv = run->argv,
		.argv_count = run->argv_count,
		.exe = or_empty(run->exe),
		.cwd = or_empty(run->cwd),
		.host = or_empty(run->host),
		.kernel = or_empty(run->kernel),
		.pid = run->pid,
		.ppid = run->ppid,
		.cpu_count = run->cpu_count,
		.is_forked = run->is_forked,
		.file_bytes = p->p->file_bytes,
		.start_unix_ns = run->start_unix_ns,
		.duration_ns = graph_end_time(p->g),
		.interval_ns = run->interval_ns,
		.sample_bytes = run->sample_bytes,
	};
}

static enum neap_end end_of(enum profile_end_kind kind)
{
	switch (kind) {
	case END_EXITED:
		return NEAP_END_EXITED;
	case END_SIGNALED:
		return NEAP_END_SIGNALED;
	case END_EXEC:
		return NEAP_END_EXEC;
	case END_STOPPED:
		return NEAP_END_STOPPED;
	case END_UNKNOWN:
		break;
	}
	return NEAP_END_UNKNOWN;
}

void neap_profile_ending(const struct neap_profile *p, struct neap_ending *out)
{
	const struct profile_end *end = &p->p->end;
	*out = (struct neap_ending){
		.kind = end_of(end->kind),
		.has_status = end->has_status,
		.status = end->has_status ? end->status : 0,
		.time_ns = end->kind == END_UNKNOWN ? graph_end_time(p->g) : end->time_ns,
		.reason = or_empty(end->reason),
	};
}

bool neap_profile_is_exact(const struct neap_profile *p)
{
	for (size_t i = 0; i < DROP_COUNT; i++) {
		if (p->p->drops[i])
			return false;
	}
	const struct profile_source *s = &p->p->source; /* of recorded profiles all false */
	bool is_whole = !s->is_estimated && !s->is_partial && !s->has_left_out;
	return is_whole && !p->p->damage.text[0] && !p->p->run.sample_bytes;
}

void neap_profile_damage(const struct neap_profile *p, struct neap_damage *out)
{
	const struct profile_damage *d = &p->p->damage;
	*out = (struct neap_damage){
		.is_cut = d->is_cut,
		.whole_bytes = d->whole_bytes,
		.lost_bytes = d->lost_bytes,
		.bad_count = d->bad_blocks,
		.text = d->text,
	};
}

size_t neap_profile_drop_count(const struct neap_profile *p)
{
	(void)p;
	return DROP_COUNT;
}

bool neap_profile_drop(const struct neap_profile *p, size_t drop_idx, struct neap_drop *out)
{
	if (drop_idx >= DROP_COUNT)
		return false;
	out->name = profile_drop_name((enum profile_drop)drop_idx);
	out->meaning = profile_drop_meaning((enum profile_drop)drop_idx);
	out->count = p->p->drops[drop_idx];
	return true;
}

struct neap_amount neap_profile_amount(const struct neap_profile *p, enum neap_population of)
{
	const struct graph_sum *sum = &p->amounts[(unsigned)of < PROFILE_AMOUNTS ? of : 0];
	return (struct neap_amount){sum->blocks, sum->bytes};
}

void neap_profile_peak(const struct neap_profile *p, struct neap_peak *out)
{
	struct graph_peak peak = graph_peak(p->g);
	*out = (struct neap_peak){
		.time_ns = peak.time_ns,
		.snapshot = peak.snap,
		.is_exact = peak.is_exact,
		.bytes = peak.bytes,
		.bound_bytes = peak.is_exact ? peak.bound_bytes : 0,
	};
}

/* ---- lists ---------------------------------------------------------------------------- */

size_t neap_profile_module_count(const struct neap_profile *p)
{
	return p->p->module_count;
}

bool neap_profile_module(const struct neap_profile *p, size_t module_idx, struct neap_module *out)
{
	if (module_idx >= p->p->module_count)
		return false;
	const struct profile_module *m = &p->p->modules[module_idx];
	*out = (struct neap_module){
		.path = or_empty(m->path),
		.build_id = m->build_id,
		.build_id_bytes = m->build_id_bytes,
		.is_main = m->flags & MODULE_MAIN,
		.start_va = m->start_va,
		.end_va = m->end_va,
		.bias = m->bias,
		.first_snapshot = m->first_snap,
		.last_snapshot = m->last_snap,
	};
	return true;
}

size_t neap_profile_thread_count(const struct neap_profile *p)
{
	return p->p->thread_count;
}

bool neap_profile_thread(const struct neap_profile *p, size_t thread_idx, struct neap_thread *out)
{
	if (thread_idx >= p->p->thread_count)
		return false;
	const struct profile_thread *t = &p->p->threads[thread_idx];
	*out = (struct neap_thread){
		.name = or_empty(t->name),
		.tid = t->tid,
		.has_ended = t->flags & THREAD_ENDED,
		.first_snapshot = t->first_snap,
		.last_snapshot = t->last_snap,
	};
	return true;
}

size_t neap_profile_snapshot_count(const struct neap_profile *p)
{
	return p->p->snapshot_count;
}

bool neap_profile_snapshot(const struct neap_profile *p, size_t snapshot_idx,
			   struct neap_snapshot *out)
{
	if (snapshot_idx >= p->p->snapshot_count)
		return false;
	const struct profile_snapshot *s = &p->p->snapshots[snapshot_idx];
	*out = (struct neap_snapshot){s->time_ns, s->cpu_ns, s->rss_bytes, s->live_bytes};
	return true;
}

size_t neap_profile_mark_count(const struct neap_profile *p)
{
	return p->p->mark_count;
}

bool neap_profile_mark(const struct neap_profile *p, size_t mark_idx, struct neap_instant *out)
{
	if (mark_idx >= p->p->mark_count)
		return false;
	const struct profile_mark *m = &p->p->marks[mark_idx];
	*out = (struct neap_instant){or_empty(m->name), m->snap, m->time_ns};
	return true;
}
