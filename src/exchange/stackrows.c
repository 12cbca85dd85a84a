/*
 * Stacks of addresses with numbers, kept until the mappings are known.
 *
 * The mappings of a file belong together: its bias is that of the lowest, because later
 * segments may lie in the file at other offsets than in memory.
 */
#include "config.h"

#include "src/exchange/stackrows.h"

#include <stdlib.h>
#include <string.h>

#define LOW_VA     UINT64_C(0x40000000) /* below: programs linked to a fixed address */
#define LINES_MOST 64u                  /* functions inlined into each other at one address */

uint64_t mapping_bias(uint64_t start_va, uint64_t offset_bytes)
{
	return start_va < LOW_VA || offset_bytes > start_va ? 0 : start_va - offset_bytes;
}

void stackrows_release(struct stackrows *s)
{
	map_release(&s->addr_idx);
	mem_free(s->addrs);
	mem_free(s->frames);
	mem_free(s->stacks);
	mem_free(s->rows);
	mem_free(s->names);
	mem_free(s->maps);
	arena_release(&s->arena);
	memset(s, 0, sizeof *s);
}

static bool reserve(struct stackrows *s, void *data, size_t *cap, size_t need, size_t elem_bytes)
{
	if (vec_reserve(data, cap, need, elem_bytes))
		return true;
	s->has_failed = true;
	return false;
}

static bool intern(struct stackrows *s, uint64_t addr, uint32_t *out)
{
	*out = map_find(&s->addr_idx, addr);
	if (*out != MAP_ABSENT)
		return true;
	if (!reserve(s, (void **)&s->addrs, &s->addr_cap, s->addr_count + 1, sizeof s->addrs[0]))
		return false;
	*out = (uint32_t)s->addr_count;
	if (!map_put(&s->addr_idx, addr, *out)) {
		s->has_failed = true;
		return false;
	}
	s->addrs[s->addr_count++] = addr;
	return true;
}

static bool add_frame(struct stackrows *s, uint64_t addr)
{
	uint32_t idx;
	if (!intern(s, addr, &idx) || !reserve(s, (void **)&s->frames, &s->frame_cap,
					       s->frame_count + 1, sizeof s->frames[0]))
		return false;
	s->frames[s->frame_count++] = idx;
	return true;
}

bool stackrows_stack(struct stackrows *s, struct slice addrs)
{
	size_t first = s->frame_count;
	for (slice_blanks(&addrs); slice_left(&addrs) > 0; slice_blanks(&addrs)) {
		struct slice word = slice_word(&addrs);
		uint64_t addr;
		if (!slice_hex(&word, &addr) || slice_left(&word) > 0) {
			s->frame_count = first;
			return false;
		}
		if (!add_frame(s, addr))
			return true;
	}
	if (reserve(s, (void **)&s->stacks, &s->stack_cap, s->stack_count + 1, sizeof s->stacks[0]))
		s->stacks[s->stack_count++] = s->frame_count;
	return true;
}

void stackrows_row(struct stackrows *s, thread_id thread, const struct heap_row *values)
{
	if (reserve(s, (void **)&s->rows, &s->row_cap, s->row_count + 1, sizeof s->rows[0]))
		s->rows[s->row_count++] =
			(struct stack_row){(uint32_t)s->stack_count, thread, *values};
}

void stackrows_name(struct stackrows *s, uint64_t addr, const struct profile_line *line)
{
	uint32_t idx;
	if (intern(s, addr, &idx) &&
	    reserve(s, (void **)&s->names, &s->name_cap, s->name_count + 1, sizeof s->names[0]))
		s->names[s->name_count++] =
			(struct stack_name){idx, (uint32_t)s->stack_count, *line};
}

static bool is_named(const struct stackrows *s, uint32_t addr, size_t first_name)
{
	for (size_t i = first_name; i < s->name_count; i++)
		if (s->names[i].addr == addr)
			return true;
	return false;
}

void stackrows_keep_named(struct stackrows *s)
{
	size_t first_name = s->name_count, n = s->stack_count;
	while (first_name > 0 && s->names[first_name - 1].stack == n)
		first_name--;
	if (n == 0 || first_name == s->name_count)
		return;
	size_t kept = n > 1 ? s->stacks[n - 2] : 0;
	for (size_t i = kept; i < s->frame_count; i++)
		if (is_named(s, s->frames[i], first_name))
			s->frames[kept++] = s->frames[i];
	s->frame_count = s->stacks[n - 1] = kept;
}

