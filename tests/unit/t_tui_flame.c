/* Cells of an icicle: they add up, they do not overlap, and nothing is opened that is not shown. */
#include "config.h"

#include "tui/flame_layout.h"

#include "tests/golden/profiles.h"
#include "tui/model.h"
#include "tui/rows.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct model m;
static struct flame_layout l;
static char path[64];
static const char *paths[1];

static void begin_with(const char *name)
{
	struct err e = {0};
	size_t i = 0;
	while (strcmp(golden_profiles[i].name, name) != 0)
		i++;
	snprintf(path, sizeof path, "/tmp/neap-flame-%d.neap", (int)getpid());
	build_close(golden_profiles[i].make(path));
	paths[0] = path;
	cr_assert_eq(model_open(&m, paths, 1, NULL, &e), NEAP_OK, "%s", e.text);
	unlink(path);
}

static void finish(void)
{
	flame_release(&l);
	model_release(&m);
}

static void look_at(const char *query, const char *view)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_opened *q;
	const struct compose c = {.view = view};
	cr_assert_eq(model_set_text(&m, query, &error), NEAP_OK, "%s", error.text);
	cr_assert_eq(model_result(&m, &c, &q, &error), NEAP_OK, "%s", error.text);
	flame_columns(&l, q);
}

static void build(unsigned cols, unsigned levels)
{
	struct query_error error = {.code = NEAP_OK};
	const struct flame_cell root = flame_root(&l);
	cr_assert_eq(flame_build(&l, &root, cols, levels, &error), NEAP_OK, "%s", error.text);
}

/* Children are inside of their parent, side by side, and hold no more than it does. */
static void check_cell(const struct flame_cell *c)
{
	int64_t weight = 0;
	unsigned at = c->col;
	for (uint32_t i = 0; i < c->child_count; i++) {
		const struct flame_cell *child = &l.cells[c->first + i];
		cr_assert_eq(child->level, c->level + 1);
		cr_assert_eq(child->col, at, "a gap or an overlap in level %u", child->level);
		cr_assert_gt(child->cols, 0);
		at += child->cols;
		weight += child->weight;
	}
	cr_assert_leq(at, c->col + c->cols, "children of level %u are wider than it", c->level);
	cr_assert_leq(weight, c->weight);
}

/* All rows below a cell that was opened are in some cell. */
static void check_sum(const struct flame_cell *c)
{
	struct query_error error = {.code = NEAP_OK};
	uint32_t first, count;
	int64_t rows = 0, cells = 0, blocks = 0;
	cr_assert_eq(query_opened_children(l.q, c->row, &first, &count, &error), NEAP_OK);
	const struct query_result *r = query_opened_result(l.q);
	for (uint32_t i = first; i < first + count; i++)
		rows += r->cells[i * r->column_count + l.total].value;
	for (uint32_t i = 0; i < c->child_count; i++) {
		cells += l.cells[c->first + i].bytes;
		blocks += l.cells[c->first + i].blocks;
	}
	cr_assert_eq(cells, rows, "rows of %ld bytes are cells of %ld", (long)rows, (long)cells);
	cr_assert_leq(blocks, c->blocks);
}

static void check_all(unsigned levels)
{
	cr_assert_gt(l.cell_count, 0);
	for (size_t i = 0; i < l.cell_count; i++) {
		const struct flame_cell *c = &l.cells[i];
		cr_assert_lt(c->level, levels);
		check_cell(c);
		if (c->child_count)
			check_sum(c);
		cr_assert(i == 0 || c->level >= l.cells[i - 1].level);
	}
}

Test(tui_flame, cells_add_up_at_every_size)
{
	static const char *const names[] = {"json", "hostile", "forked", "nonames"};
	static const char *const queries[] = {"peak", "allocated | min 1%", "live | min 20%"};
	for (size_t n = 0; n < 4; n++) {
		begin_with(names[n]);
		for (size_t i = 0; i < 6; i++) {
			look_at(queries[i % 3], i < 3 ? "tree" : "callers");
			for (unsigned cols = 1; flame_root(&l).weight && cols < 200; cols += 7) {
				build(cols, 20);
				check_all(20);
			}
		}
		finish();
	}
}

Test(tui_flame, what_is_too_small_is_one_cell_with_its_count)
{
	begin_with("hostile");
	look_at("peak", "tree");
	build(8, 3);
	const struct flame_cell root = l.cells[0], last = l.cells[root.child_count];
	cr_assert_gt(last.rest_count, 1);
	cr_assert_eq(last.cut_count, 0);
	/* Where there is room, each is a cell of its own. */
	build(300, 3);
	cr_assert_eq(l.cells[0].child_count, root.child_count - 1 + last.rest_count);
	look_at("peak | min 20%", "tree");
	build(300, 3);
	const struct flame_cell *cut = &l.cells[l.cells[0].child_count];
	cr_assert_gt(cut->cut_count, 1);
	cr_assert_eq(cut->cut_count, cut->rest_count);
	finish();
}

Test(tui_flame, nothing_is_opened_that_is_not_on_the_screen)
{
	begin_with("json");
	look_at("peak", "tree");
	build(80, 3);
	size_t rows = query_opened_result(l.q)->row_count;
	build(80, 3);
	cr_assert_eq(query_opened_result(l.q)->row_count, rows);
	cr_assert_leq(rows, 4);
	build(80, 12);
	cr_assert_gt(query_opened_result(l.q)->row_count, rows);
	finish();
}

Test(tui_flame, a_cell_is_found_again_in_another_result)
{
	struct query_error error = {.code = NEAP_OK};
	struct flame_cell found, root;
	begin_with("json");
	look_at("peak", "tree");
	build(80, 3);
	const struct flame_cell wanted = l.cells[1];
	look_at("live", "tree");
	root = flame_root(&l);
	cr_assert(flame_find(&l, &root, wanted.step, wanted.below, &found, &error));
	cr_assert(row_matches(query_opened_result(l.q), found.row, "_start"));
	cr_assert_not(flame_find(&l, &root, wanted.step + 1, wanted.below, &found, &error));
	finish();
}
