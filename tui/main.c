/*
 * neap-browse: the browser as a program of its own, so that neap itself needs no curses.
 * `neap browse` finds it and the newest profile.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/exchange/exchange.h"
#include "src/report/settings.h"
#include "src/sym/debuginfod.h"
#include "tui/browser.h"
#include "tui/fetch.h"
#include "tui/follow.h"
#include "tui/saved.h"
#include "tui/script.h"
#include "tui/term.h"

#define STATUS_FAILED 1
#define STATUS_USAGE  2
#define STATUS_FILE   3
#define SCRIPT_MOST   (1u << 20)

#define HUGE_PAGE_BYTES  ((uintptr_t)2 << 20)
#define HEAP_BEGIN_BYTES (256 << 20) /* of addresses; memory comes when it is used */

#define LOOK_MS     20          /* between looks at keys in long work */
#define SLOW_MS     25          /* opening took so long: the first query will take time too */
#define LARGE_BYTES (256 << 10) /* a file of which the terminal says that it is read */

struct request {
	struct browser_options browser;
	struct term_options term;
	const char *script; /* --keys=FILE */
	struct settings settings;
	bool has_glyphs, wants_keys, is_done;
	struct fetch fetch;
	bool follows, keeps_no_state;
};

enum option_id {
	OPT_KEYS = 256,
	OPT_GLYPHS,
	OPT_COLOUR,
	OPT_PLAIN,
	OPT_NO_MOUSE,
	OPT_FOLLOW,
	OPT_NO_STATE,
	OPT_WRAPPER,
	OPT_SOURCE_PATH,
	OPT_ROFF
};

static const struct option long_options[] = {
#define BROWSE(id, name, argument) {name, argument, NULL, OPT_##id},
#include "src/report/browse.def"
	{"keys-roff", no_argument, NULL, OPT_ROFF},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"neap-browse is the program behind `neap browse`, which finds the newest profile and\n"
	"explains the options: neap browse --help\n";

static int bad_usage(const char *what, const char *value)
{
	fprintf(stderr, "neap browse: %s '%s'\nTry 'neap browse --help'.\n", what, value);
	return STATUS_USAGE;
}

static bool word_of(const char *value, const char *const *words, int count, int *out)
{
	for (int i = 0; i < count; i++) {
		if (!strcmp(value, words[i])) {
			*out = i;
			return true;
		}
	}
	return false;
}

static void print_keys(bool is_roff)
{
	struct buf text = {0};
	if (is_roff)
		keymap_roff(&text);
	else
		keymap_text(&text);
	if (!text.has_failed)
		fwrite(text.data, 1, text.count_bytes, stdout);
	buf_release(&text);
}

static int take_setting(int option, const char *value, struct request *r)
{
	struct err e = {0};
	bool is_wrapper = option == OPT_WRAPPER;
	if (!(is_wrapper ? settings_add_wrapper : settings_add_source_path)(&r->settings, value,
									    &e))
		return 0;
	fprintf(stderr, "neap browse: %s: %s\n", is_wrapper ? "--wrapper" : "--source-path",
		e.text);
	return e.code == ERR_USAGE ? STATUS_USAGE : STATUS_FAILED;
}

static int take_option(int option, const char *value, struct request *r)
{
	static const char *const levels[] = {"ascii", "block", "braille"};
	static const char *const whens[] = {"auto", "always", "never"};
	int word;
	switch (option) {
	case OPT_GLYPHS:
		if (!word_of(value, levels, 3, &word))
			return bad_usage("--glyphs is braille, block or ascii, not", value);
		r->browser.glyphs = (enum glyphs)word;
		r->has_glyphs = true;
		return 0;
	case OPT_COLOUR:
		if (!word_of(value ? value : "always", whens, 3, &word))
			return bad_usage("--color is auto, always or never, not", value);
		r->term.colour = (enum term_colour)word;
		return 0;
	case OPT_PLAIN:
		r->browser.is_plain = true;
		return 0;
	case OPT_NO_MOUSE:
		r->term.has_mouse = false;
		return 0;
	case OPT_FOLLOW:
		r->follows = true;
		return 0;
	case OPT_NO_STATE:
		r->keeps_no_state = true;
		return 0;
	case OPT_WRAPPER:
	case OPT_SOURCE_PATH:
		return take_setting(option, value, r);
	case OPT_KEYS:
		r->script = value;
		if (value)
			return 0;
		break;
	default:
		break;
	}
	r->is_done = true;
	if (option == 'h')
		fputs(usage, stdout);
	else
		print_keys(option == OPT_ROFF);
	return 0;
}

static int parse(int argc, char **argv, struct request *r)
{
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
		if (option == ':')
			return bad_usage("this option needs a value:", argv[optind - 1]);
		if (option == '?')
			return bad_usage("unknown option", argv[optind - 1]);
		int status = take_option(option, optarg, r);
		if (status || r->is_done)
			return status;
	}
	int count = argc - optind;
	if (!count)
		return bad_usage("no profile was named to", "neap-browse");
	if (count > 2)
		return bad_usage("two profiles at most, but there is", argv[optind + 2]);
	r->browser.paths = (const char *const *)(argv + optind);
	r->browser.path_count = (size_t)count;
	return 0;
}

