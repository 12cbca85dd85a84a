/*
 * massif's snapshots.
 *
 *   desc: ...           #-----------       n2: 5 (heap allocation functions) malloc/new/...
 *   cmd: ...            snapshot=0          n1: 3 0x1086A1: f (big.c:10)
 *   time_unit: i        time=353             n0: 3 0x1086BB: main (big.c:11)
 *                       mem_heap_B=5        n0: 2 in 3 places, all below massif's threshold
 *                       ...
 *
 * Only some snapshots have a tree.  Trees are of callers: below a place that allocated stand the places
 * that called it, so a stack is the way from a node without children up to the root.  What is in no
 * tree, because the snapshot has none, is one function, [no call tree in this snapshot]; what valgrind's
 * allocator adds is [heap administration], and stacks are [stacks], so that totals are those of ms_print.
 *
 * massif knows bytes, no blocks.  Its peak is where it looked, within --peak-inaccuracy.
 */
#include "config.h"

#include "src/exchange/exchange_priv.h"
#include "src/exchange/valgrind.h"

#include "src/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BELOW "[below massif's threshold]"

struct level { /* a node of a tree that still has children to come */
	frame_id frame;
	uint64_t left_count, left_bytes;
};

struct value {
	uint64_t bytes;
	uint32_t snapshot; /* number of the one it is of */
};

enum expected {
	EXPECT_SNAPSHOT,
	EXPECT_FIELDS,
	EXPECT_TREE
};

struct massif {
	struct input *in;
	struct import *im;
	enum expected expected;
	bool has_unit;
	uint64_t unit_ns;
	uint32_t snapshot; /* counts them from 1 */

	uint64_t time_ns, heap_bytes, extra_bytes, stacks_bytes;
	unsigned fields; /* bits of those that were read */
	bool has_tree, is_peak, is_ready;

	struct level *levels;
	size_t level_count, level_cap;
	struct value *values; /* by account */
	size_t value_cap;
	account_id *before, *now; /* with a value in the last tree, and in this */
	size_t before_count, before_cap, now_count, now_cap;
	account_id admin, stacks, no_tree;
};

static enum neap_err bad_line(const struct massif *m, const char *expected, struct err *e)
{
	return err_corrupt(e, "line %" PRIu64 " of '%s' is not what massif writes: expected %s",
			   input_line_number(m->in), input_name(m->in), expected);
}

/* ---- text ---------------------------------------------------------------------------------- */

struct text {
	const char *p, *end;
};

static bool take_word(struct text *t, const char *word)
{
	size_t bytes = strlen(word);
	if ((size_t)(t->end - t->p) < bytes || memcmp(t->p, word, bytes) != 0)
		return false;
	t->p += bytes;
	return true;
}

static bool take_number(struct text *t, uint64_t *out)
{
	const char *start = t->p;
	*out = 0;
	for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
		if (__builtin_mul_overflow(*out, 10u, out) ||
		    __builtin_add_overflow(*out, (uint64_t)(*t->p - '0'), out))
			return false;
	}
	return t->p > start;
}

/* "12.345", as massif's own times have no fraction but those of heaptrack_print do, in units of so many ns. */
static bool take_time(struct text *t, uint64_t unit_ns, uint64_t *out_ns)
{
	uint64_t part = unit_ns;
	if (!take_number(t, out_ns))
		return false;
	if (__builtin_mul_overflow(*out_ns, unit_ns, out_ns) || *out_ns > INT64_MAX)
		*out_ns = INT64_MAX;
	if (t->p == t->end || *t->p != '.')
		return true;
	for (t->p++; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
		part /= 10;
		*out_ns += *out_ns < INT64_MAX ? part * (uint64_t)(*t->p - '0') : 0;
	}
	return true;
}

static bool is_rest(const struct text *t, const char *text)
{
	struct text rest = *t;
	return take_word(&rest, text) && rest.p == rest.end;
}

/* ---- accounts ------------------------------------------------------------------------------ */

static account_id account_at(struct massif *m, node_id node)
{
	return import_account(
		m->im, &(struct import_account){.node = node, .size_bytes = PROFILE_SIZE_MIXED});
}

