/* See options.h. */
#include "config.h"

#include "src/cmd/options.h"

#include "src/report/report.h"

static int take(const struct option_reader *r, int option, char *const *argv, void *request)
{
	switch (option) {
	case 'h': {
		int status = cmd_help(r->cmd);
		return status ? status : CMD_DONE;
	}
	case ':':
		return cmd_bad_usage(r->cmd, "'%s' needs a value", argv[optind - 1]);
	case '?':
		return cmd_bad_usage(r->cmd, "unknown option '%s'", argv[optind - 1]);
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
