/* Threads: what each allocated and holds; Enter shows the tree of one. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "tui/facts.h"
#include "tui/table.h"

/* Rows are called "name #2". */
static thread_id id_of(const struct browser *b, const char *key)
{
	const char *number = strrchr(key, '#');
	unsigned long id = number ? strtoul(number + 1, NULL, 10) : 0;
	return id <= b->model.profile->thread_count ? (thread_id)id : 0;
}

static const char *instant(const struct browser *b, snap_id s, char *dst, size_t cap)
{
	return fmt_duration(dst, cap, graph_snap_time(b->model.graph, s));
}

static void say(struct facts *f, struct browser *b, const char *key, struct buf *out)
{
	thread_id id = id_of(b, key);
	char when[FMT_BYTES];
	(void)f;
	if (!id || b->model.path_count > 1)
		return;
	const struct profile_thread *t = &b->model.profile->threads[id - 1];
	snap_id before = t->first_snap ? t->first_snap - 1 : 0;
	buf_printf(out, "thread %u", id);
	if (t->tid)
		buf_printf(out, ", tid %" PRIu32, t->tid);
	buf_printf(out, ", first allocated after %s", instant(b, before, when, sizeof when));
	if (t->flags & THREAD_ENDED)
		buf_printf(out, ", had ended by %s", instant(b, t->last_snap, when, sizeof when));
	else
		buf_puts(out, ", did not end");
	buf_puts(out, ". Enter shows what it holds.");
}

static bool narrow(const struct facts *f, struct browser *b)
{
	const char *key = table_key(f->table, "thread");
	thread_id id = key ? id_of(b, key) : 0;
	struct buf stage = {0};
	if (!key) {
		browser_say(b, ROLE_DIM, "this row is no thread");
		return true;
	}
	if (id) {
		buf_printf(&stage, "where thread=%u", id);
	} else {
		buf_puts(&stage, "where thread=");
		query_quote(&stage, key);
	}
	if (!stage.has_failed)
		facts_narrow(b, stage.data);
	buf_release(&stage);
	return true;
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	return facts_load(self, b, error);
}

static void release(void *self)
{
	facts_release(self);
}

static void draw(void *self, struct browser *b, const struct area *a)
{
	facts_draw(self, b, a, "thread", say);
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct facts *f = self;
	if (action == ACTION_ENTER || action == ACTION_ONLY_THREAD)
		return narrow(f, b);
	return action != ACTION_NEXT_KEYS && view_table.act(f->table, b, action);
}

const struct view view_threads = {
	.self_bytes = sizeof(struct facts),
	.release = release,
	.load = load,
	.draw = draw,
	.act = act,
	.mouse = facts_mouse,
	.place = facts_place,
	.frame = facts_frame,
	.row_text = facts_row_text,
	.find = facts_find,
};