static account_id account_named(struct massif *m, const char *name)
{
	func_id func = import_func(m->im, name, strlen(name));
	frame_id frame = import_named_frame(m->im, func, 0, 0);
	return account_at(m, import_node(m->im, PROFILE_NODE_ROOT, frame));
}

/* Where blocks are unknown each byte counts as one. */
static void set_live(struct massif *m, account_id a, uint64_t bytes)
{
	import_set_live(m->im, a, bytes, bytes);
}

static enum neap_err add_value(struct massif *m, account_id a, uint64_t bytes, struct err *e)
{
	size_t old_cap = m->value_cap;
	if (!a || !bytes)
		return NEAP_OK;
	if (!vec_reserve((void **)&m->values, &m->value_cap, (size_t)a + 1, sizeof *m->values))
		return err_nomem(e, "massif's call trees");
	if (m->value_cap > old_cap)
		memset(m->values + old_cap, 0, (m->value_cap - old_cap) * sizeof *m->values);
	struct value *v = &m->values[a];
	if (v->snapshot != m->snapshot) {
		if (!vec_reserve((void **)&m->now, &m->now_cap, m->now_count + 1, sizeof *m->now))
			return err_nomem(e, "massif's call trees");
		m->now[m->now_count++] = a;
		*v = (struct value){.snapshot = m->snapshot};
	}
	if (__builtin_add_overflow(v->bytes, bytes, &v->bytes))
		return bad_line(m, "sizes that can be added up", e);
	return NEAP_OK;
}

/* ---- trees ---------------------------------------------------------------------------------- */

/* A stack: the outermost frame is that of the last level. */
static enum neap_err add_stack(struct massif *m, uint64_t bytes, struct err *e)
{
	node_id node = PROFILE_NODE_ROOT;
	for (size_t i = m->level_count; i-- > 0;) {
		if (m->levels[i].frame)
			node = import_node(m->im, node, m->levels[i].frame);
	}
	return add_value(m, node == PROFILE_NODE_ROOT ? m->no_tree : account_at(m, node), bytes, e);
}

/* Levels whose children are all there end; what these did not add up to is the level's own. */
static enum neap_err close_levels(struct massif *m, struct err *e)
{
	enum neap_err code = NEAP_OK;
	while (!code && m->level_count && !m->levels[m->level_count - 1].left_count) {
		uint64_t bytes = m->levels[m->level_count - 1].left_bytes;
		if (bytes)
			code = add_stack(m, bytes, e);
		m->level_count--;
	}
	m->is_ready = !m->level_count;
	return code;
}

static bool is_below_threshold(const struct text *t)
{
	struct text rest = *t;
	uint64_t places;
	return take_word(&rest, "in ") && take_number(&rest, &places) && take_word(&rest, " place");
}

static frame_id frame_of(struct massif *m, const struct text *t)
{
	if (!m->level_count) /* the root: "(heap allocation functions) ..." */
		return 0;
	if (is_below_threshold(t))
		return import_named_frame(m->im, import_func(m->im, BELOW, strlen(BELOW)), 0, 0);
	return valgrind_frame(m->im, t->p, (size_t)(t->end - t->p));
}

/* The last line, when it has no end: that of the root ends with "etc.", others with " (FILE:LINE)" or the like. */
static bool is_cut_text(const struct massif *m, const struct text *t)
{
	size_t bytes = (size_t)(t->end - t->p);
	if (!input_line_is_cut(m->in))
		return false;
	if (!m->level_count)
		return bytes < 4 || memcmp(t->end - 4, "etc.", 4) != 0;
	const char *open = bytes && t->end[-1] == ')' ? memrchr(t->p, '(', bytes) : NULL;
	return !open || open == t->p || open[-1] != ' ';
}

