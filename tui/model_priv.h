/* Between model.c, state.c and state_text.c. */
#ifndef NEAP_TUI_MODEL_PRIV_H
#define NEAP_TUI_MODEL_PRIV_H

#include "tui/model.h"

/* state_set_text - replace a text, which may be NULL.  False: no memory. */
bool state_set_text(char **to, const char *text);
/* state_rank - where in a query a stage stands. */
unsigned state_rank(enum ast_stage_kind kind, bool is_of_rows);
/* state_take_chip - put a chip at its place; text is taken.  False: no memory, or text is NULL. */
bool state_take_chip(struct state *s, enum ast_stage_kind kind, bool is_of_rows, char *text);
/* model_fail - fill *error; returns the code. */
enum neap_err model_fail(struct query_error *error, enum neap_err code, const char *text);
/* model_commit_if - commit s, or free it and fail for want of memory if it is not good. */
enum neap_err model_commit_if(struct model *m, struct state *s, bool is_good,
			      struct query_error *error);
bool state_equal(const struct state *a, const struct state *b);
/* state_check - does its query parse?  Its parts are spelled as query_canonical does then. */
enum neap_err state_check(struct state *s, struct query_error *error);

#endif
