/*
 * valgrind massif's output format, for ms_print and massif-visualizer.
 *
 *   snapshot=3
 *   time=120                    ms since the start
 *   mem_heap_B=4096             what the program asked for
 *   heap_tree=peak              or detailed, or empty
 *   n1: 4096 (heap allocation functions) ...
 *    n2: 4096 0x1234: f (file.c:12)        from the leaf up
 *     n0: 96 in 3 places, all below massif's threshold (1.00%)
 */
#include "config.h"

#include "src/exchange/export_priv.h"

#include <inttypes.h>
#include <string.h>

#define TOP_LINE "(heap allocation functions) malloc/new/new[], --alloc-fns, etc."

static void put_indent(struct buf *out, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		buf_putc(out, ' ');
}

static uint32_t count_children(const struct export_tree *t, uint32_t node)
{
	uint32_t count = 0;
	for (uint32_t c = node + 1; c < t->nodes[node].end; c = t->nodes[c].end)
		count++;
	return count;
}

static uint32_t count_roots(const struct export_tree *t)
{
	uint32_t count = 0;
	for (uint32_t c = 0; c < t->node_count; c = t->nodes[c].end)
		count++;
	return count;
}

/* "in 3 places": of "(other: 3 rows)". */
static uint64_t count_places(const char *other)
{
	uint64_t count = 0;
	for (const char *p = other; *p; p++) {
		if (*p >= '0' && *p <= '9' && count < 100000000)
			count = 10 * count + (uint64_t)(*p - '0');
	}
	return count;
}

static void put_place(const struct export_frame *f, struct buf *out)
{
	/* An address is part of the format. */
	buf_printf(out, "0x%" PRIX64 ": ", f->address);
	export_clean(out, f->has_name ? f->function : "???", "", ' ');
	if (f->file) {
		buf_puts(out, " (");
		export_clean(out, f->file, "", ' ');
		buf_printf(out, ":%" PRIu32 ")", f->line);
	} else if (f->module_path) {
		buf_puts(out, " (in ");
		export_clean(out, f->module_path, "", ' ');
		buf_putc(out, ')');
	}
}

static void put_tree(const struct export_tree *t, int64_t bytes, double threshold_pct,
		     struct buf *out)
{
	buf_printf(out, "n%" PRIu32 ": %" PRId64 " " TOP_LINE "\n", count_roots(t), bytes);
	for (uint32_t i = 0; i < t->node_count; i++) {
		const struct export_frame *f = &t->frames[t->nodes[i].frame];
		uint64_t places = f->is_other ? count_places(f->function) : 0;
		put_indent(out, t->nodes[i].depth + 1);
		buf_printf(out, "n%" PRIu32 ": %" PRId64 " ", count_children(t, i),
			   export_total(t, i, t->main_value));
		if (f->is_other)
			buf_printf(out,
				   "in %" PRIu64 " place%s below massif's threshold (%d.%02d%%)",
				   places, places == 1 ? "," : "s, all", (int)threshold_pct,
				   (int)(threshold_pct * 100 + 0.5) % 100);
		else
			put_place(f, out);
		buf_putc(out, '\n');
	}
}

enum neap_err export_massif(const struct export_about *about,
			    const struct export_snapshot *snapshots, size_t count,
			    double threshold_pct, struct buf *out, struct err *e)
{
	buf_puts(out, "desc: ");
	export_clean(out, about->tool, "", ' ');
	buf_puts(out, ": ");
	export_clean(out, about->query, "", ' ');
	buf_puts(out, "\ncmd: ");
	export_clean(out, about->title, "", ' ');
	buf_puts(out, "\ntime_unit: ms\n");
	for (size_t i = 0; i < count; i++) {
		const struct export_snapshot *s = &snapshots[i];
		buf_printf(out, "#-----------\nsnapshot=%zu\n#-----------\n", i);
		buf_printf(out, "time=%" PRIu64 "\nmem_heap_B=%" PRId64 "\n",
			   (s->time_ns + 500000) / 1000000, s->bytes);
		buf_puts(out, "mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=");
		buf_puts(out, !s->tree ? "empty\n" : s->is_peak ? "peak\n" : "detailed\n");
		if (s->tree)
			put_tree(s->tree, s->bytes, threshold_pct, out);
	}
	return out->has_failed ? err_nomem(e, "the massif file") : NEAP_OK;
}
