/*
 *       bytes    share  blocks  place
 *    16.1 MiB   99.5 %   9,712  render_article  targets/demo.cpp:162
 *                               < answer  targets/demo.cpp:201
 *                               Blocks from 10 of 10 parts of the run are still there.  They were
 *                               allocated at 52 % of it on average.  8.4 MiB came in its second
 *                               half, about 16.4 MiB a second.
 */
#include "config.h"

#include "src/report/suspects.h"

#include "src/base/fmt.h"
#include "src/report/head.h"
#include "src/report/stack.h"

#include <stdio.h>
#include <string.h>

#define BYTES_COLS  10u
#define SHARE_COLS  7u
#define BLOCKS_COLS 11u
#define PLACE_COLS  (2u + BYTES_COLS + 2u + SHARE_COLS + 2u + BLOCKS_COLS + 2u)

struct writer {
	struct text text;
	struct shortener names;
	const struct graph *g;
	const struct report_options *options;
	const struct suspects *s;
};

static void write_numbers(struct writer *w, enum text_style style, struct graph_sum sum)
{
	char bytes[FMT_BYTES], share[FMT_BYTES], blocks[FMT_BYTES];
	text_spaces(&w->text, 2);
	text_right(&w->text, style, BYTES_COLS, fmt_bytes(bytes, sizeof bytes, sum.bytes));
	text_spaces(&w->text, 2);
	text_right(&w->text, style, SHARE_COLS,
		   fmt_pct(share, sizeof share, (double)sum.bytes, (double)w->s->total.bytes));
	text_spaces(&w->text, 2);
	text_right(&w->text, style, BLOCKS_COLS, fmt_count(blocks, sizeof blocks, sum.blocks));
	text_spaces(&w->text, 2);
}

static uint64_t second_half_ns(const struct writer *w)
{
	return graph_snap_time(w->g, w->s->snap) - graph_snap_time(w->g, w->s->half_snap);
}

/* What makes it suspicious, in words. */
static void write_evidence(struct writer *w, const struct suspect *s)
{
	char later[FMT_BYTES], rate[FMT_BYTES], mean[FMT_BYTES], words[512];
	uint64_t ns = second_half_ns(w);
	double per_second = ns ? (double)s->later_bytes * 1e9 / (double)ns : 0;
	snprintf(words, sizeof words,
		 "Blocks from %u of %u parts of the run are still there, allocated at %s of it on "
		 "average. %s came in its second half, about %s a second.",
		 s->part_count, SUSPECT_PARTS, fmt_pct(mean, sizeof mean, s->mean_birth, 1),
		 fmt_bytes(later, sizeof later, s->later_bytes),
		 fmt_bytes(rate, sizeof rate, (int64_t)per_second));
	text_spaces(&w->text, PLACE_COLS);
	text_wrap(&w->text, STYLE_WARNING, PLACE_COLS, PLACE_COLS, words);
	text_newline(&w->text);
}

/* Bytes of the name without parameters, if shell and query take it as it is; else 0. */
static size_t plain_bytes(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_:~$.";
	size_t bytes = strspn(name, plain);
	return !name[bytes] || name[bytes] == '(' ? bytes : 0;
}

/* How to go on from here. */
static void write_query(struct writer *w, const struct suspect *s)
{
	struct graph_frame f = graph_entry(w->g, s->row.entry);
	size_t bytes = f.kind == FRAME_NAMED ? plain_bytes(f.name) : 0;
	if (!bytes)
		return;
	char now[32];
	text_spaces(&w->text, PLACE_COLS);
	text_printf(&w->text, STYLE_DIM, "query: live at %s leaf.func=%.*s | callers",
		    suspects_time(w->g, w->s->snap, now), (int)bytes, f.name);
	text_newline(&w->text);
}

static enum neap_err write_suspect(struct writer *w, const struct suspect *s, struct err *e)
{
	struct graph_frame leaf = graph_entry(w->g, s->row.entry);
	enum neap_err code = NEAP_OK;
	write_numbers(w, STYLE_PLAIN, s->row.sum);
	stack_frame(&w->text, &w->names, &leaf, STYLE_STRONG, PLACE_COLS, "");
	text_newline(&w->text);
	if (w->options->has_full_stacks)
		stack_full(&w->text, &w->names, w->g, s->row.inner);
	else
		code = stack_short(&w->text, &w->names, w->g, &s->row, ROW_BYTES, PLACE_COLS, e);
	write_evidence(w, s);
	write_query(w, s);
	return code;
}

