/*
 * Memoised unwinding: from the registers at a hook's caller to a path node.
 *
 * The step from a frame to its caller is a pure function of (pc, sp, rbp) and of
 * the stack slots it reads: the return address, the saved rbp if there is one, and
 * in a realigned frame the pointer to the unaligned part.  So the thread keeps the
 * last stack it walked - per frame (pc, sp, rbp) and its node, and all slots with
 * the values they held (`checks`) - and a new capture only steps until it meets a
 * remembered frame with equal (pc, sp, rbp).  If all slots of that frame and of its
 * callers still hold the same values, the rest of the stack is provably the same.
 * If one differs, stepping goes on; the frames further out may still match.
 *
 * rbp counts only where it is used.  Most code keeps data in it, and finds no frame
 * by it: then neither its value nor the slots it is saved in matter to the walk, and
 * they are not compared (`uses_rbp`, known once the frames further out are).
 *
 * Short ways from a hook's caller to a remembered frame are kept as segments: when
 * one begins at the same place, and its slots and those of the frame it leads to and
 * of all further out hold their values, the path is known without a step.
 *
 * Frames of a stack that goes on in another one are remembered like any other.  What lies on the outer one
 * is compared last, when all that led there is known to be the same; so it is still there.
 *
 * No return address is changed and nothing is assumed that was not compared.  A
 * frame that needs more registers (NC_STEP_COMPLEX) sends the whole stack to
 * full.c, and nothing is remembered of it.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/same.h"

enum outcome {
	STEPPED,
	ENDED,
	NEEDS_FULL
};

struct walk {
	uint64_t pc, sp, rbp;
	int64_t outer; /* innermost remembered frame that may still match; -1 = none */
	uint32_t fresh_count;
	uint32_t root; /* fixed node, if the walk reaches the end of the stack */
	uint32_t follow_count;
	bool is_guess; /* the frame at hand was found by frame pointer */
	bool is_cut;   /* there is no room for further frames */
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

/* The innermost remembered frame, from `from` outwards, whose slots have changed; -1 if none has. */
NC_INLINE int64_t first_changed(const struct nc_ctx *t, int64_t from)
{
	const struct nc_check *c = nc_last_changed(t->checks, t->frames[from].check_end);
	if (NC_LIKELY(!c))
		return -1;
	int64_t changed = from;
	while (changed > 0 && t->frames[changed - 1].check_end > c - t->checks)
		changed--;
	return changed;
}

/* No CFI: rbp may be a frame pointer.  Believed only if it leads to known code higher on this stack. */
static enum outcome step_guess(struct nc_ctx *t, struct walk *w, struct nc_fresh *f)
{
	f->rbp_use = NC_RBP_USED;
	if (w->rbp == 0)
		return ENDED;
	w->root = NC_NODE_TRUNCATED;
	if (w->rbp < w->sp || !is_readable(t, w->rbp, w->sp) || !is_readable(t, w->rbp + 8, w->sp))
		return ENDED;
	f->rbp_va = w->rbp;
	f->ret_va = w->rbp + 8;
	w->sp = w->rbp + 16;
	w->pc = nc_load(f->ret_va);
	w->rbp = nc_load(f->rbp_va);
	if (!nc_is_code(t, w->pc))
		return ENDED;
	w->root = NC_NODE_ROOT;
	w->is_guess = true;
	return STEPPED;
}

/*
 * The end of a frame: further out on this stack; or on another one, which may lie anywhere, and is
 * believed only if it leads to known code.
 */
static bool is_reached(struct nc_ctx *t, struct walk *w, uint64_t cfa, uint64_t sp)
{
	bool is_here = is_readable(t, cfa - 8, sp);
	if (is_here && cfa > sp)
		return true;
	return w->follow_count++ < NC_FOLLOW_MAX && (is_here || nc_range_follow(t, cfa - 8)) &&
	       nc_is_code(t, nc_load(cfa - 8));
}

