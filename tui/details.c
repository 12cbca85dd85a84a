/* The selected row in words. */
#include "config.h"

#include "tui/details.h"

#include "src/base/fmt.h"

#include <string.h>

/* A long name over several rows; returns the row after it. */
static unsigned put_wrapped(const struct area *a, unsigned row, unsigned rows_most, struct look l,
			    const char *text)
{
	unsigned left = rows_most;
	while (*text && left-- && row < a->rows && a->cols) {
		size_t bytes = strlen(text);
		if (left && fmt_width(text, bytes) > a->cols) {
			while (bytes > 1 && fmt_width(text, bytes) > a->cols)
				bytes--;
			while (bytes > 1 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
				bytes--;
		}
		char part[1024];
		if (bytes >= sizeof part)
			bytes = sizeof part - 1;
		memcpy(part, text, bytes);
		part[bytes] = '\0';
		area_elide(a, row++, 0, a->cols, l, left ? part : text);
		text += bytes;
	}
	return row;
}

static unsigned draw_frame(struct browser *b, const struct area *a, unsigned row,
			   const struct graph_frame *f)
{
	const char *name = f->name ? f->name : name_frame(&b->names, f, a->cols);
	row = put_wrapped(a, row, 4, look_bold(ROLE_TEXT), name);
	if (f->file_path && f->line)
		area_printf(a, row++, 0, look(ROLE_DIM), "%s:%u",
			    name_path(&b->names, f->file_path, a->cols - 6), f->line);
	if (f->module_path)
		area_printf(a, row++, 0, look(ROLE_DIM), "in %s",
			    name_module(&b->names, f->module_path, a->cols));
	if (f->is_inlined)
		area_put(a, row++, 0, look(ROLE_DIM), "inlined into its caller");
	if (f->is_guessed)
		area_put(a, row++, 0, look(ROLE_WARNING), "frame was guessed: no unwind data");
	return row + 1;
}

void details_draw(struct browser *b, const struct area *a, const struct details *d)
{
	char bytes[FMT_BYTES], count[FMT_BYTES], share[FMT_BYTES];
	unsigned row = 0;
	if (d->has_frame)
		row = draw_frame(b, a, row, &d->frame);
	area_printf(a, row++, 0, look(ROLE_STRONG), "%s (%s)",
		    fmt_bytes(bytes, sizeof bytes, d->total_bytes),
		    fmt_pct(share, sizeof share, (double)d->total_bytes, (double)d->base_bytes));
	area_printf(a, row++, 0, look(ROLE_TEXT), "in %s blocks",
		    fmt_count(count, sizeof count, d->blocks));
	if (d->blocks > 0)
		area_printf(a, row++, 0, look(ROLE_TEXT), "mean %s",
			    fmt_bytes(bytes, sizeof bytes, d->total_bytes / d->blocks));
	if (!d->has_no_self)
		area_printf(a, row++, 0, look(ROLE_TEXT), "%s of its own",
			    fmt_bytes(bytes, sizeof bytes, d->self_bytes));
}
