/* The prompt. */
#include "config.h"

#include "tui/prompt.h"

#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/export.h"
#include "tui/help.h"
#include "tui/line.h"
#include "tui/show.h"

#define CANDIDATES_MOST 200u
#define POPUP_ROWS      8u
#define CTRL_F          ('f' - 0x60u)

struct candidate {
	size_t replaced_bytes;
	const char *word, *meaning; /* in prompt.words */
};

struct prompt {
	enum prompt_kind kind;
	struct line_edit line;
	size_t history_at; /* of the history; its count: what is being typed */
	char *typed;       /* before going back in it */

	struct buf words;
	struct candidate candidates[CANDIDATES_MOST];
	size_t candidate_count, chosen; /* chosen: CANDIDATES_MOST: none */

	struct query_error error; /* of what is typed; code NEAP_OK: none */
	char preview[128];
	bool is_unfinished; /* more was typed before the candidates and the preview were there */
};

void prompt_free(struct prompt *p)
{
	if (!p)
		return;
	line_release(&p->line);
	buf_release(&p->words);
	mem_free(p->typed);
	mem_free(p);
}

/* ---- history ------------------------------------------------------------------------------ */

void history_add(struct history *h, const char *text)
{
	if (!*text || (h->count && !strcmp(h->texts[h->count - 1], text)))
		return;
	char *copy = mem_strdup(text);
	if (!copy || !vec_reserve((void **)&h->texts, &h->cap, h->count + 1, sizeof *h->texts)) {
		mem_free(copy);
		return;
	}
	h->texts[h->count++] = copy;
}

void history_release(struct history *h)
{
	for (size_t i = 0; i < h->count; i++)
		mem_free(h->texts[i]);
	mem_free(h->texts);
	*h = (struct history){.count = 0};
}

static void go_history(struct browser *b, bool is_back)
{
	struct prompt *p = b->prompt;
	const struct history *h = &b->histories[p->kind];
	if (is_back ? !p->history_at : p->history_at >= h->count)
		return;
	if (p->history_at == h->count) {
		mem_free(p->typed);
		p->typed = mem_strdup(line_text(&p->line));
	}
	p->history_at = is_back ? p->history_at - 1 : p->history_at + 1;
	if (p->history_at < h->count)
		line_set(&p->line, h->texts[p->history_at]);
	else
		line_set(&p->line, p->typed ? p->typed : "");
}

/* ---- what is typed ---------------------------------------------------------------------------- */

/* A filter as typed if it reads as a condition, else the text as a name. */
static bool put_condition(const char *typed, struct buf *out)
{
	struct ast_script *script = NULL;
	struct query_error error;
	struct buf text = {0};
	buf_printf(&text, "live | where %s", typed);
	bool is_one = !text.has_failed && !strpbrk(typed, "|;\n#") &&
		      !query_parse(text.data, text.count_bytes, &script, &error);
	query_script_free(script);
	buf_release(&text);
	if (is_one)
		buf_puts(out, typed);
	else
		query_quote(out, typed);
	return !out->has_failed;
}

/* The query that the prompt would make, as far as it can be counted. */
static bool put_query(const struct browser *b, struct buf *out)
{
	const struct prompt *p = b->prompt;
	const char *typed = line_text(&p->line);
	if (p->kind == PROMPT_QUERY && typed[strspn(typed, " ")] != '|') {
		buf_puts(out, typed);
		return !out->has_failed;
	}
	const struct compose c = {.without_rows = p->kind == PROMPT_FILTER};
	model_compose(&b->model, &c, out);
	if (p->kind == PROMPT_QUERY) {
		buf_printf(out, " %s", typed);
	} else {
		buf_puts(out, " | where ");
		put_condition(typed, out);
	}
	return !out->has_failed;
}

static void count_blocks(struct browser *b, const char *text, struct query_result *r)
{
	struct prompt *p = b->prompt;
	char rows[FMT_THINGS_BYTES];
	struct buf sum = {0};
	size_t total = result_column(r, r->is_signed ? "delta" : "total");
	size_t count = result_column(r, "count");
	(void)text;
	if (result_knows(r, total))
		show_put_sum(&sum, result_value(r, SIZE_MAX, total), result_knows(r, count),
			     result_value(r, SIZE_MAX, count));
	if (p->kind == PROMPT_QUERY)
		buf_printf(&sum, "%s%s", sum.count_bytes ? ", " : "",
			   fmt_things(rows, sizeof rows, (int64_t)r->row_count, "row"));
	if (!sum.has_failed && sum.count_bytes)
		snprintf(p->preview, sizeof p->preview, "%s", sum.data);
	buf_release(&sum);
}

