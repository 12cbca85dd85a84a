/* One cell of a result. */
#include "config.h"

#include "src/report/out_priv.h"

#include "query/vocab.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_NAME_COLS 32u /* of a frame where a whole stack is one cell */

const struct result_cell *out_cell(const struct out *x, size_t row, size_t column)
{
	return &result_cells(x->r, row)[column];
}

bool out_is_text(const struct result_column *c)
{
	return c->type == RESULT_TEXT;
}

/* ---- numbers ------------------------------------------------------------------------ */

static bool is_mean(const struct result_column *c)
{
	return c->type == RESULT_BYTES && !strcmp(c->word, "avg");
}

double out_value(const struct result_column *c, const struct result_cell *cell)
{
	if (cell->is_unknown)
		return 0;
	return c->type == RESULT_RATIO || c->type == RESULT_RATE ? cell->number
								 : (double)cell->value;
}

/* In differences a plus is said; the two sides themselves are no differences. */
static const char *plus_sign(const struct query_result *r, const struct result_column *c,
			     const struct result_cell *cell)
{
	bool is_difference = r->is_signed && !c->is_key && c->type != RESULT_RATIO &&
			     strcmp(c->word, "a") != 0 && strcmp(c->word, "b") != 0 &&
			     strcmp(c->word, "rows") != 0;
	return is_difference && out_value(c, cell) > 0 ? "+" : "";
}

static int64_t rounded(double number)
{
	if (number >= 9.2e18)
		return INT64_MAX;
	if (number <= -9.2e18)
		return INT64_MIN;
	return (int64_t)(number < 0 ? number - 0.5 : number + 0.5);
}

static void put_duration(char *dst, int64_t ns)
{
	if (ns < 0) {
		*dst++ = '-';
		fmt_duration(dst, FMT_BYTES, 0 - (uint64_t)ns);
	} else {
		fmt_duration(dst, FMT_BYTES, (uint64_t)ns);
	}
}

const char *out_number(char *dst, const struct query_result *r, const struct result_column *c,
		       const struct result_cell *cell)
{
	char text[FMT_BYTES + 8] = "";
	if (cell->is_unknown) {
		snprintf(dst, OUT_NUMBER_BYTES, "%s", c->is_key ? "[unknown]" : "-");
		return dst;
	}
	switch (c->type) {
	case RESULT_BYTES:
		fmt_bytes(text, FMT_BYTES,
			  is_mean(c) && cell->number ? rounded(cell->number) : cell->value);
		break;
	case RESULT_COUNT:
		fmt_count(text, FMT_BYTES, cell->value);
		break;
	case RESULT_NS:
		put_duration(text, cell->value);
		break;
	case RESULT_RATIO:
		fmt_pct(text, FMT_BYTES, cell->number, 1);
		break;
	case RESULT_RATE:
		fmt_bytes(text, FMT_BYTES, rounded(cell->number));
		memcpy(text + strlen(text), "/s", sizeof "/s");
		break;
	case RESULT_NUMBER:
	case RESULT_TEXT:
		snprintf(text, sizeof text, strcmp(c->word, "addr") ? "%" PRId64 : "0x%" PRIx64,
			 cell->value);
		break;
	}
	snprintf(dst, OUT_NUMBER_BYTES, "%s%s", plus_sign(r, c, cell), text);
	return dst;
}

/* The shortest decimal that reads back as the same number; the locale has no say. */
static void put_real(struct buf *b, double number)
{
	char text[64];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	for (char *p = text; *p; p++) {
		if (!strchr("0123456789+-eE", *p))
			*p = '.';
	}
	buf_puts(b, number - number == 0 ? text : "0"); /* neither infinite nor NaN */
}

void out_raw(struct buf *b, const struct result_column *c, const struct result_cell *cell)
{
	if (c->type == RESULT_RATIO || c->type == RESULT_RATE || (is_mean(c) && cell->number))
		put_real(b, cell->number);
	else
		buf_printf(b, "%" PRId64, cell->value);
}

/* ---- texts ---------------------------------------------------------------------------- */

static bool is_stack(const struct result_column *c)
{
	return c->is_key && !strcmp(c->word, "stack");
}

/* A function as the profile names it. */
static void put_frame(struct out *x, entry_id entry)
{
	struct graph_frame f = graph_entry(x->r->graph, entry);
	struct buf *b = &x->scratch;
	size_t start = b->count_bytes;
	if (f.kind == FRAME_NAMED && *f.name)
		buf_puts(b, f.name);
	else
		buf_puts(b, name_frame(&x->names, &f, SIZE_MAX / 8));
	for (size_t i = start; i < b->count_bytes; i++) {
		if (b->data[i] == ';')
			b->data[i] = ':'; /* it separates frames */
	}
}

static const char *stack_text(struct out *x, const struct result_row *row)
{
	for (uint32_t i = 0; i < row->frame_count; i++) {
		if (i)
			buf_putc(&x->scratch, ';');
		put_frame(x, row->frames[i]);
	}
	x->has_failed = x->has_failed || x->scratch.has_failed;
	return x->scratch.count_bytes ? x->scratch.data : "";
}

