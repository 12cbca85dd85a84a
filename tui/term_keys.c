/* Keys and the mouse as inputs, as curses reads them; what is typed while something is worked on. */
#include "config.h"

#include "tui/term_priv.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DOUBLE_CLICK_NS 400000000ll
#define SILENT_READS    3 /* readable, but nothing comes: the terminal is gone */

/* Terminals send arrows in both forms, whatever terminfo says. */
void term_define_keys(void)
{
	static const struct {
		const char *text;
		int key;
	} more[] = {
		{"\033[A", KEY_UP},     {"\033OA", KEY_UP},     {"\033[B", KEY_DOWN},
		{"\033OB", KEY_DOWN},   {"\033[C", KEY_RIGHT},  {"\033OC", KEY_RIGHT},
		{"\033[D", KEY_LEFT},   {"\033OD", KEY_LEFT},   {"\033[H", KEY_HOME},
		{"\033OH", KEY_HOME},   {"\033[1~", KEY_HOME},  {"\033[F", KEY_END},
		{"\033OF", KEY_END},    {"\033[4~", KEY_END},   {"\033[5~", KEY_PPAGE},
		{"\033[6~", KEY_NPAGE}, {"\033[Z", KEY_BTAB},   {"\033[3~", KEY_DC},
		{"\033OP", KEY_F(1)},   {"\033[11~", KEY_F(1)}, {"\033OS", KEY_F(4)},
		{"\033[14~", KEY_F(4)},
	};
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
		define_key(more[i].text, more[i].key);
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool take_mouse(struct input *out)
{
	MEVENT ev;
	if (getmouse(&ev) != OK || ev.y < 0 || ev.x < 0)
		return false;
	struct mouse *m = &out->mouse;
	*m = (struct mouse){.row = (unsigned)ev.y, .col = (unsigned)ev.x};
	out->key = SPECIAL_MOUSE;
	if (ev.bstate & BUTTON4_PRESSED) {
		m->kind = MOUSE_WHEEL_UP;
	} else if (ev.bstate & BUTTON5_PRESSED) {
		m->kind = MOUSE_WHEEL_DOWN;
	} else if (ev.bstate & BUTTON1_RELEASED) {
		m->kind = MOUSE_RELEASE;
	} else if (ev.bstate & BUTTON1_PRESSED) {
		int64_t now = now_ns();
		bool is_same = m->row == term.press_row && m->col == term.press_col;
		bool is_double = is_same && now - term.press_ns < DOUBLE_CLICK_NS;
		m->kind = is_double ? MOUSE_DOUBLE : MOUSE_PRESS;
		term.press_ns = is_double ? 0 : now;
		term.press_row = m->row;
		term.press_col = m->col;
	} else {
		m->kind = MOUSE_DRAG;
	}
	return true;
}

static uint32_t key_of_curses(wint_t key)
{
	static const struct {
		wint_t curses;
		uint32_t key;
	} keys[] = {
		{KEY_UP, SPECIAL_UP},         {KEY_DOWN, SPECIAL_DOWN},
		{KEY_LEFT, SPECIAL_LEFT},     {KEY_RIGHT, SPECIAL_RIGHT},
		{KEY_PPAGE, SPECIAL_PAGE_UP}, {KEY_NPAGE, SPECIAL_PAGE_DOWN},
		{KEY_HOME, SPECIAL_HOME},     {KEY_END, SPECIAL_END},
		{KEY_IC, SPECIAL_INSERT},     {KEY_DC, SPECIAL_DELETE},
		{KEY_BTAB, SPECIAL_BACK_TAB}, {KEY_ENTER, CODE_ENTER},
		{KEY_RESIZE, SPECIAL_RESIZE}, {KEY_BACKSPACE, CODE_BACKSPACE},
	};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		if (keys[i].curses == key)
			return keys[i].key;
	}
	if (key >= (wint_t)KEY_F(1) && key <= (wint_t)KEY_F(12))
		return SPECIAL_F1 + (uint32_t)(key - (wint_t)KEY_F(1));
	return SPECIAL_LAST;
}

/* What curses has; false: nothing yet, or nothing of ours. */
static bool take_key(struct input *out, bool *has_read)
{
	wint_t key;
	int kind = wget_wch(term.keys, &key);
	*has_read = kind != ERR;
	if (kind == ERR)
		return false;
	if (kind == KEY_CODE_YES && key == KEY_MOUSE)
		return take_mouse(out);
	out->key = kind == KEY_CODE_YES ? key_of_curses(key) : (uint32_t)key;
	if (out->key == '\n')
		out->key = CODE_ENTER;
	if (out->key == 8)
		out->key = CODE_BACKSPACE;
	return out->key != SPECIAL_LAST;
}

