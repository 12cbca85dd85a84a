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

__attribute__((visibility("default"))) void neap_mark(const char *name)
{
	if (!name || !nc_is_on())
		return;
	struct nc_header *h = nc.header;
	uint32_t ticket = __atomic_fetch_add(&h->mark_next, 1, __ATOMIC_ACQ_REL);
	/* In turn, and not over a name the recorder has not read. */
	for (int i = 0; i < MARK_WAIT_MS / MARK_STEP_MS; i++) {
		uint32_t ready = load(&h->mark_ready), done = load(&h->mark_done);
		if (ready == ticket && ticket - done < MARK_SLOTS)
			break;
		wait_while(ready != ticket ? &h->mark_ready : &h->mark_done,
			   ready != ticket ? ready : done);
	}
	write_name(h->mark_name[ticket % MARK_SLOTS], name);
	__atomic_store_n(&h->mark_ready, ticket + 1, __ATOMIC_RELEASE);
	nc_syscall6(SYS_futex, (long)&h->mark_ready, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
	for (int i = 0; i < MARK_WAIT_MS / MARK_STEP_MS; i++) {
		uint32_t done = load(&h->mark_done);
		if ((int32_t)(done - ticket) > 0)
			return;
		wait_while(&h->mark_done, done);
	}
}
