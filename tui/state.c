/*
 * States: queries in parts.
 *
 *   live at 40% | where module=libc.so.6 | zoom [func="f"] | by func | min 1%
 *   head          chip                     chip              chip      chip
 *
 * Chips stand in the order in which a query is read: what chooses blocks and changes stacks,
 * keys, what chooses and orders rows, the base of percentages.
 */
#include "config.h"

#include "tui/model.h"

#include <inttypes.h>
#include <string.h>

#include "query/vocab.h"
#include "src/base/mem.h"
#include "tui/model_priv.h"

/* ---- parts --------------------------------------------------------------------------------- */

void state_free(struct state *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->chip_count; i++)
		mem_free(s->chips[i].text);
	mem_free(s->chips);
	mem_free(s->head);
	mem_free(s->subject);
	mem_free(s->hist);
	mem_free(s);
}

static bool set_text(char **to, const char *text)
{
	char *copy = text ? mem_strdup(text) : NULL;
	if (text && !copy)
		return false;
	mem_free(*to);
	*to = copy;
	return true;
}

bool state_set_head(struct state *s, const char *head)
{
	return set_text(&s->head, head);
}

bool state_set_subject(struct state *s, const char *step)
{
	return set_text(&s->subject, step);
}

/* Where in a query a stage stands. */
static unsigned rank_of(enum ast_stage_kind kind, bool is_of_rows)
{
	switch (kind) {
	case STAGE_WHERE:
		return is_of_rows ? 2 : 0;
	case STAGE_HIDE:
	case STAGE_ZOOM:
	case STAGE_TRIM:
	case STAGE_COLLAPSE:
		return 0;
	case STAGE_BY:
		return 1;
	case STAGE_SORT:
		return 3;
	case STAGE_MIN:
		return 4;
	case STAGE_TOP:
	case STAGE_BOTTOM:
	case STAGE_LIMIT:
		return 5;
	default:
		return 6;
	}
}

static bool insert_chip(struct state *s, size_t at, struct chip chip)
{
	if (!chip.text ||
	    !vec_reserve((void **)&s->chips, &s->chip_cap, s->chip_count + 1, sizeof *s->chips)) {
		mem_free(chip.text);
		return false;
	}
	memmove(&s->chips[at + 1], &s->chips[at], (s->chip_count - at) * sizeof *s->chips);
	s->chips[at] = chip;
	s->chip_count++;
	return true;
}

static bool add_chip(struct state *s, enum ast_stage_kind kind, bool is_of_rows, char *text)
{
	size_t at = s->chip_count;
	unsigned rank = rank_of(kind, is_of_rows);
	while (at && rank_of(s->chips[at - 1].kind, s->chips[at - 1].is_of_rows) > rank)
		at--;
	return insert_chip(s, at, (struct chip){kind, is_of_rows, text});
}

bool state_add_chip(struct state *s, enum ast_stage_kind kind, const char *text)
{
	for (size_t i = 0; i < s->chip_count; i++) {
		if (s->chips[i].kind == kind && !strcmp(s->chips[i].text, text))
			return true;
	}
	return add_chip(s, kind, false, mem_strdup(text));
}

void state_remove_chip(struct state *s, size_t at)
{
	mem_free(s->chips[at].text);
	s->chip_count--;
	memmove(&s->chips[at], &s->chips[at + 1], (s->chip_count - at) * sizeof *s->chips);
}

bool state_set_chip(struct state *s, enum ast_stage_kind kind, const char *text)
{
	for (size_t i = 0; i < s->chip_count; i++) {
		if (s->chips[i].kind != kind)
			continue;
		if (text)
			return set_text(&s->chips[i].text, text);
		state_remove_chip(s, i);
		return true;
	}
	return !text || state_add_chip(s, kind, text);
}

const char *state_chip(const struct state *s, enum ast_stage_kind kind)
{
	for (size_t i = 0; i < s->chip_count; i++) {
		if (s->chips[i].kind == kind)
			return s->chips[i].text;
	}
	return NULL;
}

