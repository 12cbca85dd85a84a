/* The second row: the query in parts, and what is not exact or not known. */
#include "config.h"

#include "tui/browser.h"

#include <stdio.h>
#include <string.h>

/* `where` goes without saying. */
static const char *chip_text(const struct chip *c)
{
	if (c->kind == STAGE_WHERE && !strncmp(c->text, "where ", 6))
		return c->text + 6;
	return c->text;
}

static const char *chip_arrow(const struct area *a)
{
	return grid_is_utf8(a->grid) ? " \u203a " : " > ";
}

/* Steps for one of these have names for people. */
static const struct step_kind {
	const char *start;
	const char *(*name)(struct shortener *names, const char *text, size_t cols);
} step_kinds[] = {
	{"[func=\"", name_function}, {"[file=\"", name_path}, {"[module=\"", name_module}};
#define STEP_COLS 40u

/* The first such step of a text.  NULL: there is none. */
static const char *find_step(const char *text, const struct step_kind **kind_out)
{
	const char *first = NULL;
	for (size_t i = 0; i < sizeof step_kinds / sizeof step_kinds[0]; i++) {
		const char *at = strstr(text, step_kinds[i].start);
		if (!at || (first && first < at))
			continue;
		first = at;
		*kind_out = &step_kinds[i];
	}
	return first;
}

/* [func="f(int)"] as f, and files and modules as their last parts. */
static void put_chip(struct browser *b, const char *text, struct buf *out)
{
	while (*text) {
		const struct step_kind *kind = NULL;
		const char *at = find_step(text, &kind), *end = at;
		while (end && *end && (*end != ']' || end[-1] != '"'))
			end++;
		if (!at || !*end) {
			buf_puts(out, text);
			return;
		}
		buf_put(out, text, (size_t)(at - text));
		if (at > text && at[-1] != ' ') /* leaf[func="f"] */
			buf_putc(out, ' ');
		char name[4096];
		const char *start = at + strlen(kind->start);
		snprintf(name, sizeof name, "%.*s", (int)(end - start - 1), start);
		buf_puts(out, kind->name(&b->names, name, STEP_COLS));
		text = end + 1;
	}
}

static unsigned draw_chip(struct browser *b, const struct area *a, unsigned col, unsigned most,
			  const char *chip)
{
	struct buf text = {0};
	put_chip(b, chip, &text);
	if (!text.has_failed && text.count_bytes)
		col = area_elide(a, 0, col, most, look(ROLE_CHIP), text.data);
	buf_release(&text);
	return col;
}

/* What imported files cannot know, and whether their numbers are exact. */
struct limits {
	bool is_partial, is_estimated;
	uint64_t unknown;
};

static void add_limits(const struct graph *g, struct limits *l)
{
	const struct profile *p = g ? graph_profile(g) : NULL;
	if (!p || !p->has_source)
		return;
	l->is_partial = l->is_partial || p->source.is_partial;
	l->is_estimated = l->is_estimated || p->source.is_estimated;
	l->unknown |= p->source.unknown;
}

static void put_limits(const struct limits *l, struct buf *out)
{
	if (l->is_partial)
		buf_puts(out, "cut off");
	if (l->is_estimated)
		buf_printf(out, "%sestimated from samples", out->count_bytes ? ", " : "");
	if (l->unknown) {
		buf_printf(out, "%sunknown: ", out->count_bytes ? "; " : "");
		profile_facts_text(l->unknown, out);
	}
}

/* Whole words of a list, and dots for the others. */
static void cut_list(struct buf *list, unsigned cols, const char *dots)
{
	bool is_cut = false;
	while (!list->has_failed && text_cols(list->data) + is_cut * text_cols(dots) > cols) {
		char *comma = strrchr(list->data, ','), *semicolon = strrchr(list->data, ';');
		comma = comma > semicolon ? comma : semicolon;
		if (!comma)
			return;
		*comma = '\0';
		list->count_bytes = (size_t)(comma - list->data);
		is_cut = true;
	}
	if (is_cut)
		buf_puts(list, dots);
}

/* At the end of the row, whole or not at all.  Returns the columns that it takes. */
static unsigned draw_limits(struct browser *b, const struct area *a)
{
	struct limits limits = {.unknown = 0};
	struct buf text = {0};
	unsigned cols = 0;
	add_limits(b->model.now, &limits);
	add_limits(b->model.before, &limits);
	put_limits(&limits, &text);
	if (text.count_bytes)
		cut_list(&text, a->cols / 2, grid_is_utf8(a->grid) ? ", \u2026" : ", ...");
	if (!text.has_failed && text.count_bytes && text_cols(text.data) > a->cols / 2) {
		buf_clear(&text);
		buf_puts(&text, limits.is_estimated ? "estimated" : "parts unknown");
	}
	unsigned width = text.count_bytes && !text.has_failed ? text_cols(text.data) : 0;
	if (width && width <= a->cols / 2) {
		area_put(a, 0, a->cols - width, look(ROLE_WARNING), text.data);
		cols = width + 2;
	}
	buf_release(&text);
	return cols;
}

/* What the view is about beside the query, in the words of the language where it has some. */
static void put_subject(const struct state *s, struct buf *out)
{
	if (s->screen == SCREEN_SOURCE && !s->subject)
		buf_puts(out, "source of the heaviest line");
	else if (s->screen == SCREEN_TIME && s->callers_depth)
		buf_puts(out, "by caller");
	else
		state_subject_stage(s, out);
}

static void draw_subject(struct browser *b, const struct area *a, unsigned col, unsigned most)
{
	struct buf text = {0};
	put_subject(model_state(&b->model), &text);
	if (text.count_bytes && !text.has_failed) {
		col = area_put(a, 0, col, look(ROLE_DIM), chip_arrow(a));
		draw_chip(b, a, col, most, text.data);
	}
	buf_release(&text);
}

void chrome_chips(struct browser *b, const struct area *a)
{
	const struct state *s = model_state(&b->model);
	const char *base = state_chip(s, STAGE_PERCENT) ? "100% is all" : "100% is what is shown";
	unsigned base_cols = a->cols >= 70 ? text_cols(base) + 2 : 0;
	const struct area words = area_cut(a, 0, 0, 1, a->cols - base_cols);
	const struct area left = area_cut(&words, 0, 0, 1, words.cols - draw_limits(b, &words));
	unsigned shares = (unsigned)s->chip_count + 1;
	unsigned most = left.cols / shares > 12 ? left.cols * 2 / (shares + 1) : 12;
	unsigned col = area_elide(&left, 0, 1, most, look_bold(ROLE_CHIP), s->head);
	for (size_t i = 0; i < s->chip_count; i++) {
		if (!state_uses(s, &s->chips[i]) || s->chips[i].kind == STAGE_PERCENT)
			continue;
		col = area_put(&left, 0, col, look(ROLE_DIM), chip_arrow(a));
		col = draw_chip(b, &left, col, most, chip_text(&s->chips[i]));
	}
	draw_subject(b, &left, col, most);
	if (base_cols)
		area_right(a, 0, a->cols, base_cols, look(ROLE_DIM), base);
}
