/*
 * Curses: a grid on the screen, keys and the mouse as inputs.
 *
 * Curses itself writes only what differs from what it wrote before.  Signals: those that end the
 * program are noted and make term_input return; the fatal ones put the terminal back with what
 * was prepared for them, using nothing but write and tcsetattr.
 */
#include "config.h"

#include "tui/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define ESCAPE_DELAY_MS 50
#define DOUBLE_CLICK_NS 400000000ll
#define SILENT_READS    3 /* readable, but nothing comes: the terminal is gone */

/* There is one terminal, and handlers of signals have no other way to their data. */
static struct {
	bool is_open, has_mouse;
	int colours; /* 0: none */
	struct termios before;
	char restore[256]; /* leaves the screen of the program */
	size_t restore_bytes;
	int64_t press_ns;
	unsigned press_row, press_col;
} term;
static volatile sig_atomic_t ended_by, was_interrupted;

/* ---- signals -------------------------------------------------------------------------------- */

static void on_end(int signal)
{
	if (signal == SIGINT)
		was_interrupted = 1;
	else
		ended_by = signal;
}

static void on_fatal(int signal)
{
	if (term.restore_bytes) {
		ssize_t ignored = write(STDOUT_FILENO, term.restore, term.restore_bytes);
		(void)ignored;
		tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
	}
	raise(signal); /* SA_RESETHAND: as if there had been no handler */
}

static void catch_signals(void)
{
	static const int ends[] = {SIGTERM, SIGHUP, SIGINT};
	static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT};
	struct sigaction act = {.sa_handler = on_end};
	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		sigaction(ends[i], &act, NULL);
	act.sa_handler = on_fatal;
	act.sa_flags = SA_RESETHAND | SA_NODEFER;
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		sigaction(fatal[i], &act, NULL);
}

int term_signal(void)
{
	return ended_by;
}

static void add_restore(const char *text)
{
	size_t bytes = text && text != (char *)-1 ? strlen(text) : 0;
	if (term.restore_bytes + bytes > sizeof term.restore)
		return;
	memcpy(term.restore + term.restore_bytes, text ? text : "", bytes);
	term.restore_bytes += bytes;
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* Terminals send arrows in both forms, whatever terminfo says. */
static void define_keys(void)
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

static void open_mouse(void)
{
	mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED |
			  REPORT_MOUSE_POSITION,
		  NULL);
	mouseinterval(0);
	/* Motion while a button is down; curses asks for presses only. */
	fputs("\033[?1002h", stdout);
	add_restore("\033[?1002l\033[?1000l\033[?1006l");
	term.has_mouse = true;
}

static bool wants_colour(enum term_colour when)
{
	const char *no_colour = getenv("NO_COLOR");
	if (when == TERM_COLOUR_AUTO)
		return !(no_colour && *no_colour);
	return when == TERM_COLOUR_ALWAYS;
}

enum neap_err term_open(const struct term_options *o, struct err *e)
{
	int status = ERR;
	const char *name = getenv("TERM");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(e, ERR_UNSUPPORTED, "this is no terminal");
	if (setupterm(NULL, STDOUT_FILENO, &status) != OK || !tigetstr("cup") ||
	    tigetstr("cup") == (char *)-1)
		return err_set(e, ERR_UNSUPPORTED, "the terminal '%s' cannot place a cursor",
			       name ? name : "");
	tcgetattr(STDIN_FILENO, &term.before);
	set_escdelay(ESCAPE_DELAY_MS);
	if (!initscr())
		return err_set(e, ERR_UNSUPPORTED, "cannot use the terminal '%s'",
			       name ? name : "");
	term.is_open = true;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	if (wants_colour(o->colour) && has_colors()) {
		start_color();
		use_default_colors();
		term.colours = COLORS;
	}
	define_keys();
	add_restore(tigetstr("sgr0"));
	add_restore(tigetstr("cnorm"));
	add_restore(tigetstr("rmkx"));
	if (o->has_mouse)
		open_mouse();
	add_restore(tigetstr("rmcup"));
	catch_signals();
	return NEAP_OK;
}

void term_close(void)
{
	if (!term.is_open)
		return;
	term.is_open = false;
	if (term.has_mouse)
		fputs("\033[?1002l", stdout);
	endwin();
	term.restore_bytes = 0;
	fflush(stdout);
}

bool term_has_colours(void)
{
	return term.colours > 0;
}

void term_size(unsigned *rows_out, unsigned *cols_out)
{
	int rows = getmaxy(stdscr), cols = getmaxx(stdscr);
	*rows_out = rows > 0 ? (unsigned)rows : 1;
	*cols_out = cols > 0 ? (unsigned)cols : 1;
}

/* ---- colours -------------------------------------------------------------------------------------- */

/* One role on terminals of all kinds.  -1: as the terminal has it. */
struct ink {
	int rgb, of_256, of_16, of_8;
};