struct state *model_edit(const struct model *m)
{
	const struct state *from = model_state(m);
	struct state *s = mem_zalloc(sizeof *s);
	if (!s)
		return NULL;
	s->screen = from->screen;
	s->is_inverted = from->is_inverted;
	s->callers_depth = from->callers_depth;
	bool is_good = set_text(&s->head, from->head) && set_text(&s->subject, from->subject) &&
		       set_text(&s->hist, from->hist);
	for (size_t i = 0; is_good && i < from->chip_count; i++) {
		struct chip chip = from->chips[i];
		chip.text = mem_strdup(chip.text);
		is_good = insert_chip(s, s->chip_count, chip);
	}
	if (is_good)
		return s;
	state_free(s);
	return NULL;
}

static bool is_text_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool state_equal(const struct state *a, const struct state *b)
{
	if (a->screen != b->screen || a->is_inverted != b->is_inverted ||
	    a->callers_depth != b->callers_depth || a->chip_count != b->chip_count ||
	    !is_text_equal(a->head, b->head) || !is_text_equal(a->subject, b->subject) ||
	    !is_text_equal(a->hist, b->hist))
		return false;
	for (size_t i = 0; i < a->chip_count; i++) {
		if (strcmp(a->chips[i].text, b->chips[i].text) != 0)
			return false;
	}
	return true;
}

/* ---- as text -------------------------------------------------------------------------------- */

static bool is_of_rows(const struct chip *c)
{
	return rank_of(c->kind, c->is_of_rows) > 1 && c->kind != STAGE_PERCENT;
}

static void compose(const struct state *s, const struct compose *c, struct buf *out)
{
	bool has_by = c->by;
	buf_puts(out, c->head ? c->head : s->head);
	for (size_t i = 0; i < s->chip_count; i++) {
		const struct chip *chip = &s->chips[i];
		if (c->without_chip == i + 1 ||
		    ((c->by || c->without_keys) && chip->kind == STAGE_BY) ||
		    (c->without_rows && is_of_rows(chip)))
			continue;
		if (rank_of(chip->kind, chip->is_of_rows) > 0 && c->by && has_by) {
			buf_printf(out, " | by %s", c->by);
			has_by = false;
		}
		buf_printf(out, " | %s", chip->text);
	}
	if (has_by)
		buf_printf(out, " | by %s", c->by);
	if (c->view)
		buf_printf(out, " | %s", c->view);
}

void model_compose(const struct model *m, const struct compose *c, struct buf *out)
{
	struct compose full = *c;
	if (!full.by && !state_chip(model_state(m), STAGE_BY))
		full.by = full.default_by;
	compose(model_state(m), &full, out);
}

void model_text(const struct model *m, struct buf *out)
{
	const struct compose c = {.head = NULL};
	compose(model_state(m), &c, out);
}

/* ---- from text ------------------------------------------------------------------------------ */

static char *part_of(const struct ast_script *script, uint32_t start, uint32_t end)
{
	return mem_strndup(script->text + start, end - start);
}

static uint32_t end_of(struct ast_span span)
{
	return span.start + span.bytes;
}

static bool is_word(const struct ast_text *text, const char *word)
{
	return text->bytes == strlen(word) && !memcmp(text->s, word, text->bytes);
}

/* `hist` of sizes or lifetimes: both are shown.  Others have a picture of their own. */
static bool take_hist(struct state *s, const struct ast_stage *st)
{
	const struct ast_text *word = st->col_count ? &st->cols[0].word : NULL;
	bool is_usual = !word || is_word(word, "size") || is_word(word, "lifetime");
	char *text = is_usual ? NULL : mem_strndup(word->s, word->bytes);
	if (!is_usual && !text)
		return false;
	mem_free(s->hist);
	s->hist = text;
	return true;
}

