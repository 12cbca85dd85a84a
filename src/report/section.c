/*
 *   bytes       share     blocks  place
 *   1.2 MiB    61.0 %      1,234  parse_object  src/parse.c:12
 *                                 < parse_value  src/parse.c:40
 *                                 : main  src/main.c:7  (5 between)
 *   ...
 *   (other)  what the rows above leave out
 *   (total)
 */
#include "config.h"

#include "src/report/section.h"

#include "src/base/fmt.h"
#include "src/report/head.h"
#include "src/report/stack.h"

#include <stdio.h>
#include <string.h>

#define BYTES_COLS 10u
#define SHARE_COLS 7u
#define GAP_COLS   2u

const struct section report_sections[SECTION_COUNT] = {
	{POP_PEAK, ROW_BYTES, "AT THE PEAK: who held the memory", "peak | by func,line,api",
	 "nothing was allocated, so there is no peak"},
	{POP_LEAKED, ROW_BYTES, "LEAKED: still allocated at the end", "leaked | by func,line,api",
	 "nothing leaked"},
	{POP_ALLOCATED, ROW_BYTES, "ALLOCATED MOST BYTES: over the whole run, freed or not",
	 "allocated | by func,line,api", "nothing was allocated"},
	{POP_ALLOCATED, ROW_BLOCKS, "ALLOCATED MOST OFTEN: over the whole run, freed or not",
	 "allocated | by func,line,api", "nothing was allocated"},
	{POP_TEMPORARY, ROW_BLOCKS,
	 "TEMPORARY: freed before the same thread allocated anything else",
	 "temporary | by func,line,api", "no allocation was temporary"},
};

/* ---- asking ------------------------------------------------------------------------ */

size_t sections_alike(const struct section *sections, size_t count)
{
	size_t alike = 1;
	while (alike < count && alike < ANSWERS_MOST &&
	       !strcmp(sections[alike].query, sections[0].query))
		alike++;
	return alike;
}

static void begin(struct section_table *t, const struct section *section, size_t top_count)
{
	*t = (struct section_table){.section = section};
	snprintf(t->query, sizeof t->query, "%s | top %zu%s", section->query, top_count,
		 section->key == ROW_BLOCKS ? " by count" : "");
}

enum neap_err sections_ask(struct query_session *s, const struct section *sections, size_t count,
			   size_t top_count, struct section_table *out, struct err *e)
{
	struct answer answers[ANSWERS_MOST];
	const char *queries[ANSWERS_MOST] = {NULL};
	for (size_t i = 0; i < count; i++) {
		begin(&out[i], &sections[i], top_count);
		queries[i] = out[i].query;
	}
	enum neap_err code = answers_get(s, queries, count, answers, e);
	bool is_unknown = code == ERR_UNSUPPORTED;
	for (size_t i = 0; i < count; i++) {
		out[i].is_unknown = is_unknown;
		if (!code)
			code = rows_take(&answers[i], &out[i].rows, e);
		answer_release(&answers[i]);
	}
	return is_unknown ? NEAP_OK : code;
}

void section_release(struct section_table *t)
{
	rows_release(&t->rows);
}

/* ---- drawing ----------------------------------------------------------------------- */

struct layout {
	enum row_key key;
	struct graph_sum total;
	bool has_counts; /* blocks are known */
	size_t blocks_cols;
	size_t place_cols; /* where the place begins */
};

static struct layout make_layout(const struct graph *g, const struct section *section,
				 const struct rows *rows)
{
	char count[FMT_BYTES];
	struct layout l = {.key = section->key,
			   .total = rows->total,
			   .has_counts = head_knows(g, FACT_COUNTS)};
	l.blocks_cols = strlen(fmt_count(count, sizeof count, rows->total.blocks));
	if (!l.has_counts)
		l.blocks_cols = strlen("[unknown]");
	if (l.blocks_cols < strlen("blocks"))
		l.blocks_cols = strlen("blocks");
	l.place_cols =
		GAP_COLS + BYTES_COLS + GAP_COLS + SHARE_COLS + GAP_COLS + l.blocks_cols + GAP_COLS;
	return l;
}

/* The key comes first, then its share, then the other number. */
static void write_columns(struct text *t, const struct layout *l, enum text_style style,
			  const char *bytes, const char *share, const char *blocks)
{
	bool has_bytes_first = l->key == ROW_BYTES;
	text_spaces(t, GAP_COLS);
	text_right(t, style, has_bytes_first ? BYTES_COLS : l->blocks_cols,
		   has_bytes_first ? bytes : blocks);
	text_spaces(t, GAP_COLS);
	text_right(t, style, SHARE_COLS, share);
	text_spaces(t, GAP_COLS);
	text_right(t, style, has_bytes_first ? l->blocks_cols : BYTES_COLS,
		   has_bytes_first ? blocks : bytes);
	text_spaces(t, GAP_COLS);
}

