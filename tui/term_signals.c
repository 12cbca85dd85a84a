/*
 * Signals.  Those that end the program are noted and make term_input return; the fatal ones put the
 * terminal back with what was prepared for them, using nothing but write and tcsetattr; that of the
 * timer says that work goes on, with nothing but write.
 */
#include "config.h"

#include "tui/term_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define BUSY_FIRST_MS 150 /* until long work says so, */
#define BUSY_NEXT_MS  200 /* and says it again */
#define END_TICKS     5   /* so often, after the signal to end, work may go on */

struct term_flags term_flags;

static void end_by(int signal);

static void on_end(int signal)
{
	if (signal == SIGINT && term.busy.is_on &&
	    (term_flags.was_interrupted || term.busy.ends_at_once))
		end_by(signal);
	else if (signal == SIGINT)
		term_flags.was_interrupted = 1;
	else if (signal == SIGTSTP)
		term_flags.wants_stop = 1;
	else
		term_flags.ended_by = signal;
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
	if (term_flags.ended_by && ++term.busy.end_ticks > END_TICKS)
		end_by((int)term_flags.ended_by);
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

void term_catch_signals(void)
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
	return term_flags.ended_by;
}

/* ---- long work ---------------------------------------------------------------------------- */

static void set_timer(int first_ms, int next_ms)
{
	const struct itimerval t = {.it_value = {.tv_usec = first_ms * 1000},
				    .it_interval = {.tv_usec = next_ms * 1000}};
	setitimer(ITIMER_REAL, &t, NULL);
}

void term_be_ready(void)
{
	if (!term.busy.is_on)
		return;
	set_timer(0, 0);
	term.busy.is_on = 0;
	if (term.busy.ticks)
		paint_lose_last_row(&term.paint);
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