/* A view at the end of a query means a screen. */
static bool take_view(struct state *s, const struct ast_script *script, const struct ast_stage *st)
{
	static const enum screen screens[] = {
		[VIEW_TABLE] = SCREEN_TABLE,    [VIEW_TREE] = SCREEN_TREE,
		[VIEW_CALLERS] = SCREEN_TREE,   [VIEW_CALLEES] = SCREEN_TREE,
		[VIEW_PEEK] = SCREEN_BUTTERFLY, [VIEW_STACKS] = SCREEN_TREE,
		[VIEW_FLAME] = SCREEN_FLAME,    [VIEW_TIMELINE] = SCREEN_TIME,
		[VIEW_HIST] = SCREEN_SIZES,     [VIEW_SUM] = SCREEN_TABLE,
		[VIEW_SOURCE] = SCREEN_SOURCE,
	};
	s->screen = screens[st->view];
	s->is_inverted = st->view == VIEW_CALLERS || (st->view == VIEW_FLAME && st->is_inverted);
	if (st->view == VIEW_HIST && !take_hist(s, st))
		return false;
	if (!st->has_step)
		return true;
	char *step = part_of(script, st->step.span.start, end_of(st->step.span));
	bool is_good = step;
	if (is_good && (st->view == VIEW_PEEK || st->view == VIEW_SOURCE)) {
		is_good = state_set_subject(s, step);
	} else if (is_good) {
		struct buf zoom = {0};
		buf_printf(&zoom, "zoom %s", step);
		is_good = !zoom.has_failed && state_add_chip(s, STAGE_ZOOM, zoom.data);
		buf_release(&zoom);
	}
	mem_free(step);
	return is_good;
}

static bool take_stages(struct state *s, const struct ast_script *script, const struct ast_query *q)
{
	bool has_by = false;
	for (size_t i = 0; i < q->stage_count; i++) {
		const struct ast_stage *st = &q->stages[i];
		if (st->kind == STAGE_VIEW) {
			if (!take_view(s, script, st))
				return false;
			continue;
		}
		if (st->kind == STAGE_AS)
			continue;
		has_by = has_by || st->kind == STAGE_BY;
		char *text = part_of(script, st->span.start, end_of(st->span));
		if (!add_chip(s, st->kind, st->kind == STAGE_WHERE && has_by, text))
			return false;
	}
	return true;
}

static bool take_filter(struct state *s, const struct ast_script *script, const struct ast_query *q)
{
	struct buf where = {0};
	if (!q->filter)
		return true;
	buf_puts(&where, "where ");
	buf_put(&where, script->text + q->filter->span.start, q->filter->span.bytes);
	bool is_good = !where.has_failed && state_add_chip(s, STAGE_WHERE, where.data);
	buf_release(&where);
	return is_good;
}

/* From the text of a canonical query. */
static bool take_query(struct state *s, const struct ast_script *script, const struct ast_query *q)
{
	if (q->head != HEAD_REFINE) {
		uint32_t end = end_of(q->a.span);
		if (q->has_b)
			end = end_of(q->b.span);
		char *head = part_of(script, 0, end);
		bool is_good = head && state_set_head(s, head);
		mem_free(head);
		if (!is_good)
			return false;
		while (s->chip_count)
			state_remove_chip(s, 0);
		s->callers_depth = 0;
	}
	return take_filter(s, script, q) && take_stages(s, script, q);
}

static const struct ast_query *last_query(const struct ast_script *script)
{
	const struct ast_query *q = NULL;
	for (size_t i = 0; i < script->statement_count; i++) {
		if (!script->statements[i].is_let)
			q = &script->statements[i].query;
	}
	return q;
}

static enum neap_err fail(struct query_error *error, enum neap_err code, const char *text)
{
	*error = (struct query_error){.code = code};
	memcpy(error->text, text, strlen(text) + 1);
	return code;
}

