/* Between model.c and state.c. */
#ifndef NEAP_TUI_MODEL_PRIV_H
#define NEAP_TUI_MODEL_PRIV_H

#include "tui/model.h"

bool state_equal(const struct state *a, const struct state *b);
/* state_check - does its query parse?  Its parts are spelled as query_canonical does then. */
enum neap_err state_check(struct state *s, struct query_error *error);

#endif
