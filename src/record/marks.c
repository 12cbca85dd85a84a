/*
 * neap_mark: the program waits until a snapshot was taken, so a thread waits for it.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MARK_SLOTS       8u
#define MARK_STACK_BYTES ((size_t)1 << 20)

static void futex_wait(uint32_t *word, uint32_t value)
{
	struct timespec most = {.tv_sec = 10};
	syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Those whose names are in the region; at most as many as it has room for. */
void marks_write(struct process *p, uint64_t now)
{
	struct nc_header *h = p->region.header;
	uint32_t ready = __atomic_load_n(&h->mark_ready, __ATOMIC_ACQUIRE);
	if (ready - p->mark_count > MARK_SLOTS)
		p->mark_count = ready - MARK_SLOTS;
	for (; p->mark_count != ready; p->mark_count++) {
		char name[sizeof h->mark_name[0] + 1] = {0};
		memcpy(name, h->mark_name[p->mark_count % MARK_SLOTS], sizeof h->mark_name[0]);
		profile_add_mark(p->writer, name, p->snapshot_count, now - p->base_ns);
	}
}

static void serve(struct process *p)
{
	struct nc_header *h = p->region.header;
	pthread_mutex_lock(&p->lock);
	if (!p->is_broken) {
		uint64_t now = now_ns();
		__atomic_store_n(&h->tick_ns, now, __ATOMIC_RELAXED);
		process_snapshot(p, now, false);
		marks_write(p, now);
	} else {
		p->mark_count = __atomic_load_n(&h->mark_ready, __ATOMIC_ACQUIRE);
	}
	__atomic_store_n(&h->mark_done, p->mark_count, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&p->lock);
	futex_wake(&h->mark_done);
}

static void *mark_main(void *arg)
{
	struct process *p = arg;
	struct nc_header *h = p->region.header;
	uint32_t done = 0;
	while (!__atomic_load_n(&p->must_stop, __ATOMIC_ACQUIRE)) {
		uint32_t ready = __atomic_load_n(&h->mark_ready, __ATOMIC_ACQUIRE);
		if (ready == done) {
			futex_wait(&h->mark_ready, ready);
			continue;
		}
		serve(p);
		done = p->mark_count;
	}
	__atomic_store_n(&p->has_stopped, 1, __ATOMIC_RELEASE);
	return NULL;
}

bool marks_start(struct process *p)
{
	pthread_attr_t attr;
	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setstacksize(&attr, MARK_STACK_BYTES);
	errno = pthread_create(&p->mark_thread, &attr, mark_main, p);
	p->has_mark_thread = errno == 0;
	if (p->has_mark_thread)
		pthread_setname_np(p->mark_thread, "neap-marks");
	pthread_attr_destroy(&attr);
	return p->has_mark_thread;
}

void marks_stop(struct process *p)
{
	if (!p->has_mark_thread)
		return;
	__atomic_store_n(&p->must_stop, 1, __ATOMIC_RELEASE);
	/* The word it waits on is the target's, so it is woken until it has noticed. */
	while (!__atomic_load_n(&p->has_stopped, __ATOMIC_ACQUIRE)) {
		futex_wake(&p->region.header->mark_ready);
		struct timespec nap = {.tv_nsec = 100000};
		if (!__atomic_load_n(&p->has_stopped, __ATOMIC_ACQUIRE))
			nanosleep(&nap, NULL);
	}
	pthread_join(p->mark_thread, NULL);
	p->has_mark_thread = false;
}
