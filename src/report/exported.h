/*
 * Results of queries as what the writers of src/exchange take.
 *
 * An exported owns what it points to but names, which belong to the profile or the result.
 */
#ifndef NEAP_REPORT_EXPORTED_H
#define NEAP_REPORT_EXPORTED_H

#include "src/base/mem.h"
#include "src/exchange/export.h"
#include "src/report/out_priv.h"

struct exported {
	struct export_about about;
	struct export_tree tree;
	struct export_series series;
	struct export_table table;
	struct arena arena;
	/* Arrays of the tree, which can be large. */
	struct export_node *nodes;
	int64_t *totals, *selfs;
	struct export_frame *frames;
	size_t frame_cap;
	struct export_sample *samples;
	int64_t *sample_numbers;
};
void exported_release(struct exported *ex);

/* Each fails with ERR_NOMEM, or ERR_USAGE if no column of the result can be shown so.  *ex is
 * zeroed before the first call; release it after failures too. */
/* exported_about - words about the result. */
enum neap_err exported_about(struct out *x, struct exported *ex, struct err *e);
/* exported_tree - of a result whose view is a tree. */
enum neap_err exported_tree(struct out *x, struct exported *ex, struct err *e);
/* exported_series - of a timeline. */
enum neap_err exported_series(struct out *x, struct exported *ex, struct err *e);
/* exported_table - of any result: what people are shown. */
enum neap_err exported_table(struct out *x, struct exported *ex, struct err *e);

/* exported_section - of a page: the result as its view has it, with the query; the title is "Answer". */
enum neap_err exported_section(struct out *x, struct exported *ex, struct export_section *out,
			       struct err *e);

/* exported_text - a text in the arena; NULL: no memory. */
const char *exported_text(struct exported *ex, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
