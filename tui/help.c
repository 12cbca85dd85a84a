/* The help screen. */
#include "config.h"

#include "tui/help.h"

#include <string.h>

#include "src/base/mem.h"
#include "tui/list.h"
#include "tui/prompt.h"

static const char introduction[] =
	"What is on the screen is the answer to a query.  Its parts stand in the second line: "
	"which\n"
	"blocks of memory (b chooses), then conditions, then what gathers small rows.  Every key\n"
	"changes the query or the view, and U undoes it.  Y copies the command that prints the "
	"same.\n"
	"\n"
	"TOTAL counts a block in every function on its call path, SELF only in the one that\n"
	"allocated it.  Rows add up: what is not shown is one row, with the key that shows it.\n"
	"\n"
	"  What holds memory?         Tree (1): follow the largest rows; i turns it round\n"
	"  When?                      Time (3): Enter on a slice shows its callers\n"
	"  What leaks?                b until the line says leaked\n"
	"  What churns?               b until it says temporary\n"
	"  What grew between two runs?  neap browse OLD NEW\n"
	"\n";

struct help {
	struct buf text;
	const char **lines; /* into text, which has NULs for newlines */
	size_t line_cap;
	struct list list;
};

static bool split(struct help *h)
{
	char *p = h->text.data, *end = p + h->text.count_bytes;
	while (p < end) {
		char *stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop)
			break;
		*stop = '\0';
		if (!vec_reserve((void **)&h->lines, &h->line_cap, h->list.count + 1,
				 sizeof *h->lines))
			return false;
		h->lines[h->list.count++] = p;
		p = stop + 1;
	}
	return true;
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
}

void help_close(struct browser *b)
{
	struct help *h = b->help;
	b->help = NULL;
	if (!h)
		return;
	buf_release(&h->text);
	mem_free(h->lines);
	mem_free(h);
}

bool help_find(struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct help *h = b->help;
	size_t count = h->list.count;
	for (size_t i = is_here ? 0 : 1; i <= count && count; i++) {
		size_t at = (h->list.selected + (is_back ? count - i % count : i)) % count;
		if (strstr(h->lines[at], text)) {
			h->list.selected = at;
			return true;
		}
	}
	return false;
}

void help_input(struct browser *b, const struct input *in)
{
	struct help *h = b->help;
	if (in->key == SPECIAL_MOUSE) {
		list_mouse(&h->list, &in->mouse);
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

void help_draw(struct browser *b, const struct area *a)
{
	struct help *h = b->help;
	list_fit(&h->list, a->rows);
	for (unsigned i = 0; i < a->rows && h->list.top + i < h->list.count; i++) {
		size_t at = h->list.top + i;
		const char *line = h->lines[at];
		bool is_match = b->find[0] && strstr(line, b->find);
		bool is_key = line[0] == ' ' && line[2] != ' ' && at > 13;
		struct look l = look(is_match ? ROLE_MATCH : ROLE_TEXT);
		if (!is_key) {
			if (line[0] && line[0] != ' ' && at > 12)
				l = look_bold(ROLE_HEADING);
			area_put(a, i, 1, l, line);
		} else {
			char keys[20];
			size_t bytes = strlen(line) < 18 ? strlen(line) : 18;
			memcpy(keys, line, bytes);
			keys[bytes] = '\0';
			area_put(a, i, 1, look_bold(ROLE_KEY), keys);
			area_put(a, i, 1 + (unsigned)bytes, l, line + bytes);
		}
		if (at == h->list.selected) {
			area_select(a, i);
			area_cursor(a, i, 0);
		}
	}
}
