/* What is around the view: title and keys; the chips are in chips.c. */
#include "config.h"

#include "tui/browser.h"

#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "tui/follow.h"
#include "tui/help.h"
#include "tui/show.h"

/* ---- title -------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

#define TITLE_COLS 68u /* for what stands to the left of the views */

/* Columns of the name of a view beside its number; 0: it is not there. */
static unsigned word_cols(size_t screen)
{
	return view_of((enum screen)screen) ? text_cols(screen_name((enum screen)screen)) + 1 : 0;
}

/* How many names there is room for, from the first on; the current one has its own in any case. */
static size_t words_shown(enum screen now, unsigned *width, unsigned most)
{
	size_t count = 0;
	for (; count <= SCREEN_RUN; count++) {
		unsigned more = count == now ? 0 : word_cols(count);
		if (*width + more > most)
			break;
		*width += more;
	}
	return count;
}

/* "1 Tree 2 Table ..." at the right; the last ones as numbers where there is little room. */
static unsigned draw_tabs(struct browser *b, const struct area *a)
{
	enum screen now = model_state(&b->model)->screen;
	unsigned width = 1 + (now <= SCREEN_RUN ? word_cols(now) + 2 : 0);
	for (size_t i = 0; i <= SCREEN_RUN; i++)
		width += word_cols(i) ? 2 : 0;
	if (width + 12 > a->cols)
		return a->cols;
	size_t words = words_shown(now, &width, a->cols > TITLE_COLS ? a->cols - TITLE_COLS : 0);
	unsigned col = a->cols - width;
	for (size_t i = 0; i <= SCREEN_RUN; i++) {
		if (!word_cols(i))
			continue;
		const char *name = screen_name((enum screen)i);
		b->tabs[i].from = col;
		if (i == now)
			col = area_printf(a, 0, col,
					  (struct look){ROLE_TITLE, 0, LOOK_REVERSE | LOOK_BOLD},
					  " %zu %s ", i + 1, name);
		else if (i < words)
			col = area_printf(a, 0, col, look(ROLE_TITLE), " %zu %s", i + 1, name);
		else
			col = area_printf(a, 0, col, look(ROLE_TITLE), " %zu", i + 1);
		b->tabs[i].end = col;
	}
	return a->cols - width;
}

static void put_totals(const struct browser *b, bool has_blocks, char *dst, size_t cap)
{
	const struct summary *s = &b->summary;
	char bytes[FMT_BYTES], base[FMT_BYTES], pct[FMT_BYTES], blocks[FMT_BYTES];
	bool is_part = has_blocks && s->base_bytes != s->bytes,
	     has_sign = s->is_signed && s->bytes > 0;
	if (!s->has_bytes) {
		dst[0] = '\0';
		return;
	}
	fmt_bytes(bytes, sizeof bytes, s->bytes);
	int end = is_part ? snprintf(dst, cap, "%s of %s (%s)", bytes,
				     fmt_bytes(base, sizeof base, s->base_bytes),
				     fmt_pct(pct, sizeof pct, (double)s->bytes,
					     (double)s->base_bytes))
			  : snprintf(dst, cap, "%s%s", has_blocks && has_sign ? "+" : "", bytes);
	if (!has_blocks || !s->has_blocks || end < 0 || (size_t)end >= cap)
		return;
	show_count_words(blocks, sizeof blocks, s->blocks);
	snprintf(dst + end, cap - (size_t)end, is_part ? "  %s %s" : " in %s %s", blocks,
		 show_blocks_word(s->blocks));
}

/* Behind the name of the file; where there is no room, a plus. */
static unsigned put_following(const struct browser *b, const struct area *left, unsigned col)
{
	const char *word = follow_word(b);
	if (left->cols < col + text_cols(word) + 32)
		return area_put(left, 0, col - 2, look_bold(ROLE_WARNING), "+") + 1;
	return area_put(left, 0, col, look_bold(ROLE_WARNING), word) + 2;
}

/*
 * "live at 2.00 s (snapshot 20 of 40)"; what is in parentheses goes where it has no room, and all of
 * it where it still has none and the chips say it too.
 */