bool stackrows_map(struct stackrows *s, struct slice line)
{
	struct map_line m;
	if (!slice_map_line(line, &m))
		return false;
	if (slice_left(&m.path) == 0 || *m.path.p == '[')
		return true; /* no file: stacks and anonymous memory */
	char *path = arena_strndup(&s->arena, m.path.p, slice_left(&m.path));
	if (!path) {
		s->has_failed = true;
	} else if (reserve(s, (void **)&s->maps, &s->map_cap, s->map_count + 1,
			   sizeof s->maps[0])) {
		s->maps[s->map_count].start_va = m.start_va;
		s->maps[s->map_count].end_va = m.end_va;
		s->maps[s->map_count].offset_bytes = m.offset_bytes;
		s->maps[s->map_count].path = path;
		s->maps[s->map_count++].is_code = m.is_code;
	}
	return true;
}

/* ---- booking ------------------------------------------------------------------------ */

struct booking {
	struct stackrows *s;
	struct import *im;
	const char *allocator;
	struct span { /* of one module: [first, last] of its mappings */
		uint64_t start_va, end_va, bias;
		mod_id module;
		bool is_allocator;
	} * spans; /* in ascending order */
	size_t span_count;
	frame_id *frames;     /* of each distinct address; 0: not made yet */
	uint32_t *first_name; /* of each distinct address, index + 1 into names */
	node_id *nodes;       /* of each stack; 0: not made yet */
	frame_id *stack;      /* room for one */
};

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	return (x->start_va > y->start_va) - (x->start_va < y->start_va);
}

static bool is_called(const char *path, const char *begins)
{
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	return begins && !strncmp(name, begins, strlen(begins));
}

/* Neighbouring mappings of the same file are one module. */
static bool make_spans(struct booking *b)
{
	struct stackrows *s = b->s;
	b->spans = mem_zarray(s->map_count + 1, sizeof b->spans[0]);
	if (!b->spans)
		return false;
	for (size_t i = 0; i < s->map_count; i++) {
		struct profile_module m = {.path = s->maps[i].path,
					   .start_va = s->maps[i].start_va,
					   .end_va = s->maps[i].end_va};
		m.bias = mapping_bias(m.start_va, s->maps[i].offset_bytes);
		bool has_code = s->maps[i].is_code;
		while (i + 1 < s->map_count && !strcmp(s->maps[i + 1].path, m.path) &&
		       s->maps[i + 1].start_va >= m.end_va) {
			m.end_va = s->maps[++i].end_va;
			has_code = has_code || s->maps[i].is_code;
		}
		if (!has_code)
			continue;
		b->spans[b->span_count++] =
			(struct span){m.start_va, m.end_va, m.bias, import_module_mapped(b->im, &m),
				      is_called(m.path, b->allocator)};
	}
	qsort(b->spans, b->span_count, sizeof b->spans[0], by_start);
	return true;
}

