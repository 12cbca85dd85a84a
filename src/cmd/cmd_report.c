/* neap report: the text report of one profile. */
#include "config.h"

#include "query/query.h"
#include "src/base/mem.h"
#include "src/cmd/cmd.h"
#include "src/cmd/find.h"
#include "src/cmd/screen.h"
#include "src/cmd/setting.h"
#include "src/exchange/exchange.h"
#include "src/report/report.h"
#include "src/report/suspects.h"

#include <stdio.h>

#define TOP_DEFAULT 10u
#define TOP_MAX     1000000u

struct request {
	struct report_options options;
	enum colour_when colour;
	bool wants_suspects;
	struct settings settings;
	const char *path; /* NULL: the newest here */
};

enum option_id {
	OPT_FULL = 256,
	OPT_SUSPECTS
};

static const struct option long_options[] = {
	{"top", required_argument, NULL, 'n'},
	{"full-stacks", no_argument, NULL, OPT_FULL},
	{"suspects", no_argument, NULL, OPT_SUSPECTS},
	OPTION_COLOUR,
	OPTION_WIDTH,
	{SETTING_WRAPPER},
	OPTION_HELP,
	{NULL, 0, NULL, 0},
};

static int take_top(const char *value, size_t *out)
{
	*out = parse_count(value, 1, TOP_MAX);
	if (*out)
		return CMD_OK;
	return cmd_bad_usage(&cmd_report, "--top needs a number from 1 to %u, not '%s'", TOP_MAX,
			     value);
}

static int take_option(int option, const char *value, void *request)
{
	struct request *r = request;
	switch (option) {
	case 'n':
		return take_top(value, &r->options.top_count);
	case OPT_FULL:
		r->options.has_full_stacks = true;
		return CMD_OK;
	case OPT_SUSPECTS:
		r->wants_suspects = true;
		return CMD_OK;
	case OPT_COLOUR:
		return option_colour(&cmd_report, value, &r->colour);
	case OPT_WIDTH:
		return option_width(&cmd_report, value, &r->options.width_cols);
	default:
		return setting_take(&cmd_report, &r->settings, option, value);
	}
}

static int parse(int argc, char **argv, struct request *r)
{
	const struct option_reader reader = {&cmd_report, ":hn:", long_options, take_option};
	int status = options_read(&reader, argc, argv, r);
	if (status)
		return status;
	if (argc - optind > 1)
		return cmd_bad_usage(&cmd_report, "one profile at a time, but '%s' is another",
				     argv[optind + 1]);
	r->path = argv[optind];
	return CMD_OK;
}

static enum neap_err write_it(struct query_session *session, const struct request *r, struct err *e)
{
	struct buf out = {0};
	enum neap_err code =
		(r->wants_suspects ? suspects_write : report_write)(session, &r->options, &out, e);
	if (!code)
		fwrite(out.data, 1, out.count_bytes, stdout);
	buf_release(&out);
	return code;
}

static enum neap_err open_session(const struct request *r, struct query_session **out,
				  struct err *e)
{
	const struct query_options options = {
		.open = exchange_open, .cursor_ns = UINT64_MAX, .wrappers = r->settings.wrappers};
	char *newest = NULL;
	enum neap_err code = r->path ? NEAP_OK : newest_profile(".", &newest, e);
	if (!code)
		code = query_session_new(&options, out, e);
	if (!code)
		code = query_session_open(*out, r->path ? r->path : newest, e);
	mem_free(newest);
	return code;
}

static int report(const struct request *r)
{
	struct query_session *session = NULL;
	struct err e = {0};
	int status;
	if (open_session(r, &session, &e))
		status = cmd_fail_to_read(&e);
	else if (write_it(session, r, &e))
		status = cmd_fail(&e);
	else
		status = cmd_finish(CMD_OK);
	query_session_free(session);
	return status;
}

static int run_on(struct request *r)
{
	if (!r->options.width_cols)
		r->options.width_cols = screen_width();
	r->options.has_colour = screen_has_colour(r->colour);
	r->options.is_utf8 = screen_is_utf8();
	return report(r);
}

static int run(int argc, char **argv)
{
	struct request r = {.options = {.top_count = TOP_DEFAULT}};
	int status = parse(argc, argv, &r);
	if (!status)
		status = setting_load(&r.settings);
	if (!status)
		status = run_on(&r);
	settings_release(&r.settings);
	return status;
}

static const char usage[] =
	"Usage: neap report [OPTION]... [FILE]\n"
	"\n"
	"Show where the memory of a recorded program went: totals, live memory over time,\n"
	"and the places in the code that held, leaked and allocated most.  Without FILE\n"
	"the newest *.neap of this directory is meant.\n"
	"\n"
	"  -n, --top=N         rows of each table (default 10)\n"
	"      --full-stacks   every frame of each call path, with whole names and modules\n"
	"      --suspects      only the places that kept growing, with the evidence\n"
	"      --wrapper=REGEX functions that only hand out memory for their callers\n"
	"      --color=WHEN    auto (default), always or never\n"
	"      --width=COLS    columns of a line (default: the terminal's, 100 elsewhere)\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 done, 1 too short for suspects, 2 wrong usage, 3 the file can't be read.\n";

const struct cmd cmd_report = {
	.name = "report",
	.summary = "show where the memory went",
	.usage = usage,
	.run = run,
};
