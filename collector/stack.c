/*
 * Memoised unwinding: from the registers at a hook's caller to a path node.
 *
 * The step from a frame to its caller is a pure function of (pc, sp, rbp) and of
 * the stack slots it reads: the return address, the saved rbp if there is one, and
 * in a realigned frame the pointer to the unaligned part.  So the thread keeps the
 * last stack it captured - per frame (pc, sp, rbp) and its node, and all slots with
 * the values they held (`checks`) - and a new capture only steps until it meets a
 * remembered frame with equal (pc, sp, rbp).  If all slots of that frame and of its
 * callers still hold the same values, the rest of the stack is provably the same.
 * If one differs, stepping goes on from the frame that read it.
 *
 * No return address is changed and nothing is assumed that was not compared.  A
 * frame that needs more registers (NC_STEP_COMPLEX) sends the whole stack to
 * full.c, and nothing is remembered of it.
 */
#include "config.h"

#include "collector/nc.h"

struct walk {
	uint64_t pc, sp, rbp;
	int64_t outer; /* innermost remembered frame that may still match; -1 = none */
	uint32_t fresh_count;
	uint32_t root; /* fixed node, if the walk reaches the end of the stack */
	bool is_guess; /* the frame at hand was found by frame pointer */
};

enum outcome {
	STEPPED,
	ENDED,
	NEEDS_FULL
};

NC_INLINE bool is_in_range(const struct nc_ctx *t, uint64_t addr)
{
	return NC_LIKELY(addr - t->range_start < t->range_bytes && !(addr & 7));
}

/* Beyond the range, the mapping is looked up once more before the stack is given up. */
NC_INLINE bool is_readable(struct nc_ctx *t, uint64_t addr, uint64_t sp)
{
	return is_in_range(t, addr) || (nc_range_has_grown(t, sp) && is_in_range(t, addr));
}

NC_INLINE uint64_t load(uint64_t addr)
{
	return *(const volatile uint64_t *)addr;
}

static struct nc_fresh *fresh_add(struct nc_ctx *t, struct walk *w)
{
	if (NC_UNLIKELY(w->fresh_count == t->frame_cap) && !nc_frames_grow(t))
		return NULL;
	struct nc_fresh *f = &t->fresh[w->fresh_count++];
	f->pc = w->pc;
	f->sp = w->sp;
	f->rbp = w->rbp;
	f->check_count = 0;
	return f;
}

NC_INLINE void check_add(struct nc_fresh *f, uint64_t addr, uint64_t value)
{
	f->checks[f->check_count++] = (struct nc_check){addr, value};
}

/* Do the first `count` slots still hold their values?  The inner ones are likelier to have changed. */
NC_INLINE const struct nc_check *last_changed(const struct nc_check *checks, uint32_t count)
{
	const struct nc_check *c = checks + count;
#pragma GCC unroll 4
	while (c != checks) {
		c--;
		if (NC_UNLIKELY(load(c->addr) != c->value))
			return c;
	}
	return NULL;
}

/* The innermost remembered frame, from `from` outwards, whose slots have changed; -1 if none has. */
static int64_t first_changed(const struct nc_ctx *t, int64_t from)
{
	const struct nc_check *c = last_changed(t->checks, t->frames[from].check_end);
	if (NC_LIKELY(!c))
		return -1;
	int64_t changed = from;
	while (changed > 0 && t->frames[changed - 1].check_end > c - t->checks)
		changed--;
	return changed;
}

/* Frames from .. changed + 1 still hold, but hang on a different caller: place them again. */
static bool keep_frames(struct nc_ctx *t, struct walk *w, int64_t from, int64_t changed)
{
	for (int64_t i = from; i > changed; i--) {
		struct nc_frame *old = &t->frames[i];
		w->pc = old->pc;
		w->sp = old->sp;
		w->rbp = old->rbp;
		struct nc_fresh *f = fresh_add(t, w);
		if (!f)
			return false;
		old = &t->frames[i];
		f->key = nc_node(old->node)->key;
		for (uint32_t c = t->frames[i - 1].check_end; c < old->check_end; c++)
			check_add(f, t->checks[c].addr, t->checks[c].value);
	}
	struct nc_frame *at = &t->frames[changed];
	w->pc = at->pc;
	w->sp = at->sp;
	w->rbp = at->rbp;
	w->is_guess = nc_node(at->node)->key & NC_KEY_GUESSED;
	w->outer = changed - 1;
	return true;
}

