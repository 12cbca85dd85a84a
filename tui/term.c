/*
 * Curses: keys and the mouse as inputs, and what the commands of the terminal look like; paint.c
 * says what to write.  The one window of curses is drawn when the terminal is entered, empty, and
 * keys are read from a pad, so that curses never writes by itself.  Signals: those that end the
 * program are noted and make term_input return; the fatal ones put the terminal back with what
 * was prepared for them, using nothing but write and tcsetattr.
 */
#include "config.h"

#include "tui/term.h"

#include "src/base/buf.h"
#include "tui/paint.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define ESCAPE_DELAY_MS 50
#define MOUSE_ON        "\033[?1002h" /* motion while a button is down; curses asks for presses */
#define MOUSE_OFF       "\033[?1002l"
#define NO_BLENDING     (2 | 16) /* bits of ncv: underlined, dim */
#define WRITE_WAIT_MS   1000
#define DOUBLE_CLICK_NS 400000000ll
#define AHEAD_MOST      1024u /* keys typed while something is worked on */
#define BUSY_FIRST_MS   150   /* until long work says so, */
#define BUSY_NEXT_MS    200   /* and says it again */
#define END_TICKS       5     /* so often, after the signal to end, work may go on */
#define SILENT_READS    3     /* readable, but nothing comes: the terminal is gone */

/* There is one terminal, and handlers of signals have no other way to their data. */
static struct {
	bool is_open, has_mouse;
	WINDOW *keys; /* where they are read from */
	struct paint paint;
	struct input ahead[AHEAD_MOST];
	unsigned ahead_count;
	struct {
		char text
			[160]; /* goes to the last row, what is worked on, and leaves room for a time */
		size_t text_bytes;
		char end[48]; /* what stops it, and clears the rest of the row */
		size_t end_bytes;
		volatile sig_atomic_t ticks,
			end_ticks; /* of the timer; ticks 0: nothing was written */
		volatile sig_atomic_t is_on, ends_at_once;
	} busy;
	struct termios before;
	char strings[1024]; /* of terminfo, one behind the other */
	size_t string_bytes;
	char restore[256]; /* leaves the screen of the program */
	size_t restore_bytes;
	int64_t press_ns;
	unsigned press_row, press_col;
} term;
static volatile sig_atomic_t ended_by, was_interrupted, wants_stop;

/* A terminal that takes nothing, stopped by Ctrl-S say, does not keep the program from its end. */
static void write_all(const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t count = write(STDOUT_FILENO, text, bytes);
		if (count >= 0) {
			text += count;
			bytes -= (size_t)count;
		} else if (errno == EAGAIN) {
			struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
			poll(&fd, 1, WRITE_WAIT_MS);
			if (ended_by)
				return;
		} else if (errno != EINTR || ended_by) {
			return;
		}
	}
}

static void write_text(const char *text)
{
	write_all(text, strlen(text));
}

/* ---- signals -------------------------------------------------------------------------------- */

static void end_by(int signal);

static void on_end(int signal)
{
	if (signal == SIGINT && term.busy.is_on && (was_interrupted || term.busy.ends_at_once))
		end_by(signal);
	else if (signal == SIGINT)
		was_interrupted = 1;
	else if (signal == SIGTSTP)
		wants_stop = 1;
	else
		ended_by = signal;
}

static void restore_all(void)
{
	if (term.restore_bytes) {
		ssize_t ignored = write(STDOUT_FILENO, term.restore, term.restore_bytes);
		(void)ignored;
		tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
	}
}

static void on_fatal(int signal)
{
	restore_all();
	raise(signal); /* SA_RESETHAND: as if there had been no handler */
}

/* In the handler of a signal, at once. */
static void end_by(int signal)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t only;
	restore_all();
	sigemptyset(&usual.sa_mask);
	sigaction(signal, &usual, NULL);
	sigemptyset(&only);
	sigaddset(&only, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
}

