/* Trees and timelines for writers: rows become nodes, what names them frames, numbers values. */
#include "config.h"

#include "src/report/exported.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define LABEL_COLS  100u
#define VALUES_MOST 12u
#define TITLE_BYTES 2000u
#define CLASS_COLS  60u

void exported_release(struct exported *ex)
{
	mem_free(ex->nodes);
	mem_free(ex->totals);
	mem_free(ex->selfs);
	mem_free(ex->frames);
	mem_free(ex->samples);
	mem_free(ex->sample_numbers);
	arena_release(&ex->arena);
	*ex = (struct exported){.nodes = NULL};
}

const char *exported_text(struct exported *ex, const char *fmt, ...)
{
	struct buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	char *text = b.has_failed ? NULL
				  : arena_strndup(&ex->arena, b.count_bytes ? b.data : "",
						  b.count_bytes);
	buf_release(&b);
	return text;
}

/* ---- words about it ----------------------------------------------------------------------- */

static const char *title_of(struct exported *ex, const struct profile *p)
{
	struct buf b = {0};
	for (size_t i = 0; p && i < p->run.argv_count && b.count_bytes < TITLE_BYTES; i++)
		buf_printf(&b, "%s%.*s", i ? " " : "", (int)TITLE_BYTES, p->run.argv[i]);
	const char *text = exported_text(ex, "%s", b.count_bytes ? b.data : "heap profile");
	bool has_failed = b.has_failed;
	buf_release(&b);
	return has_failed ? NULL : text;
}

enum neap_err exported_about(struct out *x, struct exported *ex, struct err *e)
{
	const struct query_result *r = x->r;
	const struct profile *p = r->graph ? graph_profile(r->graph) : NULL;
	struct export_about *a = &ex->about;
	*a = (struct export_about){
		.query = r->question ? r->question : "",
		.population = r->population ? r->population : "",
		.file = x->o->file_count ? x->o->files[0] : NULL,
		.new_file = x->o->file_count > 1 ? x->o->files[1] : NULL,
		.tool = PACKAGE_NAME " " PACKAGE_VERSION,
		.notes = r->notes,
		.note_count = r->note_count,
	};
	if (!p && x->o->file_count > 1)
		a->title = exported_text(ex, "%s -> %s", x->o->files[0], x->o->files[1]);
	else
		a->title = title_of(ex, p);
	if (p) {
		a->start_unix_ns = p->run.start_unix_ns;
		a->duration_ns = graph_end_time(r->graph);
		a->sample_bytes = p->run.sample_bytes;
		a->is_estimated = p->run.sample_bytes || (p->has_source && p->source.is_estimated);
	}
	return a->title ? NEAP_OK : err_nomem(e, "the result");
}

/* ---- values --------------------------------------------------------------------------------- */

/* Columns whose values of a tree's children are parts of their parent's. */
static bool adds_up(const struct result_column *c)
{
	static const char *const words[] = {"total", "count", "allocs", "frees", "temp",
					    "peak",  "delta", "a",      "b"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (!c->is_key && !strcmp(c->word, words[i]))
			return true;
	}
	return false;
}

struct tree_maker {
	struct out *x;
	struct exported *ex;
	size_t columns[VALUES_MOST]; /* by value */
	size_t value_count;
	size_t names[VALUES_MOST]; /* columns of texts */
	size_t name_count;
	bool has_func, has_line, has_addr; /* frames are told apart by them */
	struct map frame_of;               /* entry -> frame */
	struct strtab texts;               /* of frames without an entry */
	uint32_t *frame_of_text, *other_frame;
	size_t text_cap;
	struct buf text;
};

static size_t find_word(const struct query_result *r, const char *word)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].word, word))
			return i;
	}
	return SIZE_MAX;
}

static bool is_value_already(const struct tree_maker *m, const char *word)
{
	for (size_t i = 0; i < m->value_count; i++) {
		if (!strcmp(m->x->r->columns[m->columns[i]].word, word))
			return true;
	}
	return false;
}

