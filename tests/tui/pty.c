/*
 * The browser on a pseudo-terminal whose screen libvterm keeps.
 *
 *   pty SCRIPT PROGRAM [ARG]...
 *
 * The script says what the user and the system do; each line waits until the program waits for
 * input, which it marks because NEAP_TEST_IDLE is set.  There are no sleeps.
 *
 *   size ROWS COLUMNS   resize, with SIGWINCH
 *   bytes TEXT          send bytes: \e, \xHH and \\ are replaced
 *   until TEXT          wait until the screen shows it
 *   screen FILE         write the screen as text, spaces at the ends cut off
 *   golden FILE         the screen and its cursor must be as the file says; NEAP_GOLDEN_WRITE=1 writes it,
 *                       and prints what was there before beside it
 *   remember            keep the screen and its cursor in mind
 *   remembered          they must be as they were then, but for the last row, which has messages
 *   make FILE           make an empty file; with NEAP_TEST_HOLD=FILE all work lasts while it is there
 *   remove FILE         remove it
 *   meanwhile LINE      one of `bytes`, `until`, `make`, `remove`: at once, while the program works
 *   written MOST        fail if more bytes were written since the last `written` or key
 *   still               fail if the program uses the processor while nothing happens
 *   same                a redraw (Ctrl-L) must change nothing: what was written bit by bit is right,
 *                       text and colours
 *   monkey COUNT SEED   send keys, in part broken, mouse events and sizes at random; `same` after each tenth
 *   signal NAME         send TERM, HUP, ABRT, TSTP, CONT
 *   hangup              close the terminal
 *   ends HOW            wait for the end: a status, or the name of a signal; then the terminal
 *                       must be as before: modes, the normal screen, the cursor shown
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>
#include <vterm.h>

#define WAIT_MOST_MS 20000
#define STEP_MS      10
#define STILL_MS     300

static struct {
	pid_t pid; /* what stands for a shell: ends as the program does */
	pid_t program;
	int master, slave;
	struct termios before;
	VTerm *vt;
	VTermScreen *screen;
	int rows, cols;
	bool is_alternate, is_cursor_shown, has_mouse, is_idle;
	size_t written_bytes;
	char *remembered;
	const char *script;
	unsigned line;
} run;

