/* The pane beside rows: what is known of the selected one. */
#ifndef NEAP_TUI_DETAILS_H
#define NEAP_TUI_DETAILS_H

#include "tui/browser.h"

struct details {
	bool has_frame;
	struct graph_frame frame;
	int64_t total_bytes, self_bytes, base_bytes;
	bool has_blocks; /* their number is known */
	int64_t blocks;
	bool has_no_self; /* what is a function's own makes no sense here */
	struct query_facts facts;
};
void details_draw(struct browser *b, const struct area *a, const struct details *d);
/* details_act - keys while the pane has the focus; false: not one of them. */
bool details_act(struct browser *b, enum action action);
void details_free(struct details_source *source); /* NULL is fine */

#endif