static char *put_digits(char *at, unsigned n)
{
	char digits[12];
	unsigned count = 0;
	do {
		digits[count++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (count)
		*at++ = digits[--count];
	return at;
}

/* Work goes on and on: nothing but what was prepared, and write. */
static void on_busy(int signal)
{
	char text[sizeof term.busy.text + 64], *at = text;
	int errnum = errno;
	unsigned ticks = (unsigned)term.busy.ticks;
	(void)signal;
	if (ended_by && ++term.busy.end_ticks > END_TICKS)
		end_by((int)ended_by);
	unsigned tenths = (BUSY_FIRST_MS + ticks * BUSY_NEXT_MS) / 100;
	term.busy.ticks = (sig_atomic_t)ticks + 1;
	memcpy(at, term.busy.text, term.busy.text_bytes);
	at = put_digits(at + term.busy.text_bytes, tenths / 10);
	*at++ = '.';
	at = put_digits(at, tenths % 10);
	memcpy(at, term.busy.end, term.busy.end_bytes);
	at += term.busy.end_bytes;
	ssize_t ignored = write(STDOUT_FILENO, text, (size_t)(at - text));
	(void)ignored;
	errno = errnum;
}

static void catch_signals(void)
{
	static const int ends[] = {SIGTERM, SIGHUP, SIGINT, SIGTSTP};
	static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT};
	struct sigaction act = {.sa_handler = on_end};
	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		sigaction(ends[i], &act, NULL);
	act.sa_handler = on_busy;
	act.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &act, NULL);
	act.sa_handler = on_fatal;
	act.sa_flags = SA_RESETHAND | SA_NODEFER;
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		sigaction(fatal[i], &act, NULL);
}

int term_signal(void)
{
	return ended_by;
}

/*
 * Of terminfo, NULL where the terminal has none.  Without pauses for terminals of paper and glass,
 * such as $<5>.
 */
static const char *command_of(const char *name)
{
	const char *text = tigetstr(name);
	size_t used = term.string_bytes;
	if (!text || text == (const char *)-1)
		return NULL;
	char *copy = term.strings + used;
	for (; *text && used + 1 < sizeof term.strings; text++) {
		const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;
		if (end)
			text = end;
		else
			term.strings[used++] = *text;
	}
	if (*text || used + 1 >= sizeof term.strings)
		return NULL;
	term.strings[used++] = '\0';
	term.string_bytes = used;
	return copy;
}

