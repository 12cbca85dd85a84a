/* The tables of the report: what they ask is data, drawing them is one function. */
#ifndef NEAP_REPORT_SECTION_H
#define NEAP_REPORT_SECTION_H

#include "src/report/name.h"
#include "src/report/report.h"
#include "src/report/rows.h"
#include "src/report/text.h"

struct section {
	enum graph_pop pop;
	enum row_key key; /* sorts, and is what the share is of */
	const char *title;
	const char *query; /* the same rows in the query language, before `top` */
	const char *empty; /* the one line of an empty population */
};

extern const struct section report_sections[];
extern const size_t report_section_count;

/* section_write - heading and table of one section. */
enum neap_err section_write(struct text *t, struct shortener *nm, struct graph *g,
			    const struct report_options *options, const struct section *section,
			    const struct rows *rows, struct err *e);

#endif