/* Run it to say what it leaves; trees are not unfolded for that. */
static void preview(struct browser *b)
{
	struct prompt *p = b->prompt;
	struct buf text = {0};
	struct ast_script *script = NULL;
	struct query_opened *q = NULL;
	p->preview[0] = '\0';
	p->error = (struct query_error){.code = NEAP_OK};
	if (!*line_text(&p->line) || p->kind == PROMPT_WRITE || p->kind == PROMPT_FIND)
		return;
	if (put_query(b, &text) && !query_parse(text.data, text.count_bytes, &script, &p->error) &&
	    script->statement_count) {
		size_t last = script->statement_count - 1;
		if (!script->statements[last].is_let &&
		    !query_opened_new(b->model.session, script, last, &q, &p->error)) {
			struct query_result r = *query_opened_result(q);
			count_blocks(b, text.data, &r);
		}
	}
	query_opened_free(q);
	query_script_free(script);
	buf_release(&text);
}

static void find_live(struct browser *b)
{
	struct prompt *p = b->prompt;
	const struct view *v = view_of(model_state(&b->model)->screen);
	snprintf(b->find, sizeof b->find, "%s", line_text(&p->line));
	if (!b->find[0] || (!b->help && (!v->find || b->failure.code)))
		return;
	bool has_found = b->help ? help_find(b, b->find, false, true)
				 : v->find(browser_self(b), b, b->find, false, true);
	snprintf(p->preview, sizeof p->preview, "%s",
		 has_found ? "" : "in no row that is shown; Ctrl-F filters by it");
}

/* ---- completion ---------------------------------------------------------------------------------- */

/* What stands before what is typed, for the parser. */
static const char *context_of(const struct browser *b)
{
	const char *typed = line_text(&b->prompt->line);
	if (b->prompt->kind == PROMPT_FILTER)
		return "live | where ";
	return typed[strspn(typed, " ")] == '|' ? "live " : "";
}

static void parse_candidates(struct prompt *p)
{
	char *at = p->words.data, *end = p->words.data + p->words.count_bytes;
	while (at < end && p->candidate_count < CANDIDATES_MOST) {
		char *tab = memchr(at, '\t', (size_t)(end - at));
		char *second = tab ? memchr(tab + 1, '\t', (size_t)(end - tab - 1)) : NULL;
		char *stop = second ? memchr(second, '\n', (size_t)(end - second)) : NULL;
		if (!stop)
			return;
		*tab = *second = *stop = '\0';
		size_t replaced = 0;
		for (const char *d = at; *d >= '0' && *d <= '9'; d++)
			replaced = replaced * 10 + (size_t)(*d - '0');
		p->candidates[p->candidate_count++] =
			(struct candidate){replaced, tab + 1, second + 1};
		at = stop + 1;
	}
}

static void find_candidates(struct browser *b)
{
	struct prompt *p = b->prompt;
	struct buf text = {0};
	struct err e = {0};
	p->candidate_count = 0;
	p->chosen = CANDIDATES_MOST;
	if (p->kind != PROMPT_QUERY && p->kind != PROMPT_FILTER)
		return;
	buf_puts(&text, context_of(b));
	buf_put(&text, line_text(&p->line), p->line.cursor);
	buf_clear(&p->words);
	b->name_lists.session = b->model.session;
	if (!text.has_failed &&
	    !names_complete(&b->name_lists, text.data ? text.data : "", text.count_bytes, &p->words,
			    &e) &&
	    p->words.count_bytes && !p->words.has_failed)
		parse_candidates(p);
	buf_release(&text);
}

/* Tab goes through the candidates; a single one is taken with a space behind it. */
static void complete(struct browser *b, bool is_back)
{
	struct prompt *p = b->prompt;
	if (p->chosen == CANDIDATES_MOST)
		find_candidates(b);
	if (!p->candidate_count)
		return;
	size_t replaced = p->candidates[0].replaced_bytes;
	if (p->chosen < p->candidate_count)
		replaced = strlen(p->candidates[p->chosen].word);
	if (p->chosen == CANDIDATES_MOST)
		p->chosen = is_back ? p->candidate_count - 1 : 0;
	else
		p->chosen =
			(p->chosen + (is_back ? p->candidate_count - 1 : 1)) % p->candidate_count;
	line_replace(&p->line, replaced, p->candidates[p->chosen].word);
	if (p->candidate_count == 1) {
		line_replace(&p->line, 0, " ");
		find_candidates(b);
	}
}