/* Canonical, so that the parts of it are. */
static enum neap_err parse_canonical(const char *text, struct buf *canonical,
				     struct ast_script **out, struct query_error *error)
{
	struct ast_script *script = NULL;
	*out = NULL;
	enum neap_err code = query_parse(text, strlen(text), &script, error);
	const struct ast_query *q = code ? NULL : last_query(script);
	if (!code && !q)
		code = fail(error, ERR_USAGE, "there is no query");
	if (!code)
		query_canonical(q, canonical);
	query_script_free(script);
	if (code)
		return code;
	if (canonical->has_failed)
		return fail(error, ERR_NOMEM, "out of memory");
	return query_parse(canonical->data, canonical->count_bytes, out, error);
}

/* Takes head and chips from a canonical query, and stays where it is. */
static bool retake(struct state *s, const struct ast_script *script)
{
	const enum screen screen = s->screen;
	const bool is_inverted = s->is_inverted;
	const unsigned callers_depth = s->callers_depth;
	bool is_good = take_query(s, script, last_query(script));
	s->screen = screen;
	s->is_inverted = is_inverted;
	s->callers_depth = callers_depth;
	return is_good;
}

enum neap_err state_check(struct state *s, struct query_error *error)
{
	const struct compose c = {.head = NULL};
	struct ast_script *script = NULL;
	struct buf text = {0}, canonical = {0};
	compose(s, &c, &text);
	enum neap_err code = text.has_failed
				     ? fail(error, ERR_NOMEM, "out of memory")
				     : parse_canonical(text.data, &canonical, &script, error);
	if (!code && strcmp(text.data, canonical.data) != 0 && !retake(s, script))
		code = fail(error, ERR_NOMEM, "out of memory");
	query_script_free(script);
	buf_release(&text);
	buf_release(&canonical);
	return code;
}

enum neap_err model_set_text(struct model *m, const char *text, struct query_error *error)
{
	struct buf canonical = {0};
	struct ast_script *script = NULL;
	enum neap_err code = parse_canonical(text, &canonical, &script, error);
	if (!code) {
		struct state *s = model_edit(m);
		if (s && take_query(s, script, last_query(script))) {
			code = model_commit(m, s, error);
		} else {
			state_free(s);
			code = fail(error, ERR_NOMEM, "out of memory");
		}
	}
	query_script_free(script);
	buf_release(&canonical);
	return code;
}

/* ---- kept as text ---------------------------------------------------------------------------- */

void saved_release(struct saved_state *saved)
{
	mem_free(saved->query);
	mem_free(saved->subject);
	mem_free(saved->hist);
	*saved = (struct saved_state){.query = NULL};
}

bool model_save(const struct model *m, struct saved_state *out)
{
	const struct state *s = model_state(m);
	struct buf text = {0};
	model_text(m, &text);
	*out = (struct saved_state){.screen = s->screen,
				    .is_inverted = s->is_inverted,
				    .callers_depth = s->callers_depth};
	out->query = text.has_failed ? NULL : mem_strdup(text.data);
	buf_release(&text);
	if (out->query && set_text(&out->subject, s->subject) && set_text(&out->hist, s->hist))
		return true;
	saved_release(out);
	return false;
}

static bool take_saved(struct state *s, const struct saved_state *saved,
		       const struct ast_script *script)
{
	if (!state_set_subject(s, saved->subject) || !set_text(&s->hist, saved->hist) ||
	    !take_query(s, script, last_query(script)))
		return false;
	s->screen = saved->screen;
	s->is_inverted = saved->is_inverted;
	s->callers_depth = saved->callers_depth;
	return true;
}

enum neap_err model_go_saved(struct model *m, const struct saved_state *saved,
			     struct query_error *error)
{
	struct buf canonical = {0};
	struct ast_script *script = NULL;
	enum neap_err code = parse_canonical(saved->query, &canonical, &script, error);
	if (!code) {
		struct state *s = model_edit(m);
		if (s && take_saved(s, saved, script)) {
			code = model_commit(m, s, error);
		} else {
			state_free(s);
			code = fail(error, ERR_NOMEM, "out of memory");
		}
	}
	query_script_free(script);
	buf_release(&canonical);
	return code;
}

