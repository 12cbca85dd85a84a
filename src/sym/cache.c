/* What is known of modules, each a job that grows. */
#include "config.h"

#include "src/sym/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"

#define KNOWN_FRAMES_MOST ((size_t)1 << 20) /* of one module: then it is forgotten */

struct kept {
	struct kept *next;
	struct profile_module module; /* path is ours */
	struct job job;
};

struct symbol_cache {
	pthread_mutex_t lock; /* guards the list */
	struct kept *first;
};

struct symbol_cache *symbol_cache_new(void)
{
	struct symbol_cache *c = mem_zalloc(sizeof *c);
	if (c)
		pthread_mutex_init(&c->lock, NULL);
	return c;
}

static void forget(struct job *known)
{
	job_clear(known);
	mem_free(known->frames);
	known->frames = NULL;
	known->frame_count = 0;
}

static void kept_free(struct kept *k)
{
	forget(&k->job);
	mem_free((char *)k->module.path);
	mem_free(k);
}

void symbol_cache_free(struct symbol_cache *c)
{
	if (!c)
		return;
	for (struct kept *k = c->first, *next; k; k = next) {
		next = k->next;
		kept_free(k);
	}
	pthread_mutex_destroy(&c->lock);
	mem_free(c);
}

static bool is_of(const struct kept *k, const struct profile_module *m)
{
	return k->module.build_id_bytes == m->build_id_bytes &&
	       !memcmp(k->module.build_id, m->build_id, m->build_id_bytes) &&
	       !strcmp(k->module.path, m->path);
}

static struct kept *kept_new(const struct profile_module *m)
{
	struct kept *k = mem_zalloc(sizeof *k);
	if (!k)
		return NULL;
	k->module = *m;
	k->module.path = mem_strdup(m->path);
	if (!k->module.path) {
		mem_free(k);
		return NULL;
	}
	k->job = (struct job){.module = &k->module, .fd = -1};
	return k;
}

struct job *symbol_cache_find(struct symbol_cache *c, const struct profile_module *m)
{
	if (!c || !m->build_id_bytes)
		return NULL;
	pthread_mutex_lock(&c->lock);
	struct kept *k = c->first;
	while (k && !is_of(k, m))
		k = k->next;
	if (!k && (k = kept_new(m))) {
		k->next = c->first;
		c->first = k;
	}
	pthread_mutex_unlock(&c->lock);
	return k ? &k->job : NULL;
}

/* The first frame, from *at on, that is not below an address; *at moves there. */
static const struct job_frame *frame_at(const struct job *job, size_t *at, uint64_t va)
{
	while (*at < job->frame_count && job->frames[*at].va < va)
		++*at;
	return *at < job->frame_count && job->frames[*at].va == va ? &job->frames[*at] : NULL;
}

bool symbol_cache_missing(const struct job *known, const struct job *job, struct job *rest_out)
{
	*rest_out = (struct job){.module = job->module, .fd = job->fd};
	rest_out->frames = mem_array(job->frame_count, sizeof *rest_out->frames);
	if (!rest_out->frames)
		return false;
	size_t at = 0;
	for (size_t i = 0; i < job->frame_count; i++) {
		bool is_repeated = i && job->frames[i - 1].va == job->frames[i].va;
		if (!is_repeated && !frame_at(known, &at, job->frames[i].va))
			rest_out->frames[rest_out->frame_count++] = job->frames[i];
	}
	return true;
}

/* Both are in ascending order, and have no address in common. */
static void merge_frames(const struct job *a, const struct job_frame *more, size_t more_count,
			 struct job_frame *out)
{
	size_t i = 0, k = 0;
	while (i < a->frame_count || k < more_count) {
		bool from_a =
			k == more_count || (i < a->frame_count && a->frames[i].va < more[k].va);
		*out++ = from_a ? a->frames[i++] : more[k++];
	}
}

bool symbol_cache_learn(struct job *known, const struct job *rest)
{
	if (known->frame_count + rest->frame_count > KNOWN_FRAMES_MOST)
		forget(known);
	size_t count = known->frame_count + rest->frame_count;
	struct job_frame *more = mem_array(rest->frame_count, sizeof *more);
	struct job_frame *all = mem_array(count, sizeof *all);
	bool is_ok = more && all;
	for (size_t i = 0; is_ok && i < rest->frame_count; i++) {
		more[i] = rest->frames[i];
		is_ok = job_copy_frame(known, &more[i], rest, &rest->frames[i]);
	}
	if (is_ok) {
		merge_frames(known, more, rest->frame_count, all);
		mem_free(known->frames);
		known->frames = all;
		known->frame_count = count;
	} else {
		mem_free(all);
		forget(known);
	}
	mem_free(more);
	return is_ok;
}

bool symbol_cache_recall(const struct job *known, struct job *job)
{
	size_t at = 0;
	for (size_t i = 0; i < job->frame_count; i++) {
		const struct job_frame *from = frame_at(known, &at, job->frames[i].va);
		if (!from || !job_copy_frame(job, &job->frames[i], known, from))
			return false;
	}
	return true;
}
