/* Keys that edit the query, whatever view is shown. */
#include "config.h"

#include "tui/browser_priv.h"

#include <string.h>

#include "tui/only_thread.h"
#include "tui/rows.h"

static bool frame_now(const struct browser *b, struct graph_frame *out)
{
	const struct view *v = browser_view(b);
	return v->frame && browser_self(b) && !b->failure.code && v->frame(browser_self(b), out);
}

static void add_stage(struct browser *b, enum ast_stage_kind kind, struct buf *text)
{
	struct query_error error = {.code = NEAP_OK};
	if (!text->has_failed)
		browser_tell(b, model_add_stage(&b->model, kind, text->data, &error), &error);
	buf_release(text);
}

static void zoom(struct browser *b)
{
	struct graph_frame f;
	struct buf text = {0};
	if (!frame_now(b, &f)) {
		browser_say(b, ROLE_DIM, "this row is no function, file or module");
		return;
	}
	buf_puts(&text, "zoom ");
	query_step(&text, &f);
	add_stage(b, STAGE_ZOOM, &text);
}

static void only_module(struct browser *b)
{
	struct graph_frame f;
	struct buf text = {0};
	if (!frame_now(b, &f) || !f.module_path) {
		browser_say(b, ROLE_DIM, "the module of this row is not known");
		return;
	}
	buf_puts(&text, "where module=");
	query_quote(&text, f.module_path);
	add_stage(b, STAGE_WHERE, &text);
}

/* peak -> live -> leaked -> allocated -> temporary -> growth -> peak; those that are known. */
static const struct population {
	enum graph_pop pop;
	uint64_t facts; /* that it takes */
} populations[] = {
	{POP_PEAK, FACT_PEAK},           {POP_LIVE, FACT_LIVE},
	{POP_LEAKED, FACT_LIVE},         {POP_ALLOCATED, FACT_ALLOCATED},
	{POP_TEMPORARY, FACT_TEMPORARY}, {POP_GROWTH, FACT_LIVE | FACT_TIME},
};
#define POPULATIONS (sizeof populations / sizeof populations[0])

static void next_population(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf head = {0};
	size_t at = 0;
	const char *now_head = model_state(&b->model)->head;
	bool is_diff = !strncmp(now_head, "diff ", 5);
	enum graph_pop now = query_population(is_diff ? now_head + 5 : now_head);
	while (at < POPULATIONS && populations[at].pop != now)
		at++;
	for (size_t i = 0; i < POPULATIONS; i++) {
		at = (at + 1) % POPULATIONS;
		if (model_knows(&b->model, populations[at].facts))
			break;
	}
	buf_printf(&head, "%s%s", b->model.path_count > 1 ? "diff " : "",
		   graph_pop_name(populations[at].pop));
	if (!head.has_failed)
		browser_tell(b, model_set_head(&b->model, head.data, &error), &error);
	buf_release(&head);
}

static void toggle_limit(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	bool has_min = state_chip(model_state(&b->model), STAGE_MIN);
	browser_tell(b, model_set_stage(&b->model, STAGE_MIN, has_min ? NULL : "min 1%", &error),
		     &error);
}

static void toggle_base(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	const char *now = state_chip(model_state(&b->model), STAGE_PERCENT);
	browser_tell(b,
		     model_set_stage(&b->model, STAGE_PERCENT, now ? NULL : "percent all", &error),
		     &error);
}

void edits_show_screen(struct browser *b, enum screen s)
{
	struct query_error error = {.code = NEAP_OK};
	if (view_of(s))
		browser_tell(b, model_set_screen(&b->model, s, &error), &error);
}

/* A screen about the function of the selected row, or its file; that is the state's subject. */
static void show_subject(struct browser *b, enum screen screen)
{
	struct query_error error = {.code = NEAP_OK};
	struct graph_frame f = {.kind = FRAME_NO_STACK};
	struct buf step = {0};
	if (!view_of(screen))
		return;
	bool is_file = frame_now(b, &f) && screen == SCREEN_SOURCE && f.file_path;
	if (!is_file && !row_is_function(&f)) {
		browser_say(b, ROLE_DIM,
			    screen == SCREEN_SOURCE ? "no source is known for this row"
						    : "this row is no function");
		return;
	}
	if (is_file) {
		buf_puts(&step, "[file=");
		query_quote(&step, f.file_path);
		buf_putc(&step, ']');
		b->source_line = f.line;
	} else {
		query_step(&step, &f);
	}
	struct state *s = model_edit(&b->model);
	if (s && !step.has_failed && state_set_subject(s, step.data)) {
		s->screen = screen;
		browser_tell(b, model_commit(&b->model, s, &error), &error);
	} else {
		state_free(s);
		browser_say(b, ROLE_ERROR, "out of memory");
	}
	buf_release(&step);
}

bool edits_do(struct browser *b, enum action action)
{
	struct graph_frame f;
	switch (action) {
	case ACTION_ZOOM:
		zoom(b);
		break;
	case ACTION_BUTTERFLY:
		show_subject(b, SCREEN_BUTTERFLY);
		break;
	case ACTION_SOURCE:
		show_subject(b, SCREEN_SOURCE);
		break;
	case ACTION_ONLY_MODULE:
		only_module(b);
		break;
	case ACTION_ONLY_THREAD:
		only_thread(b, frame_now(b, &f) ? &f : NULL);
		break;
	case ACTION_POPULATION:
		next_population(b);
		break;
	case ACTION_LIMIT:
		toggle_limit(b);
		break;
	case ACTION_BASE:
		toggle_base(b);
		break;
	default:
		return false;
	}
	return true;
}