const char *out_text(struct out *x, size_t row, size_t column)
{
	const struct result_cell *cell = out_cell(x, row, column);
	const struct result_row own = result_row(x->r, row), *r = &own;
	buf_clear(&x->scratch);
	if ((!cell->text || !*cell->text) && is_stack(&x->r->columns[column]) && r->frame_count &&
	    x->r->graph)
		return stack_text(x, r);
	return cell->is_unknown ? NULL : cell->text;
}

/* From the leaf outwards, as reports tell it. */
static const char *shown_stack(struct out *x, const struct result_row *row, size_t width_cols)
{
	struct buf *b = &x->scratch;
	buf_clear(b);
	for (uint32_t i = row->frame_count; i-- > 0;) {
		struct graph_frame f = graph_entry(x->r->graph, row->frames[i]);
		buf_puts(b,
			 name_frame(&x->names, &f,
				    width_cols < STACK_NAME_COLS ? width_cols : STACK_NAME_COLS));
		if (i)
			buf_printf(b, " %s ", text_glyph(&x->text, GLYPH_CALLER));
		if (b->count_bytes > 16 * width_cols)
			break;
	}
	x->has_failed = x->has_failed || b->has_failed;
	return name_text(&x->names, b->count_bytes ? b->data : "", width_cols);
}

const char *out_function(struct out *x, const char *name, size_t width_cols)
{
	if (!x->slots)
		x->slots = mem_zarray(NAME_SLOTS, sizeof *x->slots);
	if (!x->slots)
		return name_function(&x->names, name, width_cols);
	uint64_t hash = ((uint64_t)(uintptr_t)name + width_cols) * UINT64_C(0x9e3779b97f4a7c15);
	struct name_slot *slot = &x->slots[hash >> 52];
	if (slot->name != name || slot->width_cols != width_cols) {
		const char *shown = name_function(&x->names, name, width_cols);
		mem_free(slot->shown);
		*slot = (struct name_slot){name, width_cols, mem_strdup(shown)};
		if (!slot->shown) {
			slot->name = NULL;
			return shown;
		}
	}
	return slot->shown;
}

void out_release_names(struct out *x)
{
	for (size_t i = 0; x->slots && i < NAME_SLOTS; i++)
		mem_free(x->slots[i].shown);
	mem_free(x->slots);
}

const char *out_shown_text(struct out *x, size_t row, size_t column, size_t width_cols)
{
	const struct result_cell *cell = out_cell(x, row, column);
	const struct result_column *c = &x->r->columns[column];
	const struct result_row own = result_row(x->r, row), *r = &own;
	if ((!cell->text || !*cell->text) && is_stack(c) && r->frame_count && x->r->graph)
		return shown_stack(x, r, width_cols);
	if (cell->is_unknown || !cell->text || !*cell->text)
		return "[unknown]";
	const char *word = key_field(c->word);
	if (!strcmp(word, "func") || !strcmp(word, "class"))
		return out_function(x, cell->text, width_cols);
	if (!strcmp(word, "file") || !strcmp(word, "line"))
		return name_path(&x->names, cell->text, width_cols);
	if (!strcmp(word, "module"))
		return name_module(&x->names, cell->text, width_cols);
	return name_text(&x->names, cell->text, width_cols);
}

bool out_adds_up(const struct result_column *c)
{
	return strcmp(c->word, "avg") != 0;
}

bool out_is_cut(const struct out *x, size_t row, size_t column)
{
	return x->r->columns[column].is_key && result_row(x->r, row).kind == ROW_OTHER &&
	       out_cell(x, row, column)->is_unknown;
}

const char *out_other(char *dst, const struct result_row *row)
{
	char count[FMT_BYTES];
	snprintf(dst, OUT_NUMBER_BYTES, "(other: %s %s)",
		 fmt_count(count, sizeof count, row->count), row->count == 1 ? "row" : "rows");
	return dst;
}

/* C0, DEL, C1, and what turns the direction of writing. */
static bool is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0x200e ||
	       c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void out_clean(struct buf *b, const char *s, const char *replace, char by)
{
	const uint8_t *p = (const uint8_t *)s, *end = p + strlen(s);
	for (size_t n; p < end; p += n) {
		uint32_t c = utf8_decode(p, end, &n);
		if (c < 0x80 && strchr(replace, (int)c))
			buf_putc(b, by);
		else if (c == UTF8_REPLACEMENT || is_unsafe(c))
			buf_puts(b, "\xef\xbf\xbd");
		else
			buf_put(b, p, n);
	}
}

/* ---- columns --------------------------------------------------------------------------- */

size_t out_find_column(const struct out *x, const char *word)
{
	for (size_t i = 0; i < x->shown_count; i++) {
		if (!strcmp(x->r->columns[x->shown[i]].word, word))
			return x->shown[i];
	}
	return SIZE_MAX;
}

/* The difference where there is one, else the total, else the first number shown. */
size_t out_value_column(const struct out *x)
{
	static const char *const words[] = {"delta", "total"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t column = out_find_column(x, words[i]);
		if (column != SIZE_MAX)
			return column;
	}
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = &x->r->columns[x->shown[i]];
		if (!c->is_key && !out_is_text(c))
			return x->shown[i];
	}
	return SIZE_MAX;
}

void out_hide_column(struct out *x, size_t column)
{
	size_t kept = 0;
	for (size_t i = 0; i < x->shown_count; i++) {
		if (x->shown[i] != column)
			x->shown[kept++] = x->shown[i];
	}
	x->shown_count = kept;
}