static enum neap_err choose_values(struct tree_maker *m, struct err *e)
{
	const struct query_result *r = m->x->r;
	struct export_tree *t = &m->ex->tree;
	t->before_value = t->after_value = SIZE_MAX;
	for (size_t i = 0; i < r->column_count && m->value_count < VALUES_MOST; i++) {
		if (adds_up(&r->columns[i]) && !r->totals[i].is_unknown &&
		    !is_value_already(m, r->columns[i].word))
			m->columns[m->value_count++] = i;
	}
	if (!m->value_count)
		return err_set(e, ERR_USAGE,
			       "no column of the query adds up over calls; select total, count, "
			       "allocs, frees, temp, peak or delta");
	struct export_value *values = arena_array(&m->ex->arena, m->value_count, sizeof *values);
	if (!values)
		return err_nomem(e, "the result");
	size_t main_column = out_value_column(m->x);
	for (size_t i = 0; i < m->value_count; i++) {
		const struct result_column *c = &r->columns[m->columns[i]];
		values[i] = (struct export_value){.name = c->word,
						  .unit = c->type == RESULT_BYTES ? EXPORT_BYTES
										  : EXPORT_BLOCKS};
		if (m->columns[i] == main_column)
			t->main_value = i;
		if (r->is_signed && !strcmp(c->word, "a"))
			t->before_value = i;
		if (r->is_signed && !strcmp(c->word, "b"))
			t->after_value = i;
	}
	if (t->before_value == SIZE_MAX || t->after_value == SIZE_MAX)
		t->before_value = t->after_value = SIZE_MAX;
	t->values = values;
	t->value_count = m->value_count;
	return NEAP_OK;
}

static void choose_names(struct tree_maker *m)
{
	const struct query_result *r = m->x->r;
	for (size_t i = 0; i < r->column_count && m->name_count < VALUES_MOST; i++) {
		if (r->columns[i].is_key)
			m->names[m->name_count++] = i;
	}
	m->has_func = find_word(r, "func") != SIZE_MAX;
	m->has_addr = find_word(r, "addr") != SIZE_MAX;
	m->has_line = m->has_addr || find_word(r, "line") != SIZE_MAX;
}

/* ---- frames ----------------------------------------------------------------------------------- */

static uint32_t add_frame(struct tree_maker *m, const struct export_frame *frame)
{
	struct exported *ex = m->ex;
	size_t count = ex->tree.frame_count;
	if (count >= EXPORT_NONE || !frame->function || !frame->label ||
	    !vec_reserve((void **)&ex->frames, &ex->frame_cap, count + 1, sizeof *ex->frames))
		return EXPORT_NONE;
	ex->frames[count] = *frame;
	ex->tree.frame_count++;
	return (uint32_t)count;
}

/* A frame of the profile. */
static uint32_t frame_of_entry(struct tree_maker *m, entry_id entry)
{
	uint32_t id = map_find(&m->frame_of, entry);
	if (id != MAP_ABSENT)
		return id;
	struct out *x = m->x;
	struct graph_frame f = graph_entry(x->r->graph, entry);
	bool is_named = f.kind == FRAME_NAMED && *f.name;
	struct export_frame frame = {
		.function = is_named ? f.name
				     : exported_text(m->ex, "%s",
						     name_frame(&x->names, &f, SIZE_MAX / 8)),
		.linkage = f.linkage,
		.file = f.file_path,
		.module_path = f.module_path,
		.line = m->has_line ? f.line : 0,
		.module = f.module ? f.module - 1 : EXPORT_NONE,
		.address = m->has_line ? f.pc : 0,
		.place = m->has_addr && f.frame ? f.frame : EXPORT_NONE,
		.has_name = is_named,
		.is_inlined = f.is_inlined && m->has_line,
		.is_tail = f.is_tail && m->has_line,
	};
	frame.label = is_named ? exported_text(m->ex, "%s", out_function(x, f.name, LABEL_COLS))
			       : frame.function;
	id = add_frame(m, &frame);
	return id != EXPORT_NONE && map_put(&m->frame_of, entry, id) ? id : EXPORT_NONE;
}