/* The caller's frame pointer, by the rule. */
NC_INLINE bool step_rbp(struct nc_ctx *t, struct nc_fresh *f, const struct nc_rule *rule,
			uint64_t cfa, uint64_t *rbp)
{
	if (rule->rbp_at == NC_RBP_SAME)
		return true;
	uint64_t addr = (rule->rbp_at == NC_RBP_CFA ? cfa : f->rbp) + (int64_t)rule->rbp_offset;
	if (NC_UNLIKELY(!is_readable(t, addr, f->sp)))
		return false;
	*rbp = load(addr);
	check_add(f, addr, *rbp);
	return true;
}

/* No CFI: rbp may be a frame pointer.  Believed only if it leads to known code higher on this stack. */
static enum outcome step_guess(struct nc_ctx *t, struct walk *w, struct nc_fresh *f)
{
	if (w->rbp == 0)
		return ENDED;
	w->root = NC_NODE_TRUNCATED;
	if (w->rbp < w->sp || !is_readable(t, w->rbp, w->sp) || !is_readable(t, w->rbp + 8, w->sp))
		return ENDED;
	uint64_t caller_pc = load(w->rbp + 8), caller_rbp = load(w->rbp);
	if (!caller_pc || caller_pc > NC_KEY_PC_MASK ||
	    nc_rule_get(t, caller_pc).step == NC_STEP_LOST)
		return ENDED;
	w->root = NC_NODE_ROOT;
	check_add(f, w->rbp + 8, caller_pc);
	check_add(f, w->rbp, caller_rbp);
	w->sp = w->rbp + 16;
	w->rbp = caller_rbp;
	w->pc = caller_pc;
	w->is_guess = true;
	return STEPPED;
}

/* Add the frame at hand to the fresh ones and move to its caller. */
NC_INLINE enum outcome step(struct nc_ctx *t, struct walk *w)
{
	struct nc_rule rule =
		NC_LIKELY(!t->is_careful) ? nc_rule_get(t, w->pc) : nc_rule_make(t, w->pc);
	if (NC_UNLIKELY(rule.step == NC_STEP_COMPLEX))
		return NEEDS_FULL;
	if (NC_UNLIKELY(rule.step == NC_STEP_SIGNAL)) {
		w->root = NC_NODE_SIGNAL;
		return ENDED;
	}
	struct nc_fresh *f = fresh_add(t, w);
	if (NC_UNLIKELY(!f)) {
		nc_drop(NC_DROP_FRAMES);
		w->root = NC_NODE_TRUNCATED;
		return ENDED;
	}
	f->key = w->pc | (uint64_t)rule.module << NC_KEY_MODULE_SHIFT |
		 (w->is_guess ? NC_KEY_GUESSED : 0);
	w->is_guess = false;
	if (NC_UNLIKELY(rule.step == NC_STEP_END))
		return ENDED;
	if (NC_UNLIKELY(rule.step == NC_STEP_NONE || rule.step == NC_STEP_LOST))
		return step_guess(t, w, f);
	uint64_t cfa = (rule.step == NC_STEP_RSP ? w->sp : w->rbp) + (int64_t)rule.cfa_offset;
	if (NC_UNLIKELY(rule.step == NC_STEP_DEREF)) {
		if (!is_readable(t, cfa, w->sp))
			goto lost;
		check_add(f, cfa, load(cfa));
		cfa = load(cfa);
	}
	uint64_t rbp = w->rbp;
	if (NC_UNLIKELY(cfa <= w->sp || !is_readable(t, cfa - 8, w->sp)) ||
	    !step_rbp(t, f, &rule, cfa, &rbp))
		goto lost;
	uint64_t pc = load(cfa - 8);
	check_add(f, cfa - 8, pc);
	*w = (struct walk){pc, cfa, rbp, w->outer, w->fresh_count, w->root, false};
	if (NC_LIKELY(pc && pc <= NC_KEY_PC_MASK))
		return STEPPED;
	if (pc == 0)
		return ENDED;
lost:
	w->root = NC_NODE_TRUNCATED;
	return ENDED;
}

/* Hang the fresh frames under the remembered one (or the root) and remember them. */
NC_INLINE uint32_t place(struct nc_ctx *t, const struct walk *w)
{
	int64_t outer = w->outer;
	uint32_t count = (uint32_t)(outer + 1);
	while (NC_UNLIKELY(count + w->fresh_count > t->frame_cap))
		if (!nc_frames_grow(t))
			return NC_NONE;
	uint32_t node = outer >= 0 ? t->frames[outer].node : w->root;
	uint32_t check_end = outer >= 0 ? t->frames[outer].check_end : 0;
	for (uint32_t k = w->fresh_count; k-- > 0;) {
		const struct nc_fresh *fresh = &t->fresh[k];
		node = nc_child(t, node, fresh->key);
		if (NC_UNLIKELY(!node)) {
			t->frame_count = 0;
			return NC_NONE;
		}
		for (uint32_t c = 0; c < fresh->check_count; c++)
			t->checks[check_end++] = fresh->checks[c];
		t->frames[count++] =
			(struct nc_frame){fresh->pc, fresh->sp, fresh->rbp, node, check_end};
	}
	t->frame_count = count;
	t->root = w->root;
	return node;
}

