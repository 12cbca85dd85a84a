/* Threads: what each allocated and holds; Enter shows the tree of one. */
#include "config.h"

#include <inttypes.h>

#include "src/base/fmt.h"
#include "tui/facts.h"
#include "tui/only_thread.h"

static const char *instant(const struct browser *b, snap_id s, char *dst, size_t cap)
{
	return fmt_duration(dst, cap, graph_snap_time(b->model.now, s));
}

static void say(struct facts *f, struct browser *b, const char *key, struct buf *out)
{
	thread_id id = only_thread_id(b, key);
	char when[FMT_BYTES];
	(void)f;
	if (!id || b->model.path_count > 1)
		return;
	const struct profile_thread *t = &graph_profile(b->model.now)->threads[id - 1];
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

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	return facts_load(self, b, error);
}

static void release(void *self)
{
	facts_release(self);
}

static const struct facts_kind kind = {
	.word = "thread", .say = say, .put_condition = only_thread_put};

static void draw(void *self, struct browser *b, const struct area *a)
{
	facts_draw(self, b, a, &kind);
}

static bool act(void *self, struct browser *b, enum action action)
{
	return facts_act(self, b, action == ACTION_ONLY_THREAD ? ACTION_ENTER : action, &kind);
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
	.save_spot = facts_save_spot,
	.take_spot = facts_take_spot,
};
