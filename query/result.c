/*
 * Rows of results.
 *
 * A tree can have as many rows as the profile has nodes.  Laid out, each would take some hundred
 * bytes of cells that hardly anybody looks at, so such a result keeps a few numbers a row and the
 * sums of all places, and makes a row when it is asked for.
 */
#include "config.h"

#include "query/exec.h"

void result_flat_free(struct result_flat *flat)
{
	if (!flat)
		return;
	mem_free(flat->rows);
	mem_free(flat->prefix.sums);
	mem_free(flat->names);
	mem_free(flat);
}

bool flat_value(const struct graph_sum *self, const struct graph_sum *total, int64_t base_bytes,
		enum ast_column c, struct result_cell *out)
{
	int64_t value;
	switch (c) {
	case COL_SHARE:
		*out = (struct result_cell){.is_unknown = !base_bytes};
		if (base_bytes)
			out->number = (double)total->bytes / (double)base_bytes;
		return true;
	case COL_SELF:
		value = self->bytes;
		break;
	case COL_TOTAL:
		value = total->bytes;
		break;
	case COL_COUNT:
		value = total->blocks;
		break;
	default:
		return false;
	}
	*out = (struct result_cell){.value = value, .number = (double)value};
	return true;
}

static struct result_cell flat_cell(const struct result_flat *flat, size_t row_idx,
				    size_t column_idx, size_t name_idx)
{
	const struct flat_row *row = &flat->rows[row_idx];
	const struct plan_column *c = &flat->columns[column_idx];
	struct result_cell cell = {.is_unknown = true};
	if (c->is_key)
		return flat->names[row->group * flat->name_count + name_idx];
	struct graph_sum self =
		prefix_between(&flat->prefix, MEASURE_MAIN, row->place, row->place + row->is_own);
	struct graph_sum total = prefix_between(&flat->prefix, MEASURE_MAIN, row->place, row->end);
	flat_value(&self, &total, flat->base_bytes, c->column, &cell);
	return cell;
}

const struct result_cell *result_cells(const struct query_result *r, size_t row_idx)
{
	size_t name_idx = 0;
	if (!r->flat)
		return &r->cells[row_idx * r->column_count];
	for (size_t i = 0; i < r->column_count; i++) {
		r->flat->row_cells[i] = flat_cell(r->flat, row_idx, i, name_idx);
		name_idx += r->flat->columns[i].is_key;
	}
	return r->flat->row_cells;
}

struct result_cell result_cell(const struct query_result *r, size_t row_idx, size_t column_idx)
{
	size_t name_idx = 0;
	if (!r->flat)
		return r->cells[row_idx * r->column_count + column_idx];
	for (size_t i = 0; i < column_idx; i++)
		name_idx += r->flat->columns[i].is_key;
	return flat_cell(r->flat, row_idx, column_idx, name_idx);
}

struct result_row result_row(const struct query_result *r, size_t row_idx)
{
	if (!r->flat)
		return r->rows[row_idx];
	const struct flat_row *row = &r->flat->rows[row_idx];
	struct result_row out = {.kind = ROW_PLAIN, .depth = row->depth, .parent = row->parent};
	const entry_id *first = &r->flat->first_entries[row->group];
	if (r->graph && *first != ENTRY_NONE) {
		out.frames = first;
		out.frame_count = 1;
	}
	return out;
}
