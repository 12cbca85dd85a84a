/* neap record: run a program and record its heap. */
#include "config.h"

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/cmd/cmd.h"
#include "src/cmd/options.h"
#include "src/cmd/record_ui.h"
#include "src/record/record.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t ns;
};

/* "10ms", "0.5s"; a number alone is milliseconds. */
static bool parse_time(const char *text, uint64_t *ns_out)
{
	static const struct unit units[] = {
		{"us", 1000},       {"ms", 1000000},      {"", 1000000},       {"s", 1000000000},
		{"m", 60000000000}, {"min", 60000000000}, {"h", 3600000000000}};
	char *end;
	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	errno = 0;
	double n = strtod(text, &end);
	for (size_t i = 0; !errno && i < sizeof units / sizeof units[0]; i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		double ns = n * (double)units[i].ns;
		if (!(ns >= (double)RECORD_INTERVAL_MIN_NS && ns <= (double)RECORD_INTERVAL_MAX_NS))
			return false;
		*ns_out = (uint64_t)ns;
		return true;
	}
	return false;
}

enum long_option {
	OPT_INTERVAL = 256,
	OPT_CHILDREN,
	OPT_WAIT_ALL,
	OPT_MMAP,
	OPT_FORCE,
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"interval", required_argument, NULL, OPT_INTERVAL},
	{"children", required_argument, NULL, OPT_CHILDREN},
	{"wait-all", no_argument, NULL, OPT_WAIT_ALL},
	{"mmap", no_argument, NULL, OPT_MMAP},
	{"quiet", no_argument, NULL, 'q'},
	{"force", no_argument, NULL, OPT_FORCE},
	OPTION_HELP,
	{NULL, 0, NULL, 0},
};

struct request {
	struct record_options options;
	bool is_quiet;
};

static int take_interval(const char *value, uint64_t *out_ns)
{
	if (parse_time(value, out_ns))
		return CMD_OK;
	return cmd_bad_usage(&cmd_record,
			     "--interval %s: expected a time from 1ms to 1h, such as 10ms or 0.5s",
			     value);
}

static int take_option(int option, const char *value, void *request)
{
	struct request *r = request;
	switch (option) {
	case 'o':
		r->options.output = value;
		return CMD_OK;
	case OPT_INTERVAL:
		return take_interval(value, &r->options.interval_ns);
	case OPT_CHILDREN:
		r->options.has_no_children = !strcmp(value, "none");
		if (!r->options.has_no_children && strcmp(value, "all") != 0)
			return cmd_bad_usage(&cmd_record, "--children %s: expected none or all",
					     value);
		return CMD_OK;
	case OPT_WAIT_ALL:
		r->options.wants_wait_all = true;
		return CMD_OK;
	case OPT_MMAP:
		r->options.wants_mappings = true;
		return CMD_OK;
	case 'q':
		r->is_quiet = true;
		return CMD_OK;
	default:
		r->options.wants_overwrite = true;
		return CMD_OK;
	}
}

static int parse(int argc, char **argv, struct request *r)
{
	const struct option_reader reader = {&cmd_record, "+:ho:q", long_options, take_option};
	int status = options_read(&reader, argc, argv, r);
	if (status)
		return status;
	r->options.argv = argv + optind;
	if (optind >= argc)
		return cmd_bad_usage(&cmd_record, "which program? neap record PROG ARGS");
	return CMD_OK;
}

static int run(int argc, char **argv)
{
	struct request r = {.options.tool = "neap " PACKAGE_VERSION};
	int status = parse(argc, argv, &r);
	if (status)
		return status;
	struct record_ui ui;
	record_ui_init(&ui, r.is_quiet);
	struct record_result result;
	struct err e = {0};
	if (record_run(&r.options, &ui.sink, &result, &e))
		record_ui_say(&ui, e.text);
	else
		record_ui_end(&ui, &result);
	status = result.exit_status;
	record_result_release(&result);
	return status;
}

const struct cmd cmd_record = {
	.name = "record",
	.summary = "run a program and record its heap",
	.usage =
		"Usage: neap record [OPTION]... [--] PROG [ARG]...\n"
		"\n"
		"Runs PROG and records every allocation of it and of the processes it starts.\n"
		"Each process gets a profile of its own, PROG.PID.neap, in this directory.\n"
		"\n"
		"  -o, --output FILE    name of the profile; %p pid, %n program, %h host, %t "
		"time,\n"
		"                       %% a percent sign; or a directory\n"
		"      --interval T     time between two snapshots (default 10ms)\n"
		"      --children WHICH all (default): also record child processes; none: not\n"
		"      --wait-all       go on until the last recorded process has ended, not PROG\n"
		"      --mmap           also count what the program maps by itself (api=mmap)\n"
		"  -q, --quiet          no progress, no summary; only errors\n"
		"      --force          replace an existing profile (default: use a numbered "
		"name)\n"
		"  -h, --help           this text\n"
		"\n"
		"Exits with PROG's status, 128+N if signal N ended it; 127 if PROG is not there,\n"
		"126 if it cannot be executed, 2 if it cannot be recorded and was not started.\n",
	.run = run,
};