static void write_numbers(struct text *t, const struct layout *l, enum text_style style,
			  struct graph_sum sum)
{
	char bytes[FMT_BYTES], share[FMT_BYTES], blocks[FMT_BYTES];
	write_columns(t, l, style, fmt_bytes(bytes, sizeof bytes, sum.bytes),
		      fmt_pct(share, sizeof share, (double)row_value(sum, l->key),
			      (double)row_value(l->total, l->key)),
		      l->has_counts ? fmt_count(blocks, sizeof blocks, sum.blocks) : "[unknown]");
}

static void write_path_note(struct text *t, const struct layout *l, const struct row *row)
{
	char count[FMT_BYTES];
	if (row->path_count < 2)
		return;
	text_spaces(t, l->place_cols);
	text_printf(t, STYLE_DIM, "%s call paths", fmt_count(count, sizeof count, row->path_count));
	text_newline(t);
}

/* Which function of the allocator: where it is not what one expects, or tells rows apart. */
static const char *api_note(const struct row *row)
{
	bool is_usual = row->api == API_MALLOC || row->api == API_NEW || row->api == API_NEW_ARRAY;
	if (row->api <= API_UNKNOWN || (is_usual && !row->shares_place))
		return "";
	return profile_api_name((enum profile_api)row->api);
}

static const char *make_note(char *dst, size_t cap, const struct row *row, bool is_exiting)
{
	const char *api = api_note(row);
	snprintf(dst, cap, "%s%s%s%s%s", *api ? "(" : "", api, *api ? ")" : "",
		 *api && is_exiting ? " " : "", is_exiting ? "(exiting)" : "");
	return dst;
}

static enum neap_err write_row(struct text *t, struct shortener *nm, const struct graph *g,
			       const struct report_options *options, const struct layout *l,
			       const struct row *row, struct err *e)
{
	struct graph_frame leaf = graph_entry(g, row->entry);
	enum neap_err code = NEAP_OK;
	char note[64];
	bool has_path = row->path_count;
	write_numbers(t, l, STYLE_PLAIN, row->sum);
	make_note(note, sizeof note, row, has_path && graph_is_exiting(g, row->path));
	stack_frame(t, nm, &leaf, STYLE_STRONG, l->place_cols, note);
	text_newline(t);
	if (!has_path)
		return NEAP_OK;
	if (options->has_full_stacks)
		stack_full(t, nm, g, row->inner);
	else
		code = stack_short(t, nm, g, row, l->key, l->place_cols, e);
	write_path_note(t, l, row);
	return code;
}

/* What the rows that are shown leave out, then what they all add up to. */
static void write_totals(struct text *t, const struct layout *l, const struct rows *rows)
{
	char count[FMT_BYTES];
	size_t all_count = rows->count + rows->other_count;
	if (rows->other_count) {
		write_numbers(t, l, STYLE_PLAIN, rows->other);
		text_printf(t, STYLE_DIM, "(other: %s %s)",
			    fmt_count(count, sizeof count, (int64_t)rows->other_count),
			    rows->other_count == 1 ? "site" : "sites");
		text_newline(t);
	}
	write_numbers(t, l, STYLE_STRONG, rows->total);
	text_printf(t, STYLE_STRONG, "total, %s %s",
		    fmt_count(count, sizeof count, (int64_t)all_count),
		    all_count == 1 ? "site" : "sites");
	text_newline(t);
}

enum neap_err section_choose_paths(struct section_table *table, struct path_finder *f,
				   struct err *e)
{
	const struct section *section = table->section;
	return paths_choose(f, section->pop, graph_whole_run(f->g), section->key, table->rows.rows,
			    table->rows.count, e);
}

static enum neap_err write_rows(struct text *t, struct shortener *nm, const struct graph *g,
				const struct report_options *options, struct section_table *table,
				struct err *e)
{
	struct rows *rows = &table->rows;
	struct layout l = make_layout(g, table->section, rows);
	enum neap_err code = NEAP_OK;
	write_columns(t, &l, STYLE_DIM, "bytes", "share", "blocks");
	text_put(t, STYLE_DIM, "site");
	text_newline(t);
	for (size_t i = 0; i < rows->count && !code; i++)
		code = write_row(t, nm, g, options, &l, &rows->rows[i], e);
	if (!code)
		write_totals(t, &l, rows);
	return code;
}

enum neap_err section_write(struct text *t, struct shortener *nm, const struct graph *g,
			    const struct report_options *options, struct section_table *table,
			    struct err *e)
{
	text_put(t, STYLE_HEADING, table->section->title);
	text_newline(t);
	text_printf(t, STYLE_DIM, "  query: %s", table->query);
	text_newline(t);
	if (table->is_unknown) {
		text_printf(t, STYLE_DIM, "  [unknown]: what was imported does not tell");
		text_newline(t);
		return NEAP_OK;
	}
	if (table->rows.count)
		return write_rows(t, nm, g, options, table, e);
	text_printf(t, STYLE_PLAIN, "  %s", table->section->empty);
	text_newline(t);
	return NEAP_OK;
}
