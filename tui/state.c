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

#include <string.h>

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
	mem_free(s->spot);
	mem_free(s);
}

bool state_set_text(char **to, const char *text)
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
	return state_set_text(&s->head, head);
}

bool state_set_subject(struct state *s, const char *step)
{
	return state_set_text(&s->subject, step);
}

unsigned state_rank(enum ast_stage_kind kind, bool is_of_rows)
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

bool state_take_chip(struct state *s, enum ast_stage_kind kind, bool is_of_rows, char *text)
{
	size_t at = s->chip_count;
	unsigned rank = state_rank(kind, is_of_rows);
	while (at && state_rank(s->chips[at - 1].kind, s->chips[at - 1].is_of_rows) > rank)
		at--;
	return insert_chip(s, at, (struct chip){kind, is_of_rows, text});
}

bool state_add_chip(struct state *s, enum ast_stage_kind kind, const char *text)
{
	for (size_t i = 0; i < s->chip_count; i++) {
		if (s->chips[i].kind == kind && !strcmp(s->chips[i].text, text))
			return true;
	}
	return state_take_chip(s, kind, false, mem_strdup(text));
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
			return state_set_text(&s->chips[i].text, text);
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
	bool is_good = state_set_text(&s->head, from->head) &&
		       state_set_text(&s->subject, from->subject) &&
		       state_set_text(&s->hist, from->hist);
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

enum neap_err model_fail(struct query_error *error, enum neap_err code, const char *text)
{
	*error = (struct query_error){.code = code};
	memcpy(error->text, text, strlen(text) + 1);
	return code;
}

/* ---- whole edits ---------------------------------------------------------------------------- */

enum neap_err model_commit_if(struct model *m, struct state *s, bool is_good,
			      struct query_error *error)
{
	if (s && is_good)
		return model_commit(m, s, error);
	state_free(s);
	return model_fail(error, ERR_NOMEM, "out of memory");
}

enum neap_err model_set_screen(struct model *m, enum screen screen, struct query_error *error)
{
	struct state *s = model_edit(m);
	if (s)
		s->screen = screen;
	if (s && screen == SCREEN_SIZES) /* its key shows sizes, whatever was asked for before */
		state_set_text(&s->hist, NULL);
	return model_commit_if(m, s, true, error);
}

enum neap_err model_set_head(struct model *m, const char *head, struct query_error *error)
{
	struct state *s = model_edit(m);
	return model_commit_if(m, s, s && state_set_head(s, head), error);
}

enum neap_err model_set_stage(struct model *m, enum ast_stage_kind kind, const char *text,
			      struct query_error *error)
{
	struct state *s = model_edit(m);
	return model_commit_if(m, s, s && state_set_chip(s, kind, text), error);
}

enum neap_err model_add_stage(struct model *m, enum ast_stage_kind kind, const char *text,
			      struct query_error *error)
{
	struct state *s = model_edit(m);
	return model_commit_if(m, s, s && state_add_chip(s, kind, text), error);
}

/* What chooses blocks before what chooses rows: it is what was asked for last.  SIZE_MAX: none. */
static size_t last_chip(const struct state *s)
{
	size_t last = SIZE_MAX;
	for (size_t i = s->chip_count; i-- > 0;) {
		if (!state_uses(s, &s->chips[i]))
			continue;
		if (!state_rank(s->chips[i].kind, s->chips[i].is_of_rows))
			return i;
		last = last == SIZE_MAX ? i : last;
	}
	return last;
}

bool model_pop_chip(struct model *m)
{
	struct query_error error;
	struct state *s = model_edit(m);
	size_t at = s ? last_chip(s) : SIZE_MAX;
	if (at == SIZE_MAX) {
		state_free(s);
		return false;
	}
	if (s->callers_depth && s->chips[at].kind == STAGE_WHERE)
		s->callers_depth = 0;
	state_remove_chip(s, at);
	/* What it was before the chip was added, is where one was then. */
	for (size_t i = m->at; i-- > 0 && !s->spot;) {
		if (m->states[i]->spot && state_equal(m->states[i], s) &&
		    !state_set_text(&s->spot, m->states[i]->spot))
			break;
	}
	return !model_commit(m, s, &error);
}