static enum neap_err read_node(struct massif *m, struct text t, struct err *e)
{
	const char *expected = "a node of a call tree, 'nCHILDREN: BYTES PLACE'";
	uint64_t children, bytes;
	size_t depth = 0;
	for (; t.p < t.end && *t.p == ' '; t.p++)
		depth++;
	if (!take_word(&t, "n") || !take_number(&t, &children) || !take_word(&t, ": ") ||
	    !take_number(&t, &bytes) || depth != m->level_count)
		return input_line_is_cut(m->in) ? NEAP_OK : bad_line(m, expected, e);
	if (t.p < t.end && *t.p == ' ')
		t.p++;
	if (is_cut_text(m, &t))
		return NEAP_OK;
	if (depth) {
		struct level *parent = &m->levels[depth - 1];
		parent->left_count--;
		parent->left_bytes -= bytes < parent->left_bytes ? bytes : parent->left_bytes;
	}
	const struct level level = {frame_of(m, &t), children, bytes};
	if (!vec_reserve((void **)&m->levels, &m->level_cap, depth + 1, sizeof *m->levels))
		return err_nomem(e, "massif's call trees");
	m->levels[m->level_count++] = level;
	return close_levels(m, e);
}

/* ---- snapshots ---------------------------------------------------------------------------------- */

static enum neap_err finish_tree(struct massif *m, struct err *e)
{
	uint64_t sum = 0;
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; i < m->now_count; i++)
		sum += m->values[m->now[i]].bytes;
	if (m->heap_bytes > sum)
		code = add_value(m, m->no_tree, m->heap_bytes - sum, e);
	for (size_t i = 0; i < m->before_count; i++) {
		if (m->values[m->before[i]].snapshot != m->snapshot)
			set_live(m, m->before[i], 0);
	}
	for (size_t i = 0; i < m->now_count; i++)
		set_live(m, m->now[i], m->values[m->now[i]].bytes);
	account_id *list = m->before;
	size_t cap = m->before_cap;
	m->before = m->now;
	m->before_count = m->now_count;
	m->before_cap = m->now_cap;
	m->now = list;
	m->now_cap = cap;
	m->now_count = 0;
	return code;
}

static enum neap_err finish_snapshot(struct massif *m, struct err *e)
{
	enum neap_err code = finish_tree(m, e);
	set_live(m, m->admin, m->extra_bytes);
	set_live(m, m->stacks, m->stacks_bytes);
	if (m->is_peak)
		import_peak_here(m->im, m->time_ns);
	import_step(m->im, &(struct import_instant){.time_ns = m->time_ns});
	m->expected = EXPECT_SNAPSHOT;
	m->is_ready = false;
	return code;
}

static enum neap_err read_field(struct massif *m, struct text t, struct err *e)
{
	static const char *const names[] = {
		"time=", "mem_heap_B=", "mem_heap_extra_B=", "mem_stacks_B="};
	uint64_t *const fields[] = {&m->time_ns, &m->heap_bytes, &m->extra_bytes, &m->stacks_bytes};
	for (unsigned i = 0; i < 4; i++) {
		if (!take_word(&t, names[i]))
			continue;
		bool is_good =
			i ? take_number(&t, fields[i]) : take_time(&t, m->unit_ns, fields[i]);
		if (!is_good || t.p < t.end)
			return bad_line(m, "a number after '='", e);
		m->fields |= 1u << i;
		return NEAP_OK;
	}
	if (!take_word(&t, "heap_tree="))
		return bad_line(m, "time, mem_heap_B, mem_heap_extra_B, mem_stacks_B or heap_tree",
				e);
	if (m->fields != 15)
		return bad_line(m, "time and three sizes before heap_tree", e);
	m->is_peak = is_rest(&t, "peak");
	m->has_tree = m->is_peak || is_rest(&t, "detailed");
	if (!m->has_tree && !is_rest(&t, "empty"))
		return input_line_is_cut(m->in) ? NEAP_OK
						: bad_line(m, "empty, detailed or peak", e);
	m->expected = EXPECT_TREE;
	m->is_ready = !m->has_tree;
	return NEAP_OK;
}

static enum neap_err start_snapshot(struct massif *m, struct text t, struct err *e)
{
	uint64_t number;
	if (!take_word(&t, "snapshot=") || !take_number(&t, &number))
		return input_line_is_cut(m->in) ? NEAP_OK : bad_line(m, "'snapshot=NUMBER'", e);
	if (!m->has_unit)
		return bad_line(m, "'time_unit:' before the snapshots", e);
	m->snapshot++;
	m->fields = 0;
	m->expected = EXPECT_FIELDS;
	return NEAP_OK;
}