/* A step by a rule of any simple kind, with all its checks. */
static enum outcome step_ruled(struct nc_ctx *t, struct walk *w, struct nc_rule rule,
			       struct nc_fresh *f)
{
	uint64_t cfa = (rule.step == NC_STEP_RSP ? w->sp : w->rbp) + (int64_t)rule.cfa_offset;
	f->rbp_use = NC_RBP_USED;
	w->root = NC_NODE_TRUNCATED;
	if (rule.step == NC_STEP_DEREF) {
		if (!is_readable(t, cfa, f->sp))
			return ENDED;
		f->cfa_va = cfa;
		cfa = w->sp = nc_load(cfa);
	}
	if (!is_reached(t, w, cfa, f->sp))
		return ENDED;
	if (rule.rbp_at != NC_RBP_SAME) {
		uint64_t rbp_va =
			(rule.rbp_at == NC_RBP_CFA ? cfa : w->rbp) + (int64_t)rule.rbp_offset;
		if (!is_readable(t, rbp_va, f->sp))
			return ENDED;
		f->rbp_va = rbp_va;
		w->rbp = nc_load(rbp_va);
	}
	f->ret_va = cfa - 8;
	w->pc = nc_load(f->ret_va);
	w->sp = cfa;
	if (w->pc > NC_KEY_PC_MASK)
		return ENDED;
	w->root = NC_NODE_ROOT;
	return w->pc >= NC_CODE_MIN_VA ? STEPPED : ENDED;
}

/* A step that step_fast refused. */
static NC_NOINLINE enum outcome step(struct nc_ctx *t, struct walk *w)
{
	struct nc_rule rule = t->is_careful ? nc_rule_make(t, w->pc) : nc_rule_get(t, w->pc);
	if (rule.step == NC_STEP_COMPLEX)
		return NEEDS_FULL;
	if (rule.step == NC_STEP_SIGNAL) {
		w->root = NC_NODE_SIGNAL;
		return ENDED;
	}
	if (w->fresh_count == t->frame_cap && !nc_frames_grow(t)) {
		w->is_cut = true;
		return ENDED;
	}
	struct nc_fresh *f = &t->fresh[w->fresh_count++];
	*f = (struct nc_fresh){.pc = w->pc, .sp = w->sp, .rbp = w->rbp, .is_guess = w->is_guess};
	f->key = w->pc | (uint64_t)rule.module << NC_KEY_MODULE_SHIFT |
		 (w->is_guess ? NC_KEY_GUESSED : 0);
	w->is_guess = false;
	if (rule.step == NC_STEP_END)
		return ENDED;
	if (rule.step == NC_STEP_NONE || rule.step == NC_STEP_LOST)
		return step_guess(t, w, f);
	return step_ruled(t, w, rule, f);
}

/*
 * Nearly all steps: the CFA is a register plus an offset, everything is where it should be.
 * False, and nothing done, if this is not one of them.
 */
NC_INLINE bool step_fast(const struct nc_ctx *t, struct walk *w, struct nc_rule rule,
			 struct nc_fresh *f)
{
	if (NC_UNLIKELY(rule.step > NC_STEP_RBP || rule.rbp_at == NC_RBP_RBP || w->is_guess))
		return false;
	bool is_saved = rule.rbp_at == NC_RBP_CFA;
	uint64_t cfa = (rule.step == NC_STEP_RSP ? w->sp : w->rbp) + (int64_t)rule.cfa_offset;
	uint64_t rbp_va = cfa + (int64_t)rule.rbp_offset;
	if (NC_UNLIKELY(cfa <= w->sp || !is_in_range(t, cfa - 8) ||
			(is_saved && !is_in_range(t, rbp_va))))
		return false;
	uint64_t pc = nc_load(cfa - 8);
	if (NC_UNLIKELY(pc - NC_CODE_MIN_VA > NC_KEY_PC_MASK - NC_CODE_MIN_VA))
		return false;
	f->pc = w->pc;
	f->sp = w->sp;
	f->rbp = w->rbp;
	f->key = w->pc | (uint64_t)rule.module << NC_KEY_MODULE_SHIFT;
	f->ret_va = cfa - 8;
	f->rbp_va = is_saved ? rbp_va : 0;
	f->cfa_va = 0;
	f->is_guess = false;
	f->rbp_use = rule.step == NC_STEP_RBP ? NC_RBP_USED
		     : is_saved               ? NC_RBP_UNUSED
					      : NC_RBP_PASSED;
	w->pc = pc;
	w->sp = cfa;
	if (is_saved)
		w->rbp = nc_load(rbp_va);
	return true;
}

