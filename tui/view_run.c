/*
 * Run: what was recorded, and how exactly.  The facts of `neap info` as rows of words, wrapped to
 * the screen; what the recording missed stands first.
 */
#include "config.h"

#include "tui/browser.h"

#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/profile/info.h"
#include "src/report/head.h"
#include "tui/list.h"
#include "tui/module_names.h"
#include "tui/show.h"

#define LABEL_COLS 12u

struct fact {
	size_t start, label_bytes, bytes; /* in text; the label is part of it */
	bool is_title, is_warning;
};

struct run {
	struct list list;
	struct buf text;   /* NUL after each fact */
	struct buf second; /* facts of the second file, as text */
	size_t second_load;
	struct fact *facts;
	size_t fact_cap;
	unsigned cols; /* that it was made for; 0: none yet */
	bool is_utf8, has_failed;
	struct module_names *modules;
};

/* ---- making ------------------------------------------------------------------------------- */

static void add(struct run *r, struct fact f, const char *text, size_t bytes)
{
	if (!vec_reserve((void **)&r->facts, &r->fact_cap, r->list.count + 1, sizeof *r->facts)) {
		r->has_failed = true;
		return;
	}
	f.start = r->text.count_bytes;
	f.bytes = bytes;
	buf_put(&r->text, text, bytes);
	buf_putc(&r->text, '\0');
	r->facts[r->list.count++] = f;
}

static void add_title(struct run *r, const char *title)
{
	if (r->list.count)
		add(r, (struct fact){0}, "", 0);
	add(r, (struct fact){.is_title = true}, title, strlen(title));
}

/* A text in as many rows as it takes; all but the first have no label and are indented. */
static void add_wrapped(struct run *r, struct fact f, const char *text, size_t bytes,
			unsigned indent)
{
	struct buf row = {0};
	unsigned cols = r->cols > indent + 8 ? r->cols : indent + 8;
	size_t used = show_fitting(text, bytes, cols);
	add(r, f, text, used);
	f.label_bytes = 0;
	while (used < bytes && !r->has_failed) {
		while (used < bytes && text[used] == ' ')
			used++;
		size_t part = show_fitting(text + used, bytes - used, cols - indent);
		buf_clear(&row);
		buf_repeat(&row, " ", indent);
		buf_put(&row, text + used, part);
		if (part && !row.has_failed)
			add(r, f, row.data, row.count_bytes);
		used += part;
	}
	r->has_failed = r->has_failed || row.has_failed;
	buf_release(&row);
}

static void add_words(struct run *r, struct fact f, const char *text, unsigned indent)
{
	add_wrapped(r, f, text, strlen(text), indent);
}

/* Lines of text as facts; "Label:   words" has a label. */
static void add_lines(struct run *r, const char *text, bool are_labelled, bool are_warnings)
{
	while (*text) {
		size_t bytes = strcspn(text, "\n"), label = strcspn(text, ":") + 1;
		struct fact f = {.is_warning = are_warnings};
		bool is_label = are_labelled && label < LABEL_COLS && label < bytes && *text != ' ';
		f.label_bytes = is_label ? label : 0;
		if (is_label && (!strncmp(text, "Damage:", 7) || !strncmp(text, "Sampled:", 8)))
			f.is_warning = true;
		if (bytes)
			add_wrapped(r, f, text, bytes, are_labelled ? LABEL_COLS : 4);
		text += bytes + (text[bytes] == '\n');
	}
}

/* Snapshots are when the counters were read: how far apart, at most? */
static uint64_t widest_gap(const struct profile *p)
{
	uint64_t before = 0, widest = 0;
	for (size_t i = 0; i < p->snapshot_count; i++) {
		uint64_t at = p->snapshots[i].time_ns;
		if (at > before && at - before > widest)
			widest = at - before;
		before = at > before ? at : before;
	}
	return widest;
}

