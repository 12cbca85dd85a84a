/* Distributions of sizes and lifetimes. */
#include "config.h"

#include "tui/sizes_data.h"

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/show.h"

#define BINS_MOST 256u

/* ---- bins ---------------------------------------------------------------------------------- */

/* Bins of sizes are powers of two, those of lifetimes 1, 2, 5, 10, ...; 0 has one of its own. */
static uint64_t below_of(bool is_time, uint64_t from)
{
	uint64_t step = 1;
	if (!from)
		return 1;
	if (!is_time)
		return from > UINT64_MAX / 2 ? UINT64_MAX : 2 * from;
	while (step <= from / 10)
		step *= 10;
	uint64_t lead = from / step;
	if (step > UINT64_MAX / 10)
		return UINT64_MAX;
	return lead >= 5 ? 10 * step : lead >= 2 ? 5 * step : 2 * step;
}

static bool add_bin(struct distribution *d, struct bin b)
{
	if (!vec_reserve((void **)&d->bins, &d->bin_cap, d->bin_count + 1, sizeof *d->bins))
		return false;
	d->bins[d->bin_count++] = b;
	return true;
}

/* The bin of a row, and the empty ones before it: a gap has to look like one. */
static bool add_row(struct distribution *d, struct bin b)
{
	const struct bin *last = d->bin_count ? &d->bins[d->bin_count - 1] : NULL;
	uint64_t at = last && last->from ? last->below : b.from;
	while (at < b.from && d->bin_count < BINS_MOST) {
		uint64_t below = below_of(d->is_time, at);
		if (!add_bin(d, (struct bin){.from = at, .below = below}))
			return false;
		at = below;
	}
	return add_bin(d, b);
}

/* The total line; returns the column of bytes. */
static size_t take_totals(struct distribution *d, const struct query_result *r)
{
	size_t total = result_column(r, r->is_signed ? "delta" : "total");
	d->is_signed = r->is_signed;
	d->bytes = result_value(r, SIZE_MAX, total);
	d->has_blocks = result_knows(r, result_column(r, "count"));
	d->blocks = result_value(r, SIZE_MAX, result_column(r, "count"));
	return total;
}

static bool is_known(const struct query_result *r, size_t row, size_t key)
{
	return key < r->column_count && !r->cells[row * r->column_count + key].is_unknown;
}

/* Rows without a key, which a diff with a file of another tool has beside others, are one bin. */
static bool add_unknown(struct distribution *d, const struct query_result *r, size_t key)
{
	size_t total = result_column(r, r->is_signed ? "delta" : "total");
	size_t blocks = result_column(r, "count"), count = 0;
	struct bin b = {.is_unknown = true, .from = UINT64_MAX, .below = UINT64_MAX};
	for (size_t row = 0; row < r->row_count; row++) {
		if (is_known(r, row, key))
			continue;
		b.bytes += result_value(r, row, total);
		b.blocks += result_value(r, row, blocks);
		count++;
	}
	d->is_unknown = count && count == r->row_count;
	return !count || d->is_unknown || add_bin(d, b);
}

static enum neap_err no_memory(struct query_error *error)
{
	*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
	return ERR_NOMEM;
}

/* ---- quantiles --------------------------------------------------------------------------- */

struct sized {
	uint64_t size;
	int64_t bytes, blocks;
};

static int compare_sizes(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;
	return (x->size > y->size) - (x->size < y->size);
}

/* Exact: from every size that there is. */
static void size_quantiles(struct distribution *d, const struct sized *sizes, size_t count)
{
	static const struct {
		const char *word;
		double share;
	} wanted[QUANTILES_MOST] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
	int64_t blocks = 0, bytes = 0;
	for (size_t i = 0; i < count; i++) {
		blocks += sizes[i].blocks;
		bytes += sizes[i].bytes;
		while (d->quantile_count < QUANTILES_MOST &&
		       (double)blocks >= wanted[d->quantile_count].share * (double)d->blocks) {
			d->quantiles[d->quantile_count] =
				(struct quantile){wanted[d->quantile_count].word, sizes[i].size};
			d->quantile_count++;
		}
		if (!d->half_bytes && 2 * bytes >= d->bytes)
			d->half_bytes = sizes[i].size;
	}
	d->mean = d->blocks > 0 ? (uint64_t)(d->bytes / d->blocks) : 0;
	d->most = count ? sizes[count - 1].size : 0;
}

static bool add_size(struct distribution *d, const struct sized *s)
{
	uint64_t from = s->size;
	while (from & (from - 1)) /* the highest power of two in it */
		from &= from - 1;
	struct bin *last = d->bin_count ? &d->bins[d->bin_count - 1] : NULL;
	struct bin b = {.from = from, .below = below_of(false, from)};
	b.bytes = s->bytes;
	b.blocks = s->blocks;
	if (!last || last->from != from)
		return add_row(d, b);
	last->bytes += b.bytes;
	last->blocks += b.blocks;
	return true;
}

