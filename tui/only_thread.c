/* One thread out of all, by a query of its own. */
#include "config.h"

#include "tui/only_thread.h"

#include <stdlib.h>
#include <string.h>

#include "query/parse.h"
#include "src/base/mem.h"
#include "tui/show.h"

/* The query without what acts on rows, narrowed, by thread. */
static void compose(const struct browser *b, const char *condition, struct buf *out)
{
	const struct state *s = model_state(&b->model);
	buf_puts(out, s->head);
	for (size_t i = 0; i < s->chip_count; i++) {
		const struct chip *c = &s->chips[i];
		bool is_of_blocks = (c->kind == STAGE_WHERE && !c->is_of_rows) ||
				    c->kind == STAGE_HIDE || c->kind == STAGE_ZOOM ||
				    c->kind == STAGE_TRIM || c->kind == STAGE_COLLAPSE;
		if (is_of_blocks)
			buf_printf(out, " | %s", c->text);
	}
	if (condition)
		buf_printf(out, " | where %s", condition);
	buf_puts(out, " | by thread");
}

static size_t query_of(const struct ast_script *s)
{
	size_t idx = 0;
	while (idx + 1 < s->statement_count && s->statements[idx].is_let)
		idx++;
	return idx;
}

static enum neap_err run(struct browser *b, const char *condition, struct query_result **out,
			 struct query_error *error)
{
	struct ast_script *script = NULL;
	struct buf text = {0};
	*out = NULL;
	compose(b, condition, &text);
	if (text.has_failed) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	enum neap_err code = query_parse(text.data, strlen(text.data), &script, error);
	if (!code)
		code = query_run(b->model.session, script, query_of(script), out, error);
	query_script_free(script);
	buf_release(&text);
	return code;
}

/* The row with most bytes; both signs count in a diff. */
static size_t largest(const struct query_result *r, size_t total)
{
	size_t best = 0;
	for (size_t i = 1; i < r->row_count; i++) {
		if (llabs(result_value(r, i, total)) > llabs(result_value(r, best, total)))
			best = i;
	}
	return best;
}

thread_id only_thread_id(const struct browser *b, const char *key)
{
	const char *number = strrchr(key, '#');
	unsigned long id = number ? strtoul(number + 1, NULL, 10) : 0;
	return id <= graph_profile(b->model.now)->thread_count ? (thread_id)id : 0;
}

void only_thread_put(const struct browser *b, const char *key, struct buf *out)
{
	thread_id id = only_thread_id(b, key);
	buf_puts(out, "thread=");
	if (id)
		buf_printf(out, "%u", id);
	else
		query_quote(out, key);
}

void only_thread_named(struct browser *b, const char *key)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf stage = {0};
	buf_puts(&stage, "where ");
	only_thread_put(b, key, &stage);
	if (!stage.has_failed)
		browser_tell(b, model_add_stage(&b->model, STAGE_WHERE, stage.data, &error),
			     &error);
	buf_release(&stage);
}

static void keep_largest(struct browser *b, const struct query_result *r)
{
	char part[FMT_BYTES], whole[FMT_BYTES];
	size_t total = result_column(r, r->is_signed ? "delta" : "total");
	size_t key = result_column(r, "thread"), row = largest(r, total);
	const char *name = NULL;
	if (key != SIZE_MAX && r->row_count)
		name = r->cells[row * r->column_count + key].text;
	if (!name) {
		browser_say(b, ROLE_DIM, "it is not known which thread has this");
		return;
	}
	fmt_bytes(part, sizeof part, result_value(r, row, total));
	fmt_bytes(whole, sizeof whole, result_value(r, SIZE_MAX, total));
	if (r->row_count > 1)
		only_thread_named(b, name);
	if (!b->message[0])
		browser_say(b, ROLE_DIM,
			    r->row_count > 1 ? "%s has most of it: %s of %s"
					     : "%s is the only thread that has some: %s of %s",
			    name, part, whole);
}

void only_thread_where(struct browser *b, const char *condition)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_result *r = NULL;
	enum neap_err code = run(b, condition, &r, &error);
	if (code)
		browser_tell(b, code, &error);
	else
		keep_largest(b, r);
	query_result_free(r);
}

void only_thread(struct browser *b, const struct graph_frame *f)
{
	struct buf condition = {0};
	buf_puts(&condition, "path ");
	if (f)
		query_step(&condition, f);
	if (!condition.has_failed)
		only_thread_where(b, f ? condition.data : NULL);
	buf_release(&condition);
}
