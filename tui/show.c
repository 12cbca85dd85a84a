/* Numbers in few columns. */
#include "config.h"

#include "tui/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *scaled(char *dst, size_t cap, int64_t value, double base, const char *units)
{
	double v = (double)value;
	size_t unit = 0;
	while (fabs(v) >= (unit ? base - 0.05 : base) && units[unit + 1]) {
		v /= base;
		unit++;
	}
	if (!unit)
		snprintf(dst, cap, "%" PRId64, value);
	else if (fabs(v) >= 999.95)
		snprintf(dst, cap, "%.0f%c", v, units[unit]);
	else
		snprintf(dst, cap, "%.1f%c", v, units[unit]);
	return dst;
}

const char *show_bytes(char *dst, size_t cap, int64_t bytes)
{
	return scaled(dst, cap, bytes, 1024, "BKMGTPE");
}

const char *show_count(char *dst, size_t cap, int64_t count)
{
	if (count > -10000 && count < 10000) {
		snprintf(dst, cap, "%" PRId64, count);
		return dst;
	}
	return scaled(dst, cap, count, 1000, " kMGTPE");
}

const char *show_count_words(char *dst, size_t cap, int64_t count)
{
	show_count(dst, cap, count);
	size_t bytes = strlen(dst);
	if (bytes && strchr("kMGTPE", dst[bytes - 1]) && bytes + 1 < cap) {
		dst[bytes + 1] = '\0';
		dst[bytes] = dst[bytes - 1];
		dst[bytes - 1] = ' ';
	}
	return dst;
}

const char *show_blocks_word(int64_t count)
{
	return count == 1 ? "block" : "blocks";
}

const char *show_share(char *dst, size_t cap, double part, double whole)
{
	dst[0] = '\0';
	if (whole != 0)
		snprintf(dst, cap, "%.1f%%", part != 0 ? part * 100 / whole : 0);
	return dst;
}

const char *show_cell(char *dst, size_t cap, const struct result_cell *cell, enum result_type type)
{
	if (cell->is_unknown)
		return "-";
	switch (type) {
	case RESULT_TEXT:
		return cell->text ? cell->text : "";
	case RESULT_BYTES:
		return show_bytes(dst, cap, cell->value);
	case RESULT_COUNT:
		return show_count(dst, cap, cell->value);
	case RESULT_NUMBER:
		snprintf(dst, cap, "%" PRId64, cell->value);
		return dst;
	case RESULT_NS:
		return fmt_duration(dst, cap, cell->value < 0 ? 0 : (uint64_t)cell->value);
	case RESULT_RATIO:
		snprintf(dst, cap, "%.1f%%", cell->number * 100);
		return dst;
	case RESULT_RATE:
		show_bytes(dst, cap, (int64_t)cell->number);
		snprintf(dst + strlen(dst), cap - strlen(dst), "/s");
		return dst;
	}
	return "";
}

void show_put_sum(struct buf *out, int64_t bytes, bool has_blocks, int64_t blocks)
{
	char text[FMT_THINGS_BYTES];
	buf_puts(out, fmt_bytes(text, sizeof text, bytes));
	if (has_blocks)
		buf_printf(out, " in %s", fmt_things(text, sizeof text, blocks, "block"));
}

size_t show_fitting(const char *text, size_t bytes, unsigned cols)
{
	size_t fits = 0, space = 0;
	for (size_t i = 1; i <= bytes; i++) {
		if (i < bytes && ((unsigned char)text[i] & 0xc0) == 0x80)
			continue;
		if (i > cols && fmt_width(text, i) > cols)
			break;
		fits = i;
		if (i == bytes || text[i] == ' ')
			space = i;
	}
	return fits == bytes ? bytes : space ? space : fits ? fits : bytes;
}

unsigned show_wrapped(const struct area *a, unsigned row, unsigned rows_most, struct look l,
		      const char *text)
{
	size_t left = strlen(text);
	while (left && rows_most-- && row < a->rows && a->cols) {
		bool is_last = !rows_most || row + 1 == a->rows;
		size_t bytes = is_last ? left : show_fitting(text, left, a->cols);
		if (is_last)
			area_elide(a, row++, 0, a->cols, l, text);
		else
			area_printf(a, row++, 0, l, "%.*s", (int)bytes, text);
		bytes += strspn(text + bytes, " ");
		text += bytes;
		left -= bytes;
	}
	return row;
}

size_t result_column(const struct query_result *r, const char *word)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].word, word))
			return i;
	}
	return SIZE_MAX;
}

bool result_knows(const struct query_result *r, size_t column)
{
	return column < r->column_count && !r->totals[column].is_unknown;
}

int64_t result_value(const struct query_result *r, size_t row, size_t column)
{
	if (column >= r->column_count)
		return 0;
	const struct result_cell *c =
		row == SIZE_MAX ? &r->totals[column] : &r->cells[row * r->column_count + column];
	return c->is_unknown ? 0 : c->value;
}