static void add_restore(const char *text)
{
	size_t bytes = text ? strlen(text) : 0;
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
	write_text(MOUSE_ON);
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

static const char *expand(const char *command, int first, int second)
{
	const char *text = tparm(command, (long)first, (long)second, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
	return text ? text : "";
}

static void learn_colours(struct paint *p)
{
	int count = tigetnum("colors");
	p->commands[PAINT_FRONT] = command_of("setaf");
	p->commands[PAINT_BEHIND] = command_of("setab");
	if (count < 8 || !p->commands[PAINT_FRONT] || !p->commands[PAINT_BEHIND])
		return;
	p->colours = count;
	p->commands[PAINT_NO_COLOURS] = command_of("op");
	p->cannot_blend = tigetnum("ncv") > 0 && (tigetnum("ncv") & NO_BLENDING);
}

static void learn_commands(bool wants_colours)
{
	static const struct {
		enum paint_command command;
		const char *name;
	} names[] = {{PAINT_PLACE, "cup"},    {PAINT_CLEAR, "clear"},   {PAINT_PLAIN, "sgr0"},
		     {PAINT_CLEAR_ROW, "el"}, {PAINT_ERASE, "ech"},     {PAINT_FORWARD, "cuf"},
		     {PAINT_COLUMN, "hpa"},   {PAINT_DOWN, "cud1"},     {PAINT_BACK, "cub1"},
		     {PAINT_BOLD, "bold"},    {PAINT_DIM, "dim"},       {PAINT_UNDERLINE, "smul"},
		     {PAINT_REVERSE, "rev"},  {PAINT_NOT_REVERSE, NULL}};
	struct paint *p = &term.paint;
	*p = (struct paint){.expand = expand};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		p->commands[names[i].command] = names[i].name ? command_of(names[i].name) : NULL;
	/* It sets the character set too, which never changes here. */
	const char *plain = p->commands[PAINT_PLAIN], *reverse = p->commands[PAINT_REVERSE];
	if (plain && (!strcmp(plain, "\033(B\033[m") || !strcmp(plain, "\033[m\017")))
		p->commands[PAINT_PLAIN] = "\033[m";
	/* Standing out is reverse on most terminals, and its end is the end of reverse then. */
	const char *standout = command_of("smso");
	if (!reverse)
		p->commands[PAINT_REVERSE] = standout;
	if (standout && (!reverse || !strcmp(standout, reverse)))
		p->commands[PAINT_NOT_REVERSE] = command_of("rmso");
	p->is_corner_bad = tigetflag("am") > 0 && tigetflag("xenl") <= 0;
	if (wants_colours)
		learn_colours(p);
}

enum neap_err term_open(const struct term_options *o, struct err *e)
{
	int status = ERR;
	const char *name = getenv("TERM");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(e, ERR_UNSUPPORTED, "this is no terminal");
	if (setupterm(NULL, STDOUT_FILENO, &status) != OK || !tigetstr("cup") ||
	    tigetstr("cup") == (char *)-1)
		return err_set(e, ERR_UNSUPPORTED,
			       "the terminal '%s' cannot place a cursor, as far as terminfo "
			       "knows; neap report shows the profile as text",
			       name ? name : "");
	tcgetattr(STDIN_FILENO, &term.before);
	set_escdelay(ESCAPE_DELAY_MS);
	del_curterm(cur_term); /* initscr makes its own */
	if (!initscr())
		return err_set(e, ERR_UNSUPPORTED, "cannot use the terminal '%s'",
			       name ? name : "");
	term.is_open = true;
	cbreak();
	noecho();
	nonl();
	term.keys = newpad(1, 1);
	if (!term.keys) {
		endwin();
		return err_nomem(e, "the terminal");
	}
	keypad(term.keys, TRUE);
	nodelay(term.keys, TRUE);
	define_keys();
	learn_commands(wants_colour(o->colour));
	refresh();
	add_restore(command_of("sgr0"));
	add_restore(command_of("cnorm"));
	add_restore(command_of("rmkx"));
	if (o->has_mouse && command_of("kmous"))
		open_mouse();
	add_restore(command_of("rmcup"));
	catch_signals();
	return NEAP_OK;
}

static void leave(void)
{
	if (term.has_mouse)
		write_text(MOUSE_OFF);
	endwin();
}

static void come_back(void)
{
	reset_prog_mode();
	clearok(curscr, TRUE);
	refresh();
	if (term.has_mouse)
		write_text(MOUSE_ON);
	paint_forget(&term.paint);
	was_interrupted = 0;
}

static void set_timer(int first_ms, int next_ms)
{
	const struct itimerval t = {.it_value = {.tv_usec = first_ms * 1000},
				    .it_interval = {.tv_usec = next_ms * 1000}};
	setitimer(ITIMER_REAL, &t, NULL);
}

static void be_ready(void)
{
	if (!term.busy.is_on)
		return;
	set_timer(0, 0);
	term.busy.is_on = 0;
	if (term.busy.ticks)
		paint_lose_last_row(&term.paint);
}

void term_close(void)
{
	if (!term.is_open)
		return;
	be_ready();
	term.is_open = false;
	leave();
	delwin(term.keys);
	paint_release(&term.paint);
	term.restore_bytes = 0;
}

bool term_has_colours(void)
{
	return term.paint.colours > 0;
}

void term_size(unsigned *rows_out, unsigned *cols_out)
{
	int rows = getmaxy(stdscr), cols = getmaxx(stdscr);
	*rows_out = rows > 0 ? (unsigned)rows : 1;
	*cols_out = cols > 0 ? (unsigned)cols : 1;
}

/* ---- drawing ------------------------------------------------------------------------------------------ */

static void write_paint(void)
{
	if (!term.paint.out.has_failed)
		write_all(term.paint.out.data, term.paint.out.count_bytes);
	buf_clear(&term.paint.out);
}

void term_draw(const struct grid *g)
{
	be_ready();
	if (!paint_grid(&term.paint, g))
		paint_forget(&term.paint);
	write_paint();
}

void term_redraw(void)
{
	paint_forget(&term.paint);
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
	wants_stop = 0;
	leave();
	sigaction(SIGTSTP, &usual, &now);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	raise(SIGTSTP);
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGTSTP, &now, NULL);
	come_back();
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
			out->key = CODE_CANCEL;
			return true;
		}
		if (wants_stop) {
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
			ended_by = SIGHUP; /* which may still be on its way */
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
	while (has_read && term.ahead_count < AHEAD_MOST && poll(&fd, 1, 0) > 0 &&
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
	if (!was_interrupted && !ended_by)
		return take_stop();
	was_interrupted = 0;
	term.ahead_count = 0;
	return CODE_CANCEL;
}

bool term_has_input(void)
{
	if (term.is_open)
		look_ahead();
	return was_interrupted || ended_by || term.ahead_count;
}

void term_busy(const char *what, bool ends_at_once)
{
	struct paint *p = &term.paint;
	if (!term.is_open || !p->rows || !p->commands[PAINT_CLEAR_ROW])
		return;
	const char *place = p->expand(p->commands[PAINT_PLACE], (int)p->rows - 1, 0);
	int most = p->cols > 40 ? (int)p->cols - 40 : 0;
	int bytes = snprintf(term.busy.text, sizeof term.busy.text, "%s%s %.*s for ", place,
			     p->commands[PAINT_PLAIN], most < 80 ? most : 80, what);
	term.busy.text_bytes = bytes < (int)sizeof term.busy.text ? (size_t)bytes : 0;
	bytes = snprintf(term.busy.end, sizeof term.busy.end, " s; %s stops it%s",
			 ends_at_once ? "Ctrl-C" : "Esc", p->commands[PAINT_CLEAR_ROW]);
	term.busy.end_bytes = bytes < (int)sizeof term.busy.end ? (size_t)bytes : 0;
	term.busy.ticks = term.busy.end_ticks = 0;
	term.busy.ends_at_once = ends_at_once;
	term.busy.is_on = 1;
	set_timer(BUSY_FIRST_MS, BUSY_NEXT_MS);
}

/* ---- another program ------------------------------------------------------------------------------------------- */

/* The pipe says whether the program was started at all: it is closed by that. */
static void be_program(char *const *args, int tell)
{
	static const int caught[] = {SIGTERM, SIGHUP, SIGINT,  SIGABRT,  SIGSEGV, SIGBUS,
				     SIGFPE,  SIGILL, SIGQUIT, SIGWINCH, SIGTSTP};
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
	/* Ctrl-Z stops both, and the shell sees it. */
	struct sigaction usual = {.sa_handler = SIG_DFL}, on_stop;
	enum neap_err code;
	int tell[2];
	if (pipe2(tell, O_CLOEXEC))
		return err_sys(e, errno, "start", args[0]);
	leave();
	sigaction(SIGINT, &ignore, &on_int);
	sigaction(SIGQUIT, &ignore, &on_quit);
	sigaction(SIGTSTP, &usual, &on_stop);
	pid_t pid = fork();
	if (pid == 0)
		be_program(args, tell[1]);
	close(tell[1]);
	code = pid < 0 ? err_sys(e, errno, "start", args[0]) : wait_for(pid, tell[0], args[0], e);
	close(tell[0]);
	sigaction(SIGINT, &on_int, NULL);
	sigaction(SIGQUIT, &on_quit, NULL);
	sigaction(SIGTSTP, &on_stop, NULL);
	come_back();
	return code;
}

/* ---- clipboard ------------------------------------------------------------------------------------------------ */

void term_copy(const char *text, size_t bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct buf out = {0};
	buf_puts(&out, "\033]52;c;");
	for (size_t i = 0; i < bytes; i += 3) {
		uint32_t three = 0;
		for (size_t k = 0; k < 3; k++)
			three = three << 8 | (i + k < bytes ? (unsigned char)text[i + k] : 0);
		buf_putc(&out, digits[three >> 18]);
		buf_putc(&out, digits[three >> 12 & 63]);
		buf_putc(&out, i + 1 < bytes ? digits[three >> 6 & 63] : '=');
		buf_putc(&out, i + 2 < bytes ? digits[three & 63] : '=');
	}
	buf_putc(&out, '\a');
	if (!out.has_failed)
		write_all(out.data, out.count_bytes);
	buf_release(&out);
}
