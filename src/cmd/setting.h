/* Options that set, for one run, what the file of settings sets for all: --wrapper, --source-path. */
#ifndef NEAP_CMD_SETTING_H
#define NEAP_CMD_SETTING_H

#include "src/cmd/cmd.h"
#include "src/cmd/options.h"
#include "src/report/settings.h"

/* Lines of a table of long options. */
#define SETTING_WRAPPER     "wrapper", required_argument, NULL, OPT_WRAPPER
#define SETTING_SOURCE_PATH "source-path", required_argument, NULL, OPT_SOURCE_PATH

/* setting_take - one of these options; returns the exit status, CMD_OK to go on. */
int setting_take(const struct cmd *c, struct settings *s, int option, const char *value);
/* setting_load - what the file says, after the options; returns the exit status, CMD_OK to go on. */
int setting_load(struct settings *s);

#endif
