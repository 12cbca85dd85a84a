/* Modules: what the code of each allocated and holds; Enter shows the tree of one. */
#include "config.h"

#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/facts.h"
#include "tui/module_names.h"
#include "tui/table.h"

#define BUILD_ID_BYTES 8u /* enough to tell builds apart */

static void say_module(const struct browser *b, size_t idx, const struct module_names *names,
		       struct buf *out)
{
	const struct profile_module *m = &graph_profile(b->model.now)->modules[idx];
	char hex[2 * BUILD_ID_BYTES + 1], when[FMT_BYTES];
	buf_printf(out, "%s: ", m->path);
	module_names_say(names, out);
	if (m->build_id_bytes)
		buf_printf(out, ", build id %s...",
			   fmt_hex(hex, sizeof hex, m->build_id,
				   m->build_id_bytes < BUILD_ID_BYTES ? m->build_id_bytes
								      : BUILD_ID_BYTES));
	else
		buf_puts(out, ", no build id");
	if (m->last_snap)
		buf_printf(out, ", unloaded by %s",
			   fmt_duration(when, sizeof when,
					graph_snap_time(b->model.now, m->last_snap)));
}

/* A library that was loaded again is there more than once; its calls are added up. */
static void say(struct facts *f, struct browser *b, const char *key, struct buf *out)
{
	const struct profile *p = graph_profile(b->model.now);
	struct module_names sum = {.has_symbols = p->has_symbols};
	size_t last = SIZE_MAX;
	for (size_t i = 0; f->modules && i < p->module_count; i++) {
		if (strcmp(p->modules[i].path, key) != 0)
			continue;
		sum.frames += f->modules[i].frames;
		sum.named += f->modules[i].named;
		sum.with_lines += f->modules[i].with_lines;
		last = i;
	}
	if (last != SIZE_MAX)
		say_module(b, last, &sum, out);
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct facts *f = self;
	const struct profile *p = graph_profile(b->model.now);
	mem_free(f->modules); /* another file, or one that has grown, has others */
	f->modules = NULL;
	if (p->module_count) {
		f->modules = mem_array(p->module_count, sizeof *f->modules);
		if (f->modules)
			module_names_count(p, f->modules);
	}
	return facts_load(f, b, error);
}

static void release(void *self)
{
	facts_release(self);
}

static void put_condition(const struct browser *b, const char *key, struct buf *out)
{
	(void)b;
	buf_puts(out, "module=");
	query_quote(out, key);
}

static const struct facts_kind kind = {
	.word = "module", .say = say, .put_condition = put_condition};

static void draw(void *self, struct browser *b, const struct area *a)
{
	facts_draw(self, b, a, &kind);
}

static bool act(void *self, struct browser *b, enum action action)
{
	return facts_act(self, b, action, &kind);
}

const struct view view_modules = {
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
