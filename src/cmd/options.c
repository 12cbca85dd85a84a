/* See options.h. */
#include "config.h"

#include "src/cmd/options.h"

#include "query/parse.h"
#include "src/report/report.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONG_OPTIONS_MOST 32u

/* The long options that begin so: "--strict or --source-path"; returns how many. */
static size_t list_meant(const struct option *names, const char *start, size_t bytes, char *out,
			 size_t cap)
{
	size_t count = 0, used = 0;
	out[0] = '\0';
	for (const struct option *o = names; o->name; o++) {
		if (strncmp(o->name, start, bytes) != 0 || used >= cap)
			continue;
		used += (size_t)snprintf(out + used, cap - used, "%s--%s", count ? " or " : "",
					 o->name);
		count++;
	}
	return count;
}

/* getopt does not take it: a value that is too much, the beginning of several, or none of ours. */
static int bad_long_option(const struct option_reader *r, const char *arg)
{
	const char *name = arg + 2, *words[LONG_OPTIONS_MOST];
	size_t bytes = strcspn(name, "="), count = 0;
	char meant[256];
	bool is_known = false;
	for (const struct option *o = r->names; o->name && count < LONG_OPTIONS_MOST; o++) {
		is_known = is_known || (strlen(o->name) == bytes && !memcmp(o->name, name, bytes));
		words[count++] = o->name;
	}
	if (is_known)
		return cmd_bad_usage(r->cmd, "'--%.*s' takes no value", (int)bytes, name);
	if (list_meant(r->names, name, bytes, meant, sizeof meant) > 1)
		return cmd_bad_usage(r->cmd, "'%s' can be %s", arg, meant);
	const char *near = query_near(name, bytes, words, count);
	return cmd_bad_usage(r->cmd, "unknown option '%s'%s%s%s", arg,
			     near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
}

static int bad_option(const struct option_reader *r, int option, char *const *argv)
{
	const char *arg = argv[optind - 1];
	char letter[] = {'-', (char)optopt, '\0'}; /* of several after one dash */
	bool is_long = !strncmp(arg, "--", 2);
	if (option == ':')
		return cmd_bad_usage(r->cmd, "'%s' needs a value", is_long ? arg : letter);
	return is_long && (!optopt || strchr(arg, '='))
		       ? bad_long_option(r, arg)
		       : cmd_bad_usage(r->cmd, "unknown option '%s'", letter);
}

static int take(const struct option_reader *r, int option, char *const *argv, void *request)
{
	switch (option) {
	case 'h': {
		int status = cmd_help(r->cmd);
		return status ? status : CMD_DONE;
	}
	case ':':
	case '?':
		return bad_option(r, option, argv);
	default:
		return r->take(option, optarg, request);
	}
}

int options_read(const struct option_reader *r, int argc, char **argv, void *request)
{
	int option, status = CMD_OK;
	optind = 0; /* getopt begins anew, whatever was read before */
	opterr = 0;
	while (!status && (option = getopt_long(argc, argv, r->letters, r->names, NULL)) != -1)
		status = take(r, option, argv, request);
	return status;
}

int option_colour(const struct cmd *c, const char *value, enum colour_when *out)
{
	if (screen_parse_colour(value ? value : "always", out))
		return CMD_OK;
	return cmd_bad_usage(c, "--color is auto, always or never, not '%s'", value);
}

int option_width(const struct cmd *c, const char *value, size_t *out_cols)
{
	*out_cols = parse_count(value, REPORT_WIDTH_MIN_COLS, REPORT_WIDTH_MAX_COLS);
	if (*out_cols)
		return CMD_OK;
	return cmd_bad_usage(c, "--width needs a number from %u to %u, not '%s'",
			     REPORT_WIDTH_MIN_COLS, REPORT_WIDTH_MAX_COLS, value);
}