/* ---- opening, keys ------------------------------------------------------------------------------------ */

/* What is typed next makes it pointless, and comes first. */
static void look_up(struct browser *b)
{
	struct prompt *p = b->prompt;
	b->is_previewing = true;
	if (p->chosen == CANDIDATES_MOST)
		find_candidates(b);
	preview(b);
	b->is_previewing = false;
	p->is_unfinished = model_was_stopped(&p->error);
	if (p->is_unfinished)
		p->error = (struct query_error){.code = NEAP_OK};
}

static void changed(struct browser *b)
{
	b->prompt->chosen = CANDIDATES_MOST;
	look_up(b);
	if (b->prompt->kind == PROMPT_FIND)
		find_live(b);
}

void prompt_open(struct browser *b, enum prompt_kind kind, const char *text)
{
	prompt_close(b);
	b->prompt = mem_zalloc(sizeof *b->prompt);
	if (!b->prompt)
		return;
	b->prompt->kind = kind;
	b->prompt->history_at = b->histories[kind].count;
	line_set(&b->prompt->line, text);
	changed(b);
}

void prompt_close(struct browser *b)
{
	prompt_free(b->prompt);
	b->prompt = NULL;
}

static void filter(struct browser *b, const char *typed)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf where = {0};
	buf_puts(&where, "where ");
	if (*typed && put_condition(typed, &where))
		browser_tell(b, model_add_stage(&b->model, STAGE_WHERE, where.data, &error),
			     &error);
	buf_release(&where);
}

/* Enter.  An error keeps the prompt open: it shows where it is. */
static void accept(struct browser *b)
{
	struct prompt *p = b->prompt;
	const char *typed = line_text(&p->line);
	char *text = mem_strdup(typed);
	if (!text)
		return;
	if (p->kind == PROMPT_QUERY && *typed && model_set_text(&b->model, typed, &p->error)) {
		mem_free(text);
		return;
	}
	enum prompt_kind kind = p->kind;
	history_add(&b->histories[kind], text);
	prompt_close(b);
	if (kind == PROMPT_FILTER)
		filter(b, text);
	else if (kind == PROMPT_WRITE && *text)
		export_view(b, text);
	mem_free(text);
}

static void take_key(struct browser *b, uint32_t key)
{
	struct prompt *p = b->prompt;
	switch (key) {
	case CODE_ESCAPE:
	case 'c' - 0x60:
		if (p->kind == PROMPT_FIND)
			b->find[0] = '\0';
		prompt_close(b);
		return;
	case CODE_ENTER:
		accept(b);
		return;
	case CODE_TAB:
	case SPECIAL_BACK_TAB:
		complete(b, key == SPECIAL_BACK_TAB);
		look_up(b);
		return;
	case SPECIAL_UP:
	case SPECIAL_DOWN:
		go_history(b, key == SPECIAL_UP);
		changed(b);
		return;
	default:
		break;
	}
	if (key == CTRL_F && p->kind == PROMPT_FIND) {
		p->kind = PROMPT_FILTER;
		b->find[0] = '\0';
		changed(b);
	} else if (line_key(&p->line, key)) {
		changed(b);
	}
}

void prompt_input(struct browser *b, const struct input *in)
{
	if (in->key < SPECIAL_RESIZE)
		take_key(b, in->key);
	if (b->prompt && b->prompt->is_unfinished)
		look_up(b);
}

/* ---- drawing ------------------------------------------------------------------------------------------------ */

static const char *label_of(enum prompt_kind kind)
{
	static const char *const labels[PROMPT_KINDS] = {
		"query: ", "find: ", "keep: ", "write to: "};
	return labels[kind];
}

/* Scrolled so that the cursor is inside. */
static void draw_line(const struct prompt *p, const struct area *a)
{
	const char *text = line_text(&p->line);
	unsigned col = area_put(a, 0, 1, look_bold(ROLE_KEY), label_of(p->kind));
	unsigned room = a->cols > col + 1 ? a->cols - col - 1 : 1, skip = 0;
	unsigned at = (unsigned)fmt_width(text, p->line.cursor);
	while (text[skip] && at >= room) {
		unsigned next = skip + 1;
		while (((unsigned char)text[next] & 0xc0) == 0x80)
			next++;
		at -= (unsigned)fmt_width(text + skip, next - skip);
		skip = next;
	}
	area_put(a, 0, col, look(ROLE_TEXT), text + skip);
	area_cursor(a, 0, col + at);
	unsigned end = col + text_cols(text + skip), width = text_cols(p->preview);
	if (p->preview[0] && end + width + 3 < a->cols)
		area_right(a, 0, a->cols - 1, width, look(ROLE_DIM), p->preview);
}

