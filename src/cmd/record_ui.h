/* What `neap record` shows on stderr: messages, one line of progress, the summary. */
#ifndef NEAP_CMD_RECORD_UI_H
#define NEAP_CMD_RECORD_UI_H

#include <stdbool.h>

#include "src/record/record.h"

struct record_ui {
	struct record_sink sink; /* for record_run */
	bool is_quiet;
	bool has_line; /* a line of progress is on the screen */
};
void record_ui_init(struct record_ui *ui, bool is_quiet);
/* record_ui_say - "neap: TEXT" on a line of its own. */
void record_ui_say(struct record_ui *ui, const char *text);
/* record_ui_end - take the progress off the screen and print the summary. */
void record_ui_end(struct record_ui *ui, const struct record_result *result);

#endif
