/*
 * The subcommands of neap.  One file each, cmd_NAME.c, that defines cmd_NAME;
 * main.c lists them.  Only here and in tui/ does anything print or decide an
 * exit status: 0 done, 1 failed, 2 the request made no sense, 3 a file cannot be read.
 */
#ifndef NEAP_CMD_CMD_H
#define NEAP_CMD_CMD_H

#include "src/base/err.h"

enum cmd_status {
	CMD_DONE = -1, /* within a command: nothing is left to do, as after --help */
	CMD_OK = 0,
	CMD_FAILED = 1,
	CMD_USAGE = 2,
	CMD_UNREADABLE = 3,
};

struct cmd {
	const char *name;    /* as typed after "neap" */
	const char *summary; /* one phrase, for `neap --help` */
	const char *usage;   /* the whole text of `neap NAME --help`; ends with a newline */
	/* argv[0] is the subcommand's name; getopt_long can be used at once.  Returns the exit status,
	 * or CMD_DONE for CMD_OK. */
	int (*run)(int argc, char **argv);
};

extern const struct cmd cmd_record;
extern const struct cmd cmd_report;
extern const struct cmd cmd_browse;
extern const struct cmd cmd_query;
extern const struct cmd cmd_diff;
extern const struct cmd cmd_symbolize;
extern const struct cmd cmd_info;
extern const struct cmd cmd_import;
extern const struct cmd cmd_export;

/* cmd_browse_file - `neap FILE`: the browser on a terminal, else the report, as cmd_browse.run. */
int cmd_browse_file(int argc, char **argv);

/* cmd_help - print the usage text to stdout; returns CMD_OK. */
int cmd_help(const struct cmd *c);
/* cmd_bad_usage - "neap NAME: MESSAGE" and where the help is, to stderr; returns CMD_USAGE. */
int cmd_bad_usage(const struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* cmd_fail - "neap: MESSAGE" to stderr; returns CMD_USAGE for ERR_USAGE, else CMD_FAILED. */
int cmd_fail(const struct err *e);
/* cmd_fail_to_read - the same of a profile; returns CMD_UNREADABLE, or CMD_FAILED without memory. */
int cmd_fail_to_read(const struct err *e);
/* cmd_finish - flush stdout; a failed write (full disk, closed pipe) turns CMD_OK into CMD_FAILED. */
int cmd_finish(int status);

#endif