/* ---- whole edits ---------------------------------------------------------------------------- */

static enum neap_err commit_if(struct model *m, struct state *s, bool is_good,
			       struct query_error *error)
{
	if (s && is_good)
		return model_commit(m, s, error);
	state_free(s);
	return fail(error, ERR_NOMEM, "out of memory");
}

enum neap_err model_set_screen(struct model *m, enum screen screen, struct query_error *error)
{
	struct state *s = model_edit(m);
	if (s)
		s->screen = screen;
	if (s && screen == SCREEN_SIZES) /* its key shows sizes, whatever was asked for before */
		set_text(&s->hist, NULL);
	return commit_if(m, s, true, error);
}

enum neap_err model_set_head(struct model *m, const char *head, struct query_error *error)
{
	struct state *s = model_edit(m);
	return commit_if(m, s, s && state_set_head(s, head), error);
}

enum neap_err model_set_stage(struct model *m, enum ast_stage_kind kind, const char *text,
			      struct query_error *error)
{
	struct state *s = model_edit(m);
	return commit_if(m, s, s && state_set_chip(s, kind, text), error);
}

enum neap_err model_add_stage(struct model *m, enum ast_stage_kind kind, const char *text,
			      struct query_error *error)
{
	struct state *s = model_edit(m);
	return commit_if(m, s, s && state_add_chip(s, kind, text), error);
}

bool model_pop_chip(struct model *m)
{
	struct query_error error;
	const struct state *now = model_state(m);
	if (!now->chip_count)
		return false;
	struct state *s = model_edit(m);
	if (!s)
		return false;
	/* What chooses blocks before what chooses rows: it is what was asked for last. */
	size_t at = s->chip_count;
	while (at && rank_of(s->chips[at - 1].kind, s->chips[at - 1].is_of_rows) > 0)
		at--;
	at = at ? at - 1 : s->chip_count - 1;
	if (s->callers_depth && s->chips[at].kind == STAGE_WHERE)
		s->callers_depth = 0;
	state_remove_chip(s, at);
	return !model_commit(m, s, &error);
}

/* ---- text of queries ---------------------------------------------------------------------------- */

static bool has_control(const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			return true;
	}
	return false;
}

/* The same text as a regular expression, which has escapes for all of them. */
static void put_regex(struct buf *out, const char *text)
{
	buf_puts(out, "/^");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\x%02x", c);
		else if (strchr("\\/^$.[|()?*+{", c))
			buf_printf(out, "\\%c", c);
		else
			buf_putc(out, (char)c);
	}
	buf_puts(out, "\\z/");
}

void query_quote(struct buf *out, const char *text)
{
	if (out->count_bytes && out->data[out->count_bytes - 1] == '=' && has_control(text)) {
		out->data[out->count_bytes - 1] = '~';
		put_regex(out, text);
		return;
	}
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_putc(out, '\\');
		if (*text == '\n')
			buf_puts(out, "\\n");
		else if (*text == '\t')
			buf_puts(out, "\\t");
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

void query_step(struct buf *out, const struct graph_frame *f)
{
	buf_putc(out, '[');
	if (f->name) {
		buf_puts(out, "func=");
		query_quote(out, f->name);
	} else if (f->module_path) {
		buf_puts(out, "module=");
		query_quote(out, f->module_path);
		buf_printf(out, " and addr=%" PRIu64, f->pc);
	} else {
		buf_printf(out, "addr=%" PRIu64, f->pc);
	}
	buf_putc(out, ']');
}

void query_time(struct buf *out, uint64_t ns)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} units[] = {{"h", 3600000000000u}, {"m", 60000000000u}, {"s", 1000000000u},
		     {"ms", 1000000u},      {"us", 1000u},       {"ns", 1u}};
	size_t i = 0;
	while (units[i].ns > 1 && (!ns || ns % units[i].ns))
		i++;
	buf_printf(out, "%" PRIu64 "%s", ns / units[i].ns, units[i].word);
}