static void choose_glyphs(struct request *r)
{
	if (r->has_glyphs)
		return;
	bool is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	const char *name = getenv("TERM");
	bool is_console = name && !strcmp(name, "linux"); /* its font has no braille */
	r->browser.glyphs = !is_utf8 ? GLYPHS_ASCII : is_console ? GLYPHS_BLOCK : GLYPHS_BRAILLE;
}

static int fail(const struct err *e)
{
	fprintf(stderr, "neap: %s\n", e->text);
	return e->code == ERR_IO || e->code == ERR_FORMAT ? STATUS_FILE : STATUS_FAILED;
}

/* ---- with and without a terminal -------------------------------------------------------- */

static enum neap_err read_script(const char *path, struct buf *out, struct err *e)
{
	char part[4096];
	size_t got;
	FILE *in = fopen(path, "re");
	if (!in)
		return err_sys(e, errno, "read", path);
	while ((got = fread(part, 1, sizeof part, in)) && out->count_bytes < SCRIPT_MOST)
		buf_put(out, part, got);
	enum neap_err code = ferror(in) ? err_sys(e, errno, "read", path) : NEAP_OK;
	fclose(in);
	return out->has_failed ? err_nomem(e, "the script") : code;
}

static int run_script(struct browser *b, const char *path)
{
	struct buf text = {0};
	struct err e = {0};
	enum neap_err code = read_script(path, &text, &e);
	if (!code)
		code = script_run(b, path, text.data ? text.data : "", text.count_bytes, &e);
	buf_release(&text);
	return code ? fail(&e) : 0;
}

static bool draw(struct browser *b)
{
	unsigned rows, cols;
	term_size(&rows, &cols);
	if (!browser_draw(b, rows, cols))
		return false;
	if (b->wants_redraw) {
		term_redraw();
		b->wants_redraw = false;
	}
	term_draw(&b->grid);
	if (b->clipboard.count_bytes && !b->clipboard.has_failed)
		term_copy(b->clipboard.data, b->clipboard.count_bytes);
	buf_clear(&b->clipboard);
	return true;
}

/* ---- long work ---------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct watch {
	int64_t looked_ms;
	struct browser *b; /* NULL: still to be made */
	const char *hold;  /* for tests: work lasts while that file is there; NULL: none */
};

static bool look_at_terminal(const struct watch *w)
{
	if (!w->b)
		return term_stop_key();
	if (w->b->is_previewing)
		return term_has_input();
	return (w->b->stop_key = term_stop_key());
}

