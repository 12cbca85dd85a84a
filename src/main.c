/* neap: find the subcommand and run it. */
#include "config.h"

#include "query/parse.h"
#include "src/cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the order of their use. */
static const struct cmd *const commands[] = {
	&cmd_record,    &cmd_browse, &cmd_report, &cmd_query,  &cmd_diff,
	&cmd_symbolize, &cmd_info,   &cmd_import, &cmd_export,
};
#define STACK_BYTES   ((size_t)8 << 20)
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static const struct cmd *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

int cmd_help(const struct cmd *c)
{
	fputs(c->usage, stdout);
	return cmd_finish(CMD_OK);
}

int cmd_bad_usage(const struct cmd *c, const char *fmt, ...)
{
	va_list ap;
	fprintf(stderr, "neap %s: ", c->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry 'neap %s --help'.\n", c->name);
	return CMD_USAGE;
}

int cmd_fail(const struct err *e)
{
	fprintf(stderr, "neap: %s\n", e->text);
	return e->code == ERR_USAGE ? CMD_USAGE : CMD_FAILED;
}

int cmd_fail_to_read(const struct err *e)
{
	cmd_fail(e);
	return e->code == ERR_NOMEM ? CMD_FAILED : CMD_UNREADABLE;
}

int cmd_finish(int status)
{
	bool has_failed = ferror(stdout) != 0;
	if (fflush(stdout))
		has_failed = true;
	if (!has_failed)
		return status;
	if (errno != EPIPE)
		fprintf(stderr, "neap: cannot write the output: %s\n", strerror(errno));
	return status ? status : CMD_FAILED;
}

static void print_overview(FILE *out)
{
	fputs("Usage: neap COMMAND [OPTION]... [ARG]...\n"
	      "\n"
	      "neap shows which call paths hold a program's memory.\n"
	      "\n",
	      out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs("  help       explain a command: neap help COMMAND\n"
	      "\n"
	      "Begin with:  neap record PROG ARGS\n"
	      "Then:        neap browse    or, as text, neap report\n",
	      out);
}

/* ---- neap help ------------------------------------------------------------------ */

/* Run man with its own output, or none; its exit status, -1 if it cannot be run. */
static int run_man(const char *option, const char *page)
{
	int status;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		int null = option ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
		if (null >= 0) {
			dup2(null, STDOUT_FILENO);
			dup2(null, STDERR_FILENO);
		}
		if (option)
			execlp("man", "man", option, page, (char *)NULL);
		else
			execlp("man", "man", page, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The manual page at a terminal, if it is installed; else the short text. */
static int explain(const char *name)
{
	const struct cmd *c = find_command(name);
	char page[64];
	if (!c) {
		fprintf(stderr, "neap: there is no command '%s'; neap --help lists them\n", name);
		return CMD_USAGE;
	}
	snprintf(page, sizeof page, "neap-%s", c->name);
	if (isatty(STDOUT_FILENO) && run_man("-w", page) == 0 && run_man(NULL, page) == 0)
		return CMD_OK;
	return cmd_help(c);
}

/*
 * One heap, which keeps what it got: the heap of a thread grows by a system call for each
 * page, and tables that double would each time be mapped, faulted in and unmapped anew.
 */
static void settle_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 512 << 20);
	mallopt(M_TOP_PAD, 1 << 20);
}

static int exit_status(int status)
{
	return status == CMD_DONE ? CMD_OK : status;
}

/* Threads read debug information, which needs room whatever `ulimit -s` says. */
static void settle_stacks(void)
{
	pthread_attr_t attr;
	size_t bytes;
	if (pthread_getattr_default_np(&attr))
		return;
	if (!pthread_attr_getstacksize(&attr, &bytes) && bytes < STACK_BYTES &&
	    !pthread_attr_setstacksize(&attr, STACK_BYTES))
		pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

/* `neap FILE` opens it; a pipe too. */
static bool is_file(const char *name)
{
	struct stat st;
	return name[0] != '-' && !stat(name, &st) && !S_ISDIR(st.st_mode);
}

static int say_unknown(const char *name)
{
	const char *words[COMMAND_COUNT + 1], *near;
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		words[i] = commands[i]->name;
	words[COMMAND_COUNT] = "help";
	near = query_near(name, strlen(name), words, COMMAND_COUNT + 1);
	fprintf(stderr, "neap: there is no %s '%s'",
		name[0] == '-'                ? "option"
		: strpbrk(name, "./") != NULL ? "file"
					      : "command and no file",
		name);
	if (near)
		fprintf(stderr, "; did you mean 'neap %s'?\n", near);
	else
		fprintf(stderr, "; neap --help lists the commands\n");
	return CMD_USAGE;
}

int main(int argc, char **argv)
{
	settle_heap();
	settle_stacks();
	setlocale(LC_CTYPE, "");
	const char *name = argc > 1 ? argv[1] : NULL;
	if (!name) {
		print_overview(stderr);
		return CMD_USAGE;
	}
	if (!strcmp(name, "help") && argc > 2)
		return explain(argv[2]);
	if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h")) {
		print_overview(stdout);
		return cmd_finish(CMD_OK);
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("neap " PACKAGE_VERSION);
		return cmd_finish(CMD_OK);
	}
	const struct cmd *c = find_command(name);
	if (c)
		return exit_status(c->run(argc - 1, argv + 1));
	if (is_file(name))
		return exit_status(cmd_browse_file(argc, argv));
	return say_unknown(name);
}
