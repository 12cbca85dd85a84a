/*
 * A monkey at the browser: random keys, mouse events and sizes, and what must hold after each.
 *
 *   monkey [--seed=N] [--inputs=N] FILE [FILE2]
 *
 * Prints the seed.  What was typed since the browser was opened last is in monkey.keys, in the
 * folder where it runs: `neap-browse --keys=monkey.keys FILE` does it again.  Writes files there.
 */
#include "config.h"

#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "tests/tui/invariants.h"
#include "tui/prompt.h"

#define SIZE_MOST 120u
#define SESSION_MOST \
	400u /* inputs: then a query that leaves nothing, or fails, has lasted long enough */

struct monkey {
	struct browser *b;
	struct browser_options options;
	uint64_t random;
	unsigned rows, cols;
	const char *text; /* being typed; NULL or "": nothing */
	bool is_writing;  /* the prompt asks for a file */
	int log;
	unsigned long input_count, opened_count;
	unsigned long on_screen[SCREEN_COUNT];
};

static uint64_t any(struct monkey *m, uint64_t below)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (m->random * 0x2545f4914f6cdd1du >> 32) % below;
}

static void fail(const struct monkey *m, const char *what)
{
	fflush(stdout);
	fprintf(stderr,
		"input %lu, screen %u of %ux%u: %s\n"
		"monkey.keys does it again from where the browser was opened\n",
		m->input_count, (unsigned)model_state(&m->b->model)->screen, m->rows, m->cols,
		what);
	exit(1);
}

/* ---- the log --------------------------------------------------------------------------------- */

static void log_text(struct monkey *m, const char *text, size_t bytes)
{
	if (write(m->log, text, bytes) != (ssize_t)bytes)
		fail(m, "cannot write monkey.keys");
}

static void log_input(struct monkey *m, const struct input *in)
{
	static const char *const kinds[] = {"press", "drag", "release", "double", "up", "down"};
	char line[64], name[16];
	struct buf text = {0};
	if (in->key == SPECIAL_RESIZE) {
		snprintf(line, sizeof line, "size %u %u\n", m->rows, m->cols);
	} else if (in->key == SPECIAL_MOUSE) {
		snprintf(line, sizeof line, "mouse %s %u %u\n", kinds[in->mouse.kind],
			 in->mouse.row, in->mouse.col);
	} else if (in->key > 0x20 && in->key < 0x110000 && in->key != CODE_BACKSPACE) {
		const struct cell cell = {.c = in->key};
		cell_text(&cell, &text);
		snprintf(line, sizeof line, "text %.*s\n", (int)text.count_bytes, text.data);
	} else {
		snprintf(line, sizeof line, "%s\n", keymap_name(name, sizeof name, in->key));
	}
	log_text(m, line, strlen(line));
	buf_release(&text);
}

/* ---- inputs ------------------------------------------------------------------------------------ */

static const char *const texts[] = {
	"live",
	"peak",
	" | ",
	"by func",
	"by thread,size",
	"where ",
	"min 1%",
	"top 3",
	"size > 4K",
	" at 40%",
	"module=",
	"main",
	"(",
	")",
	"\"",
	"'",
	"~/a.*/",
	"漢字",
	"e\xcc\x81",
	"\xe2\x80\xae",
	"\xf0\x9f\x98\x80",
	"zoom ",
	"hide ",
	"callers",
	"flame",
	"sort count",
	"leaked",
	"diff live",
	"growth in 0s..2s",
	"parse",
	"operator",
	"let x = size > 8; ",
	"$x",
	"select self,count",
	"limit 2",
	"source ",
	"peek ",
	"[func=",
	"]",
	"percent all",
	"where count > 2",
	"timeline 9",
	"out.tsv",
	"out.folded",
	"x",
	"trim ",
	"collapse recursion",
	"live in 1s..3s",
	"peak of \"../json.neap\"",
	" of \"../hostile.neap\"",
	"diff live of \"../names.neap\", peak",
};

static uint32_t next_of_text(struct monkey *m)
{
	const unsigned char *p = (const unsigned char *)m->text;
	unsigned more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
	uint32_t c = *p & (more ? 0x3fu >> more : 0x7fu);
	for (unsigned i = 1; i <= more; i++)
		c = c << 6 | (p[i] & 0x3f);
	m->text += more + 1;
	return c;
}

static uint32_t key_of_table(struct monkey *m)
{
	const struct key_binding *k = &keymap_bindings[any(m, keymap_count)];
	uint32_t key = 0;
	const char *at = k->keys ? k->keys : "Esc";
	for (uint64_t skip = any(m, 2); skip && strchr(at, ' '); skip--)
		at = strchr(at, ' ') + 1;
	return keymap_parse(at, strcspn(at, " "), &key) ? key : CODE_ESCAPE;
}

static uint32_t key_of_prompt(struct monkey *m)
{
	static const uint32_t keys[] = {
		CODE_ENTER,     CODE_ENTER,  CODE_ENTER,   CODE_ENTER,     CODE_ENTER,
		CODE_ESCAPE,    CODE_ESCAPE, CODE_ESCAPE,  CODE_ESCAPE,    CODE_ESCAPE,
		CODE_TAB,       SPECIAL_UP,  SPECIAL_DOWN, SPECIAL_LEFT,   SPECIAL_HOME,
		CODE_BACKSPACE, 0x15,        0x17,         SPECIAL_DELETE, SPECIAL_BACK_TAB,
		0x06,           SPECIAL_END};
	if (any(m, 2))
		return keys[any(m, sizeof keys / sizeof keys[0])];
	m->text = texts[any(m, sizeof texts / sizeof texts[0])];
	return next_of_text(m);
}