/* ---- placing fresh frames ------------------------------------------------------------------ */

struct placing { /* the caller of the frame to be placed */
	uint64_t pc, sp, rbp;
	struct nc_check *check; /* where the next one goes */
	uint32_t node;
	bool uses_rbp;
};

NC_INLINE struct placing placing_at(const struct nc_ctx *t, const struct walk *w)
{
	struct placing p = {w->pc, w->sp, w->rbp, t->checks, w->root, false};
	if (NC_LIKELY(w->outer >= 0)) {
		const struct nc_frame *outer = &t->frames[w->outer];
		p.node = outer->node;
		p.check = t->checks + outer->check_end;
		p.uses_rbp = outer->uses_rbp;
	}
	return p;
}

NC_INLINE bool place_one(struct nc_ctx *t, struct placing *p, const struct nc_fresh *f,
			 struct nc_frame *frame)
{
	p->node = nc_child(t, p->node, f->key);
	if (NC_UNLIKELY(!p->node))
		return false;
	if (NC_UNLIKELY(f->cfa_va))
		*p->check++ = (struct nc_check){f->cfa_va, p->sp};
	if (f->rbp_va && p->uses_rbp)
		*p->check++ = (struct nc_check){f->rbp_va, p->rbp};
	if (NC_LIKELY(f->ret_va))
		*p->check++ = (struct nc_check){f->ret_va, p->pc};
	if (f->rbp_use != NC_RBP_PASSED)
		p->uses_rbp = f->rbp_use;
	p->pc = f->pc;
	p->sp = f->sp;
	p->rbp = f->rbp;
	frame->pc = p->pc;
	frame->sp = p->sp;
	frame->rbp = p->rbp;
	frame->node = p->node;
	frame->check_end = (uint32_t)(p->check - t->checks) & 0x3fffffff;
	frame->uses_rbp = p->uses_rbp;
	frame->is_guess = f->is_guess;
	return true;
}

/* Hang the fresh frames under the remembered one (or the root) and remember them. */
NC_INLINE uint32_t place(struct nc_ctx *t, const struct walk *w)
{
	uint32_t count = (uint32_t)(w->outer + 1);
	struct placing p = placing_at(t, w);
	struct nc_frame *frame = t->frames + count;
	for (const struct nc_fresh *f = t->fresh + w->fresh_count; f-- != t->fresh; frame++) {
		if (NC_UNLIKELY(!place_one(t, &p, f, frame))) {
			t->frame_count = 0;
			return NC_NONE;
		}
	}
	t->frame_count = count + w->fresh_count;
	t->root = w->root;
	return p.node;
}

/*
 * Where the path of the remembered frame at `index` begins: what is further out is cut off so
 * that no path is longer than NC_MAX_FRAMES.  The cut moves on in large steps, so that the paths
 * of deep recursion have their nodes in common.
 */
static uint32_t path_start(uint32_t index)
{
	const uint32_t step = NC_MAX_FRAMES / 2;
	return index < NC_MAX_FRAMES ? 0 : ((index - NC_MAX_FRAMES) / step + 1) * step;
}

/* The same for a stack deeper than a path may be. */
static NC_NOINLINE uint32_t place_deep(struct nc_ctx *t, const struct walk *w)
{
	uint32_t count = (uint32_t)(w->outer + 1);
	struct placing p = placing_at(t, w);
	nc_drop(NC_DROP_FRAMES);
	t->frame_count = 0;
	for (uint32_t k = w->fresh_count; k-- > 0; count++) {
		uint32_t start = path_start(count);
		if (start && start != path_start(count - 1)) {
			p.node = NC_NODE_TRUNCATED;
			for (uint32_t i = start; p.node && i < count; i++)
				p.node = nc_child(t, p.node, nc_node(t->frames[i].node)->key);
		}
		if (!p.node || !place_one(t, &p, &t->fresh[k], &t->frames[count]))
			return NC_NONE;
	}
	t->frame_count = count;
	t->root = w->root;
	return p.node;
}