static void add_exactness(struct run *r, struct browser *b)
{
	const struct profile *p = b->model.profile;
	struct buf warnings = {0};
	struct text t = {.out = &warnings, .width_cols = UINT16_MAX, .is_utf8 = r->is_utf8};
	char gap[FMT_BYTES], line[256];
	add_title(r,
		  r->second.count_bytes ? "How exact the first file is" : "How exact this file is");
	head_warnings(&t, &b->names, b->model.graph);
	if (warnings.count_bytes && !warnings.has_failed)
		add_lines(r, warnings.data, false, true);
	else
		add_words(
			r, (struct fact){0},
			"  Nothing was missed: every block is in here, with its stack and its end.",
			2);
	snprintf(line, sizeof line,
		 "  What is live is known at %zu snapshot%s, at most %s from the one before%s. "
		 "When a "
		 "block was born or freed is known to the snapshot.",
		 p->snapshot_count, p->snapshot_count == 1 ? "" : "s",
		 fmt_duration(gap, sizeof gap, widest_gap(p)),
		 p->has_peak ? ", and at the peak" : "");
	if (p->snapshot_count)
		add_words(r, (struct fact){0}, line, 2);
	buf_release(&warnings);
}

static void add_nameless(struct run *r, const struct profile *p)
{
	struct buf line = {0};
	bool is_first = true;
	/* Of a file without any names the warnings above tell. */
	for (size_t i = 0; r->modules && p->has_symbols && i < p->module_count; i++) {
		const struct module_names *n = &r->modules[i];
		if (!n->frames || n->named * 2 >= n->frames)
			continue;
		if (is_first)
			add_title(r, "Modules without names");
		is_first = false;
		buf_clear(&line);
		buf_printf(&line, "  %s: ", p->modules[i].path);
		module_names_say(n, &line);
		if (!line.has_failed)
			add_wrapped(r, (struct fact){.is_warning = true}, line.data,
				    line.count_bytes, 4);
	}
	buf_release(&line);
}

static void add_marks(struct run *r, const struct profile *p)
{
	char when[FMT_BYTES];
	struct buf line = {0};
	if (p->mark_count)
		add_title(r, "Marks");
	for (size_t i = 0; i < p->mark_count; i++) {
		buf_clear(&line);
		buf_printf(&line, "  %s  @%s", fmt_duration(when, sizeof when, p->marks[i].time_ns),
			   p->marks[i].name);
		if (!line.has_failed)
			add_wrapped(r, (struct fact){0}, line.data, line.count_bytes, 4);
	}
	buf_release(&line);
}

/* What the second file says of itself, without its modules; read again when files have grown. */
static void read_second(struct run *r, const struct browser *b)
{
	const struct query_options *o = b->query_options;
	struct profile *p = NULL;
	struct err e = {0};
	if (b->model.path_count < 2 ||
	    (r->second.count_bytes && r->second_load == b->follow.load_count))
		return;
	buf_clear(&r->second);
	r->second_load = b->follow.load_count;
	r->cols = 0;
	if ((o && o->open ? o->open : profile_open)(b->model.paths[1], &p, &e))
		buf_printf(&r->second, "%s cannot be read any more: %s", b->model.paths[1], e.text);
	else
		profile_info_text(p, r->is_utf8, &r->second);
	profile_free(p);
	char *modules = r->second.count_bytes ? strstr(r->second.data, "\n\n") : NULL;
	if (modules)
		modules[1] = '\0';
}

static void add_second(struct run *r)
{
	if (!r->second.count_bytes || r->second.has_failed)
		return;
	add_title(r, "Compared with");
	add_lines(r, r->second.data, true, false);
}

