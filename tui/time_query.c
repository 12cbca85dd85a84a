/*
 * Time as a query: classes by the keys of the view, or by the same keys of the callers of what
 * was entered.
 *
 *   live | by func | top 8 | timeline
 *   live | where path hash_insert$ | by caller.func | top 8 | timeline
 */
#include "config.h"

#include "tui/time_priv.h"

#include <string.h>

void time_put_keys(const struct time_view *t, const struct browser *b, struct buf *out)
{
	const char *by = state_chip(model_state(&b->model), STAGE_BY);
	const char *p = by ? by + strlen("by ") : "func";
	while (*p) {
		size_t bytes = strcspn(p, ", ");
		buf_puts(out, out->count_bytes ? ", " : "");
		if (!t->is_grouped)
			buf_puts(out, t->depth ? "caller" : "leaf");
		if (!t->is_grouped && t->depth > 1)
			buf_printf(out, "%u", t->depth);
		buf_printf(out, "%s%.*s", t->is_grouped ? "" : ".", (int)bytes, p);
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
	if (t->depth) /* else keys of frames are of the leaf in a timeline */
		time_put_keys(t, b, &keys);
	const struct compose c = {
		.head = head.data, .by = keys.data, .default_by = "func", .without_rows = true};
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
