/* Call paths: which frames of a stack are worth a line, and how a line is divided. */
#include "config.h"

#include "src/report/stack.h"

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/report/callers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MIN_COLS 16u
#define NOTE_BYTES    96u

/* ---- one line ------------------------------------------------------------------ */

/*
 * Name and place of a frame in one line: the place with directories if there is room for all,
 * else brief and in two fifths of the line.  Shortening names takes most of the time.
 */
static void fit(struct shortener *nm, const struct graph_frame *f, size_t cols, const char **name,
		const char **place)
{
	*name = name_frame(nm, f, cols);
	*place = name_place(nm, f, cols, false);
	size_t name_cols = fmt_width(*name, strlen(*name));
	size_t place_cols = fmt_width(*place, strlen(*place));
	if (!place_cols || name_cols + 2 + place_cols <= cols)
		return;
	*place = name_place(nm, f, cols * 2 / 5, true);
	place_cols = fmt_width(*place, strlen(*place));
	if (place_cols)
		*name = name_frame(nm, f, cols - place_cols - 2);
}

void stack_frame(struct text *t, struct shortener *nm, const struct graph_frame *f,
		 enum text_style style, size_t used_cols, const char *note)
{
	char notes[NOTE_BYTES];
	snprintf(notes, sizeof notes, "%s%s%s%s", f->is_tail ? " [tail]" : "",
		 f->is_guessed ? " (guessed)" : "", *note ? "  " : "", note);
	size_t cols = t->width_cols > used_cols ? t->width_cols - used_cols : 0;
	size_t note_cols = fmt_width(notes, strlen(notes));
	cols = cols > note_cols + NAME_MIN_COLS ? cols - note_cols : NAME_MIN_COLS;
	const char *name, *place;
	fit(nm, f, cols, &name, &place);
	text_put(t, style, name);
	if (*place)
		text_printf(t, STYLE_DIM, "  %s", place);
	text_put(t, STYLE_DIM, notes);
}

/* ---- short ------------------------------------------------------------------------ */

struct callers {
	struct caller *items;
	size_t count, cap;
};

/* Frames that every stack of a C program or a thread begins with. */
static bool is_startup(const struct graph_frame *f)
{
	static const char *const names[] = {
		"_start",
		"__libc_start_main",
		"__libc_start_main_impl",
		"__libc_start_call_main",
		"start_thread",
		"clone",
		"__clone",
		"clone3",
		"__clone3",
		"_dl_start_user",
	};
	for (size_t i = 0; f->name && i < sizeof names / sizeof names[0]; i++) {
		if (!strcmp(f->name, names[i]))
			return true;
	}
	return f->name && !strncmp(f->name, "__libc_start_main@", 18);
}

/* The leaf comes first, so that recursion of the leaf itself is seen. */
static bool collect(struct callers *c, const struct graph *g, node_id leaf_node)
{
	const struct graph_columns columns = graph_columns(g);
	struct caller_walk w = caller_walk_init(g, leaf_node);
	for (struct caller next; caller_walk_next(&w, &columns, &next);) {
		if (!vec_reserve((void **)&c->items, &c->cap, c->count + 1, sizeof *c->items))
			return false;
		c->items[c->count++] = next;
	}
	while (c->count > 1) {
		struct graph_frame f = graph_entry(g, c->items[c->count - 1].entry);
		if (!is_startup(&f))
			break;
		c->count--;
	}
	return true;
}

/* "x7 61.2 % (5 between)": whatever of it there is to say. */
static const char *make_note(const struct text *t, char note[NOTE_BYTES], uint32_t times,
			     const char *share, size_t between_count)
{
	char count[FMT_BYTES];
	size_t at = 0;
	note[0] = '\0';
	if (times > 1)
		at += (size_t)snprintf(note, NOTE_BYTES, "%s%s", text_glyph(t, GLYPH_TIMES),
				       fmt_count(count, sizeof count, times));
	if (*share)
		at += (size_t)snprintf(note + at, NOTE_BYTES - at, "%s%s", at ? " " : "", share);
	if (between_count)
		snprintf(note + at, NOTE_BYTES - at, "%s(%s between)", at ? " " : "",
			 fmt_count(count, sizeof count, (int64_t)between_count));
	return note;
}