static void fail(const char *fmt, ...)
{
	va_list ap;
	fprintf(stderr, "%s:%u: ", run.script, run.line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	if (run.program > 0)
		kill(run.program, SIGKILL);
	exit(1);
}

/* ---- the terminal ---------------------------------------------------------------------- */

static int on_property(VTermProp prop, VTermValue *value, void *arg)
{
	(void)arg;
	if (prop == VTERM_PROP_ALTSCREEN)
		run.is_alternate = value->boolean;
	if (prop == VTERM_PROP_CURSORVISIBLE)
		run.is_cursor_shown = value->boolean;
	if (prop == VTERM_PROP_MOUSE)
		run.has_mouse = value->number != VTERM_PROP_MOUSE_NONE;
	return 1;
}

static void open_screen(void)
{
	static const VTermScreenCallbacks callbacks = {.settermprop = on_property};
	run.vt = vterm_new(run.rows, run.cols);
	vterm_set_utf8(run.vt, 1);
	run.screen = vterm_obtain_screen(run.vt);
	run.is_cursor_shown = true;
	vterm_screen_enable_altscreen(run.screen, 1);
	vterm_screen_set_callbacks(run.screen, &callbacks, NULL);
	vterm_screen_reset(run.screen, 1);
}

/* Looks for the mark across reads. */
static void find_mark(const char *data, size_t bytes)
{
	static const char mark[] = "\033]6973;idle\a";
	static size_t matched;
	for (size_t i = 0; i < bytes; i++) {
		if (data[i] == mark[matched])
			matched++;
		else
			matched = data[i] == mark[0];
		if (matched == sizeof mark - 1) {
			run.is_idle = true;
			run.written_bytes -= sizeof mark - 1;
			matched = 0;
		}
	}
}

/* False: the other end is closed. */
static bool read_some(void)
{
	char data[65536];
	ssize_t got = read(run.master, data, sizeof data);
	if (got <= 0)
		return got < 0 && errno == EINTR;
	run.written_bytes += (size_t)got;
	vterm_input_write(run.vt, data, (size_t)got);
	find_mark(data, (size_t)got);
	return true;
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until the program waits; false: it ended first.  It may write all the time. */
static bool wait_idle(void)
{
	int64_t end_ms = now_ms() + WAIT_MOST_MS;
	while (!run.is_idle) {
		struct pollfd fd = {.fd = run.master, .events = POLLIN};
		int64_t left_ms = end_ms - now_ms();
		int ready = left_ms > 0 ? poll(&fd, 1, (int)left_ms) : 0;
		if (!ready)
			fail("the program does not wait for input after %d s", WAIT_MOST_MS / 1000);
		if (ready > 0 && !read_some())
			return false;
	}
	return true;
}

/* A program can only be stopped where a shell in its session could go on with it. */
static void be_shell(char **args, int tell)
{
	int status;
	signal(SIGHUP, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGHUP, SIG_DFL);
		signal(SIGTTOU, SIG_DFL);
		execv(args[0], args);
		_exit(127);
	}
	if (write(tell, &pid, sizeof pid) != (ssize_t)sizeof pid || waitpid(pid, &status, 0) != pid)
		_exit(126);
	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	_exit(126);
}

static void start(char **args)
{
	int tell[2];
	run.rows = 24;
	run.cols = 80;
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	open_screen();
	if (openpty(&run.master, &run.slave, NULL, NULL, &size) ||
	    tcgetattr(run.slave, &run.before))
		fail("no pseudo-terminal: %s", strerror(errno));
	if (pipe(tell))
		fail("no pipe: %s", strerror(errno));
	run.pid = fork();
	if (run.pid == 0) {
		close(run.master);
		close(tell[0]);
		setenv("NEAP_TEST_IDLE", "1", 1);
		if (login_tty(dup(run.slave)))
			_exit(126);
		be_shell(args, tell[1]);
	}
	close(tell[1]);
	if (run.pid < 0 ||
	    read(tell[0], &run.program, sizeof run.program) != (ssize_t)sizeof run.program)
		fail("cannot start the program: %s", strerror(errno));
	close(tell[0]);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void send_bytes(const char *text)
{
	char out[1024];
	size_t count = 0;
	for (; *text && count < sizeof out; text++) {
		unsigned code;
		if (text[0] != '\\') {
			out[count++] = *text;
		} else if (text[1] == 'e') {
			out[count++] = 27;
			text++;
		} else if (text[1] == 'x' && sscanf(text + 2, "%2x", &code) == 1) {
			out[count++] = (char)code;
			text += 3;
		} else if (text[1] == '\\') {
			out[count++] = *++text;
		} else {
			fail("what is \\%c?", text[1]);
		}
	}
	run.is_idle = false;
	run.written_bytes = 0;
	if (write(run.master, out, count) != (ssize_t)count)
		fail("cannot write to the terminal: %s", strerror(errno));
}

static size_t text_of_row(int row, char *text, size_t cap)
{
	const VTermRect rect = {row, row + 1, 0, run.cols};
	size_t bytes = vterm_screen_get_text(run.screen, text, cap, rect);
	while (bytes && (text[bytes - 1] == ' ' || !text[bytes - 1]))
		bytes--;
	return bytes;
}

static void write_screen(const char *path)
{
	FILE *out = fopen(path, "we");
	if (!out)
		fail("cannot write %s: %s", path, strerror(errno));
	for (int row = 0; row < run.rows; row++) {
		char text[8192];
		size_t bytes = text_of_row(row, text, sizeof text);
		fprintf(out, "%.*s\n", (int)bytes, text);
	}
	fclose(out);
}

/* What is to be compared: the text, where a row is reversed or coloured, and the cursor. */
static void put_golden(FILE *out, int rows)
{
	VTermPos cursor;
	vterm_state_get_cursorpos(vterm_obtain_state(run.vt), &cursor);
	for (int row = 0; row < rows; row++) {
		char text[8192], looks[1024];
		size_t bytes = text_of_row(row, text, sizeof text), end = 0;
		fprintf(out, "%.*s\n", (int)bytes, text);
		for (int col = 0; col < run.cols && col < (int)sizeof looks; col++) {
			const VTermPos at = {row, col};
			VTermScreenCell cell;
			vterm_screen_get_cell(run.screen, at, &cell);
			bool is_filled = !VTERM_COLOR_IS_DEFAULT_BG(&cell.bg);
			bool has_ink = cell.chars[0] && cell.chars[0] != ' ' &&
				       !VTERM_COLOR_IS_DEFAULT_FG(&cell.fg);
			looks[col] = cell.attrs.reverse ? '#'
				     : is_filled        ? '%'
				     : has_ink          ? '+'
							: ' ';
			if (looks[col] != ' ')
				end = (size_t)col + 1;
		}
		if (end)
			fprintf(out, "~%.*s\n", (int)end, looks);
	}
	fprintf(out, "cursor %d,%d\n", cursor.row, cursor.col);
}

static char *text_of_file(const char *path, size_t *bytes_out)
{
	char *text = calloc(1, 1 << 20);
	FILE *in = fopen(path, "re");
	*bytes_out = in && text ? fread(text, 1, (1 << 20) - 1, in) : 0;
	if (in)
		fclose(in);
	return text;
}

static void print_beside(const char *before, const char *now)
{
	while (*before || *now) {
		int left = (int)strcspn(before, "\n"), right = (int)strcspn(now, "\n");
		bool is_same = left == right && !memcmp(before, now, (size_t)left);
		fprintf(stderr, "%c was %.*s\n", is_same ? ' ' : '!', left, before);
		if (!is_same)
			fprintf(stderr, "! is  %.*s\n", right, now);
		before += left + (before[left] == '\n');
		now += right + (now[right] == '\n');
	}
}

static char *text_of_screen(int rows, size_t *bytes_out)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes_out);
	if (!out)
		fail("no memory");
	put_golden(out, rows);
	fclose(out);
	return text;
}