enum graph_pop query_population(const char *head)
{
	const char *last = strrchr(head, ';');
	const char *word = last ? last + 1 : head;
	word += strspn(word, " \n");
	size_t bytes = strcspn(word, " ");
	const struct vocab_word *w = vocab_find(&vocab_populations, word, bytes);
	return w ? (enum graph_pop)w->id : POP_COUNT;
}

/* For sh: between single quotes, where only they need care. */
static void put_shell(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

const char *state_columns(const struct state *s)
{
	if (state_chip(s, STAGE_SELECT) || query_population(s->head) == POP_COUNT)
		return NULL;
	if (s->screen == SCREEN_THREADS)
		return "select thread, total, share, count, allocs, frees, temp, peak";
	if (s->screen == SCREEN_MODULES)
		return "select module, self, total, share, count, allocs, temp";
	return NULL;
}

/* The view stage that prints what a screen shows. */
static void put_view(const struct state *s, struct buf *out)
{
	switch (s->screen) {
	case SCREEN_TREE:
		buf_puts(out, s->is_inverted ? " | callers" : " | tree");
		break;
	case SCREEN_FLAME:
		buf_puts(out, s->is_inverted ? " | flame inverted" : " | flame");
		break;
	case SCREEN_TIME:
		buf_puts(out, " | timeline");
		break;
	case SCREEN_SOURCE:
		buf_printf(out, " | source %s", s->subject ? s->subject : "[file=*]");
		break;
	case SCREEN_BUTTERFLY:
		if (s->subject)
			buf_printf(out, " | peek %s", s->subject);
		break;
	case SCREEN_SIZES:
		buf_printf(out, " | hist %s", s->hist ? s->hist : "size");
		break;
	default:
		break;
	}
	if (state_columns(s))
		buf_printf(out, " | %s", state_columns(s));
}

bool has_rows_of_keys(const struct state *s)
{
	return s->hist && vocab_find(&vocab_columns, s->hist, strlen(s->hist));
}

/* Keys that a screen brings along. */
static const char *keys_of(const struct state *s)
{
	switch (s->screen) {
	case SCREEN_TABLE:
		return state_chip(s, STAGE_BY) ? NULL : "func";
	case SCREEN_SIZES:
		return !has_rows_of_keys(s) || state_chip(s, STAGE_BY) ? NULL : "func";
	case SCREEN_THREADS:
		return "thread";
	case SCREEN_MODULES:
		return "module";
	default:
		return NULL;
	}
}

void model_query(const struct model *m, struct buf *out)
{
	const struct state *s = model_state(m);
	/* Screens that show all rows, whatever is cut in others. */
	bool shows_all = (s->screen == SCREEN_SIZES && !has_rows_of_keys(s)) ||
			 s->screen == SCREEN_BUTTERFLY;
	bool is_hist = s->screen == SCREEN_SIZES && !has_rows_of_keys(s);
	const struct compose c = {
		.by = keys_of(s), .without_keys = is_hist, .without_rows = shows_all};
	model_compose(m, &c, out);
	put_view(model_state(m), out);
}

void model_command(const struct model *m, struct buf *out)
{
	const struct state *s = model_state(m);
	struct buf text = {0};
	if (s->screen == SCREEN_RUN) {
		buf_puts(out, "neap info ");
		put_shell(out, m->paths[0]);
		return;
	}
	buf_puts(out, "neap query");
	for (size_t i = 0; i < m->path_count; i++) {
		buf_putc(out, ' ');
		put_shell(out, m->paths[i]);
	}
	model_query(m, &text);
	buf_putc(out, ' ');
	if (!text.has_failed)
		put_shell(out, text.data);
	buf_release(&text);
}