static const struct ink inks[ROLE_COUNT] = {
	[ROLE_TEXT] = {-1, -1, -1, -1},
	[ROLE_DIM] = {0x8a8f98, 245, 8, -1},
	[ROLE_STRONG] = {-1, -1, -1, -1},
	[ROLE_TITLE] = {-1, -1, -1, -1},
	[ROLE_CHIP] = {0x5fafd7, 74, 14, COLOR_CYAN},
	[ROLE_KEY] = {0x5fafd7, 74, 14, COLOR_CYAN},
	[ROLE_HEADING] = {0x8a8f98, 245, 8, -1},
	[ROLE_BAR] = {0x5f87af, 67, 12, COLOR_BLUE},
	[ROLE_MATCH] = {0xffd75f, 221, 11, COLOR_YELLOW},
	[ROLE_WARNING] = {0xffaf5f, 215, 11, COLOR_YELLOW},
	[ROLE_ERROR] = {0xff5f5f, 203, 9, COLOR_RED},
	[ROLE_CHART] = {0x5f87af, 67, 12, COLOR_BLUE},
	[ROLE_PEAK] = {0xff8787, 210, 9, COLOR_RED},
	[ROLE_MARK] = {0xd7af5f, 179, 3, COLOR_YELLOW},
	[ROLE_CURSOR] = {0xffffff, 231, 15, COLOR_WHITE},
	[ROLE_RSS] = {0xd0d0d0, 252, 7, COLOR_WHITE},
	[ROLE_GREW] = {0xff8787, 210, 9, COLOR_RED},
	[ROLE_SHRANK] = {0x87d787, 114, 10, COLOR_GREEN},
	[ROLE_OTHER] = {0x6c6f75, 242, 8, COLOR_WHITE},
	[ROLE_SERIES + 0] = {0x5f87d7, 68, 4, COLOR_BLUE},
	[ROLE_SERIES + 1] = {0xd78700, 172, 3, COLOR_YELLOW},
	[ROLE_SERIES + 2] = {0x5faf5f, 71, 2, COLOR_GREEN},
	[ROLE_SERIES + 3] = {0xd75f87, 168, 1, COLOR_RED},
	[ROLE_SERIES + 4] = {0x8787d7, 104, 5, COLOR_MAGENTA},
	[ROLE_SERIES + 5] = {0x5fafaf, 73, 6, COLOR_CYAN},
	[ROLE_SERIES + 6] = {0xd7d75f, 185, 11, COLOR_YELLOW},
	[ROLE_SERIES + 7] = {0xd787d7, 176, 13, COLOR_MAGENTA},
};

static int ink_of(unsigned role)
{
	const struct ink *ink = &inks[role < ROLE_COUNT ? role : ROLE_TEXT];
	if (term.colours >= 1 << 24)
		return ink->rgb;
	if (term.colours >= 256)
		return ink->of_256;
	return term.colours >= 16 ? ink->of_16 : ink->of_8;
}

static attr_t attributes_of(struct look look)
{
	attr_t attr = A_NORMAL;
	if (look.flags & LOOK_BOLD)
		attr |= A_BOLD;
	if (look.flags & LOOK_UNDERLINE)
		attr |= A_UNDERLINE;
	if (look.flags & LOOK_REVERSE)
		attr |= A_REVERSE;
	/* With few colours, what stands out does so by weight. */
	if (term.colours < 16 && look.role == ROLE_DIM)
		attr |= A_DIM;
	if (term.colours < 16 && look.role == ROLE_STRONG)
		attr |= A_BOLD;
	if (!term.colours && look.back)
		attr |= A_REVERSE;
	return attr;
}

static int ink_on(int back)
{
	if (term.colours >= 1 << 24)
		return 0x101216;
	if (term.colours >= 256)
		return 233;
	bool is_dark =
		back == COLOR_BLUE || back == COLOR_RED || back == COLOR_MAGENTA || back == 8;
	return is_dark ? COLOR_WHITE : COLOR_BLACK;
}

static int pair_of(struct look look)
{
	if (!term.colours)
		return 0;
	int front = ink_of(look.role), back = look.back ? ink_of(look.back) : -1;
	if (front < 0 && back < 0)
		return 0;
	if (front < 0) /* text on a colour: dark on the light ones */
		front = ink_on(back);
	int pair = alloc_pair(front, back);
	return pair > 0 ? pair : 0;
}

/* ---- drawing ------------------------------------------------------------------------------------------ */

static void draw_cell(unsigned row, unsigned col, const struct cell *cell)
{
	wchar_t text[2 + CELL_MARKS] = {(wchar_t)cell->c};
	cchar_t c;
	int pair = pair_of(cell->look);
	for (unsigned i = 0; i < CELL_MARKS && cell->marks[i]; i++)
		text[1 + i] = (wchar_t)cell->marks[i];
	if (setcchar(&c, text, attributes_of(cell->look), 0, &pair) == OK)
		mvadd_wch((int)row, (int)col, &c);
}

