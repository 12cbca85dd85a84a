/*
 * Threads of a process and their names.  The collector enters a thread's name when it
 * first allocates and again when it ends; most programs name a thread in between, so
 * /proc is asked now and then while it lives.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REFRESH_NS        NS_PER_S
#define NAMES_PER_REFRESH 64u

static struct profile_thread describe(const struct thread_entry *t, const struct nc_thread *in)
{
	bool has_ended = t->flags & NC_THREAD_ENDED;
	return (struct profile_thread){
		.name = t->name,
		.tid = t->tid,
		.flags = (has_ended ? THREAD_ENDED : 0) |
			 (t->flags & NC_THREAD_NESTED ? THREAD_NESTED : 0),
		.first_snap = t->first_snap,
		.last_snap = has_ended ? in->end_interval : 0,
	};
}

static void copy_name(char dst[16], const char *src, size_t bytes)
{
	size_t n = strnlen(src, bytes < 15 ? bytes : 15);
	memset(dst, 0, 16);
	memcpy(dst, src, n);
}

/* Take over what the region says; true if something changed. */
static bool read_region(struct thread_entry *t, const struct nc_thread *in)
{
	uint32_t flags = __atomic_load_n(&in->flags, __ATOMIC_ACQUIRE);
	char name[16];
	copy_name(name, in->name, sizeof in->name);
	bool has_changed = flags != t->flags;
	t->flags = flags;
	t->tid = in->tid;
	if (memcmp(name, t->region_name, sizeof name) != 0) {
		memcpy(t->region_name, name, sizeof name);
		memcpy(t->name, name, sizeof name);
		has_changed = true;
	}
	return has_changed;
}

/* Take over what /proc says; true if the name changed. */
static bool read_comm(const struct process *p, struct thread_entry *t)
{
	if (p->seen_pid != (uint32_t)p->pid) /* its thread ids mean something else here */
		return false;
	char path[64], text[32], name[16];
	snprintf(path, sizeof path, "/proc/%d/task/%u/comm", (int)p->pid, t->tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof text);
	close(fd);
	if (n <= 0)
		return false;
	copy_name(name, text, (size_t)(text[n - 1] == '\n' ? n - 1 : n));
	if (!memcmp(name, t->name, sizeof name))
		return false;
	memcpy(t->name, name, sizeof name);
	return true;
}

static bool reserve_entries(struct process *p, uint32_t idx)
{
	struct threads *ts = &p->threads;
	if (!vec_reserve((void **)&ts->entries, &ts->entry_cap, idx + 1, sizeof ts->entries[0]) ||
	    !vec_reserve((void **)&ts->live, &ts->live_cap, ts->live_count + 1,
			 sizeof ts->live[0])) {
		p->is_starved = true;
		return false;
	}
	if (idx >= ts->entry_count) {
		memset(ts->entries + ts->entry_count, 0,
		       (idx + 1 - ts->entry_count) * sizeof ts->entries[0]);
		ts->entry_count = idx + 1;
	}
	return true;
}

thread_id threads_find(struct process *p, uint32_t idx)
{
	struct threads *ts = &p->threads;
	if (idx < ts->entry_count && ts->entries[idx].id)
		return ts->entries[idx].id;
	if (!idx || idx >= region_used(&p->region, NC_SEC_THREADS))
		return 0;
	const struct nc_thread *in = &p->region.threads[idx];
	if (!(__atomic_load_n(&in->flags, __ATOMIC_ACQUIRE) & NC_THREAD_USED))
		return 0;
	if (!reserve_entries(p, idx))
		return 0;
	struct thread_entry *t = &ts->entries[idx];
	read_region(t, in);
	t->first_snap = in->start_interval;
	if (!(t->flags & NC_THREAD_ENDED))
		read_comm(p, t);
	struct profile_thread out = describe(t, in);
	t->id = profile_add_thread(p->writer, &out);
	/* Even if it has ended: the next refresh takes it off the list. */
	ts->live[ts->live_count++] = idx;
	t->flags &= ~(uint32_t)NC_THREAD_ENDED;
	return t->id;
}

/* The cohorts that waited for its ring go to somebody else. */
static void orphan_retirees(struct process *p, struct thread_entry *t, const struct nc_thread *in)
{
	uint32_t tail = __atomic_load_n(&in->ring_tail, __ATOMIC_ACQUIRE);
	for (uint32_t left = in->ring_head - tail; left && left <= NC_RING_ENTRIES; left--) {
		uint32_t idx = (uint32_t)in->ring[tail++ % NC_RING_ENTRIES];
		struct shadow *s = chunks_find(&p->scanner.shadows, idx);
		if (!s || !s->birth || !(s->flags & SHADOW_PUSHED))
			continue;
		s->flags &= ~(uint32_t)SHADOW_PUSHED;
		if (!(s->flags & SHADOW_QUEUED) && s->births == s->deaths)
			recycle_queue(p, idx, s);
	}
	for (size_t i = t->ready.first; i < t->ready.count; i++) {
		struct shadow *s = chunks_find(&p->scanner.shadows, t->ready.items[i].idx);
		if (!s || s->birth != t->ready.items[i].birth || !(s->flags & SHADOW_QUEUED))
			continue;
		s->flags &= ~(uint32_t)SHADOW_QUEUED;
		recycle_queue(p, t->ready.items[i].idx, s);
	}
	mem_free(t->ready.items);
	t->ready = (struct retirees){0};
}

void threads_refresh(struct process *p, uint64_t now, bool is_last)
{
	struct threads *ts = &p->threads;
	uint32_t used = region_used(&p->region, NC_SEC_THREADS);
	if (ts->seen_count < 1)
		ts->seen_count = 1;
	while (ts->seen_count < used && threads_find(p, ts->seen_count))
		ts->seen_count++;
	bool wants_names = is_last || now - ts->refreshed_ns >= REFRESH_NS;
	if (wants_names)
		ts->refreshed_ns = now;
	size_t kept = 0;
	for (size_t i = 0; i < ts->live_count; i++) {
		uint32_t idx = ts->live[i];
		struct thread_entry *t = &ts->entries[idx];
		const struct nc_thread *in = &p->region.threads[idx];
		uint32_t flags = __atomic_load_n(&in->flags, __ATOMIC_ACQUIRE);
		bool has_ended = flags & NC_THREAD_ENDED;
		bool has_changed = false;
		if (has_ended || wants_names)
			has_changed = read_region(t, in);
		if (wants_names && !has_ended && i < NAMES_PER_REFRESH)
			has_changed |= read_comm(p, t);
		if (has_changed) {
			struct profile_thread out = describe(t, in);
			profile_update_thread(p->writer, t->id, &out);
		}
		if (has_ended)
			orphan_retirees(p, t, in);
		else
			ts->live[kept++] = idx;
	}
	ts->live_count = kept;
}

void threads_release(struct threads *t)
{
	for (size_t i = 0; i < t->entry_count; i++)
		mem_free(t->entries[i].ready.items);
	mem_free(t->entries);
	mem_free(t->live);
	*t = (struct threads){0};
}