/* ---- segments -------------------------------------------------------------------------- */

NC_INLINE struct nc_segment *segment_set(struct nc_ctx *t, const struct nc_origin *at)
{
	uint64_t hash = (at->pc ^ nc_origin_sp(at) << 20) * 0x9e3779b97f4a7c15ull;
	return &t->segments[hash >> (64 - NC_SEGMENTS_LG) & ~(uint64_t)(NC_SEGMENT_WAYS - 1)];
}

/* Remember the fresh frames just placed as one segment, if they are few. */
NC_INLINE void segment_store(struct nc_ctx *t, int64_t outer_index, const struct nc_origin *at,
			     uint32_t node)
{
	if (outer_index < 0 || !node || !t->frame_count)
		return;
	const struct nc_frame *outer = &t->frames[outer_index];
	const struct nc_frame *inner = &t->frames[t->frame_count - 1];
	uint32_t count = inner->check_end - outer->check_end;
	if (count > NC_SEGMENT_CHECKS)
		return;
	struct nc_segment *s = segment_set(t, at) + (t->segment_turn++ % NC_SEGMENT_WAYS);
	s->pc = at->pc;
	s->sp = nc_origin_sp(at);
	s->rbp = at->rbp;
	s->node = node;
	s->epoch = t->segment_epoch;
	s->outer = (uint32_t)outer_index;
	s->outer_node = outer->node;
	s->outer_sp = outer->sp;
	s->outer_rbp = outer->rbp;
	s->uses_rbp = inner->uses_rbp;
	s->check_count = count;
	for (uint32_t i = 0; i < count; i++)
		s->checks[i] = t->checks[outer->check_end + i];
}

NC_INLINE bool segment_holds(const struct nc_ctx *t, const struct nc_segment *s,
			     const struct nc_origin *at)
{
	if (s->pc != at->pc || s->sp != nc_origin_sp(at) || (s->uses_rbp && s->rbp != at->rbp) ||
	    s->epoch != t->segment_epoch || s->outer >= t->frame_count)
		return false;
	const struct nc_frame *f = &t->frames[s->outer];
	return f->node == s->outer_node && f->sp == s->outer_sp &&
	       (!f->uses_rbp || f->rbp == s->outer_rbp) &&
	       !nc_last_changed(s->checks, s->check_count) &&
	       !nc_last_changed(t->checks, f->check_end);
}

/* The path of a segment that begins here and still holds; NC_NONE if there is none. */
NC_INLINE uint32_t segment_find(struct nc_ctx *t, const struct nc_origin *at)
{
	const struct nc_segment *s = segment_set(t, at);
	for (int way = 0; way < NC_SEGMENT_WAYS; way++, s++)
		if (segment_holds(t, s, at))
			return s->node;
	return NC_NONE;
}

/* ---- captures ---------------------------------------------------------------------------- */

/* Frames from full.c: not remembered, because their checks are not known. */
static NC_NOINLINE uint32_t capture_full(struct nc_ctx *t, const struct nc_origin *at)
{
	t->frame_count = 0;
	struct nc_unwound u = nc_unwind_full(t, at);
	uint32_t node = u.root, cut = u.frame_count ? path_start(u.frame_count - 1) : 0;
	if (cut) {
		nc_drop(NC_DROP_FRAMES);
		node = NC_NODE_TRUNCATED;
	}
	for (uint32_t k = u.frame_count - cut; node && k-- > 0;)
		node = nc_child(t, node, t->fresh[k].key);
	return node;
}

/* No room to remember the stack: a few of its innermost frames, under [truncated]. */
#define CUT_FRAMES 256u
static NC_NOINLINE uint32_t capture_cut(struct nc_ctx *t, const struct walk *w)
{
	nc_drop(NC_DROP_FRAMES);
	t->frame_count = 0;
	uint32_t node = NC_NODE_TRUNCATED;
	for (uint32_t k = w->fresh_count < CUT_FRAMES ? w->fresh_count : CUT_FRAMES;
	     node && k-- > 0;)
		node = nc_child(t, node, t->fresh[k].key);
	return node;
}

