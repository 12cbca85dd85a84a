/*
 * Names for the addresses of ended processes, in a thread, so that the others go on
 * being recorded meanwhile.  A file is whole before it comes here; names are added.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include "src/sym/jitmap.h"
#include "src/sym/symbolise.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void note_progress(void *context, size_t done_count, size_t all_count)
{
	struct naming *n = context;
	__atomic_store_n(&n->all_count, all_count, __ATOMIC_RELAXED);
	__atomic_store_n(&n->done_count, done_count, __ATOMIC_RELAXED);
}

#define MISSING_MOST 10u /* modules that are said */

/* Each module once, however many processes have it. */
static void say_missing(struct naming *n, const struct symbolise_result *names)
{
	for (size_t i = 0; i < names->warning_count; i++) {
		const char *text = names->warnings[i];
		size_t said_count = n->said.count;
		strtab_add(&n->said, text, strlen(text));
		if (n->said.count == said_count)
			continue;
		if (said_count < MISSING_MOST)
			speaker_say(&n->recorder->speaker, "%s", text);
	}
}

static void add_names(struct naming *n, struct naming_job *job)
{
	struct jit_map *jit = jit_follow_map(&job->jit);
	struct symbolise_request req = {
		.modules = job->modules.items,
		.module_count = job->modules.count,
		.frames = job->frames,
		.frame_count = job->frame_count,
		.tree = profile_writer_tree(job->writer),
		.module_fds = job->modules.fds,
		.search = {.debug_dirs = n->recorder->options->debug_dirs},
		.jit = jit,
		.cache = n->cache,
		.progress = note_progress,
		.progress_context = n,
	};
	struct symbolise_result names;
	struct err e;
	note_progress(n, 0, job->frame_count);
	if (!symbolise_frames(&req, &names, &e)) {
		profile_add_symbols(job->writer, &names.symbols);
		say_missing(n, &names);
	} else
		speaker_say(&n->recorder->speaker, "%s: no names: %s", job->output.path, e.text);
	symbolise_release(&names);
	jit_map_free(jit);
}

static void append_result(struct naming *n, struct naming_job *job)
{
	struct record_result *r = n->result;
	job->file.path = job->output.path;
	job->output.path = NULL;
	pthread_mutex_lock(&n->lock);
	bool has_room = vec_reserve((void **)&r->files, &r->file_cap, r->file_count + 1,
				    sizeof r->files[0]);
	if (has_room)
		r->files[r->file_count++] = job->file;
	pthread_mutex_unlock(&n->lock);
	if (!has_room) {
		mem_free(job->file.path);
		mem_free(job->file.program);
	}
}

static void do_job(struct naming *n, struct naming_job *job)
{
	struct err e;
	bool wants_names = !__atomic_load_n(&n->wants_no_names, __ATOMIC_ACQUIRE);
	if (!job->is_broken && wants_names)
		add_names(n, job);
	job->file.file_bytes = profile_writer_bytes(job->writer);
	if (profile_writer_close(job->writer, &e) && !job->is_broken) {
		job->file.is_incomplete = true;
		speaker_say_broken(&n->recorder->speaker, &e);
	}
	append_result(n, job);
	jit_follow_release(&job->jit);
	modules_release(&job->modules);
	mem_free(job->frames);
	output_release(&job->output);
	mem_free(job);
}

static struct naming_job *take_job(struct naming *n)
{
	pthread_mutex_lock(&n->lock);
	while (!n->first && !n->must_end)
		pthread_cond_wait(&n->has_work, &n->lock);
	struct naming_job *job = n->first;
	if (job) {
		n->first = job->next;
		if (!n->first)
			n->last = &n->first;
	} else {
		n->has_ended = true;
		eventfd_write(n->ended_fd, 1);
	}
	pthread_mutex_unlock(&n->lock);
	return job;
}

static void *naming_main(void *arg)
{
	struct naming *n = arg;
	struct naming_job *job;
	while ((job = take_job(n)))
		do_job(n, job);
	return NULL;
}

enum neap_err naming_init(struct naming *n, struct recorder *r, struct record_result *result,
			  struct err *e)
{
	*n = (struct naming){.recorder = r, .result = result};
	n->ended_fd = eventfd(0, EFD_CLOEXEC);
	n->last = &n->first;
	n->cache = symbol_cache_new();
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->has_work, NULL);
	int errnum = pthread_create(&n->thread, NULL, naming_main, n);
	n->has_thread = errnum == 0;
	if (n->has_thread)
		pthread_setname_np(n->thread, "neap-names");
	return errnum ? err_sys(e, errnum, "start a thread for", "names") : NEAP_OK;
}

void naming_add(struct naming *n, struct naming_job *job)
{
	pthread_mutex_lock(&n->lock);
	job->next = NULL;
	*n->last = job;
	n->last = &job->next;
	pthread_cond_signal(&n->has_work);
	pthread_mutex_unlock(&n->lock);
}

bool naming_end(struct naming *n)
{
	pthread_mutex_lock(&n->lock);
	n->must_end = true;
	pthread_cond_signal(&n->has_work);
	bool has_ended = n->has_ended;
	pthread_mutex_unlock(&n->lock);
	return has_ended || !n->has_thread;
}

void naming_release(struct naming *n)
{
	if (!n->recorder)
		return;
	naming_end(n);
	if (n->has_thread)
		pthread_join(n->thread, NULL);
	if (n->said.count > MISSING_MOST)
		speaker_say(&n->recorder->speaker, "no names for the code of %u more modules",
			    (unsigned)n->said.count - MISSING_MOST);
	if (n->said.count)
		speaker_say(&n->recorder->speaker,
			    "neap symbolize FILE --debug-dir DIR adds names later; "
			    "neap info --missing-symbols FILE lists what is missing");
	if (n->ended_fd >= 0)
		close(n->ended_fd);
	strtab_release(&n->said);
	symbol_cache_free(n->cache);
	pthread_mutex_destroy(&n->lock);
	pthread_cond_destroy(&n->has_work);
}
