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
#include "src/report/stack.h"

#include <stdio.h>
#include <string.h>

#define BYTES_COLS 10u
#define SHARE_COLS 7u
#define GAP_COLS   2u

const struct section report_sections[] = {
	{POP_PEAK, ROW_BYTES, "AT THE PEAK: who held the memory", "peak | by func,line",
	 "nothing was allocated, so there is no peak"},
	{POP_LEAKED, ROW_BYTES, "LEAKED: still allocated at the end", "leaked | by func,line",
	 "nothing leaked"},
	{POP_ALLOCATED, ROW_BYTES, "ALLOCATED MOST BYTES: over the whole run, freed or not",
	 "allocated | by func,line", "nothing was allocated"},
	{POP_ALLOCATED, ROW_BLOCKS, "ALLOCATED MOST OFTEN: over the whole run, freed or not",
	 "allocated | by func,line,api", "nothing was allocated"},
	{POP_TEMPORARY, ROW_BLOCKS,
	 "TEMPORARY: freed before the same thread allocated anything else",
	 "temporary | by func,line,api", "no allocation was temporary"},
};
const size_t report_section_count = sizeof report_sections / sizeof report_sections[0];

struct layout {
	enum row_key key;
	struct graph_sum total;
	size_t blocks_cols;
	size_t place_cols; /* where the place begins */
};

static struct layout make_layout(const struct section *section, const struct rows *rows)
{
	char count[FMT_BYTES];
	struct layout l = {.key = section->key, .total = rows->total};
	l.blocks_cols = strlen(fmt_count(count, sizeof count, rows->total.blocks));
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
		      fmt_count(blocks, sizeof blocks, sum.blocks));
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

static enum neap_err write_row(struct text *t, struct shortener *nm, struct graph *g,
			       const struct report_options *options, const struct layout *l,
			       const struct row *row, struct err *e)
{
	struct graph_frame leaf = graph_entry(g, row->entry);
	enum neap_err code = NEAP_OK;
	write_numbers(t, l, STYLE_PLAIN, row->sum);
	stack_frame(t, nm, &leaf, STYLE_STRONG, l->place_cols,
		    graph_is_exiting(g, row->path) ? "(exiting)" : "");
	text_newline(t);
	if (options->has_full_stacks)
		stack_full(t, nm, g, row->inner);
	else
		code = stack_short(t, nm, g, row, l->key, l->place_cols, e);
	write_path_note(t, l, row);
	return code;
}

/* What the rows that are shown leave out, then what they all add up to. */
static void write_totals(struct text *t, const struct layout *l, const struct rows *rows,
			 size_t shown_count)
{
	char count[FMT_BYTES];
	size_t hidden_count = rows->count - shown_count;
	struct graph_sum other = {0, 0};
	for (size_t i = shown_count; i < rows->count; i++) {
		other.blocks += rows->rows[i].sum.blocks;
		other.bytes += rows->rows[i].sum.bytes;
	}
	if (hidden_count) {
		write_numbers(t, l, STYLE_PLAIN, other);
		text_printf(t, STYLE_DIM, "(other: %s %s)",
			    fmt_count(count, sizeof count, (int64_t)hidden_count),
			    hidden_count == 1 ? "site" : "sites");
		text_newline(t);
	}
	write_numbers(t, l, STYLE_STRONG, rows->total);
	text_printf(t, STYLE_STRONG, "total, %s %s",
		    fmt_count(count, sizeof count, (int64_t)rows->count),
		    rows->count == 1 ? "site" : "sites");
	text_newline(t);
}

enum neap_err section_write(struct text *t, struct shortener *nm, struct graph *g,
			    const struct report_options *options, const struct section *section,
			    const struct rows *rows, struct err *e)
{
	struct layout l = make_layout(section, rows);
	text_put(t, STYLE_HEADING, section->title);
	text_newline(t);
	text_printf(t, STYLE_DIM, "  query: %s | top %zu%s", section->query, options->top_count,
		    section->key == ROW_BLOCKS ? " by count" : "");
	text_newline(t);
	if (!rows->count) {
		text_printf(t, STYLE_PLAIN, "  %s", section->empty);
		text_newline(t);
		return NEAP_OK;
	}
	write_columns(t, &l, STYLE_DIM, "bytes", "share", "blocks");
	text_put(t, STYLE_DIM, "site");
	text_newline(t);
	size_t shown_count = rows->count < options->top_count ? rows->count : options->top_count;
	for (size_t i = 0; i < shown_count; i++) {
		enum neap_err code = write_row(t, nm, g, options, &l, &rows->rows[i], e);
		if (code)
			return code;
	}
	write_totals(t, &l, rows, shown_count);
	return NEAP_OK;
}