/* ---- the whole file ---------------------------------------------------------------------------------- */

/* Seconds are heaptrack_print's. */
static void read_unit(struct massif *m, const struct text *t)
{
	char other[32];
	m->unit_ns = is_rest(t, "ms") ? 1000000 : is_rest(t, "s") ? 1000000000 : 1;
	snprintf(other, sizeof other, "%.*s", (int)(t->end - t->p), t->p);
	if (is_rest(t, "i"))
		import_time_unit(m->im, "instructions");
	else if (is_rest(t, "B"))
		import_time_unit(m->im, "bytes allocated");
	else if (m->unit_ns == 1)
		import_time_unit(m->im, other);
}

static bool read_head(struct massif *m, struct text t)
{
	if (take_word(&t, "desc: ")) {
		if (!is_rest(&t, "(none)"))
			import_producer(m->im, "options %.*s", (int)(t.end - t.p), t.p);
		if (memmem(t.p, (size_t)(t.end - t.p), "--pages-as-heap=yes", 19))
			import_note(m->im, "pages were counted, not blocks: --pages-as-heap=yes");
		return true;
	}
	if (take_word(&t, "cmd: ")) {
		import_command(m->im, t.p, (size_t)(t.end - t.p));
		return true;
	}
	if (!take_word(&t, "time_unit: "))
		return false;
	m->has_unit = true;
	read_unit(m, &t);
	return true;
}

static enum neap_err read_line(struct massif *m, struct text t, struct err *e)
{
	enum neap_err code = m->is_ready ? finish_snapshot(m, e) : NEAP_OK;
	if (code || t.p == t.end || *t.p == '#')
		return code;
	switch (m->expected) {
	case EXPECT_FIELDS:
		return read_field(m, t, e);
	case EXPECT_TREE:
		return read_node(m, t, e);
	case EXPECT_SNAPSHOT:
		break;
	}
	return read_head(m, t) ? NEAP_OK : start_snapshot(m, t, e);
}

static enum neap_err read_all(struct massif *m, struct err *e)
{
	struct text t;
	size_t bytes;
	enum neap_err code = NEAP_OK;
	while (!code && !import_has_failed(m->im) && input_line(m->in, &t.p, &bytes)) {
		t.end = t.p + bytes;
		code = read_line(m, t, e);
		if (code == ERR_FORMAT && input_line_is_cut(m->in))
			code = NEAP_OK; /* half a line may look like anything; what is missing is told below */
	}
	bool ends_well = m->is_ready || !input_line_is_cut(m->in);
	if (!code && m->is_ready)
		code = finish_snapshot(m, e);
	if (code || (m->expected == EXPECT_SNAPSHOT && ends_well))
		return code;
	if (m->snapshot == (m->expected == EXPECT_SNAPSHOT ? 0 : 1))
		return err_corrupt(e, "'%s' is cut in line %" PRIu64 ", in massif's first snapshot",
				   input_name(m->in), input_line_number(m->in));
	import_partial(m->im, "line %" PRIu64 " is in the middle of a snapshot, which is left out",
		       input_line_number(m->in));
	return NEAP_OK;
}

bool massif_detect(const uint8_t *head, size_t bytes)
{
	const char *unit = bytes > 6 ? memmem(head, bytes, "\ntime_unit: ", 12) : NULL;
	return unit && !memcmp(head, "desc: ", 6);
}

enum neap_err massif_read(struct input *in, struct import *im, struct err *e)
{
	struct massif m = {.in = in, .im = im, .unit_ns = 1};
	m.no_tree = account_named(&m, "[no call tree in this snapshot]");
	m.admin = account_named(&m, "[heap administration]");
	m.stacks = account_named(&m, "[stacks]");
	enum neap_err code = read_all(&m, e);
	if (!code && !m.snapshot && !input_has_failed(in))
		code = err_corrupt(e, "'%s' has no snapshot", input_name(in));
	import_end(im, END_UNKNOWN, 0);
	mem_free(m.levels);
	mem_free(m.values);
	mem_free(m.before);
	mem_free(m.now);
	return code;
}
