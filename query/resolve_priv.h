/*
 * The resolver's parts: sources and stages in resolve.c, keys in resolve_keys.c, views in
 * resolve_view.c, columns in resolve_columns.c.  Errors go to pl->error.
 */
#ifndef NEAP_QUERY_RESOLVE_PRIV_H
#define NEAP_QUERY_RESOLVE_PRIV_H

#include "query/plan.h"

/* ---- keys --------------------------------------------------------------------------- */

/* resolve_type - how results show values of a type. */
enum result_type resolve_type(enum value_type type);
/* resolve_key - one key; notes what it needs. */
enum neap_err resolve_key(struct plan *pl, const struct ast_key *k, struct plan_key *out);
enum neap_err resolve_by(struct plan *pl, const struct ast_stage *stage);
/* resolve_set_keys - the keys are these fields. */
enum neap_err resolve_set_keys(struct plan *pl, const enum ast_field *fields, size_t count);
/* resolve_places - once the keys are known: what they say about each other. */
void resolve_places(struct plan *pl);

/* ---- views and columns ------------------------------------------------------------------ */

/* resolve_view - the view, and the keys it has by itself. */
enum neap_err resolve_view(struct plan *pl);
/* resolve_columns - select NULL: the usual ones. */
enum neap_err resolve_columns(struct plan *pl, const struct ast_stage *select);

#endif
