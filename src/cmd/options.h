/* The options of a command, read with getopt_long: one loop, one set of messages, --help. */
#ifndef NEAP_CMD_OPTIONS_H
#define NEAP_CMD_OPTIONS_H

#include <getopt.h>
#include <stddef.h>

#include "src/cmd/cmd.h"
#include "src/cmd/screen.h"

struct option_reader {
	const struct cmd *cmd;
	const char *letters;        /* as for getopt_long; begins with ":h" or "+:h" */
	const struct option *names; /* OPTION_HELP is in it */
	/* take - one option into the command's request; returns CMD_OK to go on, CMD_DONE, or the exit
	 * status of an error it has said. */
	int (*take)(int option, const char *value, void *request);
};

/*
 * options_read - all options; then getopt's optind is the first argument that is none.
 * Returns CMD_OK, CMD_DONE (also after --help), or the exit status of an error it has said.
 */
int options_read(const struct option_reader *r, int argc, char **argv, void *request);

/* Numbers of options that several commands have: above the options of any command. */
enum common_option {
	OPT_WRAPPER = 1024,
	OPT_SOURCE_PATH,
	OPT_COLOUR,
	OPT_WIDTH,
};

/* Lines of a table of long options. */
/* clang-format off */
#define OPTION_HELP   {"help", no_argument, NULL, 'h'}
#define OPTION_COLOUR {"color", optional_argument, NULL, OPT_COLOUR}, \
		      {"colour", optional_argument, NULL, OPT_COLOUR}
#define OPTION_WIDTH  {"width", required_argument, NULL, OPT_WIDTH}
/* clang-format on */

/* For take: the values of these options.  Return CMD_OK, or CMD_USAGE after a message. */
int option_colour(const struct cmd *c, const char *value, enum colour_when *out);
int option_width(const struct cmd *c, const char *value, size_t *out_cols);

#endif
