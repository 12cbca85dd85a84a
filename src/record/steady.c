/*
 * Steady stretches: when there is nothing to tell between two snapshots.
 *
 * A program in a loop frees what it allocates, at places already known, and its live
 * bytes stay where they are.  Its intervals of 10 ms all look alike, and storing each
 * would make the file grow with the length of the run.  So an interval goes on, past
 * its time, while since the last snapshot
 *
 *   - no call path, size or thread was met for the first time,
 *   - the live bytes and the peak moved by less than 1/64,
 *
 * but not longer than all that was recorded before, and 256 intervals.  Counts stay
 * exact; only the instants that can be asked for lie further apart.  A run that lasts
 * ten times longer adds some four snapshots.  An interval that the user asked for is
 * kept as it is.
 */
#include "config.h"

#include "src/record/record_priv.h"

#define SMALL_CHANGE_SHARE 64
#define SMALL_CHANGE_BYTES 4096
#define INTERVALS_MOST     256u

static struct steady look(const struct process *p)
{
	const struct nc_header *h = p->region.header;
	return (struct steady){
		.node_count = __atomic_load_n(&h->used_count[NC_SEC_NODES], __ATOMIC_RELAXED),
		.thread_count = __atomic_load_n(&h->used_count[NC_SEC_THREADS], __ATOMIC_RELAXED),
		.live_bytes = region_live_bytes(&p->region),
		.peak_bytes = (int64_t)nc_peak_bytes(h),
	};
}

static bool is_near(int64_t before, int64_t now)
{
	int64_t most = before / SMALL_CHANGE_SHARE;
	int64_t moved = now > before ? now - before : before - now;
	return moved <= (most > SMALL_CHANGE_BYTES ? most : SMALL_CHANGE_BYTES);
}

void steady_mark(struct process *p, uint64_t now)
{
	p->steady = look(p);
	p->steady.since_ns = now;
}

bool steady_holds(const struct process *p, uint64_t now)
{
	const struct steady *then = &p->steady;
	uint64_t most = then->since_ns - p->base_ns; /* as long as all before it */
	if (most > p->interval_ns * INTERVALS_MOST)
		most = p->interval_ns * INTERVALS_MOST;
	if (!p->is_adaptive || !then->since_ns || now - then->since_ns >= most)
		return false;
	struct steady is = look(p);
	return is.node_count == then->node_count && is.thread_count == then->thread_count &&
	       is_near(then->live_bytes, is.live_bytes) && is_near(then->peak_bytes, is.peak_bytes);
}
