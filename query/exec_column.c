/*
 * Columns from values.
 *
 * In diff and growth every column is its value on the second side minus that on the first;
 * sizes and counts of nothing count as 0 there, times and rates of nothing are unknown.  The
 * exceptions are a and b, the totals of the two sides, and share, which is a part of the signed
 * base.
 */
#include "config.h"

#include "query/exec.h"

enum result_type column_type(enum ast_column c)
{
	switch (vocab_columns.words[c].type) {
	case VALUE_COUNT:
		return RESULT_COUNT;
	case VALUE_TIME:
		return RESULT_NS;
	case VALUE_RATIO:
		return RESULT_RATIO;
	case VALUE_RATE:
		return RESULT_RATE;
	default:
		return RESULT_BYTES;
	}
}

static struct result_cell whole(int64_t value)
{
	return (struct result_cell){.value = value, .number = (double)value};
}

static struct result_cell unknown(void)
{
	return (struct result_cell){.is_unknown = true};
}

static struct result_cell real(double number)
{
	/* Ratios and rates are doubles; value is for those who sort by it. */
	return (struct result_cell){.number = number};
}

static struct result_cell mean(const struct graph_sum *v)
{
	if (v->blocks <= 0)
		return unknown();
	struct result_cell c = whole(v->bytes / v->blocks);
	c.number = (double)v->bytes / (double)v->blocks;
	return c;
}

static struct result_cell rate(const struct exec *x, size_t side, const struct side_values *v)
{
	uint64_t ns = x->pl->sides[side].seconds_ns;
	if (!ns)
		return unknown();
	return real((double)v->total[MEASURE_ALLOCS].bytes * 1e9 / (double)ns);
}

static struct result_cell side_cell(const struct exec *x, size_t side, const struct side_values *v,
				    enum ast_column c)
{
	bool has_births = v->first_ns <= v->last_ns;
	switch (c) {
	case COL_SELF:
		return whole(v->self[MEASURE_MAIN].bytes);
	case COL_COUNT:
		return whole(v->total[MEASURE_MAIN].blocks);
	case COL_ALLOCS:
		return whole(v->total[MEASURE_ALLOCS].blocks);
	case COL_FREES:
		return whole(v->total[MEASURE_FREES].blocks);
	case COL_TEMP:
		return whole(v->total[MEASURE_TEMP].blocks);
	case COL_PEAK:
		return whole(v->total[MEASURE_PEAK].bytes);
	case COL_AVG:
		return mean(&v->total[MEASURE_MAIN]);
	case COL_MAX:
		return whole(v->max_bytes);
	case COL_P50:
		return v->has_quantiles ? whole((int64_t)v->p50_ns) : unknown();
	case COL_P99:
		return v->has_quantiles ? whole((int64_t)v->p99_ns) : unknown();
	case COL_RATE:
		return rate(x, side, v);
	case COL_FIRST:
		return has_births ? whole((int64_t)v->first_ns) : unknown();
	case COL_LAST:
		return has_births ? whole((int64_t)v->last_ns) : unknown();
	default: /* total, delta, a, b */
		return whole(v->total[MEASURE_MAIN].bytes);
	}
}

static struct result_cell share(const struct exec *x, const struct values *v)
{
	struct graph_sum sum = v->side[x->pl->side_count - 1].total[MEASURE_MAIN];
	if (x->pl->side_count == 2)
		sum_take(&sum, &v->side[0].total[MEASURE_MAIN]);
	return x->base_bytes ? real((double)sum.bytes / (double)x->base_bytes) : unknown();
}

struct result_cell column_cell(const struct exec *x, const struct values *v, enum ast_column c)
{
	if (!known_has_column(x->pl, c))
		return unknown();
	if (c == COL_SHARE)
		return share(x, v);
	if (c == COL_ROWS)
		return whole(v->row_count);
	if (x->pl->side_count == 1 || c == COL_A)
		return side_cell(x, 0, &v->side[0], c);
	struct result_cell b = side_cell(x, 1, &v->side[1], c);
	if (c == COL_B)
		return b;
	struct result_cell a = side_cell(x, 0, &v->side[0], c);
	enum result_type type = column_type(c);
	bool counts_as_zero = type == RESULT_BYTES || type == RESULT_COUNT;
	if ((a.is_unknown || b.is_unknown) && !counts_as_zero)
		return unknown();
	struct result_cell d = {.number = b.number - a.number};
	d.value = (int64_t)((uint64_t)b.value - (uint64_t)a.value);
	return d;
}
