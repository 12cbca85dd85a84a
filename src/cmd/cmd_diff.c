/* neap diff: what is different between two profiles. */
#include "config.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/cmd/ask.h"
#include "src/cmd/cmd.h"
#include "src/cmd/setting.h"
#include "src/report/report.h"

#include <stdio.h>
#include <string.h>

enum option_id {
	OPT_EXPLAIN = 256,
	OPT_STRICT
};

static const struct option long_options[] = {
	{"explain", no_argument, NULL, OPT_EXPLAIN},
	{"strict", no_argument, NULL, OPT_STRICT},
	OPTION_COLOUR,
	OPTION_WIDTH,
	{SETTING_WRAPPER},
	OPTION_HELP,
	{NULL, 0, NULL, 0},
};

static int take_option(int option, const char *value, void *request)
{
	struct ask *ask = request;
	switch (option) {
	case OPT_EXPLAIN:
		ask->is_explaining = true;
		return CMD_OK;
	case OPT_STRICT:
		ask->is_strict = true;
		return CMD_OK;
	case OPT_COLOUR:
		return option_colour(&cmd_diff, value, &ask->colour);
	case OPT_WIDTH:
		return option_width(&cmd_diff, value, &ask->width_cols);
	default:
		return setting_take(&cmd_diff, &ask->settings, option, value);
	}
}

static int parse(int argc, char **argv, struct ask *ask)
{
	const struct option_reader reader = {&cmd_diff, ":h", long_options, take_option};
	int status = options_read(&reader, argc, argv, ask);
	if (status)
		return status;
	if (argc - optind < 2)
		return cmd_bad_usage(&cmd_diff,
				     "two profiles are needed: the old one, the new one");
	if (argc - optind > 3)
		return cmd_bad_usage(&cmd_diff, "'%s' is too much; is the query in quotes?",
				     argv[optind + 3]);
	return CMD_OK;
}

static bool starts_with_word(const char *text, const char *word)
{
	size_t bytes = strlen(word);
	return !strncmp(text, word, bytes) && (!text[bytes] || strchr(" \t\n", text[bytes]));
}

/* A population alone, or only stages: the rest is understood. */
static void complete_query(const char *query, struct buf *out)
{
	const char *start = query + strspn(query, " \t\n");
	if (*start == '|')
		buf_printf(out, "diff leaked %s", start);
	else if (starts_with_word(start, "diff") || starts_with_word(start, "let"))
		buf_puts(out, start);
	else
		buf_printf(out, "diff %s", start);
}

/* What is live at the end is what leaked. */
static void default_query(void *arg, const char *population, struct buf *text)
{
	(void)arg;
	buf_printf(text, "diff %s | by func | top 20\n", population);
	if (!strcmp(population, "peak"))
		buf_puts(text, "diff leaked | by func | top 20\n");
}

static int run_on(struct ask *ask, int argc, char **argv)
{
	struct buf text = {0};
	ask->files = (const char *const *)(argv + optind);
	if (argc - optind < 3)
		return ask_run_default(ask, default_query, NULL);
	complete_query(argv[optind + 2], &text);
	int status = ask_run_made(ask, &text);
	buf_release(&text);
	return status;
}

static int run(int argc, char **argv)
{
	struct ask ask = {.file_count = 2};
	int status = parse(argc, argv, &ask);
	if (!status)
		status = setting_load(&ask.settings);
	if (!status)
		status = run_on(&ask, argc, argv);
	settings_release(&ask.settings);
	return status;
}

static const char usage[] =
	"Usage: neap diff [OPTION]... OLD NEW ['QUERY']\n"
	"\n"
	"Show what grew and what shrank from one profile to another: NEW minus OLD, by\n"
	"function, at the peak and in what leaked.  QUERY asks for something else; `diff`\n"
	"in front of it may be left out:\n"
	"\n"
	"  neap diff old.neap new.neap\n"
	"  neap diff old.neap new.neap 'allocated | by file,line | top 10'\n"
	"  neap diff old.neap new.neap 'peak | by module | as json'\n"
	"\n"
	"      --explain      the plan, with rows and bytes after each step\n"
	"      --strict       names that match nothing are errors; an incomplete profile ends\n"
	"                     with status 4\n"
	"      --wrapper=REGEX  functions that only hand out memory for their callers\n"
	"      --color=WHEN   auto (default), always or never\n"
	"      --width=COLS   columns of a line (default: the terminal's, 100 elsewhere)\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 done, 1 an assertion failed, 2 the query or the usage is wrong,\n"
	"3 a file can't be read, 4 a profile is incomplete (under --strict).\n";

const struct cmd cmd_diff = {
	.name = "diff",
	.summary = "compare two profiles",
	.usage = usage,
	.run = run,
};
