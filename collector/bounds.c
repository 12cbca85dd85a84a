/*
 * Which addresses of a stack may be read.
 *
 * The unwinder reads only between the stack pointer and the end of the mapping it
 * lies in.  The end is known for the first thread (__libc_stack_end); for every
 * other stack - threads, coroutines, alternate signal stacks - the mapping is
 * looked up in /proc/self/maps once, with raw system calls, and kept.
 *
 * A stack may go on in another one: a function called on a new stack, in Rust's stacker, or the segments
 * of GCC's -fsplit-stack.  Then the walk follows into the mapping of that.
 *
 * Where /proc is missing or no descriptor is free, the thread control block, which
 * glibc puts at the top of the stacks it makes, stands in.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <errno.h>
#include <sys/resource.h>

#define MAIN_STACK_MAX_BYTES   (1ull << 30)
#define THREAD_STACK_MAX_BYTES (64ull << 20)

extern void *__libc_stack_end; /* ld.so: top of the first thread's stack */

static bool main_range(uint64_t sp, struct nc_range *out)
{
	if (nc_gettid() != nc_getpid())
		return false;
	struct rlimit limit;
	uint64_t most = MAIN_STACK_MAX_BYTES;
	long ret = nc_syscall6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
	if (!nc_sys_failed(ret) && limit.rlim_cur < most)
		most = limit.rlim_cur;
	uint64_t end = ((uint64_t)__libc_stack_end | (NC_PAGE_BYTES - 1)) + 1;
	if (sp >= end || end - sp > most)
		return false;
	*out = (struct nc_range){end - most, end};
	return true;
}

struct lookup {
	uint64_t va;
	bool wants_code; /* else what can be read */
	bool is_found;
	struct nc_range range;
};

static bool look(const struct nc_mapped *mapped, void *arg)
{
	struct lookup *l = arg;
	bool is_allowed = l->wants_code ? mapped->is_executable : mapped->is_readable;
	l->is_found = is_allowed && l->va >= mapped->range.start && l->va < mapped->range.end;
	l->range = mapped->range;
	return !l->is_found;
}

static bool maps_range(struct nc_ctx *t, uint64_t va, bool wants_code, struct nc_range *out)
{
	struct lookup l = {.va = va, .wants_code = wants_code};
	nc_maps_each(t->scratch->text, sizeof t->scratch->text, look, &l);
	if (l.is_found)
		*out = l.range;
	return l.is_found;
}

static struct nc_range fallback_range(uint64_t sp)
{
	uint64_t tcb = (uint64_t)__builtin_thread_pointer();
	uint64_t start = sp & ~(uint64_t)(NC_PAGE_BYTES - 1);
	if (sp < tcb && tcb - sp < THREAD_STACK_MAX_BYTES)
		return (struct nc_range){start, tcb};
	return (struct nc_range){start, start + NC_PAGE_BYTES};
}

/* Where the range of an address is kept. */
static struct nc_range *range_slot(struct nc_ctx *t, uint64_t va)
{
	return &t->ranges[(va >> 16) % NC_RANGES];
}

static void use_range(struct nc_ctx *t, const struct nc_range *range)
{
	t->range_start = range->start;
	t->range_bytes = range->end - range->start;
}

void nc_range_switch(struct nc_ctx *t, uint64_t sp)
{
	t->frame_count = 0;
	struct nc_range *slot = range_slot(t, sp);
	if (sp < slot->start || sp >= slot->end) {
		struct nc_range found;
		if (!main_range(sp, &found) && !maps_range(t, sp, false, &found))
			found = fallback_range(sp);
		*slot = found;
	}
	use_range(t, slot);
}

/* The kernel reads the set before it finds that there is no such thing to do with it. */
static bool is_mapped(uint64_t va)
{
	const long none = -1, set_bytes = 8;
	return nc_syscall6(SYS_rt_sigprocmask, none, (long)va, 0, set_bytes, 0, 0) == -EINVAL;
}

bool nc_range_follow(struct nc_ctx *t, uint64_t va)
{
	struct nc_range *slot = range_slot(t, va), found;
	if (va & 7 || !is_mapped(va))
		return false;
	if (va < slot->start || va >= slot->end) {
		if (!main_range(va, &found) && !maps_range(t, va, false, &found))
			return false;
		*slot = found;
	}
	use_range(t, slot);
	return true;
}

bool nc_range_has_grown(struct nc_ctx *t, uint64_t sp)
{
	uint32_t interval = __atomic_load_n(&nc.header->interval, __ATOMIC_RELAXED);
	struct nc_range found;
	if (t->range_looked == interval || !maps_range(t, sp, false, &found))
		return false;
	t->range_looked = interval;
	bool has_grown = found.end > t->range_start + t->range_bytes;
	use_range(t, &found);
	*range_slot(t, sp) = found;
	return has_grown;
}

bool nc_is_executable(struct nc_ctx *t, uint64_t va)
{
	struct nc_range *slot = &t->code_ranges[0];
	for (uint32_t i = 0; i < NC_CODE_RANGES; i++) {
		slot = &t->code_ranges[i];
		if (va >= slot->start && va < slot->end)
			return true;
		if (!slot->end)
			break;
	}
	struct nc_range found;
	if (!maps_range(t, va, true, &found))
		return false;
	*slot = found;
	return true;
}
