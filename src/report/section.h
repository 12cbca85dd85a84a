/* The tables of the report: each is the answer to a query, drawing them is one function. */
#ifndef NEAP_REPORT_SECTION_H
#define NEAP_REPORT_SECTION_H

#include "src/report/name.h"
#include "src/report/paths.h"
#include "src/report/report.h"
#include "src/report/rows.h"
#include "src/report/text.h"

struct section {
	enum graph_pop pop; /* of query: whose call paths are shown */
	enum row_key key;   /* sorts, and is what the share is of */
	const char *title;
	const char *query; /* before `top` */
	const char *empty; /* the one line of an empty population */
};

enum section_id {
	SECTION_PEAK,
	SECTION_LEAKED,
	SECTION_ALLOCATED,
	SECTION_OFTEN,
	SECTION_TEMPORARY,
	SECTION_COUNT
};
extern const struct section report_sections[SECTION_COUNT];

/* A section with what it has to say.  Zero-initialised is empty. */
struct section_table {
	const struct section *section;
	char query[96]; /* as it was run */
	struct rows rows;
	bool is_unknown; /* what was imported does not tell */
};
/* sections_alike - how many of the sections, from the first on, have its query: 1 .. ANSWERS_MOST. */
size_t sections_alike(const struct section *sections, size_t count);
/*
 * sections_ask - run the query of sections that are alike, once.
 *   out  [count]
 * Fails: as answers_get does; release what was filled in any case.
 */
enum neap_err sections_ask(struct query_session *s, const struct section *sections, size_t count,
			   size_t top_count, struct section_table *out, struct err *e);
void section_release(struct section_table *t);

/* section_choose_paths - of its rows, before they are written.  Fails: ERR_NOMEM. */
enum neap_err section_choose_paths(struct section_table *table, struct path_finder *f,
				   struct err *e);
/* section_write - heading and table. */
enum neap_err section_write(struct text *t, struct shortener *nm, const struct graph *g,
			    const struct report_options *options, struct section_table *table,
			    struct err *e);

#endif