static void make(struct run *r, struct browser *b)
{
	const struct profile *p = b->model.profile;
	struct buf info = {0};
	buf_clear(&r->text);
	r->list.count = 0;
	profile_info_text(p, r->is_utf8, &info);
	char *modules = info.count_bytes && !info.has_failed ? strstr(info.data, "\n\n") : NULL;
	if (modules)
		*modules = '\0';
	if (info.count_bytes && !info.has_failed)
		add_lines(r, info.data, true, false);
	add_second(r);
	add_exactness(r, b);
	add_nameless(r, p);
	add_marks(r, p);
	if (modules) {
		modules += 2;
		size_t bytes = strcspn(modules, "\n");
		modules[bytes] = '\0';
		add_title(r, modules);
		add_lines(r, modules + bytes + 1, false, false);
	}
	r->has_failed = r->has_failed || info.has_failed || r->text.has_failed;
	buf_release(&info);
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct run *r = self;
	const struct profile *p = b->model.profile;
	const struct compose sum = {.without_rows = true, .view = "sum"};
	struct query_opened *q;
	struct query_error ignored;
	r->is_utf8 = grid_is_utf8(&b->grid);
	read_second(r, b);
	(void)error; /* the facts are the same whatever the query is */
	if (!model_result(&b->model, &sum, &q, &ignored))
		browser_summarise(b, query_opened_result(q));
	mem_free(r->modules); /* another file, or one that has grown, has others */
	r->modules = NULL;
	if (p->module_count) {
		r->modules = mem_array(p->module_count, sizeof *r->modules);
		if (r->modules)
			module_names_count(p, r->modules);
	}
	return NEAP_OK;
}

static void release(void *self)
{
	struct run *r = self;
	buf_release(&r->text);
	buf_release(&r->second);
	mem_free(r->facts);
	mem_free(r->modules);
}

/* ---- drawing ----------------------------------------------------------------------------------- */

static const char *text_of(const struct run *r, size_t at)
{
	return r->text.data + r->facts[at].start;
}

static void draw_fact(const struct run *r, struct browser *b, const struct area *a, unsigned row,
		      size_t at)
{
	const struct fact *f = &r->facts[at];
	const char *text = text_of(r, at);
	struct look l = look(f->is_warning ? ROLE_WARNING : ROLE_TEXT);
	if (f->is_title)
		l = look_bold(ROLE_HEADING);
	if (b->find[0] && strstr(text, b->find))
		l = look_bold(ROLE_MATCH);
	area_put(a, row, 1, l, text);
	if (f->label_bytes)
		area_put_most(a, row, 1, (unsigned)f->label_bytes, look(ROLE_KEY), text);
}

static void draw(void *self, struct browser *b, const struct area *a)
{
	struct run *r = self;
	unsigned cols = a->cols > 2 ? a->cols - 2 : 1;
	if (r->cols != cols) {
		r->cols = cols;
		r->is_utf8 = grid_is_utf8(a->grid);
		r->has_failed = false;
		make(r, b);
	}
	if (r->has_failed) {
		area_put(a, 0, 1, look(ROLE_ERROR), "out of memory");
		return;
	}
	list_fit(&r->list, a->rows);
	for (unsigned i = 0; i < a->rows && r->list.top + i < r->list.count; i++) {
		size_t at = r->list.top + i;
		draw_fact(r, b, a, i, at);
		if (at == r->list.selected && b->pane == PANE_ROWS) {
			area_select(a, i);
			area_cursor(a, i, 0);
		}
	}
}

/* ---- keys ------------------------------------------------------------------------------------------ */

static bool act(void *self, struct browser *b, enum action action)
{
	struct run *r = self;
	(void)b;
	return list_act(&r->list, action);
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct run *r = self;
	(void)b;
	return list_mouse(&r->list, m);
}

static void place(const void *self, struct buf *out)
{
	const struct run *r = self;
	list_place(&r->list, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct run *r = self;
	(void)b;
	if (r->list.selected < r->list.count && !r->has_failed)
		buf_puts(out, text_of(r, r->list.selected));
}

static bool fits(const struct list_search *s, size_t at)
{
	return strstr(text_of(s->self, at), s->text);
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct run *r = self;
	const struct list_search s = {self, b, text, is_back, is_here};
	return !r->has_failed && list_find(&r->list, &s, fits);
}

static void save_spot(const void *self, struct buf *out)
{
	const struct run *r = self;
	list_save_spot(&r->list, out);
}

static void take_spot(void *self, const char *text)
{
	struct run *r = self;
	list_take_spot(&r->list, text);
}

const struct view view_run = {
	.self_bytes = sizeof(struct run),
	.release = release,
	.load = load,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.row_text = row_text,
	.find = find,
	.save_spot = save_spot,
	.take_spot = take_spot,
};