/* Frames from full.c: not remembered, because their checks are not known. */
static NC_NOINLINE uint32_t capture_full(struct nc_ctx *t, const struct nc_origin *at)
{
	t->frame_count = 0;
	struct nc_unwound u = nc_unwind_full(t, at);
	uint32_t node = u.root;
	for (uint32_t k = u.frame_count; node && k-- > 0;)
		node = nc_child(t, node, t->fresh[k].key);
	return node;
}

/* A stack deeper than the tables: its innermost frames, under [truncated], not remembered. */
static NC_NOINLINE uint32_t capture_cut(struct nc_ctx *t, struct walk *w)
{
	nc_drop(NC_DROP_FRAMES);
	uint32_t node = NC_NODE_TRUNCATED;
	int64_t room = (int64_t)t->frame_cap - w->fresh_count;
	for (int64_t i = w->outer + 1 > room ? w->outer + 1 - room : 0; node && i <= w->outer; i++)
		node = nc_child(t, node, nc_node(t->frames[i].node)->key);
	for (uint32_t k = w->fresh_count; node && k-- > 0;)
		node = nc_child(t, node, t->fresh[k].key);
	t->frame_count = 0;
	return node;
}

static NC_NOINLINE void forget_frames(struct nc_ctx *t, uint64_t sp)
{
	if (sp - t->range_start >= t->range_bytes)
		nc_range_switch(t, sp);
	/* While code is being unloaded, every capture comes here and starts from nothing. */
	uint32_t count = __atomic_load_n(&nc.unload_count, __ATOMIC_SEQ_CST);
	t->is_careful = __atomic_load_n(&nc.unloading, __ATOMIC_SEQ_CST);
	t->unload_count = t->is_careful ? count - 1 : count;
	t->frame_count = 0;
}

/* Step until a remembered frame matches and holds, or the stack ends. */
static NC_NOINLINE uint32_t capture_walk(struct nc_ctx *t, const struct nc_origin *at)
{
	struct walk w = {at->pc, at->sp,       at->rbp, (int64_t)t->frame_count - 1,
			 0,      NC_NODE_ROOT, false};
	for (;;) {
		while (w.outer >= 0 && t->frames[w.outer].sp < w.sp)
			w.outer--;
		const struct nc_frame *f = &t->frames[w.outer];
		if (w.outer >= 0 && f->sp == w.sp && f->pc == w.pc && f->rbp == w.rbp) {
			int64_t changed = first_changed(t, w.outer);
			if (NC_LIKELY(changed < 0)) {
				w.root = t->root;
				break;
			}
			if (!keep_frames(t, &w, w.outer, changed))
				return capture_cut(t, &w);
		}
		enum outcome done = step(t, &w);
		if (NC_UNLIKELY(done == NEEDS_FULL))
			return capture_full(t, at);
		if (NC_UNLIKELY(done == ENDED)) {
			w.outer = -1;
			break;
		}
	}
	if (NC_UNLIKELY(w.root == NC_NODE_TRUNCATED))
		nc_drop(NC_DROP_UNWIND);
	if (NC_UNLIKELY(w.outer + 1 + (int64_t)w.fresh_count > NC_MAX_FRAMES))
		return capture_cut(t, &w);
	return place(t, &w);
}

uint32_t nc_capture(struct nc_ctx *t, const struct nc_origin *at)
{
	if (NC_UNLIKELY(at->sp - t->range_start >= t->range_bytes ||
			t->unload_count != __atomic_load_n(&nc.unload_count, __ATOMIC_RELAXED)))
		forget_frames(t, at->sp);
	/* The same place as last time, or one of its callers: frames further in are gone for good. */
	uint32_t count = t->frame_count;
	const struct nc_frame *frames = t->frames;
	while (count && frames[count - 1].sp < at->sp)
		count--;
	t->frame_count = count;
	if (!count)
		return capture_walk(t, at);
	const struct nc_frame *f = &frames[count - 1];
	if (f->sp == at->sp && f->pc == at->pc && f->rbp == at->rbp &&
	    first_changed(t, count - 1) < 0)
		return f->node;
	return capture_walk(t, at);
}