static void remember(void)
{
	size_t bytes;
	free(run.remembered);
	run.remembered = text_of_screen(run.rows - 1, &bytes);
}

static void be_remembered(void)
{
	size_t bytes;
	char *now = text_of_screen(run.rows - 1, &bytes);
	if (!run.remembered || strcmp(now, run.remembered) != 0) {
		print_beside(run.remembered ? run.remembered : "", now);
		fail("the screen is not as remembered");
	}
	free(now);
}

static void be_golden(const char *path)
{
	size_t now_bytes, before_bytes;
	char *now = text_of_screen(run.rows, &now_bytes);
	char *before = text_of_file(path, &before_bytes);
	bool is_same = before && before_bytes == now_bytes && !memcmp(before, now, now_bytes);
	if (!is_same && before)
		print_beside(before, now);
	if (!is_same && getenv("NEAP_GOLDEN_WRITE")) {
		FILE *out = fopen(path, "we");
		if (!out || fwrite(now, 1, now_bytes, out) != now_bytes || fclose(out))
			fail("cannot write %s: %s", path, strerror(errno));
	} else if (!is_same) {
		fail("the screen is not as %s has it", path);
	}
	free(before);
	free(now);
}

static bool is_shown(const char *text)
{
	for (int row = 0; row < run.rows; row++) {
		char line[8192];
		const VTermRect rect = {row, row + 1, 0, run.cols};
		size_t bytes = vterm_screen_get_text(run.screen, line, sizeof line - 1, rect);
		line[bytes] = '\0';
		if (strstr(line, text))
			return true;
	}
	return false;
}

static void wait_until(const char *text)
{
	int64_t end_ms = now_ms() + WAIT_MOST_MS;
	while (!is_shown(text)) {
		struct pollfd fd = {.fd = run.master, .events = POLLIN};
		if (now_ms() > end_ms)
			fail("the screen never shows '%s'", text);
		if (poll(&fd, 1, STEP_MS) > 0 && !read_some())
			fail("the program ended");
	}
}

