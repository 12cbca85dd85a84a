/*
 * neap_mark: name an instant, and wait until the recorder has taken a snapshot there.
 *
 * Tickets keep the order: a caller takes the next number, waits for its turn, writes
 * the name and publishes it; then it waits on mark_done, at most MARK_WAIT_MS in all.
 */
#include "config.h"

#define NEAP_NO_WRAPPERS
#include "collector/nc.h"
#include "collector/neap.h"
#include "collector/sys.h"

#include <linux/futex.h>
#include <time.h>

#define MARK_SLOTS   8u
#define MARK_WAIT_MS 100
#define MARK_STEP_MS 10

/* mark_done when a wait was last in vain, plus 1: then nobody seems to listen, and marks do not wait. */
static uint32_t unheard_done; /* atomic */

static void wait_while(uint32_t *word, uint32_t value)
{
	struct timespec step = {0, MARK_STEP_MS * 1000000l};
	nc_syscall6(SYS_futex, (long)word, FUTEX_WAIT, (long)value, (long)&step, 0, 0);
}

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void write_name(char *slot, const char *name)
{
	size_t i = 0;
	for (; i < sizeof nc.header->mark_name[0] - 1 && name[i]; i++)
		slot[i] = name[i];
	slot[i] = 0;
}

/* Wait until it is this ticket's turn and its slot has been read; false if it takes too long. */
static bool wait_for_turn(struct nc_header *h, uint32_t ticket)
{
	for (int i = 0; i < MARK_WAIT_MS / MARK_STEP_MS; i++) {
		uint32_t ready = load(&h->mark_ready), done = load(&h->mark_done);
		if (ready == ticket && ticket - done < MARK_SLOTS)
			return true;
		if (load(&unheard_done) == done + 1)
			return false;
		if (ready != ticket)
			wait_while(&h->mark_ready, ready);
		else
			wait_while(&h->mark_done, done);
	}
	return false;
}

static void wait_until_done(struct nc_header *h, uint32_t ticket)
{
	uint32_t done = load(&h->mark_done);
	if (load(&unheard_done) == done + 1)
		return;
	for (int i = 0; i < MARK_WAIT_MS / MARK_STEP_MS; i++) {
		if ((int32_t)(done - ticket) > 0)
			return;
		wait_while(&h->mark_done, done);
		done = load(&h->mark_done);
	}
	__atomic_store_n(&unheard_done, done + 1, __ATOMIC_RELAXED);
}

__attribute__((visibility("default"))) void neap_mark(const char *name)
{
	if (!name || !nc_is_on())
		return;
	struct nc_header *h = nc.header;
	uint32_t ticket = __atomic_fetch_add(&h->mark_next, 1, __ATOMIC_ACQ_REL);
	bool has_turn = wait_for_turn(h, ticket);
	/* Without a turn the name is left out, but the order of the others must go on. */
	write_name(h->mark_name[ticket % MARK_SLOTS], has_turn ? name : "");
	__atomic_store_n(&h->mark_ready, ticket + 1, __ATOMIC_RELEASE);
	nc_syscall6(SYS_futex, (long)&h->mark_ready, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
	wait_until_done(h, ticket);
}