static bool is_held(const struct watch *w)
{
	static const struct timespec pause = {.tv_nsec = 1000000};
	if (!w->hold || access(w->hold, F_OK))
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* Asked often; the terminal is looked at now and then. */
static bool is_cancelled(void *arg)
{
	struct watch *w = arg;
	do {
		int64_t now = now_ms();
		if (now - w->looked_ms < LOOK_MS)
			continue;
		w->looked_ms = now;
		if (look_at_terminal(w))
			return true;
	} while (is_held(w));
	return false;
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static void run_editor(struct browser *b)
{
	struct err e = {0};
	if (term_run(b->editor.args, &e))
		browser_say(b, ROLE_ERROR, "%.400s", e.text);
	editor_release(&b->editor);
}

static bool run_loop(struct browser *b)
{
	struct input in;
	while (!b->wants_quit) {
		if (!draw(b))
			return false;
		if (!term_input(&in, follow_wait_ms(b)))
			break;
		term_busy("working", false);
		browser_input(b, &in);
		if (b->editor.count)
			run_editor(b);
	}
	return true;
}

/* Something to look at while the files are read. */
static void draw_reading(const struct request *r)
{
	const char *path = r->browser.paths[r->browser.path_count - 1];
	const char *slash = strrchr(path, '/');
	struct grid g = {.glyphs = r->browser.glyphs};
	char what[80];
	struct stat st;
	unsigned rows, cols;
	snprintf(what, sizeof what, "reading %.60s", slash ? slash + 1 : path);
	term_size(&rows, &cols);
	if (!stat(path, &st) && st.st_size >= LARGE_BYTES && grid_resize(&g, rows, cols)) {
		const struct area all = grid_area(&g);
		char size[FMT_BYTES];
		unsigned col = area_put(&all, 0, 1, look_bold(ROLE_TITLE), "neap") + 2;
		col = area_put(&all, 0, col, look(ROLE_TITLE), what + strlen("reading ")) + 2;
		area_printf(&all, 0, col, look(ROLE_DIM), "%s, is being read",
			    fmt_bytes(size, sizeof size, st.st_size));
		term_draw(&g);
	}
	grid_release(&g);
	term_busy(what, true);
}

/* What is known before the first query, if that may take time. */
static void draw_early(struct browser *b, int64_t begin_ms)
{
	unsigned rows, cols;
	term_size(&rows, &cols);
	if (now_ms() - begin_ms >= SLOW_MS && browser_draw_early(b, rows, cols))
		term_draw(&b->grid);
	term_busy("adding up", false);
}

static int run_browser(struct browser *b, const struct request *r, int64_t begin_ms)
{
	struct err e = {0};
	b->grid.is_mono = !term_has_colours();
	if (!r->keeps_no_state)
		saved_read(b);
	follow_begin(b, r->follows);
	draw_early(b, begin_ms);
	bool is_good = run_loop(b);
	term_close();
	if (!is_good)
		fputs("neap: out of memory\n", stderr);
	/* Not kept is not failed: there may be no room, or no home. */
	if (!r->keeps_no_state && saved_write(b, &e) && e.code != ERR_ABSENT)
		fprintf(stderr, "neap: the view and the bookmarks are not kept: %s\n", e.text);
	return is_good ? 0 : STATUS_FAILED;
}

static int run_terminal(struct request *r, struct watch *w)
{
	struct browser *b = NULL;
	struct err e = {0};
	int64_t begin_ms = now_ms();
	/* The terminal is not entered for what is not there. */
	for (size_t i = 0; i < r->browser.path_count; i++) {
		if (access(r->browser.paths[i], R_OK)) {
			err_sys(&e, errno, "read", r->browser.paths[i]);
			return fail(&e);
		}
	}
	if (term_open(&r->term, &e))
		return fail(&e);
	draw_reading(r);
	if (browser_new(&r->browser, &b, &e)) {
		term_close();
		return fail(&e);
	}
	w->b = b;
	r->fetch.b = b;
	int status = run_browser(b, r, begin_ms);
	w->b = NULL;
	browser_free(b);
	return status;
}

static int run_keys(const struct request *r)
{
	struct browser *b = NULL;
	struct err e = {0};
	if (browser_new(&r->browser, &b, &e))
		return fail(&e);
	int status = run_script(b, r->script);
	browser_free(b);
	return status;
}

/*
 * One heap, which keeps what it got, in pages of 2 MiB where they may be had: half of the time to
 * the first screen of a large profile went into page faults.  All of it is advice.
 */
static void settle_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 512 << 20);
	mallopt(M_TOP_PAD, HEAP_BEGIN_BYTES);
	void *first = mem_alloc(1);
	mallopt(M_TOP_PAD, 1 << 20);
	uintptr_t start = ((uintptr_t)first + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
	uintptr_t end = (uintptr_t)sbrk(0) & ~(HUGE_PAGE_BYTES - 1);
	if (first && start < end && end - start <= HEAP_BEGIN_BYTES)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
	mem_free(first);
}

int main(int argc, char **argv)
{
	struct watch watch = {.hold = getenv("NEAP_TEST_HOLD")};
	struct query_options query = {
		.open = exchange_open,
		.cursor_ns = UINT64_MAX,
		.is_cancelled = is_cancelled,
		.arg = &watch,
	};
	struct request r = {.browser = {.query = &query}, .term = {.has_mouse = true}};
	settle_heap();
	setlocale(LC_CTYPE, "");
	struct err e = {0};
	int status = parse(argc, argv, &r);
	if (!status && !r.is_done && settings_load(&r.settings, &e))
		status = fail(&e);
	if (status || r.is_done) {
		settings_release(&r.settings);
		return status;
	}
	query.wrappers = r.settings.wrappers;
	r.browser.sources = &r.settings.sources;
	if (debuginfod_is_set_up()) {
		r.browser.fetch_source = fetch_source;
		r.browser.fetch_context = &r.fetch;
	}
	choose_glyphs(&r);
	r.browser.is_mono = r.term.colour == TERM_COLOUR_NEVER;
	status = r.script ? run_keys(&r) : run_terminal(&r, &watch);
	fetch_release(&r.fetch);
	settings_release(&r.settings);
	if (term_signal()) {
		signal(term_signal(), SIG_DFL);
		raise(term_signal());
	}
	return status;
}