static void resize(const char *text)
{
	if (sscanf(text, "%d %d", &run.rows, &run.cols) != 2)
		fail("size ROWS COLUMNS");
	struct winsize size = {.ws_row = (unsigned short)run.rows,
			       .ws_col = (unsigned short)run.cols};
	vterm_set_size(run.vt, run.rows, run.cols);
	run.is_idle = false;
	ioctl(run.master, TIOCSWINSZ, &size);
}

static bool is_stopped(void)
{
	char path[64], line[1024], state = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)run.program);
	FILE *in = fopen(path, "re");
	const char *after = in && fgets(line, sizeof line, in) ? strrchr(line, ')') : NULL;
	if (after)
		sscanf(after + 2, "%c", &state);
	if (in)
		fclose(in);
	return state == 'T';
}

static unsigned long ticks_used(void)
{
	char path[64], line[1024];
	unsigned long user = 0, kernel = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)run.program);
	FILE *in = fopen(path, "re");
	if (!in || !fgets(line, sizeof line, in))
		fail("cannot read %s", path);
	fclose(in);
	const char *after = strrchr(line, ')');
	if (!after || sscanf(after + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			     &user, &kernel) != 2)
		fail("cannot read %s", path);
	return user + kernel;
}

/* The only wait for a time: something that must not happen has no mark. */
static void be_still(void)
{
	unsigned long before = ticks_used();
	struct pollfd fd = {.fd = run.master, .events = POLLIN};
	if (poll(&fd, 1, STILL_MS) > 0)
		fail("the program writes while nothing happens");
	if (ticks_used() != before)
		fail("the program runs while nothing happens");
}

/* ---- the monkey ----------------------------------------------------------------------------- */

/* A letter for how each cell of a row looks. */
static size_t looks_of_row(int row, uint32_t *looks, size_t cap)
{
	size_t count = 0;
	for (int col = 0; col < run.cols && count < cap; col++) {
		const VTermPos at = {row, col};
		VTermScreenCell cell;
		vterm_screen_get_cell(run.screen, at, &cell);
		if (cell.chars[0] == (uint32_t)-1) { /* the right half of a wide one has none */
			looks[count++] = 0;
			continue;
		}
		bool is_blank = !cell.chars[0] || cell.chars[0] == ' ';
		uint32_t look = cell.attrs.reverse * 4u + cell.attrs.underline * 8u;
		if (!is_blank || cell.attrs.reverse)
			look = look * 512 + cell.fg.indexed.idx +
			       VTERM_COLOR_IS_DEFAULT_FG(&cell.fg) * 256u;
		if (!is_blank)
			look += cell.attrs.bold * 0x20000000u;
		looks[count++] = look * 2048 + cell.bg.indexed.idx +
				 VTERM_COLOR_IS_DEFAULT_BG(&cell.bg) * 256u;
	}
	return count;
}

static void be_same(void)
{
	static char before[200][4096];
	static uint32_t looks[200][400];
	static size_t bytes[200];
	for (int row = 0; row < run.rows && row < 200; row++) {
		bytes[row] = text_of_row(row, before[row], sizeof before[row]);
		looks_of_row(row, looks[row], 400);
	}
	send_bytes("\\x0c");
	if (!wait_idle())
		fail("the program ended");
	/* The last row had a message, until this key. */
	for (int row = 0; row + 1 < run.rows && row < 200; row++) {
		char text[4096];
		uint32_t look[400];
		size_t now = text_of_row(row, text, sizeof text);
		size_t cells = looks_of_row(row, look, 400);
		if (now != bytes[row] || memcmp(text, before[row], now) != 0)
			fail("row %d was '%.*s' and is, drawn anew, '%.*s'", row, (int)bytes[row],
			     before[row], (int)now, text);
		for (size_t col = 0; col < cells; col++) {
			if (look[col] != looks[row][col])
				fail("row %d, column %zu looked different before: '%.*s'", row, col,
				     (int)now, text);
		}
	}
}

