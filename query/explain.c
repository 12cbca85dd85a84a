/*
 * --explain: the query as it was understood, then what each step left.
 *
 *   leaked where module=libjson.so | by func | top 2
 *   population   leaked at 2.00 s (snapshot 3 of 3)   18 cohorts   40960 bytes
 *   where        module=libjson.so                     3 cohorts   12288 bytes
 *   by           func                                  7 rows      12288 bytes
 *   top          2                                     2 rows      12288 bytes
 */
#include "config.h"

#include "query/exec.h"

#include <inttypes.h>

static int64_t signed_bytes(const struct exec *x)
{
	const struct plan *pl = x->pl;
	struct graph_sum sum = cells_sum(&x->cells[pl->side_count - 1][MEASURE_MAIN]);
	if (pl->side_count == 2) {
		struct graph_sum first = cells_sum(&x->cells[0][MEASURE_MAIN]);
		sum_take(&sum, &first);
	}
	return sum.bytes;
}

static void line(struct exec *x, const char *what, size_t count, const char *unit)
{
	struct buf *out = x->pl->explain;
	buf_printf(out, "%s\t%zu %s\t%" PRId64 " bytes\n", what, count, unit, signed_bytes(x));
}

void explain_cells(struct exec *x, const char *fmt, ...)
{
	struct buf what = {0};
	size_t count = 0;
	if (!x->pl->explain)
		return;
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&what, fmt, ap);
	va_end(ap);
	for (size_t side = 0; side < x->pl->side_count; side++)
		count += x->cells[side][MEASURE_MAIN].count;
	if (what.has_failed)
		x->pl->explain->has_failed = true;
	else if (what.data)
		line(x, what.data, count, "cohorts");
	buf_release(&what);
}

/* The text of a stage without its blanks at the ends. */
static void put_stage(struct exec *x, const struct ast_stage *stage, struct buf *out)
{
	const struct ast_script *script = x->pl->script;
	size_t end = (size_t)stage->span.start + stage->span.bytes;
	if (end <= script->text_bytes)
		buf_put(out, script->text + stage->span.start, stage->span.bytes);
	else
		buf_puts(out, "stage");
}

void explain_rows(struct exec *x, const struct row_list *rows, const struct ast_stage *stage)
{
	struct buf what = {0};
	if (!x->pl->explain)
		return;
	if (stage)
		put_stage(x, stage, &what);
	else
		for (size_t i = 0; i < x->pl->key_count; i++)
			buf_printf(&what, "%s%s", i ? "," : "rows by ", x->pl->keys[i].word);
	if (what.has_failed)
		x->pl->explain->has_failed = true;
	else if (what.data)
		line(x, what.data, rows->count, "rows");
	buf_release(&what);
}