static unsigned draw_error(const struct prompt *p, const struct area *a, unsigned row)
{
	const struct query_error *e = &p->error;
	const struct look plain = look(ROLE_TEXT);
	area_fill(a, row, 0, 1, a->cols, plain, ' ');
	unsigned col = area_put(a, row, 1, look(ROLE_ERROR), e->text);
	if (e->help[0])
		area_printf(a, row, col, look(ROLE_TEXT), ": %s", e->help);
	else if (e->expected[0])
		area_printf(a, row, col, look(ROLE_DIM), "; expected: %s", e->expected);
	return row;
}

/* Below the place in the line: there is no room there, so above it. */
static void draw_caret(const struct prompt *p, const struct area *a, unsigned row)
{
	const char *text = line_text(&p->line);
	unsigned label = 1 + text_cols(label_of(p->kind));
	size_t start = p->error.span.start;
	if (p->kind != PROMPT_QUERY || text[strspn(text, " ")] == '|' || start > strlen(text))
		return;
	unsigned col = label + (unsigned)fmt_width(text, start);
	unsigned width = p->error.span.bytes ? p->error.span.bytes : 1;
	area_fill(a, row, 0, 1, a->cols, look(ROLE_TEXT), ' ');
	area_fill(a, row, col, 1, width, look(ROLE_ERROR), grid_is_utf8(a->grid) ? 0x25bc : 'v');
}

/* A function that is too long keeps its own name, as in rows. */
static void put_candidate(struct browser *b, const struct area *a, unsigned row, unsigned cols,
			  const struct candidate *c)
{
	const struct look l = look(ROLE_CHIP);
	size_t bytes = strlen(c->word);
	bool is_name = bytes > 2 && c->word[0] == '"' && c->word[bytes - 1] == '"';
	if (!is_name || strcmp(c->meaning, "func") != 0 || text_cols(c->word) <= cols) {
		area_elide(a, row, 2, cols, l, c->word);
		return;
	}
	char *name = mem_strndup(c->word + 1, bytes - 2);
	if (name)
		area_put(a, row, 2, l, name_function(&b->names, name, cols));
	mem_free(name);
}

static void draw_popup(struct browser *b, const struct prompt *p, const struct area *a,
		       unsigned rows)
{
	size_t first =
		p->chosen < p->candidate_count && p->chosen >= rows ? p->chosen - rows + 1 : 0;
	unsigned width = 24;
	for (size_t i = first; i < first + rows; i++) {
		unsigned cols = text_cols(p->candidates[i].word) + 2;
		if (cols > width)
			width = cols;
	}
	if (width > a->cols / 2)
		width = a->cols / 2;
	for (unsigned i = 0; i < rows; i++) {
		const struct candidate *c = &p->candidates[first + i];
		unsigned row = a->rows - rows + i;
		area_fill(a, row, 0, 1, a->cols, look(ROLE_TEXT), ' ');
		put_candidate(b, a, row, width - 2, c);
		area_elide(a, row, width + 2, a->cols - width - 2, look(ROLE_DIM), c->meaning);
		if (first + i == p->chosen)
			area_select(a, row);
	}
}

void prompt_draw(struct browser *b, const struct area *line, const struct area *above)
{
	struct prompt *p = b->prompt;
	struct area a = *above;
	bool is_wrong = p->error.code && *line_text(&p->line) && p->error.text[0];
	/* While words can still be completed, an error at the end is no error yet. */
	bool is_unfinished = p->candidate_count && p->error.span.start >= p->line.cursor;
	if (is_wrong && !is_unfinished && a.rows >= 2) {
		draw_caret(p, &a, a.rows - 1);
		draw_error(p, &a, a.rows - 2);
		a.rows -= 2;
	}
	unsigned rows = a.rows / 2 < POPUP_ROWS ? a.rows / 2 : POPUP_ROWS;
	if (rows > p->candidate_count)
		rows = (unsigned)p->candidate_count;
	draw_popup(b, p, &a, rows);
	draw_line(p, line);
}
