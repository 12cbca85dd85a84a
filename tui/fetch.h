/*
 * Sources from debuginfod servers, if DEBUGINFOD_URLS names some.  While one is asked the last row
 * says so, and Esc or Ctrl-C gives that file up; what a server does not send for 5 s is not waited for.
 */
#ifndef NEAP_TUI_FETCH_H
#define NEAP_TUI_FETCH_H

#include "tui/browser.h"

struct fetch {
	struct browser *b; /* for messages; NULL: still to be made */
	struct debuginfod *debuginfod;
	bool has_tried;
	uint32_t stop_key;   /* that gave a file up; 0: none did */
	struct buf given_up; /* its path */
};
/* fetch_source - as fetch_source of struct browser_options; context is a struct fetch. */
int fetch_source(void *context, const uint8_t *build_id, size_t build_id_bytes, const char *path);
void fetch_release(struct fetch *f);

#endif
