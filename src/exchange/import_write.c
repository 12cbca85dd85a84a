/* What goes into the file last: the peak, names, where it comes from, how it ended. */
#include "config.h"

#include "src/exchange/import_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the peak ------------------------------------------------------------------------------ */

struct entries {
	struct profile_peak_entry *items;
	size_t count, cap;
};

static void add_entry(struct import *im, struct entries *list, struct profile_peak_entry entry)
{
	if (!entry.blocks)
		return;
	if (!vec_reserve((void **)&list->items, &list->cap, list->count + 1, sizeof *list->items)) {
		import_no_memory(im);
		return;
	}
	list->items[list->count++] = entry;
}

static int compare_cohorts(const void *a, const void *b)
{
	cohort_id x = ((const struct profile_peak_entry *)a)->cohort;
	cohort_id y = ((const struct profile_peak_entry *)b)->cohort;
	return x < y ? -1 : x > y;
}

/* Lots that did not change since the peak have now what they had then, unless the format said it all. */
static void write_peak(struct import *im)
{
	struct entries list = {0};
	for (size_t i = 0; i < im->account_count; i++) {
		for (uint32_t k = im->accounts[i].top; k != LOT_NONE; k = im->lots[k].below) {
			const struct lot *l = &im->lots[k];
			if (l->epoch == im->epoch)
				add_entry(im, &list,
					  (struct profile_peak_entry){l->cohort, l->peak_blocks,
								      l->peak_bytes});
			else if (im->peak_mode != PEAK_GIVEN)
				add_entry(im, &list,
					  (struct profile_peak_entry){l->cohort, l->live_blocks,
								      l->live_bytes});
		}
	}
	for (size_t i = 0; i < im->gone_count && im->gone_epoch == im->epoch; i++)
		add_entry(im, &list, im->gone[i]);
	if (list.count)
		qsort(list.items, list.count, sizeof *list.items, compare_cohorts);
	if (!import_has_failed(im))
		profile_set_peak(im->w, &im->peak, list.items, list.count);
	mem_free(list.items);
}

/* A peak below what is live at the end is none: then it is the highest snapshot, if there is more than one. */
static bool is_peak_possible(struct import *im)
{
	if (im->peak_mode == PEAK_NONE || !im->peak.snap)
		return false;
	if (im->peak.bytes >= im->live.bytes)
		return true;
	import_note(im,
		    "the peak that the file names is lower than what is live at the end, and was "
		    "left out");
	if (im->peak_mode == PEAK_GIVEN)
		import_lacks(im, FACT_PEAK | FACT_PEAK_EXACT);
	return false;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void set_funcs(const struct import *im, struct profile_func *funcs)
{
	for (size_t i = 0; i < im->funcs.count; i++) {
		const char *name = im->funcs.strings[i];
		size_t bytes = strlen(name);
		/* Two names lie behind each other, see import_func_linkage. */
		bool has_linkage = bytes < im->funcs.lengths[i];
		funcs[i] = (struct profile_func){name, has_linkage ? name + bytes + 1 : name};
	}
}

static void write_symbols(struct import *im)
{
	struct profile_symbols s = {
		.funcs = mem_array(im->funcs.count, sizeof *s.funcs),
		.func_count = im->funcs.count,
		.files = im->files.strings,
		.file_count = im->files.count,
		.lines = im->lines,
		.line_count = im->line_count,
		.first_line = mem_array(im->frame_count + 1, sizeof *s.first_line),
		.frame_count = im->frame_count,
	};
	if (!s.funcs || !s.first_line) {
		import_no_memory(im);
	} else {
		set_funcs(im, s.funcs);
		for (size_t i = 0; i < im->frame_count; i++)
			s.first_line[i] = im->frames[i].first_line;
		s.first_line[im->frame_count] = (uint32_t)im->line_count;
		profile_add_symbols(im->w, &s);
	}
	mem_free(s.funcs);
	mem_free(s.first_line);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Where some blocks say their thread, those that do not are no thread of their own. */
static void name_unknown_thread(struct import *im)
{
	if (im->unknown_thread && !(im->unknown & FACT_THREADS))
		profile_update_thread(
			im->w, im->unknown_thread,
			&(struct profile_thread){.name = "[unknown]", .first_snap = 1});
}

/* ---- where it comes from ------------------------------------------------------------------------ */

static void write_source(struct import *im)
{
	const struct exchange_format_info *info = exchange_format_info(im->format);
	if (im->odd_count > 4)
		import_note(im, "%" PRIu64 " more things were left out", im->odd_count - 4);
	if (im->excess_deaths)
		import_note(im,
			    "%" PRIu64 " frees of blocks that were never allocated were left out",
			    im->excess_deaths);
	buf_putc(&im->notes, '\0');
	if (im->notes.has_failed) {
		import_no_memory(im);
		return;
	}
	const struct profile_source s = {
		.format = info->name,
		.title = info->title,
		.file = input_name(im->in),
		.producer = im->producer,
		.time_unit = im->time_unit,
		.notes = im->notes.data,
		.unknown = im->unknown,
		.is_estimated = im->is_estimated,
		.is_partial = im->is_partial,
		.has_left_out = im->odd_count || im->excess_deaths,
	};
	profile_set_source(im->w, &s);
	if (im->options && im->options->on_source)
		im->options->on_source(im->options->arg, &s, im->snap, im->node_count);
}

void import_write_end(struct import *im)
{
	if (is_peak_possible(im))
		write_peak(im);
	name_unknown_thread(im);
	write_symbols(im);
	write_source(im);
	profile_update_run(im->w, &im->run);
	struct profile_end end = {.kind = END_STOPPED, .time_ns = im->now.time_ns, .reason = ""};
	if (im->has_end)
		end = im->end;
	if (end.time_ns < im->now.time_ns)
		end.time_ns = im->now.time_ns;
	profile_add_end(im->w, &end);
}