/* The keys of a row, as one reads them. */
static void put_keys(struct tree_maker *m, size_t row)
{
	struct out *x = m->x;
	char number[OUT_NUMBER_BYTES];
	buf_clear(&m->text);
	for (size_t i = 0; i < m->name_count; i++) {
		const struct result_column *c = &x->r->columns[m->names[i]];
		const struct result_cell *cell = out_cell(x, row, m->names[i]);
		if (i)
			buf_putc(&m->text, ' ');
		if (!out_is_text(c))
			buf_puts(&m->text, out_number(number, x->r, c, cell));
		else
			buf_puts(&m->text, cell->is_unknown || !cell->text || !*cell->text
						   ? "[unknown]"
						   : cell->text);
	}
	if (!m->text.count_bytes)
		buf_puts(&m->text, "[unknown]");
}

static const char *cell_text(const struct tree_maker *m, size_t row, const char *word)
{
	size_t column = find_word(m->x->r, word);
	if (column == SIZE_MAX || !out_is_text(&m->x->r->columns[column]))
		return NULL;
	const struct result_cell *cell = out_cell(m->x, row, column);
	return cell->is_unknown ? NULL : cell->text;
}

/* Rows of two files, and rows that are no functions, are told apart by what they are called. */
static uint32_t frame_of_keys(struct tree_maker *m, size_t row)
{
	put_keys(m, row);
	if (m->text.has_failed)
		return EXPORT_NONE;
	size_t before = m->texts.count;
	uint32_t text = strtab_add(&m->texts, m->text.data, m->text.count_bytes);
	if (text == UINT32_MAX || !vec_reserve((void **)&m->frame_of_text, &m->text_cap,
					       m->texts.count, sizeof *m->frame_of_text))
		return EXPORT_NONE;
	if (m->texts.count == before)
		return m->frame_of_text[text];
	const char *func = cell_text(m, row, "func");
	struct export_frame frame = {
		.function = exported_text(m->ex, "%s", func ? func : m->text.data),
		.file = cell_text(m, row, "file"),
		.module_path = cell_text(m, row, "module"),
		.module = EXPORT_NONE,
		.place = EXPORT_NONE,
		.has_name = true,
	};
	frame.label = func ? exported_text(m->ex, "%s", out_function(m->x, func, LABEL_COLS))
			   : frame.function;
	m->frame_of_text[text] = add_frame(m, &frame);
	return m->frame_of_text[text];
}

static uint32_t frame_of_other(struct tree_maker *m, const struct result_row *row)
{
	char other[OUT_NUMBER_BYTES];
	struct export_frame frame = {.module = EXPORT_NONE, .place = EXPORT_NONE, .is_other = true};
	frame.function = frame.label = exported_text(m->ex, "%s", out_other(other, row));
	return add_frame(m, &frame);
}