static unsigned put_population(const struct browser *b, const struct area *a, unsigned col,
			       unsigned cols)
{
	char text[sizeof b->summary.population];
	snprintf(text, sizeof text, "%s", b->summary.population);
	char *open = strstr(text, " (");
	if (open && text_cols(text) > cols)
		*open = '\0';
	if (!b->summary.is_other && text_cols(text) > cols)
		return col;
	return area_elide(a, 0, col, cols, look(ROLE_TITLE), text) + 2;
}

#define NARROW_COLS 40u /* less is for numbers first */
#define NAME_LEAST  6u

/* "app.neap", or "old.neap -> new.neap" where the query compares them. */
static unsigned put_files(const struct browser *b, const struct area *left, unsigned col,
			  unsigned most)
{
	const struct model *m = &b->model;
	const char *arrow = grid_is_utf8(left->grid) ? " \u2192 " : " -> ";
	if (m->before && left->cols > NARROW_COLS) {
		most = left->cols / (left->cols < 70 ? 5 : 4) - 1;
		col = area_elide(left, 0, col, most, look(ROLE_TITLE), last_part(m->before_path));
		col = area_put(left, 0, col, look(ROLE_TITLE), arrow);
	}
	return area_elide(left, 0, col, most, look(ROLE_TITLE), last_part(m->now_path)) + 2;
}

/* What is left for the name beside the numbers. */
static unsigned name_room(const struct browser *b, const struct area *left, unsigned col)
{
	char totals[160] = "";
	unsigned most = left->cols / 3, need = 2;
	if (!b->summary.is_known || left->cols >= NARROW_COLS)
		return most;
	put_totals(b, false, totals, sizeof totals);
	need += text_cols(totals);
	if (b->summary.is_other)
		need += text_cols(b->summary.population) + 2;
	if (left->cols <= col + NAME_LEAST)
		return 0;
	if (b->summary.is_other && left->cols < col + need)
		return left->cols - col - 1;
	return left->cols > col + need + NAME_LEAST ? left->cols - col - need : 0;
}

/* Which memory, and how much: a number that is cut off would be another number. */
static void put_summary(const struct browser *b, const struct area *left, unsigned col)
{
	char totals[160] = "";
	put_totals(b, true, totals, sizeof totals);
	unsigned need = text_cols(totals) + 2;
	/* Where it is not what the chips say, the population has to stand there. */
	if (b->summary.is_other && left->cols <= col + need + text_cols(b->summary.population)) {
		put_totals(b, false, totals, sizeof totals);
		need = text_cols(totals) + 1;
	}
	if (b->summary.is_other && left->cols < col + need + text_cols(b->summary.population) + 1)
		return;
	if (left->cols > col + need + 8)
		col = put_population(b, left, col, left->cols - col - need);
	if (col + text_cols(totals) > left->cols)
		put_totals(b, false, totals, sizeof totals);
	if (col + text_cols(totals) <= left->cols)
		area_put(left, 0, col, look_bold(ROLE_TITLE), totals);
}

void chrome_title(struct browser *b, const struct area *a)
{
	area_fill(a, 0, 0, 1, a->cols, look(ROLE_TITLE), ' ');
	unsigned end = draw_tabs(b, a), col = 1;
	const struct area left = area_cut(a, 0, 0, 1, end > 1 ? end - 1 : 0);
	if (left.cols >= NARROW_COLS)
		col = area_put(&left, 0, col, look_bold(ROLE_TITLE), "neap") + 2;
	unsigned most = name_room(b, &left, col);
	if (most)
		col = put_files(b, &left, col, most);
	if (follow_word(b))
		col = put_following(b, &left, col);
	if (b->summary.is_known)
		put_summary(b, &left, col);
}

/* ---- the last row --------------------------------------------------------------------------------- */

static const struct key_binding *binding_of_rank(unsigned rank)
{
	for (size_t i = 0; i < keymap_count; i++) {
		if (!keymap_bindings[i].group && keymap_bindings[i].rank == rank)
			return &keymap_bindings[i];
	}
	return NULL;
}

#define RANK_ENTER 3u
#define RANK_TIME  21u

