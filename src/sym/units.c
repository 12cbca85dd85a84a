/*
 * What was read of one compilation unit, and how it is searched.
 *
 *   where     address -> function; in a function, inner: address -> call inlined into it
 *   seqs      contiguous code -> rows[first_row ..], each row valid up to the next
 *   files     index of the line table -> path, put together when first asked for
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/limits.h"

#define DIE_BYTES 64 /* about what libdwarf needs for one that is open */

void unit_clear(struct dw_unit *u)
{
	for (size_t i = 0; i < u->func_count; i++)
		segments_release(&u->funcs[i].inner);
	mem_free(u->funcs);
	mem_free(u->rows);
	mem_free(u->seqs);
	mem_free(u->files);
	segments_release(&u->where);
	mem_free(u->call_offs);
	map_release(&u->calls);
	map_release(&u->copies);
	*u = (struct dw_unit){.die_off = u->die_off, .has_aranges = u->has_aranges};
}

size_t unit_bytes(const struct dw_unit *u)
{
	return u->func_cap * sizeof *u->funcs + u->func_count * DIE_BYTES +
	       u->row_cap * sizeof *u->rows + u->seq_cap * sizeof *u->seqs +
	       u->file_cap * sizeof *u->files + u->where.cap * sizeof *u->where.items +
	       u->inner_bytes + u->call_cap * sizeof *u->call_offs +
	       (u->calls.cap + u->copies.cap) * sizeof(struct map_slot);
}

/* ---- rows ----------------------------------------------------------------------- */

#define OPEN_VA UINT64_MAX /* high_va of a sequence that still grows */

static bool begin_seq(struct dw_unit *u, uint64_t va)
{
	if (!vec_reserve((void **)&u->seqs, &u->seq_cap, u->seq_count + 1, sizeof *u->seqs))
		return false;
	u->seqs[u->seq_count++] = (struct dw_seq){va, OPEN_VA, (uint32_t)u->row_count, 0};
	return true;
}

bool unit_add_row(struct dw_unit *u, uint64_t va, uint32_t file, uint32_t line, bool is_end)
{
	struct dw_seq *seq = u->seq_count ? &u->seqs[u->seq_count - 1] : NULL;
	bool is_open = seq && seq->high_va == OPEN_VA;
	if (is_open && seq->row_count && va < u->rows[u->row_count - 1].va) {
		/* broken: addresses never fall inside a sequence */
		seq->high_va = u->rows[u->row_count - 1].va;
		is_open = false;
	}
	if (is_end) {
		if (is_open)
			seq->high_va = va;
		return true;
	}
	if (!is_open) {
		if (!begin_seq(u, va))
			return false;
		seq = &u->seqs[u->seq_count - 1];
	}
	if (seq->row_count && u->rows[u->row_count - 1].va == va) {
		/* several rows at one address: the last one holds */
		u->rows[u->row_count - 1] = (struct dw_row){va, file, line};
		return true;
	}
	if (!vec_reserve((void **)&u->rows, &u->row_cap, u->row_count + 1, sizeof *u->rows))
		return false;
	u->rows[u->row_count++] = (struct dw_row){va, file, line};
	seq->row_count++;
	return true;
}

static int compare_seqs(const void *pa, const void *pb)
{
	const struct dw_seq *a = pa, *b = pb;
	if (a->low_va != b->low_va)
		return a->low_va < b->low_va ? -1 : 1;
	return (a->first_row > b->first_row) - (a->first_row < b->first_row);
}

/* Code that the linker threw away has sequences that begin at 0, or at the end of all addresses. */
void unit_seal_rows(struct dw_unit *u, bool has_code_at_start)
{
	size_t kept = 0;
	for (size_t i = 0; i < u->seq_count; i++) {
		struct dw_seq *s = &u->seqs[i];
		if (s->high_va == OPEN_VA && s->row_count) /* the table was cut */
			s->high_va = u->rows[s->first_row + s->row_count - 1].va;
		if ((s->low_va || has_code_at_start) && s->high_va > s->low_va && s->row_count)
			u->seqs[kept++] = *s;
	}
	u->seq_count = kept;
	if (kept)
		qsort(u->seqs, kept, sizeof *u->seqs, compare_seqs);
}

const struct dw_row *unit_find_row(const struct dw_unit *u, uint64_t va)
{
	size_t low = 0, high = u->seq_count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (u->seqs[mid].low_va <= va)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || va >= u->seqs[low - 1].high_va)
		return NULL;
	const struct dw_row *rows = u->rows + u->seqs[low - 1].first_row;
	size_t first = 0,
	       last = u->seqs[low - 1].row_count; /* rows[first].va <= va < rows[last].va */
	while (last - first > 1) {
		size_t mid = first + (last - first) / 2;
		if (rows[mid].va <= va)
			first = mid;
		else
			last = mid;
	}
	return &rows[first];
}

/* ---- paths ------------------------------------------------------------------------ */

/* Removes the last component of what was written from `start` on; false if it is ".." or none. */
static bool drop_component(struct buf *out, size_t start)
{
	size_t n = out->count_bytes;
	while (n > start && out->data[n - 1] != '/')
		n--;
	size_t bytes = out->count_bytes - n;
	if (!bytes || (bytes == 2 && !memcmp(out->data + n, "..", 2)))
		return false;
	out->count_bytes = n > start ? n - 1 : n; /* with the slash before it */
	out->data[out->count_bytes] = '\0';
	return true;
}

/* `out` has no trailing slash between calls, except that "" stands for "/" if is_absolute. */
static void append_component(struct buf *out, size_t start, bool is_absolute, const char *p,
			     size_t bytes)
{
	if (!bytes || (bytes == 1 && *p == '.'))
		return;
	if (bytes == 2 && !memcmp(p, "..", 2)) {
		bool is_root = is_absolute && out->count_bytes == start;
		if (is_root || (out->count_bytes > start && drop_component(out, start)))
			return;
	}
	if (is_absolute || out->count_bytes > start)
		buf_putc(out, '/');
	buf_put(out, p, bytes);
}

static void append_path(struct buf *out, size_t start, bool is_absolute, const char *path)
{
	const char *end = path + strnlen(path, LIMIT_NAME_BYTES);
	while (path < end) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		const char *stop = slash ? slash : end;
		append_component(out, start, is_absolute, path, (size_t)(stop - path));
		path = slash ? slash + 1 : end;
	}
}

void path_join_clean(struct buf *out, const char *comp_dir, const char *dir, const char *name)
{
	const char *parts[3] = {comp_dir ? comp_dir : "", dir ? dir : "", name ? name : ""};
	size_t first = 0, start = out->count_bytes;
	for (size_t i = 0; i < 3; i++) /* an absolute part makes those before it meaningless */
		if (parts[i][0] == '/')
			first = i;
	bool is_absolute = parts[first][0] == '/';
	for (size_t i = first; i < 3; i++)
		append_path(out, start, is_absolute, parts[i]);
}

const char *unit_file_path(struct dw_unit *u, uint32_t file, struct strtab *strings)
{
	if (file < u->first_file || file - u->first_file >= u->file_count)
		return "";
	struct dw_file *f = &u->files[file - u->first_file];
	if (f->path)
		return f->path;
	f->path = "";
	struct buf path = {0};
	path_join_clean(&path, u->comp_dir, f->dir, f->name);
	if (path.count_bytes && !path.has_failed && f->name && *f->name) {
		const char *kept =
			strtab_get(strings, strtab_add(strings, path.data, path.count_bytes));
		f->path = kept ? kept : "";
	}
	buf_release(&path);
	return f->path;
}