void term_draw(const struct grid *g)
{
	erase();
	for (unsigned row = 0; row < g->rows; row++) {
		for (unsigned col = 0; col < g->cols; col++) {
			const struct cell *cell = &g->cells[(size_t)row * g->cols + col];
			if (cell->c && (cell->c != ' ' || cell->look.flags || cell->look.back))
				draw_cell(row, col, cell);
		}
	}
	move((int)g->cursor_row, (int)g->cursor_col);
	refresh();
}

void term_redraw(void)
{
	clearok(curscr, TRUE);
}

/* ---- input ------------------------------------------------------------------------------------------------ */

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
	int kind = get_wch(&key);
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

static bool next_input(struct input *out, int wait_ms, const sigset_t *let_in)
{
	unsigned silent = 0;
	*out = (struct input){.key = 0};
	for (;;) {
		bool has_read;
		if (ended_by)
			return false;
		if (was_interrupted) {
			was_interrupted = 0;
			out->key = 'c' - 0x60;
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
			ended_by = SIGHUP; /* which may still be on its way */
			return false;
		}
	}
}

bool term_input(struct input *out, int wait_ms)
{
	static const int signals[] = {SIGTERM, SIGHUP, SIGINT, SIGWINCH};
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

bool term_is_interrupted(void)
{
	bool was = was_interrupted;
	was_interrupted = 0;
	return was || ended_by;
}

void term_note(const char *text)
{
	if (!term.is_open)
		return;
	int row = getcury(stdscr), col = getcurx(stdscr);
	mvaddnstr(getmaxy(stdscr) - 1, 0, text, getmaxx(stdscr) - 1);
	clrtoeol();
	move(row, col);
	refresh();
}

/* ---- another program ------------------------------------------------------------------------------------------- */

static void leave(void)
{
	if (term.has_mouse)
		fputs("\033[?1002l", stdout);
	endwin();
	fflush(stdout);
}

static void come_back(void)
{
	reset_prog_mode();
	if (term.has_mouse)
		fputs("\033[?1002h", stdout);
	clearok(curscr, TRUE);
	refresh();
	was_interrupted = 0;
}

/* The pipe says whether the program was started at all: it is closed by that. */
static void be_program(char *const *args, int tell)
{
	static const int caught[] = {SIGTERM, SIGHUP, SIGINT, SIGABRT, SIGSEGV,
				     SIGBUS,  SIGFPE, SIGILL, SIGQUIT, SIGWINCH};
	for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
		signal(caught[i], SIG_DFL);
	execvp(args[0], args);
	int errnum = errno;
	ssize_t ignored = write(tell, &errnum, sizeof errnum);
	(void)ignored;
	_exit(127);
}

static enum neap_err wait_for(pid_t pid, int told, const char *name, struct err *e)
{
	int errnum = 0, status = 0;
	ssize_t got;
	while ((got = read(told, &errnum, sizeof errnum)) < 0 && errno == EINTR)
		;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (got == (ssize_t)sizeof errnum)
		return err_sys(e, errnum, "start", name);
	if (WIFSIGNALED(status))
		return err_set(e, ERR_UNSUPPORTED, "'%s' ended by signal %d", name,
			       WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_set(e, ERR_UNSUPPORTED, "'%s' ended with status %d", name,
			       WEXITSTATUS(status));
	return NEAP_OK;
}

enum neap_err term_run(char *const *args, struct err *e)
{
	/* Ctrl-C and Ctrl-\ are for the program that has the terminal. */
	struct sigaction ignore = {.sa_handler = SIG_IGN}, on_int, on_quit;
	enum neap_err code;
	int tell[2];
	if (pipe2(tell, O_CLOEXEC))
		return err_sys(e, errno, "start", args[0]);
	leave();
	sigaction(SIGINT, &ignore, &on_int);
	sigaction(SIGQUIT, &ignore, &on_quit);
	pid_t pid = fork();
	if (pid == 0)
		be_program(args, tell[1]);
	close(tell[1]);
	code = pid < 0 ? err_sys(e, errno, "start", args[0]) : wait_for(pid, tell[0], args[0], e);
	close(tell[0]);
	sigaction(SIGINT, &on_int, NULL);
	sigaction(SIGQUIT, &on_quit, NULL);
	come_back();
	return code;
}

/* ---- clipboard ------------------------------------------------------------------------------------------------ */

void term_copy(const char *text, size_t bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	fputs("\033]52;c;", stdout);
	for (size_t i = 0; i < bytes; i += 3) {
		uint32_t three = 0;
		for (size_t k = 0; k < 3; k++)
			three = three << 8 | (i + k < bytes ? (unsigned char)text[i + k] : 0);
		putchar(digits[three >> 18]);
		putchar(digits[three >> 12 & 63]);
		putchar(i + 1 < bytes ? digits[three >> 6 & 63] : '=');
		putchar(i + 2 < bytes ? digits[three & 63] : '=');
	}
	fputs("\a", stdout);
	fflush(stdout);
}
