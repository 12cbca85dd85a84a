/* The help screen. */
#include "config.h"

#include "tui/help.h"

#include <string.h>

#include "src/base/mem.h"
#include "tui/list.h"
#include "tui/prompt.h"
#include "tui/show.h"

/* Paragraphs, and questions with their answers; wrapped to the screen. */
static const char introduction[] =
	"What is on the screen is the answer to a query.  Its parts stand in the second line: "
	"which "
	"blocks of memory (b chooses), then conditions, then what gathers small rows.  Every key "
	"changes the query or the view, and U undoes it.  Y copies the command that prints the "
	"same.\n"
	"\n"
	"TOTAL counts a block in every function on its call path, SELF only in the one that "
	"allocated it.  Rows add up: what is not shown is one row, with the key that shows it.\n"
	"\n"
	"  What holds memory?           Tree (1): follow the largest rows; i inverts it\n"
	"  When?                        Time (3): Enter on a slice shows its callers\n"
	"  What leaks?                  b until the line says leaked\n"
	"  What churns?                 b until it says temporary\n"
	"  What grew between two runs?  neap browse OLD NEW\n"
	"\n";

enum help_kind {
	HELP_TEXT,
	HELP_HEADING,
	HELP_KEY, /* "  keys             what they do" */
};

struct help_line {
	const char *text;
	enum help_kind kind;
};

/* A line, or a part of one that is too long for the screen. */
struct help_row {
	size_t line, start, bytes;
};

struct help {
	struct buf text;
	struct help_line *lines; /* into text, which has NULs for newlines */
	size_t line_count, line_cap;
	struct help_row *rows;
	size_t row_cap;
	unsigned cols;    /* that they were made for */
	struct list list; /* of rows */
};

#define KEY_BYTES 19u /* before the words, which later rows begin below */

static bool add_line(struct help *h, const char *text, enum help_kind kind)
{
	if (!vec_reserve((void **)&h->lines, &h->line_cap, h->line_count + 1, sizeof *h->lines))
		return false;
	h->lines[h->line_count++] = (struct help_line){.text = text, .kind = kind};
	return true;
}

static bool split(struct help *h)
{
	char *p = h->text.data, *end = p + h->text.count_bytes;
	const char *keys = p + sizeof introduction - 1;
	while (p < end) {
		char *stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop)
			break;
		*stop = '\0';
		enum help_kind kind = p < keys || !*p ? HELP_TEXT
				      : *p == ' '     ? HELP_KEY
						      : HELP_HEADING;
		if (!add_line(h, p, kind))
			return false;
		p = stop + 1;
	}
	return true;
}

static unsigned indent_of(const struct help *h, const struct help_row *r)
{
	return r->start && h->lines[r->line].kind == HELP_KEY ? KEY_BYTES : 0;
}

static bool add_rows(struct help *h, size_t line)
{
	const char *text = h->lines[line].text;
	size_t bytes = strlen(text), start = 0;
	do {
		struct help_row r = {.line = line, .start = start};
		unsigned room = h->cols > indent_of(h, &r) + 9 ? h->cols - indent_of(h, &r) - 1 : 8;
		if (bytes > start)
			r.bytes = show_fitting(text + start, bytes - start, room);
		if (!vec_reserve((void **)&h->rows, &h->row_cap, h->list.count + 1,
				 sizeof *h->rows))
			return false;
		h->rows[h->list.count++] = r;
		start += r.bytes;
		start += strspn(text + start, " ");
	} while (start < bytes);
	return true;
}

/* Rows for this width; the selected line stays selected. */
static void wrap(struct help *h, unsigned cols)
{
	size_t selected = h->list.selected < h->list.count ? h->rows[h->list.selected].line : 0;
	if (h->cols == cols)
		return;
	h->cols = cols;
	h->list.count = 0;
	for (size_t i = 0; i < h->line_count; i++) {
		if (i == selected)
			h->list.selected = h->list.count;
		if (!add_rows(h, i))
			return;
	}
}