static uint32_t any_key(struct monkey *m)
{
	static const uint32_t moves[] = {SPECIAL_DOWN, SPECIAL_UP,   SPECIAL_RIGHT,
					 SPECIAL_LEFT, CODE_ENTER,   SPECIAL_PAGE_DOWN,
					 SPECIAL_END,  SPECIAL_HOME, CODE_TAB};
	uint32_t key;
	if (m->b->prompt && m->text && *m->text)
		return next_of_text(m);
	m->text = NULL;
	if (m->b->prompt && any(m, 8))
		return key_of_prompt(m);
	uint64_t what = any(m, 16);
	if (what == 0)
		key = (uint32_t)any(m, SPECIAL_RESIZE);
	else if (what < 6)
		key = moves[any(m, sizeof moves / sizeof moves[0])];
	else
		key = key_of_table(m);
	/* No character ends a session often, nor leaves what Unicode has. */
	bool is_quit = key == 'q' || key == 3;
	if ((is_quit && any(m, 4)) || (key >= 0xd800 && key < 0xe000) || !key)
		key = SPECIAL_DOWN;
	return key;
}

static void any_size(struct monkey *m)
{
	static const unsigned sizes[][2] = {{24, 80}, {40, 120},  {8, 40},
					    {1, 1},   {100, 300}, {3, 9}};
	uint64_t which = any(m, 8);
	if (which < 6) {
		m->rows = sizes[which][0];
		m->cols = sizes[which][1];
	} else {
		m->rows = 1 + (unsigned)any(m, SIZE_MOST);
		m->cols = 1 + (unsigned)any(m, 2 * SIZE_MOST);
	}
}

static struct input any_input(struct monkey *m)
{
	struct input in = {.key = 0};
	uint64_t what = any(m, 100);
	if (what < 3) {
		any_size(m);
		in.key = SPECIAL_RESIZE;
	} else if (what < 13) {
		in.key = SPECIAL_MOUSE;
		in.mouse.kind = (enum mouse_kind)any(m, MOUSE_WHEEL_DOWN + 1);
		in.mouse.row = (unsigned)any(m, m->rows + 2);
		in.mouse.col = (unsigned)any(m, m->cols + 2);
	} else {
		in.key = any_key(m);
	}
	if (!m->b->prompt)
		m->is_writing = in.key == 'w';
	if (m->is_writing && m->b->prompt && (in.key == '/' || in.key == '.'))
		in.key = 'x'; /* files stay where it runs */
	return in;
}

/* ---- a session ------------------------------------------------------------------------------------- */

static void draw(struct monkey *m)
{
	if (!browser_draw(m->b, m->rows, m->cols))
		fail(m, "cannot draw");
	if (m->b->grid.rows != m->rows || m->b->grid.cols != m->cols)
		fail(m, "the screen has another size");
	const char *wrong = invariants_broken(m->b);
	if (wrong)
		fail(m, wrong);
}

static void open_browser(struct monkey *m)
{
	struct err e = {0};
	char line[128];
	m->options.glyphs = (enum glyphs)any(m, 3);
	m->options.is_plain = !any(m, 8);
	m->options.is_mono = !any(m, 4);
	if (browser_new(&m->options, &m->b, &e)) {
		fprintf(stderr, "monkey: %s\n", e.text);
		exit(1);
	}
	m->opened_count++;
	m->text = NULL;
	m->log = open("monkey.keys", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	snprintf(line, sizeof line, "# --glyphs=%s%s\nsize %u %u\n",
		 (const char *const[]){"ascii", "block", "braille"}[m->options.glyphs],
		 m->options.is_plain ? " --plain" : "", m->rows, m->cols);
	log_text(m, line, strlen(line));
	draw(m);
}

static void close_browser(struct monkey *m)
{
	browser_free(m->b);
	m->b = NULL;
	close(m->log);
}

static void play(struct monkey *m, unsigned long inputs)
{
	unsigned since_opened = 0;
	open_browser(m);
	while (m->input_count < inputs) {
		m->input_count++;
		struct input in = any_input(m);
		log_input(m, &in);
		browser_input(m->b, &in);
		draw(m);
		m->on_screen[model_state(&m->b->model)->screen]++;
		buf_clear(&m->b->clipboard);
		if (m->b->wants_quit || ++since_opened >= SESSION_MOST) {
			since_opened = 0;
			close_browser(m);
			open_browser(m);
		}
	}
	close_browser(m);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"seed", required_argument, NULL, 's'},
						{"inputs", required_argument, NULL, 'i'},
						{NULL, 0, NULL, 0}};
	const struct query_options query = {.cursor_ns = UINT64_MAX};
	struct monkey m = {.rows = 24, .cols = 80, .options = {.query = &query}};
	uint64_t seed = (uint64_t)time(NULL);
	unsigned long inputs = 2000;
	int option;
	setlocale(LC_CTYPE, "C.UTF-8");
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (option == 'i')
			inputs = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	m.options.paths = (const char *const *)(argv + optind);
	m.options.path_count = (size_t)(argc - optind);
	if (m.options.path_count < 1 || m.options.path_count > 2)
		return 2;
	printf("seed %llu: %s\n", (unsigned long long)seed, argv[optind]);
	fflush(stdout);
	m.random = seed * 0x9e3779b97f4a7c15u | 1;
	play(&m, inputs);
	printf("%lu inputs, opened %lu times; inputs on each screen:", m.input_count,
	       m.opened_count);
	for (size_t i = 0; i < SCREEN_COUNT; i++)
		printf(" %s %lu", screen_name((enum screen)i), m.on_screen[i]);
	printf("\n");
	return 0;
}