/* The module that a return address is in: the call, just before it, is. */
static const struct span *span_of(const struct booking *b, uint64_t addr)
{
	size_t low = 0, high = b->span_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (b->spans[middle].start_va < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && addr <= b->spans[low - 1].end_va ? &b->spans[low - 1] : NULL;
}

/* Where the names of each address begin; only the first run counts. */
static bool index_names(struct booking *b)
{
	struct stackrows *s = b->s;
	b->first_name = mem_zarray(s->addr_count + 1, sizeof b->first_name[0]);
	if (!b->first_name)
		return false;
	for (size_t i = 0; i < s->name_count; i++)
		if (b->first_name[s->names[i].addr] == 0)
			b->first_name[s->names[i].addr] = (uint32_t)i + 1;
	return true;
}

static frame_id make_frame(struct booking *b, uint32_t idx)
{
	struct profile_line lines[LINES_MOST];
	struct stackrows *s = b->s;
	const struct span *span = span_of(b, s->addrs[idx]);
	struct import_frame f = {.pc = s->addrs[idx], .lines = lines};
	if (span) {
		f.module = span->module;
		f.pc -= span->bias;
	}
	size_t first = b->first_name[idx];
	for (size_t i = first; first > 0 && i <= s->name_count && f.line_count < LINES_MOST; i++) {
		const struct stack_name *n = &s->names[i - 1];
		if (n->addr != idx || n->stack != s->names[first - 1].stack)
			break;
		lines[f.line_count++] = n->line;
	}
	return import_frame(b->im, &f);
}

/* How many frames of a stack belong to the allocator, from the innermost on; never all. */
static size_t allocator_frames(const struct booking *b, size_t first, size_t end)
{
	size_t i = first;
	for (; b->allocator && i + 1 < end; i++) {
		const struct span *span = span_of(b, b->s->addrs[b->s->frames[i]]);
		if (!span || !span->is_allocator)
			break;
	}
	return i - first;
}

static bool make_frames(struct booking *b)
{
	struct stackrows *s = b->s;
	b->frames = mem_zarray(s->addr_count + 1, sizeof b->frames[0]);
	b->nodes = mem_zarray(s->stack_count + 1, sizeof b->nodes[0]);
	b->stack = mem_zarray(s->frame_count + 1, sizeof b->stack[0]);
	return b->frames && b->nodes && b->stack;
}

/* Frames and nodes are made for what something is booked to. */
static node_id node_of(struct booking *b, uint32_t stack)
{
	struct stackrows *s = b->s;
	if (stack == 0)
		return PROFILE_NODE_ROOT;
	if (b->nodes[stack - 1])
		return b->nodes[stack - 1];
	size_t first = stack > 1 ? s->stacks[stack - 2] : 0, end = s->stacks[stack - 1], count = 0;
	for (first += allocator_frames(b, first, end); first < end; first++) {
		uint32_t addr = s->frames[first];
		if (!b->frames[addr])
			b->frames[addr] = make_frame(b, addr);
		b->stack[count++] = b->frames[addr];
	}
	return b->nodes[stack - 1] = import_stack(b->im, b->stack, count, true);
}

/* Returns whether more was live than allocated. */
static bool book_row(struct booking *b, const struct stack_row *r, bool has_allocated)
{
	struct heap_row v = r->values;
	if (!has_allocated) {
		v.born_blocks = v.live_blocks;
		v.born_bytes = v.live_bytes;
	}
	bool is_odd = v.live_blocks > v.born_blocks || v.live_bytes > v.born_bytes;
	if (v.live_blocks > v.born_blocks)
		v.born_blocks = v.live_blocks;
	if (v.live_bytes > v.born_bytes)
		v.born_bytes = v.live_bytes;
	if (v.born_blocks == 0 && v.born_bytes == 0)
		return false;
	struct import_account where = {
		.node = node_of(b, r->stack),
		.size_bytes = PROFILE_SIZE_MIXED,
		.thread = r->thread,
	};
	account_id a = import_account(b->im, &where);
	import_born(b->im, a, v.born_blocks, v.born_bytes);
	if (v.born_blocks > v.live_blocks || v.born_bytes > v.live_bytes)
		import_died(b->im, a, v.born_blocks - v.live_blocks, v.born_bytes - v.live_bytes,
			    0);
	return is_odd;
}

enum neap_err stackrows_book(struct stackrows *s, struct import *im, const char *allocator,
			     bool has_allocated, struct err *e)
{
	struct booking b = {.s = s, .im = im, .allocator = allocator};
	size_t odd_count = 0;
	bool is_done = !s->has_failed && make_spans(&b) && index_names(&b) && make_frames(&b);
	for (size_t i = 0; is_done && i < s->row_count; i++)
		odd_count += book_row(&b, &s->rows[i], has_allocated);
	if (odd_count > 0)
		import_note(
			im,
			"at %zu stacks more is estimated to be live than to have been allocated; "
			"all of that counts as allocated",
			odd_count);
	mem_free(b.spans);
	mem_free(b.frames);
	mem_free(b.first_name);
	mem_free(b.nodes);
	mem_free(b.stack);
	return is_done ? NEAP_OK : err_nomem(e, "the stacks of a heap profile");
}