/* Place the fresh frames of a walk that ended or met a remembered frame. */
NC_INLINE uint32_t capture_place(struct nc_ctx *t, const struct walk *w)
{
	uint64_t count = (uint64_t)(w->outer + 1) + w->fresh_count;
	while (NC_UNLIKELY(count > t->frame_cap))
		if (!nc_frames_grow(t))
			return capture_cut(t, w);
	return NC_LIKELY(count <= NC_MAX_FRAMES) ? place(t, w) : place_deep(t, w);
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
	t->segment_epoch++;
}

/*
 * The remembered frame that is the one at hand, if its slots and all further out still hold
 * their values: then *done is true.  Else `outer` is left at the frames that may still match.
 */
NC_INLINE bool meets_remembered(const struct nc_ctx *t, struct walk *w)
{
	const struct nc_frame *frames = t->frames;
	int64_t i = w->outer;
	while (i >= 0 && frames[i].sp < w->sp)
		i--;
	w->outer = i;
	if (NC_UNLIKELY(i < 0))
		return false;
	const struct nc_frame *f = &frames[i];
	if (f->sp != w->sp || f->pc != w->pc || f->is_guess != w->is_guess ||
	    (f->uses_rbp && f->rbp != w->rbp))
		return false;
	int64_t changed = first_changed(t, i);
	if (NC_LIKELY(changed < 0))
		return true;
	w->outer = changed - 1;
	return false;
}

/* Step with the state in registers; false at a step that is not a fast one. */
NC_INLINE bool walk_fast(struct nc_ctx *t, struct walk *at)
{
	struct walk w = *at;
	bool has_met = false;
	while (NC_LIKELY(w.fresh_count < t->frame_cap) && !(has_met = meets_remembered(t, &w)) &&
	       step_fast(t, &w, nc_rule_get(t, w.pc), &t->fresh[w.fresh_count]))
		w.fresh_count++;
	*at = w;
	return has_met;
}

/* Step until a remembered frame matches and holds, or the stack ends; ENDED or NEEDS_FULL. */
static enum outcome walk_through(struct nc_ctx *t, struct walk *w)
{
	for (;;) {
		if (NC_LIKELY(!t->is_careful) && NC_LIKELY(walk_fast(t, w))) {
			w->root = t->root;
			return ENDED;
		}
		enum outcome done = step(t, w);
		if (done == ENDED)
			w->outer = -1;
		if (done != STEPPED)
			return done;
	}
}

/* A walk may end on another stack than it began on. */
static void range_return(struct nc_ctx *t, const struct nc_origin *at, struct nc_range range)
{
	if (NC_LIKELY(nc_origin_sp(at) - t->range_start < t->range_bytes))
		return;
	t->range_start = range.start;
	t->range_bytes = range.end - range.start;
}

static NC_NOINLINE uint32_t capture_walk(struct nc_ctx *t, const struct nc_origin *at)
{
	struct nc_range range = {t->range_start, t->range_start + t->range_bytes};
	struct walk w = {.pc = at->pc,
			 .sp = nc_origin_sp(at),
			 .rbp = at->rbp,
			 .outer = (int64_t)t->frame_count - 1,
			 .root = NC_NODE_ROOT};
	enum outcome done = walk_through(t, &w);
	range_return(t, at, range);
	if (done == NEEDS_FULL) {
		uint32_t node = capture_full(t, at);
		range_return(t, at, range);
		return node;
	}
	if (NC_UNLIKELY(w.is_cut))
		return capture_cut(t, &w);
	if (NC_UNLIKELY(w.root == NC_NODE_TRUNCATED))
		nc_drop(NC_DROP_UNWIND);
	uint32_t node = capture_place(t, &w);
	segment_store(t, w.outer, at, node);
	return node;
}

uint32_t nc_capture(struct nc_ctx *t, const struct nc_origin *at)
{
	if (NC_UNLIKELY(nc_origin_sp(at) - t->range_start >= t->range_bytes ||
			t->unload_count != __atomic_load_n(&nc.unload_count, __ATOMIC_RELAXED)))
		forget_frames(t, nc_origin_sp(at));
	uint32_t node = segment_find(t, at);
	return NC_LIKELY(node) ? node : capture_walk(t, at);
}