static unsigned any(uint64_t *state, unsigned below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (unsigned)((*state >> 20) % below);
}

static void any_key(uint64_t *state)
{
	static const char keys[] =
		"\\e[A \\e[B \\e[C \\e[D \\eOA \\eOB \\eOC \\eOD \\e[5~ \\e[6~ \\e[H \\e[F \\e[1~ "
		"\\e[4~ "
		"\\e[Z \\eOP \\e[11~ \\e \\e[ \\e[9;9 \\x0d \\x09 \\x20 \\x7f \\x15 \\x12 "
		"\\x5c "
		"\\xe6\\xbc\\xa2 \\xe6 \\xff :live\\x20|\\x20by\\x20func\\x0d "
		"1 2 3 4 5 6 7 8 9 c i e E C L F K b z U r > / n ? p v a j k g G u [ ] m ' t d s";
	char event[64];
	if (any(state, 6)) {
		const char *from = keys + any(state, sizeof keys - 1);
		while (from > keys && from[-1] != ' ')
			from--;
		snprintf(event, sizeof event, "%.*s", (int)strcspn(from, " "), from);
		send_bytes(event);
		return;
	}
	static const unsigned buttons[] = {0, 0, 32, 64, 65};
	snprintf(event, sizeof event, "\\e[<%u;%u;%u%c", buttons[any(state, 5)],
		 1 + any(state, (unsigned)run.cols), 1 + any(state, (unsigned)run.rows),
		 any(state, 3) ? 'M' : 'm');
	send_bytes(event);
}

static void monkey(const char *text)
{
	unsigned long count, seed;
	if (sscanf(text, "%lu %lu", &count, &seed) != 2)
		fail("monkey COUNT SEED");
	uint64_t state = seed * 0x9e3779b97f4a7c15u | 1;
	for (unsigned long i = 0; i < count; i++) {
		if (any(&state, 20)) {
			any_key(&state);
		} else {
			char size[32]; /* another one, or there is no signal */
			snprintf(size, sizeof size, "%u %u", 1 + any(&state, 60),
				 (unsigned)run.cols % 150 + 1 + any(&state, 40));
			resize(size);
		}
		if (!wait_idle())
			fail("the program ended after %lu of the monkey's inputs", i + 1);
		if (i % 10 == 9)
			be_same();
	}
}

/* ---- signals and the end ------------------------------------------------------------------------ */

static int signal_number(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {{"TERM", SIGTERM}, {"HUP", SIGHUP},   {"ABRT", SIGABRT},
		       {"TSTP", SIGTSTP}, {"CONT", SIGCONT}, {"SEGV", SIGSEGV}};
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		if (!strcmp(signals[i].name, name))
			return signals[i].number;
	}
	fail("no signal is called %s", name);
	return 0;
}

static bool is_as_before(void)
{
	struct termios now;
	if (tcgetattr(run.slave, &now))
		fail("cannot look at the terminal: %s", strerror(errno));
	return now.c_iflag == run.before.c_iflag && now.c_oflag == run.before.c_oflag &&
	       now.c_lflag == run.before.c_lflag && now.c_cflag == run.before.c_cflag &&
	       !memcmp(now.c_cc, run.before.c_cc, sizeof now.c_cc);
}

static void check_restored(void)
{
	struct pollfd fd = {.fd = run.master, .events = POLLIN};
	while (poll(&fd, 1, 0) > 0 && (fd.revents & POLLIN) && read_some())
		;
	if (!is_as_before())
		fail("the modes of the terminal are not as before");
	if (run.is_alternate)
		fail("the normal screen is not shown again");
	if (!run.is_cursor_shown)
		fail("the cursor is hidden");
	if (run.has_mouse)
		fail("the mouse is still asked for");
}

static void send_signal(const char *name)
{
	int number = signal_number(name);
	run.is_idle = false;
	kill(run.program, number);
	if (number != SIGTSTP)
		return;
	for (int ms = 0; !is_stopped(); ms += STEP_MS) {
		struct pollfd fd = {.fd = run.master, .events = POLLIN};
		if (ms > WAIT_MOST_MS)
			fail("the program does not stop");
		if (poll(&fd, 1, STEP_MS) > 0)
			read_some();
	}
	check_restored();
	run.is_idle = true;
}

