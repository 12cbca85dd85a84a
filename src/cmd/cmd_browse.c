/*
 * neap browse: finds the profile and runs neap-browse, which is a program of its own so that
 * neap needs no curses.  Without a terminal there is nothing to browse in: then the text report.
 */
#include "config.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/cmd/cmd.h"
#include "src/cmd/find.h"
#include "src/cmd/setting.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_id {
	OPT_KEYS = 256,
	OPT_GLYPHS,
	OPT_PLAIN,
	OPT_NO_MOUSE,
	OPT_FOLLOW,
	OPT_NO_STATE
};

static const struct option long_options[] = {
#define BROWSE(id, name, argument) {name, argument, NULL, OPT_##id},
#include "src/report/browse.def"
	OPTION_HELP,
	{NULL, 0, NULL, 0},
};

struct request {
	bool lists_keys, has_script;
	int file_count;
	char **files;
};

/* neap-browse checks the values of its options; here only what decides whether it runs. */
static int take_option(int option, const char *value, void *request)
{
	struct request *r = request;
	if (option == OPT_KEYS && value)
		r->has_script = true;
	else if (option == OPT_KEYS)
		r->lists_keys = true;
	return CMD_OK;
}

static int parse(int argc, char **argv, struct request *r)
{
	const struct option_reader reader = {&cmd_browse, ":h", long_options, take_option};
	int status = options_read(&reader, argc, argv, r);
	if (status)
		return status;
	r->file_count = argc - optind;
	r->files = argv + optind;
	if (r->file_count > 2)
		return cmd_bad_usage(&cmd_browse, "two profiles at most, but '%s' is a third",
				     r->files[2]);
	return CMD_OK;
}

static bool has_terminal(void)
{
	const char *name = getenv("TERM");
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && name && *name &&
	       strcmp(name, "dumb") != 0;
}

/* ---- without a terminal ------------------------------------------------------------------ */

static int print_report(int file_count, char **files)
{
	char report[] = "report", diff[] = "diff";
	char *args[] = {file_count > 1 ? diff : report, file_count ? files[0] : NULL,
			file_count > 1 ? files[1] : NULL, NULL};
	return (file_count > 1 ? &cmd_diff : &cmd_report)->run(1 + file_count, args);
}

/* ---- with one ------------------------------------------------------------------------------ */

/* Beside neap itself, as in the folder it is built in; else where it is installed. */
static void try_to_run(char **args)
{
	char self[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
	if (bytes > 0) {
		self[bytes] = '\0';
		char *slash = strrchr(self, '/');
		size_t room = slash ? sizeof self - (size_t)(slash + 1 - self) : 0;
		if (slash && room > sizeof "neap-browse") {
			memcpy(slash + 1, "neap-browse", sizeof "neap-browse");
			execv(self, args);
		}
	}
	execv(NEAP_PKGLIBEXECDIR "/neap-browse", args);
}

static int run_browser(int argc, char **argv, const char *newest)
{
	struct err e = {0};
	char name[] = "neap-browse";
	char **args = mem_zarray((size_t)argc + 2, sizeof *args);
	char *file = newest ? mem_strdup(newest) : NULL;
	if (!args || (newest && !file)) {
		mem_free(args);
		err_nomem(&e, "the command");
		return cmd_fail(&e);
	}
	args[0] = name;
	for (int i = 1; i < argc; i++)
		args[i] = argv[i];
	args[argc] = file;
	fflush(stdout);
	try_to_run(args);
	fprintf(stderr,
		"neap: cannot run " NEAP_PKGLIBEXECDIR
		"/neap-browse: %s; neap report shows the profile as text\n",
		strerror(errno));
	mem_free(file);
	mem_free(args);
	return CMD_FAILED;
}

static int browse(int argc, char **argv, const struct request *r)
{
	struct err e = {0};
	char *newest = NULL;
	bool needs_file = !r->file_count && !r->lists_keys;
	if (needs_file && newest_profile(".", &newest, &e))
		return cmd_fail_to_read(&e);
	int status = run_browser(argc, argv, newest);
	mem_free(newest);
	return status;
}

static int run(int argc, char **argv)
{
	struct request r = {.file_count = 0};
	int status = parse(argc, argv, &r);
	if (status)
		return status;
	if (r.lists_keys || r.has_script || has_terminal())
		return browse(argc, argv, &r);
	fputs("neap: there is no terminal to browse in; this is the text report\n", stderr);
	return print_report(r.file_count, r.files);
}

int cmd_browse_file(int argc, char **argv)
{
	struct request r = {.file_count = 0};
	int status = parse(argc, argv, &r);
	if (status)
		return status;
	return has_terminal() || r.has_script ? browse(argc, argv, &r)
					      : print_report(r.file_count, r.files);
}

static const char usage[] =
	"Usage: neap browse [OPTION]... [FILE [NEW]]\n"
	"       neap FILE\n"
	"\n"
	"Explore a profile in the terminal; with two files, what changed from one to the other.\n"
	"Without FILE the newest *.neap of this directory is meant.  Press ? for the keys.\n"
	"Without a terminal the text report is printed instead.\n"
	"\n"
	"      --glyphs=LEVEL   braille, block or ascii (default: by locale and terminal)\n"
	"      --color=WHEN     auto (default), always or never\n"
	"      --plain          no boxes and no bars, for screen readers\n"
	"      --no-mouse       leave the mouse to the terminal\n"
	"      --follow         show what is recorded while it is\n"
	"      --no-state       neither use nor keep the view and the bookmarks of last time\n"
	"      --keys[=SCRIPT]  list the keys; or press those of a file, without a terminal\n"
	"      --wrapper=REGEX  functions that only hand out memory for their callers\n"
	"      --source-path=FROM=TO\n"
	"                       sources below FROM are below TO now\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 the usage is wrong, 3 a file can't be read.\n";

const struct cmd cmd_browse = {
	.name = "browse",
	.summary = "explore a profile in the terminal",
	.usage = usage,
	.run = run,
};
