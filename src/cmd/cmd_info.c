/* neap info: what is in a profile file. */
#include "config.h"

#include "src/base/buf.h"
#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/cmd/cmd.h"
#include "src/cmd/find.h"
#include "src/cmd/options.h"
#include "src/cmd/screen.h"
#include "src/graph/graph.h"
#include "src/profile/info.h"
#include "src/profile/profile.h"
#include "src/report/missing.h"

#include <stdio.h>
#include <string.h>

enum mode {
	MODE_TEXT,
	MODE_JSON,
	MODE_DUMP,
	MODE_CHECK,
	MODE_MISSING
};

struct request {
	enum mode mode;
	const char *path; /* NULL: the newest here */
};

/* More than one of --json, --dump, --check makes no sense. */
static int set_mode(struct request *r, enum mode mode)
{
	if (r->mode != MODE_TEXT && r->mode != mode)
		return cmd_bad_usage(&cmd_info,
				     "only one of --json, --dump, --check and --missing-symbols");
	r->mode = mode;
	return CMD_OK;
}

enum option_id {
	OPT_JSON = 256,
	OPT_DUMP,
	OPT_CHECK,
	OPT_MISSING
};

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPT_JSON},
	{"dump", no_argument, NULL, OPT_DUMP},
	{"check", no_argument, NULL, OPT_CHECK},
	{"missing-symbols", no_argument, NULL, OPT_MISSING},
	OPTION_HELP,
	{NULL, 0, NULL, 0},
};

static int take_option(int option, const char *value, void *request)
{
	(void)value;
	return set_mode(request, option == OPT_JSON    ? MODE_JSON
				 : option == OPT_DUMP  ? MODE_DUMP
				 : option == OPT_CHECK ? MODE_CHECK
						       : MODE_MISSING);
}

static int parse(int argc, char **argv, struct request *r)
{
	const struct option_reader reader = {&cmd_info, ":h", long_options, take_option};
	int status = options_read(&reader, argc, argv, r);
	if (status)
		return status;
	if (argc - optind > 1)
		return cmd_bad_usage(&cmd_info, "one FILE at a time, not also '%s'",
				     argv[optind + 1]);
	r->path = argv[optind] ? profile_path(argv[optind]) : NULL;
	return CMD_OK;
}

static enum neap_err dump(const char *path, struct buf *out, struct err *e)
{
	struct buf file = {0};
	enum neap_err code = profile_read_file(path, &file, e);
	if (!code)
		code = profile_dump(file.data, file.count_bytes, path, out, e);
	buf_release(&file);
	return code;
}

/* Findings, or that there are none; *status_out is 1 if there are. */
static void check(const struct profile *p, struct buf *out, int *status_out)
{
	char cohorts[FMT_THINGS_BYTES], snapshots[FMT_THINGS_BYTES];
	size_t count = profile_check(p, out);
	if (p->damage.text[0]) {
		buf_printf(out, "damage: %s\n", p->damage.text);
		count++;
	}
	if (!count)
		buf_printf(out, "no findings: %s, %s\n",
			   fmt_things(cohorts, sizeof cohorts, (int64_t)p->cohort_count, "cohort"),
			   fmt_things(snapshots, sizeof snapshots, (int64_t)p->snapshot_count,
				      "snapshot"));
	*status_out = count ? CMD_FAILED : CMD_OK;
}

static enum neap_err list_missing(const struct profile *p, struct buf *out, struct err *e)
{
	struct graph *g;
	struct missing m;
	enum neap_err code = graph_build(p, NULL, &g, e);
	if (code)
		return code;
	code = missing_find(g, &m, e);
	if (!code)
		missing_write(&m, p, screen_is_utf8(), out);
	missing_release(&m);
	graph_free(g);
	return code;
}

static enum neap_err answer(const struct request *r, const char *path, struct buf *out,
			    int *status_out, struct err *e)
{
	if (r->mode == MODE_DUMP)
		return dump(path, out, e);
	struct profile *p;
	enum neap_err code = profile_open(path, &p, e);
	if (code)
		return code;
	if (r->mode == MODE_MISSING)
		code = list_missing(p, out, e);
	else if (r->mode == MODE_CHECK)
		check(p, out, status_out);
	else if (r->mode == MODE_JSON)
		profile_info_json(p, out);
	else
		profile_info_text(p, screen_is_utf8(), out);
	profile_free(p);
	return !code && out->has_failed ? err_nomem(e, "the answer") : code;
}

static int run(int argc, char **argv)
{
	struct request r = {0};
	int status = parse(argc, argv, &r);
	if (status)
		return status;
	struct err e = {0};
	char *newest = NULL;
	struct buf out = {0};
	enum neap_err code = r.path ? NEAP_OK : newest_profile(".", &newest, &e);
	if (!code)
		code = answer(&r, r.path ? r.path : newest, &out, &status, &e);
	if (!code && out.count_bytes)
		fwrite(out.data, 1, out.count_bytes, stdout);
	if (code)
		status = profile_fail(r.path ? r.path : ".", &e);
	buf_release(&out);
	mem_free(newest);
	return code ? status : cmd_finish(status);
}

static const char usage[] =
	"Usage: neap info [--json | --dump | --check | --missing-symbols] [FILE]\n"
	"\n"
	"Show what is in a profile: command, times, how it ended, counts, what was dropped,\n"
	"how exact it is, and the modules.  Without FILE the newest *.neap of this directory\n"
	"is meant.\n"
	"\n"
	"      --json    the same as one JSON object\n"
	"      --dump    every block of the file, decoded; see neap-file(5)\n"
	"      --check   compare the counters with each other; exit status 1 if they disagree\n"
	"      --missing-symbols\n"
	"                modules whose code has no names, the memory it matters for, what to do\n"
	"  -h, --help    this text\n"
	"\n"
	"Exit status: 0 done, 1 --check found something, 2 wrong usage, 3 the file can't be "
	"read.\n";

const struct cmd cmd_info = {
	.name = "info",
	.summary = "show what is in a profile file",
	.usage = usage,
	.run = run,
};
