/*
 * browse - how fast the browser answers, and how much it writes, on a pseudo-terminal.
 *
 *   browse RUNS PROGRAM FILE...
 *
 * Plays the same keys through all views RUNS times, each time in a new process.  The program marks
 * when it waits for input because NEAP_TEST_IDLE is set; a key's time ends with that mark.  Prints
 *
 *   first MS                          from the start of the process to a screen with the curve over time
 *   whole MS CPU_MS BYTES             from there to the first screen with its rows
 *   key MS CPU_MS BYTES SCREEN NAME   for each key; of all runs the least of each number
 *   idle MS                           processor time while nothing happens for 3 s, largest of all
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROWS         40
#define COLS         120
#define WAIT_MOST_MS 60000
#define IDLE_MS      3000

#define DOWN  "\033[B"
#define UP    "\033[A"
#define RIGHT "\033[C"
#define LEFT  "\033[D"

/* Through all views; where a screen is named, its first key opens it. */
static const struct step {
	const char *screen, *name, *bytes;
} steps[] = {
	{"tree", "Down", DOWN},
	{"tree", "Down", DOWN},
	{"tree", "Up", UP},
	{"tree", "Left closes", LEFT},
	{"tree", "Right opens", RIGHT},
	{"tree", "PgDn", "\033[6~"},
	{"tree", "End", "G"},
	{"tree", "Home", "g"},
	{"tree", "e", "e"},
	{"tree", "E", "E"},
	{"tree", "Down", DOWN},
	{"tree", "C", "C"},
	{"tree", "i", "i"},
	{"tree", "Down", DOWN},
	{"tree", "Right opens", RIGHT},
	{"tree", "i", "i"},
	{"tree", "L", "L"},
	{"tree", "L", "L"},
	{"tree", "F", "F"},
	{"tree", "F", "F"},
	{"tree", "wheel", "\033[<65;9;20M"},
	{"tree", "press", "\033[<0;9;12M"},
	{"tree", "release", "\033[<0;9;12m"},
	{"table", "2", "2"},
	{"table", "Down", DOWN},
	{"table", "PgDn", "\033[6~"},
	{"table", ">", ">"},
	{"table", "<", "<"},
	{"table", "r", "r"},
	{"table", "K line", "K"},
	{"table", "K file", "K"},
	{"table", "K module", "K"},
	{"table", "K class", "K"},
	{"table", "K thread", "K"},
	{"table", "K size", "K"},
	{"table", "K api", "K"},
	{"table", "K func", "K"},
	{"table", "L", "L"},
	{"table", "End", "G"},
	{"table", "L", "L"},
	{"time", "3", "3"},
	{"time", "Right", RIGHT},
	{"time", "Right", RIGHT},
	{"time", "Left", LEFT},
	{"time", "Down", DOWN},
	{"time", "Enter", "\r"},
	{"time", "p", "p"},
	{"time", "v", "v"},
	{"time", "Left", LEFT},
	{"time", "v", "v"},
	{"time", "s", "s"},
	{"time", "U", "U"},
	{"flame", "4", "4"},
	{"flame", "Down", DOWN},
	{"flame", "Right", RIGHT},
	{"flame", "Enter", "\r"},
	{"flame", "i", "i"},
	{"flame", "U", "U"},
	{"source", "5", "5"},
	{"source", "Down", DOWN},
	{"source", "Right", RIGHT},
	{"source", ".", "."},
	{"sizes", "6", "6"},
	{"sizes", "Down", DOWN},
	{"sizes", "Right", RIGHT},
	{"threads", "7", "7"},
	{"threads", "Down", DOWN},
	{"modules", "8", "8"},
	{"modules", "Down", DOWN},
	{"run", "9", "9"},
	{"run", "Down", DOWN},
	{"tree", "1", "1"},
	{"callers", "c", "c"},
	{"callers", "Down", DOWN},
	{"callers", "Enter", "\r"},
	{"tree", "1", "1"},
	{"find", "/", "/"},
	{"find", "o", "o"},
	{"find", "p", "p"},
	{"find", "e", "e"},
	{"find", "Enter", "\r"},
	{"find", "n", "n"},
	{"filter", "\\", "\\"},
	{"filter", "v", "v"},
	{"filter", "e", "e"},
	{"filter", "c", "c"},
	{"filter", "Enter", "\r"},
	{"filter", "U", "U"},
	{"filter", "Ctrl-R", "\022"},
	{"filter", "U", "U"},
	{"zoom", "z", "z"},
	{"zoom", "U", "U"},
	{"query", ":", ":"},
	{"query", "Ctrl-U", "\025"},
	{"query", "l", "l"},
	{"query", "i", "i"},
	{"query", "v", "v"},
	{"query", "e", "e"},
	{"query", "space", " "},
	{"query", "a", "a"},
	{"query", "t", "t"},
	{"query", "space", " "},
	{"query", "5", "5"},
	{"query", "0", "0"},
	{"query", "%", "%"},
	{"query", "Enter", "\r"},
	{"population", "b", "b"},
	{"population", "b", "b"},
	{"population", "b", "b"},
	{"population", "b", "b"},
	{"population", "b", "b"},
	{"population", "b", "b"},
	{"help", "?", "?"},
	{"help", "Down", DOWN},
	{"help", "q", "q"},
};
#define STEP_COUNT (sizeof steps / sizeof steps[0])

struct sample {
	double ms, cpu_ms;
	size_t bytes;
};

