/*
 * Results of queries as text.
 *
 *   table      for people: by the view a table, a tree, stacks, a flame graph, a chart, bars,
 *              one sum, or annotated source
 *   markdown   a table for people
 *   tsv, csv, json, jsonl, folded   for programs: numbers as they are, never rounded
 *
 * Everything written is valid UTF-8, and no name of a profile reaches a terminal as a command:
 * control characters become U+FFFD, in JSON they are escaped.
 * Renders into a buffer; prints nothing.
 */
#ifndef NEAP_REPORT_OUT_H
#define NEAP_REPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "query/result.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/report/lines.h"

struct out_options {
	size_t width_cols; /* of a line, for people */
	bool has_colour;
	bool is_utf8;             /* else plain ASCII, for people; machine formats are UTF-8 */
	const char *const *files; /* profiles asked, as the user named them; for JSON */
	size_t file_count;
	const struct source_map *sources; /* where sources lie now; may be NULL */
	/* May be NULL.  Asks elsewhere for a source file of a module; a descriptor, or -1. */
	int (*fetch_source)(void *context, const uint8_t *build_id, size_t build_id_bytes,
			    const char *path);
	void *fetch_context;
};

/*
 * out_write - append the result in its format.
 * Fails: ERR_NOMEM; as the writers of src/exchange/export.h do; out then holds a part.
 */
enum neap_err out_write(const struct query_result *r, const struct out_options *o, struct buf *out,
			struct err *e);

/* out_bucket - "64 B .. < 128 B": what a row of a histogram stands for; c is its column of buckets. */
const char *out_bucket(char *dst, size_t cap, const struct result_column *c,
		       const struct result_cell *cell);
/* out_bucket_end - where a bucket that begins at a value ends, further from 0. */
int64_t out_bucket_end(const struct result_column *c, int64_t from);

/* out_totals - append the numbers of the total line as a phrase: "total 16.2 MiB, count 9,717". */
void out_totals(const struct query_result *r, struct buf *out);

#endif