static void ends(const char *how)
{
	int status;
	pid_t ended;
	/* Our own end of the terminal is open too: its other end never reads as closed. */
	for (int ms = 0; !(ended = waitpid(run.pid, &status, WNOHANG)); ms += STEP_MS) {
		struct pollfd fd = {.fd = run.master, .events = POLLIN};
		if (poll(&fd, 1, STEP_MS) > 0 && run.master >= 0)
			read_some();
		if (ms > WAIT_MOST_MS)
			fail("the program does not end");
	}
	if (ended != run.pid)
		fail("cannot wait: %s", strerror(errno));
	run.pid = run.program = 0;
	if (how[0] >= '0' && how[0] <= '9') {
		if (!WIFEXITED(status) || WEXITSTATUS(status) != (int)strtol(how, NULL, 10))
			fail("it should end with %s, but ends with wait status %d", how, status);
	} else if (!WIFSIGNALED(status) || WTERMSIG(status) != signal_number(how)) {
		fail("it should end by %s, but ends with wait status %d", how, status);
	}
	if (run.master >= 0)
		check_restored();
}

static void make_file(const char *path)
{
	FILE *out = fopen(path, "we");
	if (!out || fclose(out))
		fail("cannot write %s: %s", path, strerror(errno));
}

static void remove_file(const char *path)
{
	if (unlink(path))
		fail("cannot remove %s: %s", path, strerror(errno));
}

static void hang_up(void)
{
	close(run.slave);
	close(run.master);
	run.master = -1;
}

static void run_line(char *line)
{
	char *rest = strchr(line, ' ');
	if (rest)
		*rest++ = '\0';
	else
		rest = line + strlen(line);
	bool is_end = !strcmp(line, "ends"), is_meanwhile = !strcmp(line, "meanwhile");
	if (is_meanwhile) {
		line = rest;
		rest = strchr(line, ' ');
		if (!rest)
			fail("meanwhile what?");
		*rest++ = '\0';
	}
	if (!is_end && !is_meanwhile && !wait_idle())
		fail("the program ended");
	if (!strcmp(line, "size"))
		resize(rest);
	else if (!strcmp(line, "bytes"))
		send_bytes(rest);
	else if (!strcmp(line, "until"))
		wait_until(rest);
	else if (!strcmp(line, "screen"))
		write_screen(rest);
	else if (!strcmp(line, "golden"))
		be_golden(rest);
	else if (!strcmp(line, "remember"))
		remember();
	else if (!strcmp(line, "remembered"))
		be_remembered();
	else if (!strcmp(line, "make"))
		make_file(rest);
	else if (!strcmp(line, "remove"))
		remove_file(rest);
	else if (!strcmp(line, "still"))
		be_still();
	else if (!strcmp(line, "same"))
		be_same();
	else if (!strcmp(line, "monkey"))
		monkey(rest);
	else if (!strcmp(line, "signal"))
		send_signal(rest);
	else if (!strcmp(line, "hangup"))
		hang_up();
	else if (is_end)
		ends(rest);
	else if (strcmp(line, "written") != 0)
		fail("what is '%s'?", line);
	else if (run.written_bytes > strtoul(rest, NULL, 10))
		fail("%zu bytes were written, more than %s", run.written_bytes, rest);
}

int main(int argc, char **argv)
{
	char line[1024];
	if (argc < 3) {
		fprintf(stderr, "usage: pty SCRIPT PROGRAM [ARG]...\n");
		return 2;
	}
	run.script = argv[1];
	FILE *in = fopen(argv[1], "re");
	if (!in)
		fail("cannot read it: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	start(argv + 2);
	while (fgets(line, sizeof line, in)) {
		run.line++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && line[0] != '#')
			run_line(line);
	}
	fclose(in);
	if (run.pid)
		fail("the program is still there: end with `ends`");
	vterm_free(run.vt);
	free(run.remembered);
	return 0;
}