static struct {
	pid_t pid;
	int terminal;
	size_t bytes, matched, early_matched;
	double early_ms; /* when the screen before the first query came; 0: not yet */
	bool is_idle;
} run;

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "browse: %s: %s\n", name, what);
	if (run.pid > 0)
		kill(run.pid, SIGKILL);
	exit(1);
}

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Looks for the mark across reads; it does not count as written. */
static void find_mark(const char *data, size_t bytes)
{
	static const char mark[] = "\033]6973;idle\a";
	static const char early[] = "adding up"; /* in place of the rows */
	run.bytes += bytes;
	for (size_t i = 0; i < bytes; i++) {
		run.early_matched = data[i] == early[run.early_matched] ? run.early_matched + 1
									: data[i] == early[0];
		if (run.early_matched == sizeof early - 1) {
			run.early_ms = run.early_ms > 0 ? run.early_ms : now_ms();
			run.early_matched = 0;
		}
		run.matched = data[i] == mark[run.matched] ? run.matched + 1 : data[i] == mark[0];
		if (run.matched == sizeof mark - 1) {
			run.is_idle = true;
			run.bytes -= sizeof mark - 1;
			run.matched = 0;
		}
	}
}

/* Processor time of the program so far. */
static double used_ms(void)
{
	char path[64];
	uint64_t ns = 0;
	snprintf(path, sizeof path, "/proc/%d/schedstat", (int)run.pid);
	FILE *in = fopen(path, "re");
	if (!in || fscanf(in, "%" SCNu64, &ns) != 1)
		fail("cannot be read", path);
	fclose(in);
	return (double)ns / 1e6;
}

static struct sample wait_idle(double since_ms, double used_before_ms, const char *name)
{
	while (!run.is_idle) {
		char data[65536];
		struct pollfd fd = {.fd = run.terminal, .events = POLLIN};
		if (poll(&fd, 1, WAIT_MOST_MS) <= 0)
			fail("no answer", name);
		ssize_t got = read(run.terminal, data, sizeof data);
		if (got <= 0)
			fail("the program ended", name);
		find_mark(data, (size_t)got);
	}
	double ms = now_ms() - since_ms;
	return (struct sample){ms, used_ms() - used_before_ms, run.bytes};
}

static struct sample start(char **args)
{
	struct winsize size = {.ws_row = ROWS, .ws_col = COLS};
	double since_ms = now_ms();
	run.is_idle = false;
	run.bytes = run.matched = run.early_matched = 0;
	run.early_ms = 0;
	run.pid = forkpty(&run.terminal, NULL, NULL, &size);
	if (run.pid == 0) {
		setenv("NEAP_TEST_IDLE", "1", 1);
		setenv("TERM", "xterm-256color", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		execv(args[0], args);
		_exit(127);
	}
	if (run.pid < 0)
		fail(strerror(errno), "no pseudo-terminal");
	return wait_idle(since_ms, 0, "first screen");
}

static struct sample play(const struct step *s)
{
	double used_before_ms = used_ms(), since_ms = now_ms();
	size_t bytes = strlen(s->bytes);
	run.is_idle = false;
	run.bytes = 0;
	if (write(run.terminal, s->bytes, bytes) != (ssize_t)bytes)
		fail(strerror(errno), s->name);
	return wait_idle(since_ms, used_before_ms, s->name);
}

static double be_idle(void)
{
	double before = used_ms();
	struct pollfd fd = {.fd = run.terminal, .events = POLLIN};
	if (poll(&fd, 1, IDLE_MS) > 0)
		fail("it writes while nothing happens", "idle");
	return used_ms() - before;
}

static void end(void)
{
	kill(run.pid, SIGTERM);
	close(run.terminal);
	waitpid(run.pid, NULL, 0);
}

static void keep_least(struct sample *least, struct sample s, bool is_first)
{
	if (is_first || s.ms < least->ms)
		least->ms = s.ms;
	if (is_first || s.cpu_ms < least->cpu_ms)
		least->cpu_ms = s.cpu_ms;
	if (is_first || s.bytes < least->bytes)
		least->bytes = s.bytes;
}

int main(int argc, char **argv)
{
	static struct sample whole, keys[STEP_COUNT];
	double idle_ms = 0, first_ms = 0;
	if (argc < 4) {
		fprintf(stderr, "usage: browse RUNS PROGRAM FILE...\n");
		return 2;
	}
	long runs = strtol(argv[1], NULL, 10);
	for (long i = 0; i < runs; i++) {
		double since_ms = now_ms();
		keep_least(&whole, start(argv + 2), i == 0);
		double early_ms = run.early_ms > 0 ? run.early_ms - since_ms : whole.ms;
		first_ms = i == 0 || early_ms < first_ms ? early_ms : first_ms;
		for (size_t k = 0; k < STEP_COUNT; k++)
			keep_least(&keys[k], play(&steps[k]), i == 0);
		double ms = be_idle();
		idle_ms = ms > idle_ms ? ms : idle_ms;
		end();
	}
	printf("first %.2f\n", first_ms);
	printf("whole %.2f %.2f %zu\n", whole.ms, whole.cpu_ms, whole.bytes);
	for (size_t k = 0; k < STEP_COUNT; k++)
		printf("key %.2f %.2f %zu %s %s\n", keys[k].ms, keys[k].cpu_ms, keys[k].bytes,
		       steps[k].screen, steps[k].name);
	printf("idle %.3f\n", idle_ms);
	return 0;
}
