/* Inside of the reference: stacks as lists of frames. */
#ifndef NEAP_TESTS_UNIT_QUERY_REF_STACK_H
#define NEAP_TESTS_UNIT_QUERY_REF_STACK_H

#include "tests/unit/query_ref.h"

/* ref_must - abort with a message: a broken reference is no result. */
void ref_must(bool is_good, const char *what);

/* ref_make_stack - the whole recorded stack of a node, and which frame is the leaf. */
void ref_make_stack(struct ref_stack *s, const struct ref_side *side, node_id n);
/* ref_transform - hide, zoom, trim or collapse. */
void ref_transform(struct ref_stack *s, const struct ast_stage *stage);

bool ref_step_fits(const struct ref_frame *f, const struct ast_step *s);
bool ref_path_fits(const struct ref_stack *s, const struct ast_expr *x);
bool ref_stack_has(const struct ref_stack *s, const struct ast_expr *x, struct ast_quant q);
/* ref_one_frame - of leaf, root or caller; NULL: the stack has none so far out. */
const struct ref_frame *ref_one_frame(const struct ref_stack *s, struct ast_quant q);

/* Values: = with wildcards, ~ without regular expressions, numbers with K and ms. */
bool ref_value_is(const struct ast_pattern *v, const char *s);
bool ref_contains(const struct ast_pattern *v, const char *s);
bool ref_number_fits(const struct ast_compare *c, double x);

#endif