/* What is left where there is an error in place of the view. */
static bool is_used_by_failure(enum action action)
{
	return action == ACTION_HELP || action == ACTION_QUERY || action == ACTION_POPULATION ||
	       action == ACTION_UNDO || action == ACTION_BACK || action == ACTION_QUIT;
}

/* Is it a key that does something on this screen? */
static bool is_used(const struct browser *b, enum action action)
{
	enum screen s = model_state(&b->model)->screen;
	if (b->help)
		return action == ACTION_FIND || action == ACTION_BACK;
	if (b->failure.code)
		return is_used_by_failure(action);
	bool has_functions =
		s != SCREEN_SIZES && s != SCREEN_THREADS && s != SCREEN_MODULES && s != SCREEN_RUN;
	switch (action) {
	case ACTION_INVERT:
		return s == SCREEN_TREE || s == SCREEN_FLAME;
	case ACTION_ENTER:
		return s != SCREEN_SOURCE && s != SCREEN_RUN;
	case ACTION_SOURCE:
		return has_functions && s != SCREEN_SOURCE;
	case ACTION_ZOOM:
	case ACTION_BUTTERFLY:
		return has_functions;
	case ACTION_FIND:
		return view_of(s)->find;
	case ACTION_RANGE:
	case ACTION_MEASURE:
		return model_knows_times(&b->model);
	default:
		return true;
	}
}

/* The rank after another; those of Time come where it has them. */
static unsigned next_rank(enum screen s, unsigned rank)
{
	if (s == SCREEN_TIME && rank == RANK_ENTER)
		return RANK_TIME;
	if (rank >= RANK_TIME)
		return binding_of_rank(rank + 1) ? rank + 1 : RANK_ENTER + 1;
	return rank + 1;
}

static void draw_keys(const struct browser *b, const struct area *a)
{
	enum screen s = model_state(&b->model)->screen;
	unsigned col = 1;
	for (unsigned rank = 1;; rank = next_rank(s, rank)) {
		const struct key_binding *k = binding_of_rank(rank);
		if (!k)
			return;
		if (!is_used(b, k->action))
			continue;
		char key[16];
		snprintf(key, sizeof key, "%.*s", (int)strcspn(k->keys, " "), k->keys);
		unsigned width = text_cols(key) + text_cols(k->footer) + 3;
		if (col + width > a->cols + 2)
			return;
		col = area_put(a, 0, col, look_bold(ROLE_KEY), key);
		col = area_put(a, 0, col + 1, look(ROLE_TEXT), k->footer) + 2;
	}
}

void chrome_footer(struct browser *b, const struct area *a)
{
	struct buf place = {0};
	const struct view *v = view_of(model_state(&b->model)->screen);
	if (b->help)
		help_place(b, &place);
	else if (v->place && !b->failure.code)
		v->place(browser_self(b), &place);
	const char *text = place.count_bytes && !place.has_failed ? place.data : "";
	unsigned width = text_cols(text);
	if (width + 20 > a->cols)
		width = 0;
	const struct area left = area_cut(a, 0, 0, 1, width ? a->cols - width - 2 : a->cols);
	if (b->message[0])
		area_elide(&left, 0, 1, left.cols - 1, look(b->message_role), b->message);
	else
		draw_keys(b, &left);
	if (width)
		area_right(a, 0, a->cols - 1, width, look(ROLE_DIM), text);
	buf_release(&place);
}

void chrome_failure(struct browser *b, const struct area *a)
{
	struct buf text = {0}, query = {0};
	unsigned row = 1;
	model_text(&b->model, &query);
	query_error_print(&b->failure, "query", query.data ? query.data : "", query.count_bytes,
			  &text);
	for (const char *p = text.data; p && *p && row < a->rows;) {
		size_t bytes = strcspn(p, "\n");
		area_printf(a, row, 2, look(row == 1 ? ROLE_ERROR : ROLE_TEXT), "%.*s", (int)bytes,
			    p);
		row++;
		p += bytes + (p[bytes] == '\n');
	}
	area_put(a, row + 1, 2, look(ROLE_DIM),
		 b->model.at ? "U undoes the last change, : edits the query"
			     : ": edits the query, b chooses other blocks");
	buf_release(&text);
	buf_release(&query);
}