static uint32_t frame_of_row(struct tree_maker *m, size_t row)
{
	const struct result_row *r = &m->x->r->rows[row];
	if (r->kind == ROW_OTHER)
		return frame_of_other(m, r);
	if (r->frame_count && m->x->r->graph && (m->has_func || m->has_addr))
		return frame_of_entry(m, r->frames[0]);
	return frame_of_keys(m, row);
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

static bool fill_nodes(struct tree_maker *m)
{
	const struct query_result *r = m->x->r;
	struct exported *ex = m->ex;
	for (uint32_t row = 0; row < r->row_count; row++) {
		const struct result_row *from = &r->rows[row];
		bool is_root = !from->depth || from->parent >= row;
		uint32_t frame = frame_of_row(m, row);
		if (frame == EXPORT_NONE)
			return false;
		ex->nodes[row] = (struct export_node){
			.parent = is_root ? EXPORT_NONE : from->parent,
			.frame = frame,
			.depth = is_root ? 0 : ex->nodes[from->parent].depth + 1,
			.end = row + 1,
		};
		for (size_t v = 0; v < m->value_count; v++) {
			const struct result_cell *cell = out_cell(m->x, row, m->columns[v]);
			int64_t value = cell->is_unknown ? 0 : cell->value;
			ex->totals[row * m->value_count + v] = value;
			ex->selfs[row * m->value_count + v] = value;
		}
	}
	return true;
}

/* Children come after their parents. */
static void close_nodes(struct tree_maker *m, int64_t *whole)
{
	struct exported *ex = m->ex;
	size_t width = m->value_count;
	for (size_t row = m->x->r->row_count; row-- > 0;) {
		uint32_t parent = ex->nodes[row].parent;
		for (size_t v = 0; v < width; v++) {
			int64_t *from =
				parent == EXPORT_NONE ? NULL : &ex->selfs[parent * width + v];
			int64_t total = ex->totals[row * width + v];
			if (from)
				*from = (int64_t)((uint64_t)*from - (uint64_t)total);
			else
				whole[v] = (int64_t)((uint64_t)whole[v] + (uint64_t)total);
		}
		if (parent != EXPORT_NONE && ex->nodes[parent].end < ex->nodes[row].end)
			ex->nodes[parent].end = ex->nodes[row].end;
	}
}

static bool make_modules(struct tree_maker *m)
{
	struct exported *ex = m->ex;
	if (!m->x->r->graph)
		return true;
	const struct profile *p = graph_profile(m->x->r->graph);
	struct export_module *modules =
		arena_array(&ex->arena, p->module_count + 1, sizeof *modules);
	if (!modules)
		return false;
	for (size_t i = 0; i < p->module_count; i++) {
		const struct profile_module *from = &p->modules[i];
		char id[2 * sizeof from->build_id + 1];
		size_t bytes = from->build_id_bytes < sizeof from->build_id ? from->build_id_bytes
									    : sizeof from->build_id;
		modules[i] = (struct export_module){
			.path = from->path,
			.build_id = exported_text(ex, "%s",
						  fmt_hex(id, sizeof id, from->build_id, bytes)),
			.start_va = from->start_va,
			.end_va = from->end_va,
			.bias = from->bias,
			.is_main = from->flags & MODULE_MAIN,
		};
		if (!modules[i].build_id)
			return false;
	}
	ex->tree.modules = modules;
	ex->tree.module_count = p->module_count;
	return true;
}

/* ---- samples ------------------------------------------------------------------------------------------ */

/* What an imported profile does not know is no sample type: 0 would be an answer. */
static uint64_t unknown_facts(const struct out *x)
{
	const struct profile *p = x->r->graph ? graph_profile(x->r->graph) : NULL;
	return p && p->has_source ? p->source.unknown : 0;
}

static bool is_known(uint64_t unknown, const char *word)
{
	if (!strcmp(word, "alloc"))
		return !(unknown & FACT_ALLOCATED);
	if (!strcmp(word, "peak"))
		return !(unknown & FACT_PEAK);
	return strcmp(word, "inuse") != 0 || !(unknown & FACT_LIVE);
}

struct sample_column {
	size_t word;
	bool is_bytes;
};

static size_t choose_sample_values(struct tree_maker *m, struct export_value *values,
				   struct sample_column *columns, size_t *main_out)
{
	const struct query_result *r = m->x->r;
	uint64_t unknown = unknown_facts(m->x);
	size_t count = 0;
	for (size_t word = 0; word < r->sample_word_count; word++) {
		bool is_main = word == r->main_sample_word;
		for (int is_bytes = 0; is_bytes < 2; is_bytes++) {
			if ((!is_known(unknown, r->sample_words[word]) && !is_main) ||
			    (!is_bytes && unknown & FACT_COUNTS))
				continue;
			values[count] = (struct export_value){
				.name = exported_text(m->ex, "%s_%s", r->sample_words[word],
						      is_bytes ? "space" : "objects"),
				.unit = is_bytes ? EXPORT_BYTES : EXPORT_BLOCKS};
			columns[count] = (struct sample_column){word, is_bytes};
			if (is_main && is_bytes)
				*main_out = count;
			count++;
		}
	}
	return count;
}

static bool make_samples(struct tree_maker *m)
{
	const struct query_result *r = m->x->r;
	struct exported *ex = m->ex;
	size_t most = 2 * r->sample_word_count;
	if (!most)
		return true;
	struct export_value *values = arena_array(&ex->arena, most, sizeof *values);
	struct sample_column *columns = arena_array(&ex->arena, most, sizeof *columns);
	if (!values || !columns)
		return false;
	size_t width = choose_sample_values(m, values, columns, &ex->tree.main_sample_value);
	ex->samples = mem_array(r->sample_count + 1, sizeof *ex->samples);
	ex->sample_numbers = mem_array(r->sample_count + 1, width * sizeof *ex->sample_numbers);
	if (!ex->samples || !ex->sample_numbers)
		return false;
	for (size_t i = 0; i < r->sample_count; i++) {
		const struct graph_sum *sums = &r->sample_sums[i * r->sample_word_count];
		ex->samples[i] = (struct export_sample){.node = r->samples[i].row,
							.size_bytes = r->samples[i].size_bytes};
		for (size_t v = 0; v < width; v++) {
			const struct graph_sum *sum = &sums[columns[v].word];
			ex->sample_numbers[i * width + v] =
				columns[v].is_bytes ? sum->bytes : sum->blocks;
		}
	}
	ex->tree.samples = ex->samples;
	ex->tree.sample_count = r->sample_count;
	ex->tree.sample_values = values;
	ex->tree.sample_value_count = width;
	ex->tree.sample_numbers = ex->sample_numbers;
	return true;
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

static bool fill_tree(struct tree_maker *m)
{
	struct exported *ex = m->ex;
	struct export_tree *t = &ex->tree;
	size_t count = m->x->r->row_count;
	int64_t *whole = arena_array(&ex->arena, m->value_count, sizeof *whole);
	ex->nodes = mem_array(count + 1, sizeof *ex->nodes);
	ex->totals = mem_array(count + 1, m->value_count * sizeof *ex->totals);
	ex->selfs = mem_array(count + 1, m->value_count * sizeof *ex->selfs);
	if (!whole || !ex->nodes || !ex->totals || !ex->selfs || count >= EXPORT_NONE)
		return false;
	if (!fill_nodes(m) || !make_modules(m) || !make_samples(m))
		return false;
	close_nodes(m, whole);
	t->frames = ex->frames;
	t->nodes = ex->nodes;
	t->node_count = count;
	t->totals = ex->totals;
	t->selfs = ex->selfs;
	t->whole = whole;
	return true;
}

enum neap_err exported_tree(struct out *x, struct exported *ex, struct err *e)
{
	struct tree_maker m = {.x = x, .ex = ex};
	enum neap_err code = choose_values(&m, e);
	if (code)
		return code;
	choose_names(&m);
	ex->tree.is_inverted = x->r->view == VIEW_CALLERS;
	bool is_good = fill_tree(&m);
	map_release(&m.frame_of);
	strtab_release(&m.texts);
	mem_free(m.frame_of_text);
	buf_release(&m.text);
	return is_good ? NEAP_OK : err_nomem(e, "the result");
}

/* ---- timelines ----------------------------------------------------------------------------------------------- */

static bool fill_marks(struct exported *ex, const struct graph *g)
{
	struct export_series *s = &ex->series;
	const struct profile *p = graph_profile(g);
	struct export_mark *marks = arena_array(&ex->arena, p->mark_count + 1, sizeof *marks);
	if (!marks)
		return false;
	for (size_t i = 0; i < p->mark_count; i++) {
		if (p->marks[i].time_ns < s->start_ns || p->marks[i].time_ns > s->end_ns)
			continue;
		marks[s->mark_count++] =
			(struct export_mark){p->marks[i].name, p->marks[i].time_ns};
	}
	s->marks = marks;
	return true;
}

/* The exact peak of the process, with what the query holds there where its values are of that. */
static void fill_peak(struct out *x, struct export_series *s)
{
	const struct query_result *r = x->r;
	struct graph_peak peak = graph_peak(r->graph);
	size_t column = find_word(r, "peak");
	bool is_live = r->population && !strncmp(r->population, "live", 4);
	if (r->is_signed || !is_live || !peak.bytes || peak.time_ns < s->start_ns ||
	    peak.time_ns > s->end_ns)
		return;
	s->has_peak = true;
	s->peak.time_ns = peak.time_ns;
	s->has_peak_value =
		column != SIZE_MAX && s->unit == EXPORT_BYTES && !r->totals[column].is_unknown;
	if (s->has_peak_value)
		s->peak.value = r->totals[column].value;
}

/* Keys of a class, one after the other. */
static const char *class_name(struct out *x, struct exported *ex, size_t class)
{
	const struct result_row row = result_row(x->r, class);
	char number[OUT_NUMBER_BYTES];
	const char *name = NULL;
	if (row.kind == ROW_OTHER)
		return exported_text(ex, "%s", out_other(number, &row));
	for (size_t i = 0; i < x->r->column_count; i++) {
		const struct result_column *c = &x->r->columns[i];
		if (!c->is_key || c->type == RESULT_NS)
			continue;
		const char *text = out_is_text(c)
					   ? out_shown_text(x, class, i, CLASS_COLS)
					   : out_number(number, x->r, c, out_cell(x, class, i));
		name = name ? exported_text(ex, "%s, %s", name, text)
			    : exported_text(ex, "%s", text);
	}
	return name ? name : exported_text(ex, "%s", "");
}

/* The first classes, and all others as one. */
static bool fill_layers(struct out *x, struct exported *ex, size_t column)
{
	const struct query_result *r = x->r;
	struct export_series *s = &ex->series;
	size_t count = r->class_count;
	bool has_rest = count > EXPORT_LAYERS_MOST || r->rows[count - 1].kind == ROW_OTHER;
	size_t layer_count = count < EXPORT_LAYERS_MOST ? count : EXPORT_LAYERS_MOST;
	struct export_layer *layers = arena_array(&ex->arena, layer_count, sizeof *layers);
	int64_t *values = arena_array(&ex->arena, layer_count * s->point_count + 1, sizeof *values);
	if (!layers || !values)
		return false;
	for (size_t i = 0; i < layer_count; i++) {
		layers[i].values = &values[i * s->point_count];
		layers[i].is_rest = has_rest && i + 1 == layer_count;
		layers[i].name =
			layers[i].is_rest ? exported_text(ex, "all others") : class_name(x, ex, i);
		if (!layers[i].name)
			return false;
	}
	size_t peak = find_word(r, "peak");
	for (size_t row = 0; row < r->row_count; row++) {
		size_t class = row % count, layer = class < layer_count ? class : layer_count - 1;
		values[layer * s->point_count + row / count] +=
			(int64_t)out_value(&r->columns[column], out_cell(x, row, column));
		/* Of what was there at the peak, each step has what was born in it. */
		if (peak != SIZE_MAX)
			layers[layer].peak += out_cell(x, row, peak)->value;
	}
	s->layers = layers;
	s->layer_count = layer_count;
	return true;
}

enum neap_err exported_series(struct out *x, struct exported *ex, struct err *e)
{
	const struct query_result *r = x->r;
	struct export_series *s = &ex->series;
	size_t column = out_value_column(x);
	if (column == SIZE_MAX)
		return err_set(e, ERR_USAGE, "the timeline has no column with numbers");
	if (r->class_count && !out_adds_up(&r->columns[column]))
		return err_set(e, ERR_USAGE,
			       "averages of classes do not stand on each other; select total or "
			       "count");
	struct export_point *points = arena_array(&ex->arena, r->row_count + 1, sizeof *points);
	const struct result_column *c = &r->columns[column];
	*s = (struct export_series){.unit = c->type == RESULT_BYTES ? EXPORT_BYTES : EXPORT_BLOCKS,
				    .is_signed = r->is_signed};
	s->name = exported_text(ex, "%s over time", c->word);
	if (!points || !s->name)
		return err_nomem(e, "the result");
	size_t class_count = r->class_count ? r->class_count : 1;
	for (size_t row = 0; row < r->row_count; row++) {
		struct export_point *p = &points[row / class_count];
		p->time_ns = r->rows[row].time_ns;
		p->value += (int64_t)out_value(c, out_cell(x, row, column));
	}
	s->points = points;
	s->point_count = r->row_count / class_count;
	if (r->class_count && !fill_layers(x, ex, column))
		return err_nomem(e, "the result");
	s->end_ns = s->point_count ? points[s->point_count - 1].time_ns : 0;
	s->start_ns = out_first_start(r);
	if (r->graph) {
		fill_peak(x, s);
		if (!fill_marks(ex, r->graph))
			return err_nomem(e, "the result");
	}
	return NEAP_OK;
}
