/* Names of a profile for completion, the heaviest first. */
#ifndef NEAP_TUI_NAMES_H
#define NEAP_TUI_NAMES_H

#include "query/query.h"

struct name_lists {
	struct query_session *session;
	struct query_result *of[FIELD_COUNT]; /* made when asked for */
};
/* names_complete - query_complete with names of the profile. */
enum neap_err names_complete(struct name_lists *n, const char *text, size_t bytes, struct buf *out,
			     struct err *e);
void names_release(struct name_lists *n);

#endif