/* What is live besides, so that the lines add up. */
static void write_rest(struct writer *w, size_t shown_count)
{
	static const char *const meanings[HOLDING_COUNT] = {
		[HOLDING_GROWING] = "more suspects",
		[HOLDING_FROM_EARLY] = "kept since early in the run",
		[HOLDING_RECENT] = "allocated late: replaced all the time, or begun late",
		[HOLDING_LEVEL] = "replaced, and no more than at half time",
	};
	char count[FMT_BYTES];
	struct graph_sum sums[HOLDING_COUNT];
	memcpy(sums, w->s->kind_sum, sizeof sums);
	for (size_t i = 0; i < shown_count; i++) {
		sums[HOLDING_GROWING].bytes -= w->s->items[i].row.sum.bytes;
		sums[HOLDING_GROWING].blocks -= w->s->items[i].row.sum.blocks;
	}
	for (size_t kind = 0; kind < HOLDING_COUNT; kind++) {
		size_t places = w->s->kind_count[kind] - (kind ? 0 : shown_count);
		if (!places)
			continue;
		write_numbers(w, STYLE_PLAIN, sums[kind]);
		text_printf(&w->text, STYLE_DIM, "(%s: %s %s)", meanings[kind],
			    fmt_count(count, sizeof count, (int64_t)places),
			    places == 1 ? "place" : "places");
		text_newline(&w->text);
	}
	write_numbers(w, STYLE_STRONG, w->s->total);
	text_printf(&w->text, STYLE_STRONG, "live at that time");
	text_newline(&w->text);
}

static void write_title(struct writer *w)
{
	char when[FMT_BYTES], count[FMT_BYTES];
	uint64_t ns = graph_snap_time(w->g, w->s->snap);
	text_printf(&w->text, STYLE_HEADING, "LEAK SUSPECTS: what kept growing until %s",
		    fmt_duration(when, sizeof when, ns));
	text_newline(&w->text);
	text_printf(&w->text, STYLE_DIM, "  query: %s", w->s->births_query);
	text_newline(&w->text);
	text_printf(&w->text, STYLE_DIM, "  query: %s", w->s->growth_query);
	text_newline(&w->text);
	if (w->s->suspect_count) {
		text_printf(&w->text, STYLE_PLAIN, "  %s of %zu places that hold memory",
			    fmt_count(count, sizeof count, (int64_t)w->s->suspect_count),
			    w->s->count);
	} else {
		text_put(&w->text, STYLE_PLAIN, "  none: no place grew all the time");
	}
	text_newline(&w->text);
	text_newline(&w->text);
	text_spaces(&w->text, 2);
	text_right(&w->text, STYLE_DIM, BYTES_COLS, "bytes");
	text_right(&w->text, STYLE_DIM, 2 + SHARE_COLS, "share");
	text_right(&w->text, STYLE_DIM, 2 + BLOCKS_COLS, "blocks");
	text_put(&w->text, STYLE_DIM, "  place");
	text_newline(&w->text);
}

static enum neap_err write_all(struct writer *w, struct err *e)
{
	enum neap_err code = NEAP_OK;
	size_t shown = w->s->suspect_count;
	if (shown > w->options->top_count)
		shown = w->options->top_count;
	head_run(&w->text, &w->names, w->g);
	head_warnings(&w->text, &w->names, w->g);
	text_newline(&w->text);
	write_title(w);
	for (size_t i = 0; i < shown && !code; i++)
		code = write_suspect(w, &w->s->items[i], e);
	write_rest(w, shown);
	return code;
}

enum neap_err suspects_write(struct query_session *session, const struct report_options *options,
			     struct buf *out, struct err *e)
{
	const struct graph *g = query_session_graph(session);
	struct suspects s = {0};
	struct path_finder finder;
	struct writer w = {
		.text = {.out = out,
			 .width_cols = options->width_cols,
			 .has_colour = options->has_colour,
			 .is_utf8 = options->is_utf8},
		.names = {.is_utf8 = options->is_utf8, .cwd = graph_profile(g)->run.cwd},
		.g = g,
		.options = options,
		.s = &s,
	};
	enum neap_err code = path_finder_init(&finder, g, e);
	if (!code)
		code = suspects_find(session, &finder, options->top_count, &s, e);
	if (!code)
		code = write_all(&w, e);
	if (!code && (w.names.has_failed || out->has_failed))
		code = err_nomem(e, "the report");
	suspects_release(&s);
	path_finder_release(&finder);
	shortener_release(&w.names);
	return code;
}
