/*
 * The commonest case of nc_capture, for inlining into what counts a birth: the stack is the
 * one of last time, or that of one of its callers.
 */
#ifndef NEAP_COLLECTOR_SAME_H
#define NEAP_COLLECTOR_SAME_H

#include "collector/nc.h"

NC_INLINE uint64_t nc_load(uint64_t addr)
{
	return *(const volatile uint64_t *)addr;
}

/* Do the first `count` slots still hold their values?  The inner ones are likelier to have changed. */
NC_INLINE const struct nc_check *nc_last_changed(const struct nc_check *checks, uint32_t count)
{
	const struct nc_check *c = checks + count;
#pragma GCC unroll 4
	while (c != checks) {
		c--;
		if (NC_UNLIKELY(nc_load(c->addr) != c->value))
			return c;
	}
	return NULL;
}

/* nc_capture_same - the path node if the remembered stack begins or ends with this one; NC_NONE
 * if nc_capture has to look further.  What it reads lies in the stack's known range. */
NC_INLINE uint32_t nc_capture_same(const struct nc_ctx *t, const struct nc_origin *at)
{
	uint64_t sp = nc_origin_sp(at);
	if (NC_UNLIKELY(sp - t->range_start >= t->range_bytes ||
			t->unload_count != __atomic_load_n(&nc.unload_count, __ATOMIC_RELAXED)))
		return NC_NONE;
	uint32_t count = t->frame_count;
	const struct nc_frame *f = &t->frames[count];
	while (count && (f - 1)->sp < sp)
		f--, count--;
	if (NC_UNLIKELY(!count))
		return NC_NONE;
	f--;
	bool is_same = f->sp == sp && f->pc == at->pc && (!f->uses_rbp || f->rbp == at->rbp) &&
		       !nc_last_changed(t->checks, f->check_end);
	return is_same ? f->node : NC_NONE;
}

/* nc_path - the path node of the stack at `at`; NC_NONE if there is no room for it.  With NC_ORACLE,
 * tests/oracle puts itself in its place. */
#ifdef NC_ORACLE
uint32_t nc_path(struct nc_ctx *t, const struct nc_origin *at);
#else
NC_INLINE uint32_t nc_path(struct nc_ctx *t, const struct nc_origin *at)
{
	uint32_t path = nc_capture_same(t, at);
	return NC_LIKELY(path) ? path : nc_capture(t, at);
}
#endif

#endif
