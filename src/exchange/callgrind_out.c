/*
 * The Callgrind profile format, for kcachegrind and callgrind_annotate.
 *
 *   fn=(1) main          what the function itself holds, by line
 *   12 400 1
 *   cfn=(2) parse        what is below its calls, by line of the call
 *   calls=7 0            so many blocks came through it
 *   14 900 7
 *
 * A function that is on a stack more than once is f, f'2, f'3, ..., as callgrind itself names
 * levels of recursion: so what is inclusive adds up.
 * Format: https://valgrind.org/docs/manual/cl-format.html
 */
#include "config.h"

#include "src/exchange/export_priv.h"

#include "src/base/map.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_CALLEE UINT32_MAX

/* What a node adds to its function, or to the call of its function by its parent's. */
struct cost {
	uint32_t function, callee, line, node;
};
struct function {
	uint32_t symbol; /* of one name, file and module */
	uint32_t level;  /* how often it is on the stack further out */
	uint32_t frame;  /* one of its */
};

struct callgrind {
	const struct export_tree *t;
	struct buf *out;
	struct strtab symbols, files, objects;
	uint32_t *symbol_of; /* by frame */
	uint32_t *of_node;   /* by node: its function */
	struct function *functions;
	size_t function_count, function_cap;
	struct map levels;    /* symbol and level -> function */
	uint8_t *is_named[3]; /* functions, files, objects whose name was written */
	struct cost *costs;
	size_t cost_count;
	size_t blocks_value; /* SIZE_MAX: none */
	int64_t *sum;        /* [value_count] */
};

static const char *file_of(const struct export_frame *f)
{
	return f->file ? f->file : "???";
}

static const char *object_of(const struct export_frame *f)
{
	return f->module_path ? f->module_path : "???";
}

/* ---- functions ---------------------------------------------------------------------- */

static bool find_symbols(struct callgrind *c)
{
	struct buf key = {0};
	bool is_good = true;
	for (size_t i = 0; is_good && i < c->t->frame_count; i++) {
		const struct export_frame *f = &c->t->frames[i];
		buf_clear(&key);
		buf_printf(&key, "%s\n%s\n%s", f->function, file_of(f), object_of(f));
		c->symbol_of[i] = key.has_failed
					  ? UINT32_MAX
					  : strtab_add(&c->symbols, key.data, key.count_bytes);
		is_good = c->symbol_of[i] != UINT32_MAX;
	}
	buf_release(&key);
	return is_good;
}

static uint32_t function_at(struct callgrind *c, uint32_t symbol, uint32_t level, uint32_t frame)
{
	uint64_t key = (uint64_t)symbol << 32 | level;
	uint32_t id = map_find(&c->levels, key);
	if (id != MAP_ABSENT)
		return id;
	if (!vec_reserve((void **)&c->functions, &c->function_cap, c->function_count + 1,
			 sizeof *c->functions))
		return MAP_ABSENT;
	id = (uint32_t)c->function_count++;
	c->functions[id] = (struct function){symbol, level, frame};
	return map_put(&c->levels, key, id) ? id : MAP_ABSENT;
}

/* In preorder the frames around a node are the last ones of smaller depth. */
static bool find_functions(struct callgrind *c)
{
	const struct export_node *nodes = c->t->nodes;
	uint32_t *on_stack = mem_zarray(c->symbols.count, sizeof *on_stack);
	bool is_good = on_stack || !c->symbols.count;
	uint32_t open = EXPORT_NONE; /* the last node */
	for (uint32_t i = 0; is_good && i < c->t->node_count; i++) {
		while (open != nodes[i].parent) {
			on_stack[c->symbol_of[nodes[open].frame]]--;
			open = nodes[open].parent;
		}
		uint32_t symbol = c->symbol_of[nodes[i].frame];
		c->of_node[i] = function_at(c, symbol, on_stack[symbol]++, nodes[i].frame);
		is_good = c->of_node[i] != MAP_ABSENT;
		open = i;
	}
	mem_free(on_stack);
	return is_good;
}