static void write_caller(struct text *t, struct shortener *nm, const struct graph *g,
			 const struct caller *c, enum text_glyph glyph, size_t indent_cols,
			 const char *note)
{
	struct graph_frame f = graph_entry(g, c->entry);
	text_spaces(t, indent_cols);
	text_printf(t, STYLE_DIM, "%s ", text_glyph(t, glyph));
	stack_frame(t, nm, &f, STYLE_PLAIN, indent_cols + 2, note);
	text_newline(t);
}

/* Share of the row that comes through its first n callers; "" if no less than through n - 1. */
static const char *share_through(const struct row *row, enum row_key key, size_t n, char *dst,
				 size_t cap)
{
	dst[0] = '\0';
	if (n > CALLERS_NEAREST)
		return dst;
	int64_t all = row_value(row->sum, key), now = row_value(row->through[n - 1], key);
	int64_t before = n > 1 ? row_value(row->through[n - 2], key) : all;
	return now == before ? dst : fmt_pct(dst, cap, (double)now, (double)all);
}

enum neap_err stack_short(struct text *t, struct shortener *nm, const struct graph *g,
			  const struct row *row, enum row_key key, size_t indent_cols,
			  struct err *e)
{
	struct callers callers = {0};
	char note[NOTE_BYTES], share[FMT_BYTES];
	if (!collect(&callers, g, row->path)) {
		mem_free(callers.items);
		return err_nomem(e, "a call path");
	}
	size_t count = callers.count;
	/* Leaving out a single frame would not save a line. */
	size_t shown = count <= CALLERS_NEAREST + 2 ? count : CALLERS_NEAREST + 1;
	for (size_t i = 1; i < shown; i++) {
		share_through(row, key, i, share, sizeof share);
		write_caller(t, nm, g, &callers.items[i], GLYPH_CALLER, indent_cols,
			     make_note(t, note, callers.items[i].times, share, 0));
	}
	if (shown < count)
		write_caller(
			t, nm, g, &callers.items[count - 1], GLYPH_SKIP, indent_cols,
			make_note(t, note, callers.items[count - 1].times, "", count - 1 - shown));
	mem_free(callers.items);
	return NEAP_OK;
}

/* ---- full -------------------------------------------------------------------------- */

static void write_full_frame(struct text *t, struct shortener *nm, const struct graph_frame *f,
			     bool is_skipped, bool is_exiting)
{
	text_put(t, STYLE_PLAIN,
		 f->name ? name_text(nm, f->name, SIZE_MAX) : name_frame(nm, f, SIZE_MAX));
	if (f->file_path) {
		text_printf(t, STYLE_DIM, "  %s", name_text(nm, f->file_path, SIZE_MAX));
		if (f->line)
			text_printf(t, STYLE_DIM, ":%" PRIu32, f->line);
	}
	if (f->module_path)
		text_printf(t, STYLE_DIM, "  [%s]", name_text(nm, f->module_path, SIZE_MAX));
	if (f->is_inlined)
		text_put(t, STYLE_DIM, " (inlined)");
	if (f->is_tail)
		text_put(t, STYLE_DIM, " [tail]");
	if (f->is_guessed)
		text_put(t, STYLE_DIM, " (guessed)");
	if (is_skipped && !f->is_tail)
		text_put(t, STYLE_DIM, " (wrapper)");
	if (is_exiting)
		text_put(t, STYLE_DIM, " (exiting)");
}

void stack_full(struct text *t, struct shortener *nm, const struct graph *g, node_id node)
{
	const struct profile *p = graph_profile(g);
	struct graph_walk w = graph_walk_init(g, node);
	node_id leaf_node = graph_leaf_node(g, node);
	entry_id leaf = graph_leaf_entry(g, leaf_node);
	bool is_skipped = true; /* further in than the leaf */
	size_t number = 0;
	for (entry_id entry; (entry = graph_walk_next(&w)) != ENTRY_NONE; number++) {
		struct graph_frame f = graph_entry(g, entry);
		text_printf(t, STYLE_DIM, "      %3zu  ", number);
		is_skipped = is_skipped && !(w.node == leaf_node && entry == leaf);
		write_full_frame(t, nm, &f, is_skipped,
				 profile_node_flags(p, w.node) & NODE_EXITING);
		text_newline(t);
	}
}
