/*
 * Curses: keys and the mouse as inputs, and what the commands of the terminal look like; paint.c
 * says what to write.  The one window of curses is drawn when the terminal is entered, empty, and
 * keys are read from a pad, so that curses never writes by itself.
 */
#include "config.h"

#include "tui/term_priv.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "src/base/buf.h"

#define ESCAPE_DELAY_MS 50
#define MOUSE_ON        "\033[?1002h" /* motion while a button is down; curses asks for presses */
#define MOUSE_OFF       "\033[?1002l"
#define NO_BLENDING     (2 | 16) /* bits of ncv: underlined, dim */
#define WRITE_WAIT_MS   1000

struct terminal term;

/* A terminal that takes nothing, stopped by Ctrl-S say, does not keep the program from its end. */
void term_write(const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t count = write(STDOUT_FILENO, text, bytes);
		if (count >= 0) {
			text += count;
			bytes -= (size_t)count;
		} else if (errno == EAGAIN) {
			struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
			poll(&fd, 1, WRITE_WAIT_MS);
			if (term_flags.ended_by)
				return;
		} else if (errno != EINTR || term_flags.ended_by) {
			return;
		}
	}
}

static void write_text(const char *text)
{
	term_write(text, strlen(text));
}

/* ---- opening ---------------------------------------------------------------------------------- */

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
	term_define_keys();
	learn_commands(wants_colour(o->colour));
	refresh();
	add_restore(command_of("sgr0"));
	add_restore(command_of("cnorm"));
	add_restore(command_of("rmkx"));
	if (o->has_mouse && command_of("kmous"))
		open_mouse();
	add_restore(command_of("rmcup"));
	term_catch_signals();
	return NEAP_OK;
}

void term_close(void)
{
	if (!term.is_open)
		return;
	term_be_ready();
	term.is_open = false;
	term_leave();
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

void term_leave(void)
{
	if (term.has_mouse)
		write_text(MOUSE_OFF);
	endwin();
}

void term_come_back(void)
{
	reset_prog_mode();
	clearok(curscr, TRUE);
	refresh();
	if (term.has_mouse)
		write_text(MOUSE_ON);
	paint_forget(&term.paint);
	term_flags.was_interrupted = 0;
}

/* ---- drawing ------------------------------------------------------------------------------------------ */

static void write_paint(void)
{
	if (!term.paint.out.has_failed)
		term_write(term.paint.out.data, term.paint.out.count_bytes);
	buf_clear(&term.paint.out);
}

void term_draw(const struct grid *g)
{
	term_be_ready();
	if (!paint_grid(&term.paint, g))
		paint_forget(&term.paint);
	write_paint();
}

void term_redraw(void)
{
	paint_forget(&term.paint);
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
		term_write(out.data, out.count_bytes);
	buf_release(&out);
}