/* From every size that there is, in order. */
static enum neap_err load_sizes(struct distribution *d, struct model *m, struct query_error *error)
{
	struct query_opened *q;
	const struct compose c = {.by = "size", .without_rows = true};
	enum neap_err code = model_result(m, &c, &q, error);
	if (code)
		return code;
	const struct query_result *r = query_opened_result(q);
	size_t total = take_totals(d, r), blocks = result_column(r, "count");
	size_t key = result_column(r, "size"), count = 0;
	struct sized *sizes = mem_array(r->row_count + 1, sizeof *sizes);
	if (!sizes)
		return no_memory(error);
	for (size_t row = 0; row < r->row_count; row++) {
		if (is_known(r, row, key))
			sizes[count++] = (struct sized){(uint64_t)result_value(r, row, key),
							result_value(r, row, total),
							result_value(r, row, blocks)};
	}
	qsort(sizes, count, sizeof *sizes, compare_sizes);
	for (size_t i = 0; !code && i < count; i++) {
		if (!add_size(d, &sizes[i]))
			code = no_memory(error);
	}
	if (!code && !add_unknown(d, r, key))
		code = no_memory(error);
	if (!code && !d->is_signed && d->blocks > 0)
		size_quantiles(d, sizes, count);
	mem_free(sizes);
	return code;
}

static void lifetime_quantiles(struct distribution *d, const struct query_result *r)
{
	static const char *const words[] = {"p50", "p99"};
	for (size_t i = 0; i < 2 && d->blocks > 0; i++) {
		size_t column = result_column(r, words[i]);
		if (column != SIZE_MAX && !r->totals[column].is_unknown)
			d->quantiles[d->quantile_count++] = (struct quantile){
				words[i], (uint64_t)result_value(r, SIZE_MAX, column)};
	}
}

static enum neap_err load_lifetimes(struct distribution *d, struct model *m,
				    struct query_error *error)
{
	struct query_opened *q;
	enum graph_pop pop = query_population(model_state(m)->head);
	bool is_signed = pop == POP_COUNT || pop == POP_GROWTH;
	const struct compose c = {.view = is_signed ? "hist lifetime"
						    : "hist lifetime | select "
						      "lifetime,total,count,share,p50,p99",
				  .without_keys = true,
				  .without_rows = true};
	enum neap_err code = model_result(m, &c, &q, error);
	if (code)
		return code;
	const struct query_result *r = query_opened_result(q);
	size_t total = take_totals(d, r), blocks = result_column(r, "count");
	size_t key = result_column(r, "lifetime");
	for (size_t row = 0; row < r->row_count; row++) {
		if (!is_known(r, row, key))
			continue;
		struct bin b = {.from = (uint64_t)result_value(r, row, key),
				.bytes = result_value(r, row, total),
				.blocks = result_value(r, row, blocks)};
		b.below = below_of(true, b.from);
		if (!add_row(d, b))
			return no_memory(error);
	}
	if (!add_unknown(d, r, key))
		return no_memory(error);
	if (!d->is_signed)
		lifetime_quantiles(d, r);
	return NEAP_OK;
}

enum neap_err distribution_load(struct distribution *d, struct model *m, bool is_time,
				struct query_error *error)
{
	struct bin *bins = d->bins;
	size_t cap = d->bin_cap;
	*d = (struct distribution){.is_time = is_time, .bins = bins, .bin_cap = cap};
	enum neap_err code = is_time ? load_lifetimes(d, m, error) : load_sizes(d, m, error);
	for (size_t i = 0; i < d->bin_count; i++) {
		int64_t bytes = d->bins[i].bytes < 0 ? -d->bins[i].bytes : d->bins[i].bytes;
		int64_t blocks = d->bins[i].blocks < 0 ? -d->bins[i].blocks : d->bins[i].blocks;
		d->bytes_most = bytes > d->bytes_most ? bytes : d->bytes_most;
		d->blocks_most = blocks > d->blocks_most ? blocks : d->blocks_most;
	}
	return code;
}

void distribution_release(struct distribution *d)
{
	mem_free(d->bins);
	*d = (struct distribution){.bins = NULL};
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_scaled(struct buf *out, uint64_t value, const uint64_t *factors,
		       const char *const *units, size_t count)
{
	size_t unit = count - 1;
	while (unit && (value < factors[unit] || value % factors[unit]))
		unit--;
	buf_printf(out, "%" PRIu64 "%s", value / factors[unit], units[unit]);
}

static void put_value(const struct distribution *d, uint64_t value, struct buf *out)
{
	static const uint64_t bytes[] = {1, 1u << 10, 1u << 20, 1u << 30, UINT64_C(1) << 40};
	static const char *const byte_units[] = {"", "K", "M", "G", "T"};
	static const uint64_t ns[] = {1, 1000, 1000000, 1000000000};
	static const char *const ns_units[] = {"ns", "us", "ms", "s"};
	if (d->is_time)
		put_scaled(out, value, ns, ns_units, 4);
	else
		put_scaled(out, value, bytes, byte_units, 5);
}

void bin_text(const struct distribution *d, const struct bin *b, struct buf *out)
{
	if (b->is_unknown) {
		buf_puts(out, "[unknown]");
		return;
	}
	if (!b->from) {
		buf_puts(out, d->is_time ? "< a snapshot" : "0");
		return;
	}
	put_value(d, b->from, out);
	if (b->below == b->from + 1)
		return;
	buf_puts(out, "..");
	put_value(d, b->below, out);
}

void bin_query(const struct distribution *d, const struct bin *b, struct buf *out)
{
	const char *field = d->is_time ? "lifetime" : "size";
	buf_puts(out, "| where ");
	if (b->from) {
		buf_printf(out, "%s >= ", field);
		put_value(d, b->from, out);
		buf_puts(out, " and ");
	}
	buf_printf(out, "%s < ", field);
	put_value(d, b->below, out);
}

const char *distribution_value(const struct distribution *d, uint64_t value, char *dst, size_t cap)
{
	if (d->is_time)
		return fmt_duration(dst, cap, value);
	return fmt_bytes(dst, cap, (int64_t)value);
}