/* ---- costs ---------------------------------------------------------------------------- */

static int compare_costs(const void *a_cost, const void *b_cost)
{
	const struct cost *a = a_cost, *b = b_cost;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	/* Its own costs come first. */
	if (a->callee != b->callee)
		return a->callee + 1 < b->callee + 1 ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static bool has_own(const struct export_tree *t, uint32_t node)
{
	for (size_t v = 0; v < t->value_count; v++) {
		if (export_self(t, node, v))
			return true;
	}
	return false;
}

static void find_costs(struct callgrind *c)
{
	const struct export_tree *t = c->t;
	for (uint32_t i = 0; i < t->node_count; i++) {
		uint32_t parent = t->nodes[i].parent;
		if (has_own(t, i))
			c->costs[c->cost_count++] = (struct cost){
				c->of_node[i], NO_CALLEE, t->frames[t->nodes[i].frame].line, i};
		if (parent != EXPORT_NONE)
			c->costs[c->cost_count++] =
				(struct cost){c->of_node[parent], c->of_node[i],
					      t->frames[t->nodes[parent].frame].line, i};
	}
	if (c->cost_count)
		qsort(c->costs, c->cost_count, sizeof *c->costs, compare_costs);
}

/* ---- writing ---------------------------------------------------------------------------- */

enum name_kind {
	NAME_FUNCTION,
	NAME_FILE,
	NAME_OBJECT
};

/* A name is written once, after its number. */
static void put_name(struct callgrind *c, enum name_kind kind, const char *key, uint32_t id,
		     const char *name, uint32_t level)
{
	buf_printf(c->out, "%s=(%" PRIu32 ")", key, id + 1);
	if (!c->is_named[kind][id]) {
		buf_putc(c->out, ' ');
		export_clean(c->out, *name ? name : "[unknown]", "", ' ');
		if (level)
			buf_printf(c->out, "'%" PRIu32, level + 1);
		c->is_named[kind][id] = 1;
	}
	buf_putc(c->out, '\n');
}

static void put_function(struct callgrind *c, uint32_t id, bool is_callee)
{
	const struct function *fn = &c->functions[id];
	const struct export_frame *f = &c->t->frames[fn->frame];
	const char *object = object_of(f), *file = file_of(f);
	uint32_t object_id = strtab_find(&c->objects, object, strlen(object));
	uint32_t file_id = strtab_find(&c->files, file, strlen(file));
	put_name(c, NAME_OBJECT, is_callee ? "cob" : "ob", object_id, object, 0);
	put_name(c, NAME_FILE, is_callee ? "cfi" : "fl", file_id, file, 0);
	put_name(c, NAME_FUNCTION, is_callee ? "cfn" : "fn", id, f->function, fn->level);
}

static void put_line(struct callgrind *c, uint32_t line)
{
	buf_printf(c->out, "%" PRIu32, line);
	for (size_t v = 0; v < c->t->value_count; v++)
		buf_printf(c->out, " %" PRId64, c->sum[v]);
	buf_putc(c->out, '\n');
}

/* All costs of one line, added up; returns where the next begin. */
static size_t add_up(struct callgrind *c, size_t i)
{
	const struct export_tree *t = c->t;
	const struct cost *first = &c->costs[i];
	memset(c->sum, 0, t->value_count * sizeof *c->sum);
	for (; i < c->cost_count; i++) {
		const struct cost *at = &c->costs[i];
		if (at->function != first->function || at->callee != first->callee ||
		    at->line != first->line)
			break;
		for (size_t v = 0; v < t->value_count; v++)
			c->sum[v] += at->callee == NO_CALLEE ? export_self(t, at->node, v)
							     : export_total(t, at->node, v);
	}
	return i;
}

static void put_costs(struct callgrind *c)
{
	uint32_t function = NO_CALLEE;
	for (size_t i = 0; i < c->cost_count;) {
		const struct cost *at = &c->costs[i];
		if (at->function != function) {
			function = at->function;
			buf_putc(c->out, '\n');
			put_function(c, function, false);
		}
		i = add_up(c, i);
		if (at->callee != NO_CALLEE) {
			bool has_blocks =
				c->blocks_value != SIZE_MAX && c->sum[c->blocks_value] > 0;
			put_function(c, at->callee, true);
			buf_printf(c->out, "calls=%" PRId64 " 0\n",
				   has_blocks ? c->sum[c->blocks_value] : 1);
		}
		put_line(c, at->line);
	}
}

static void put_head(struct callgrind *c, const struct export_about *about)
{
	const struct export_tree *t = c->t;
	struct buf *out = c->out;
	buf_puts(out, "# callgrind format\nversion: 1\ncreator: ");
	export_clean(out, about->tool, "", ' ');
	buf_puts(out, "\ncmd: ");
	export_clean(out, about->title, "", ' ');
	buf_puts(out, "\npart: 1\ndesc: Query: ");
	export_clean(out, about->query, "", ' ');
	buf_puts(out, "\ndesc: Population: ");
	export_clean(out, about->population, "", ' ');
	buf_puts(out, "\n\npositions: line\nevents:");
	for (size_t v = 0; v < t->value_count; v++)
		buf_printf(out, " %s", t->values[v].name);
	buf_puts(out, "\nsummary:");
	for (size_t v = 0; v < t->value_count; v++)
		buf_printf(out, " %" PRId64, t->whole[v]);
	buf_puts(out, "\n");
}

static bool find_names(struct callgrind *c)
{
	for (size_t i = 0; i < c->t->frame_count; i++) {
		const char *file = file_of(&c->t->frames[i]), *object = object_of(&c->t->frames[i]);
		if (strtab_add(&c->files, file, strlen(file)) == UINT32_MAX ||
		    strtab_add(&c->objects, object, strlen(object)) == UINT32_MAX)
			return false;
	}
	c->is_named[NAME_FUNCTION] = mem_zarray(c->function_count + 1, 1);
	c->is_named[NAME_FILE] = mem_zarray(c->files.count + 1, 1);
	c->is_named[NAME_OBJECT] = mem_zarray(c->objects.count + 1, 1);
	return c->is_named[0] && c->is_named[1] && c->is_named[2];
}

static bool prepare(struct callgrind *c)
{
	const struct export_tree *t = c->t;
	c->symbol_of = mem_array(t->frame_count + 1, sizeof *c->symbol_of);
	c->of_node = mem_array(t->node_count + 1, sizeof *c->of_node);
	c->costs = mem_array(2 * t->node_count + 1, sizeof *c->costs);
	c->sum = mem_zarray(t->value_count, sizeof *c->sum);
	if (!c->symbol_of || !c->of_node || !c->costs || !c->sum)
		return false;
	if (!find_symbols(c) || !find_functions(c) || !find_names(c))
		return false;
	find_costs(c);
	return true;
}

enum neap_err export_callgrind(const struct export_about *about, const struct export_tree *t,
			       struct buf *out, struct err *e)
{
	struct callgrind c = {.t = t, .out = out, .blocks_value = SIZE_MAX};
	for (size_t v = 0; v < t->value_count; v++) {
		if (t->values[v].unit == EXPORT_BLOCKS)
			c.blocks_value = v;
	}
	bool is_good = prepare(&c);
	if (is_good) {
		put_head(&c, about);
		put_costs(&c);
	}
	strtab_release(&c.symbols);
	strtab_release(&c.files);
	strtab_release(&c.objects);
	map_release(&c.levels);
	mem_free(c.symbol_of);
	mem_free(c.of_node);
	mem_free(c.functions);
	mem_free(c.costs);
	mem_free(c.sum);
	for (size_t k = 0; k < 3; k++)
		mem_free(c.is_named[k]);
	return is_good && !out->has_failed ? NEAP_OK : err_nomem(e, "the callgrind file");
}
