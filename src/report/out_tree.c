/*
 * Trees: a table whose names hang on guides.
 *
 *   total    share  func
 *    40 M  100.0 %  main
 *    36 M   90.0 %  |- serve
 *    36 M   90.0 %  |  answer             the only callee of serve: no step to the right
 *    20 M   50.0 %  |  |- render
 *    16 M   40.0 %  |  `- log
 *     4 M   10.0 %  `- report
 *
 * A row that is alone below its parent stays in the parent's column, without a guide of its
 * own, so that only forks cost width.  Several roots are forks of nothing.
 */
#include "config.h"

#include "src/report/out_priv.h"

#include "src/base/mem.h"

#include <string.h>

#define GUIDE_COLS       3u
#define GUIDE_MAX_LEVELS 24u

struct tree {
	struct out *x;
	uint32_t *level; /* forks above, up to the row */
	uint32_t
		*fork; /* the row itself if it is one, else the next fork above; UINT32_MAX: none */
	uint8_t *flags;
	uint32_t level_most; /* guides drawn */
};
enum {
	IS_FORK = 1,  /* has a guide of its own */
	HAS_MORE = 2, /* a sibling comes below */
};

static uint32_t parent_of(const struct tree *t, size_t row)
{
	const struct result_row own = result_row(t->x->r, row), *r = &own;
	return r->depth && r->parent < row ? r->parent : UINT32_MAX;
}

/* Later siblings are seen first when the rows are walked from the end. */
static void find_forks(struct tree *t)
{
	size_t count = t->x->r->row_count;
	uint32_t root_count = 0;
	for (size_t row = count; row-- > 0;) {
		uint32_t parent = parent_of(t, row);
		uint32_t *children = parent == UINT32_MAX ? &root_count : &t->level[parent];
		if ((*children)++)
			t->flags[row] |= HAS_MORE;
	}
	for (size_t row = 0; row < count; row++) {
		uint32_t parent = parent_of(t, row);
		if ((parent == UINT32_MAX ? root_count : t->level[parent]) > 1)
			t->flags[row] |= IS_FORK;
	}
	for (size_t row = 0; row < count; row++) {
		uint32_t parent = parent_of(t, row);
		uint32_t above = parent == UINT32_MAX ? 0 : t->level[parent];
		bool is_fork = t->flags[row] & IS_FORK;
		t->level[row] = above + is_fork;
		t->fork[row] = is_fork                ? (uint32_t)row
			       : parent == UINT32_MAX ? UINT32_MAX
						      : t->fork[parent];
	}
}

static void put_guide(const struct tree *t, struct buf *out, bool is_own, bool has_more)
{
	static const char *const glyphs[2][2][2] = {
		{{"   ", "   "}, {"|  ", "\u2502  "}},
		{{"`- ", "\u2514\u2500 "}, {"|- ", "\u251c\u2500 "}},
	};
	buf_puts(out, glyphs[is_own][has_more][t->x->text.is_utf8]);
}

static void put_guides(void *arg, size_t row, struct buf *out)
{
	const struct tree *t = arg;
	uint32_t forks[GUIDE_MAX_LEVELS];
	size_t count = 0;
	uint32_t at = t->fork[row];
	while (at != UINT32_MAX && count < t->level_most) {
		forks[count++] = at;
		uint32_t parent = parent_of(t, at);
		at = parent == UINT32_MAX ? UINT32_MAX : t->fork[parent];
	}
	if (t->level[row] > count)
		buf_puts(out, text_glyph(&t->x->text, GLYPH_ELLIPSIS));
	while (count-- > 0) {
		bool is_own = forks[count] == row;
		put_guide(t, out, is_own, t->flags[forks[count]] & HAS_MORE);
	}
}

static bool tree_init(struct tree *t, struct out *x)
{
	*t = (struct tree){
		.x = x,
		.level = mem_zarray(x->r->row_count, sizeof *t->level),
		.fork = mem_zarray(x->r->row_count, sizeof *t->fork),
		.flags = mem_zarray(x->r->row_count, sizeof *t->flags),
		.level_most = (uint32_t)(x->text.width_cols / 3 / GUIDE_COLS),
	};
	if (t->level_most > GUIDE_MAX_LEVELS)
		t->level_most = GUIDE_MAX_LEVELS;
	if (t->level && t->fork && t->flags)
		find_forks(t);
	else
		x->has_failed = true;
	return !x->has_failed;
}

static void tree_release(struct tree *t)
{
	mem_free(t->level);
	mem_free(t->fork);
	mem_free(t->flags);
}

void out_tree(struct out *x)
{
	struct tree tree;
	struct table t;
	if (tree_init(&tree, x) && table_init(&t, x)) {
		t.prefix = put_guides;
		t.prefix_arg = &tree;
		table_measure(&t);
		table_head(&t);
		for (size_t row = 0; row < x->r->row_count; row++)
			table_row(&t, row);
		table_numbers(&t, STYLE_STRONG, x->r->totals);
		text_put(&x->text, STYLE_STRONG, "total");
		text_newline(&x->text);
		table_release(&t);
	}
	tree_release(&tree);
}

/* ---- one function with its callers and callees ------------------------------------------- */

/* Rows without a role are the rest that was cut. */
static bool has_role(struct out *x, size_t row, size_t role_column, const char *role)
{
	const struct result_cell *cell = out_cell(x, row, role_column);
	return cell->is_unknown || !cell->text ? !*role : !strcmp(cell->text, role);
}

static void write_role(struct table *t, size_t role_column, const char *role, const char *title)
{
	struct out *x = t->x;
	bool is_first = true;
	for (size_t row = 0; row < x->r->row_count; row++) {
		if (!has_role(x, row, role_column, role))
			continue;
		if (is_first && *title) {
			text_put(&x->text, STYLE_DIM, title);
			text_newline(&x->text);
		}
		is_first = false;
		table_row(t, row);
	}
}

struct peek {
	struct out *x;
	size_t role_column;
};

static void put_indent(void *arg, size_t row, struct buf *out)
{
	const struct peek *peek = arg;
	if (!has_role(peek->x, row, peek->role_column, "frame"))
		buf_puts(out, "  ");
}

void out_peek(struct out *x)
{
	struct table t;
	size_t role = out_find_column(x, "role");
	if (role == SIZE_MAX) {
		out_table(x);
		return;
	}
	struct peek peek = {.x = x, .role_column = role};
	out_hide_column(x, role); /* where a row stands says it */
	if (!table_init(&t, x))
		return;
	t.prefix = put_indent;
	t.prefix_arg = &peek;
	table_measure(&t);
	table_head(&t);
	write_role(&t, role, "caller", "called by");
	write_role(&t, role, "frame", "the function");
	write_role(&t, role, "callee", "calls");
	write_role(&t, role, "", "");
	table_numbers(&t, STYLE_STRONG, x->r->totals);
	text_put(&x->text, STYLE_STRONG, "total");
	text_newline(&x->text);
	table_release(&t);
}