/* For tests, which have to know when a screen is whole: a command that terminals ignore. */
static void say_idle(void)
{
	static const char mark[] = "\033]6973;idle\a";
	if (getenv("NEAP_TEST_IDLE")) {
		ssize_t ignored = write(STDOUT_FILENO, mark, sizeof mark - 1);
		(void)ignored;
	}
}

/* Signals are let in while it waits, and only then: one that came just before would be lost. */
static int wait_for_input(struct pollfd *fd, int wait_ms, const sigset_t *let_in)
{
	const struct timespec most = {.tv_sec = wait_ms / 1000,
				      .tv_nsec = wait_ms % 1000 * 1000000L};
	say_idle();
	return ppoll(fd, 1, wait_ms < 0 ? NULL : &most, let_in);
}

/* As a shell would have it: back at the terminal as it was, until the program goes on. */
static void stop_here(void)
{
	struct sigaction now, usual = {.sa_handler = SIG_DFL};
	sigset_t stop, before;
	term_flags.wants_stop = 0;
	term_leave();
	sigaction(SIGTSTP, &usual, &now);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	raise(SIGTSTP);
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGTSTP, &now, NULL);
	term_come_back();
}

static bool next_input(struct input *out, int wait_ms, const sigset_t *let_in)
{
	unsigned silent = 0;
	*out = (struct input){.key = 0};
	for (;;) {
		bool has_read;
		if (term_flags.ended_by)
			return false;
		if (term_flags.was_interrupted) {
			term_flags.was_interrupted = 0;
			out->key = CODE_CANCEL;
			return true;
		}
		if (term_flags.wants_stop) {
			stop_here();
			out->key = SPECIAL_RESIZE; /* draws all */
			return true;
		}
		if (term.ahead_count) {
			*out = term.ahead[0];
			memmove(term.ahead, term.ahead + 1,
				--term.ahead_count * sizeof term.ahead[0]);
			return true;
		}
		if (take_key(out, &has_read))
			return true;
		if (has_read)
			continue;
		struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
		int ready = wait_for_input(&fd, wait_ms, let_in);
		if (ready < 0 && errno != EINTR)
			return false;
		if (!ready) {
			out->key = SPECIAL_TICK;
			return true;
		}
		silent = ready > 0 ? silent + 1 : 0;
		if (silent > SILENT_READS ||
		    (ready > 0 && (fd.revents & (POLLERR | POLLHUP | POLLNVAL)))) {
			term_flags.ended_by = SIGHUP; /* which may still be on its way */
			return false;
		}
	}
}

bool term_input(struct input *out, int wait_ms)
{
	static const int signals[] = {SIGTERM, SIGHUP, SIGINT, SIGWINCH, SIGTSTP};
	sigset_t closed, let_in;
	sigemptyset(&closed);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaddset(&closed, signals[i]);
	sigprocmask(SIG_BLOCK, &closed, &let_in);
	bool is_good = next_input(out, wait_ms, &let_in);
	sigprocmask(SIG_SETMASK, &let_in, NULL);
	return is_good;
}

/* ---- long work ------------------------------------------------------------------------------------------------ */

/* What is typed meanwhile, for later. */
static void look_ahead(void)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	bool has_read = true;
	while (has_read && term.ahead_count < TERM_AHEAD_MOST && poll(&fd, 1, 0) > 0 &&
	       (fd.revents & POLLIN)) {
		struct input in = {.key = 0};
		if (take_key(&in, &has_read))
			term.ahead[term.ahead_count++] = in;
	}
}

/* What was typed before it was meant for what now does not come. */
static uint32_t take_stop(void)
{
	for (unsigned i = 0; i < term.ahead_count; i++) {
		uint32_t key = term.ahead[i].key;
		if (key != CODE_ESCAPE && key != CODE_CANCEL)
			continue;
		term.ahead_count -= i + 1;
		memmove(term.ahead, term.ahead + i + 1, term.ahead_count * sizeof term.ahead[0]);
		return key;
	}
	return 0;
}

uint32_t term_stop_key(void)
{
	if (term.is_open)
		look_ahead();
	if (!term_flags.was_interrupted && !term_flags.ended_by)
		return take_stop();
	term_flags.was_interrupted = 0;
	term.ahead_count = 0;
	return CODE_CANCEL;
}

bool term_has_input(void)
{
	if (term.is_open)
		look_ahead();
	return term_flags.was_interrupted || term_flags.ended_by || term.ahead_count;
}