void help_open(struct browser *b)
{
	struct help *h = mem_zalloc(sizeof *h);
	help_close(b);
	b->help = h;
	if (!h)
		return;
	buf_puts(&h->text, introduction);
	keymap_text(&h->text);
	if (h->text.has_failed || !split(h))
		help_close(b);
	else
		wrap(h, b->view_area.cols ? b->view_area.cols : 80);
}

void help_close(struct browser *b)
{
	struct help *h = b->help;
	b->help = NULL;
	if (!h)
		return;
	buf_release(&h->text);
	mem_free(h->lines);
	mem_free(h->rows);
	mem_free(h);
}

/* In its line, whichever of the rows of that the words are in. */
static bool fits(const struct list_search *s, size_t at)
{
	const struct help *h = s->self;
	const struct help_row *r = &h->rows[at];
	return !r->start && strstr(h->lines[r->line].text, s->text);
}

bool help_find(struct browser *b, const char *text, bool is_back, bool is_here)
{
	const struct list_search s = {b->help, b, text, is_back, is_here};
	return list_find(&b->help->list, &s, fits);
}

void help_place(const struct browser *b, struct buf *out)
{
	list_place(&b->help->list, out);
}

static void press(struct help *h, const struct area *a, struct mouse m)
{
	bool is_wheel = m.kind == MOUSE_WHEEL_UP || m.kind == MOUSE_WHEEL_DOWN;
	if (!is_wheel && (m.row < a->row || m.row >= a->row + a->rows))
		return;
	m.row -= is_wheel ? 0 : a->row;
	list_mouse(&h->list, &m);
}

void help_input(struct browser *b, const struct input *in)
{
	struct help *h = b->help;
	if (in->key == SPECIAL_MOUSE) {
		press(h, &b->view_area, in->mouse);
		return;
	}
	enum action action = keymap_action(in->key);
	switch (action) {
	case ACTION_HELP:
	case ACTION_BACK:
	case ACTION_QUIT:
	case ACTION_CANCEL:
		help_close(b);
		break;
	case ACTION_FIND:
		prompt_open(b, PROMPT_FIND, "");
		break;
	case ACTION_FIND_NEXT:
	case ACTION_FIND_PREVIOUS:
		if (b->find[0])
			help_find(b, b->find, action == ACTION_FIND_PREVIOUS, false);
		break;
	default:
		list_act(&h->list, action);
		break;
	}
}

static void draw_row(const struct help *h, const struct browser *b, const struct area *a,
		     unsigned at, const struct help_row *r)
{
	const struct help_line *line = &h->lines[r->line];
	const char *text = line->text + r->start;
	bool is_match = b->find[0] && strstr(line->text, b->find);
	struct look l = look(is_match ? ROLE_MATCH : ROLE_TEXT);
	unsigned col = 1 + indent_of(h, r);
	size_t keys = line->kind == HELP_KEY && !r->start ? KEY_BYTES : 0;
	keys = keys < r->bytes ? keys : r->bytes;
	if (line->kind == HELP_HEADING)
		l = look_bold(ROLE_HEADING);
	if (keys)
		col = area_printf(a, at, col, look_bold(ROLE_KEY), "%.*s", (int)keys, text);
	area_printf(a, at, col, l, "%.*s", (int)(r->bytes - keys), text + keys);
}

void help_draw(struct browser *b, const struct area *a)
{
	struct help *h = b->help;
	wrap(h, a->cols);
	list_fit(&h->list, a->rows);
	for (unsigned i = 0; i < a->rows && h->list.top + i < h->list.count; i++) {
		size_t at = h->list.top + i;
		draw_row(h, b, a, i, &h->rows[at]);
		if (at == h->list.selected) {
			area_select(a, i);
			area_cursor(a, i, 0);
		}
	}
}
