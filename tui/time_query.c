/*
 * Time as a query: classes by the keys of the view, or by the same keys of the callers of what
 * was entered.
 *
 *   live | where path hash_insert$ | by caller.func | top 8 | timeline
 */
#include "config.h"

#include "tui/time_priv.h"

#include <string.h>

/* Keys of frames are those of the leaf, or of the frame that called the entered ones. */
static void put_keys(const struct time_view *t, const char *by, struct buf *out)
{
	const char *p = by ? by + strlen("by ") : "func";
	while (*p) {
		size_t bytes = strcspn(p, ", ");
		if (out->count_bytes)
			buf_puts(out, ", ");
		if (!t->is_grouped && t->depth)
			buf_puts(out, "caller");
		if (!t->is_grouped && t->depth > 1)
			buf_printf(out, "%u", t->depth);
		buf_printf(out, "%s%.*s", !t->is_grouped && t->depth ? "." : "", (int)bytes, p);
		p += bytes;
		p += strspn(p, ", ");
	}
}

/* Blocks have no columns of both sides. */
static bool is_diff(const struct time_view *t, const struct browser *b)
{
	return b->model.before && t->before && t->measured != LIVE_BLOCKS;
}

/* What both files held, where the view compares them. */
static void put_head(const struct time_view *t, const struct browser *b, struct buf *out)
{
	struct query_error ignored; /* a file without a name for queries is not shown either */
	const char *population = t->measured == ALLOCATED_BYTES ? "allocated" : "live";
	if (is_diff(t, b)) {
		buf_puts(out, "diff ");
		model_whole_run(&b->model, true, population, out, &ignored);
		buf_puts(out, ", ");
	}
	model_whole_run(&b->model, false, population, out, &ignored);
}

void time_question(const void *self, struct browser *b, struct buf *out)
{
	const struct time_view *t = self;
	struct buf head = {0}, keys = {0};
	if (t->is_unknown) {
		const struct compose sum = {.view = "sum", .without_rows = true};
		model_compose(&b->model, &sum, out);
		return;
	}
	put_head(t, b, &head);
	put_keys(t, state_chip(model_state(&b->model), STAGE_BY), &keys);
	const struct compose c = {.head = head.data, .by = keys.data, .without_rows = true};
	if (!head.has_failed && !keys.has_failed)
		model_compose(&b->model, &c, out);
	buf_printf(out, " | top %u%s | timeline", CLASSES_MOST, is_diff(t, b) ? " by b" : "");
	buf_puts(out, is_diff(t, b)                ? " | select b, a"
		      : t->measured == LIVE_BLOCKS ? " | select count"
						   : "");
	out->has_failed = out->has_failed || head.has_failed || keys.has_failed;
	buf_release(&head);
	buf_release(&keys);
}
