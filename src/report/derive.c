/* See derive.h. */
#include "config.h"

#include "src/report/derive.h"

#include "src/base/mem.h"

#include <string.h>

/* The statement whose head the one at idx refines. */
static size_t find_head(const struct ast_script *script, size_t idx)
{
	while (idx && (script->statements[idx].is_let ||
		       script->statements[idx].query.head == HEAD_REFINE))
		idx--;
	return idx;
}

static void change_head(struct ast_query *q, const struct derived_head *head)
{
	q->a.pop = head->pop;
	q->a.has_in = false;
	q->a.has_at = head->has_at;
	q->a.at = (struct ast_time){.base = TIME_DURATION};
	q->a.at.quantity = (struct ast_quantity){
		.unit = UNIT_NS, .value = (int64_t)head->at_ns, .number = (double)head->at_ns};
}

/* The stages of the statements from head to idx, then those of `more`, in one list. */
static struct ast_stage *join_stages(const struct ast_script *script, size_t head, size_t idx,
				     const struct ast_query *more, size_t *count_out)
{
	size_t count = more->stage_count;
	for (size_t i = head; i <= idx; i++)
		count += script->statements[i].is_let ? 0 : script->statements[i].query.stage_count;
	struct ast_stage *stages = mem_array(count + 1, sizeof *stages);
	*count_out = 0;
	for (size_t i = head; stages && i <= idx; i++) {
		const struct ast_statement *st = &script->statements[i];
		for (size_t k = 0; !st->is_let && k < st->query.stage_count; k++)
			stages[(*count_out)++] = st->query.stages[k];
	}
	for (size_t k = 0; stages && k < more->stage_count; k++)
		stages[(*count_out)++] = more->stages[k];
	return stages;
}

static enum neap_err run_joined(struct query_session *s, const struct ast_script *script,
				size_t idx, const struct derived_head *head,
				const struct ast_query *more, struct query_result **out,
				struct query_error *error)
{
	size_t first = find_head(script, idx);
	struct ast_statement joined = script->statements[first];
	struct ast_script one = *script;
	joined.query.stages = join_stages(script, first, idx, more, &joined.query.stage_count);
	if (!joined.query.stages)
		return ERR_NOMEM;
	if (head->is_changed)
		change_head(&joined.query, head);
	one.statements = &joined;
	one.statement_count = 1;
	enum neap_err code = query_run(s, &one, 0, out, error);
	mem_free(joined.query.stages);
	return code;
}

enum neap_err derive_run(struct query_session *s, const struct ast_script *script,
			 size_t statement_idx, const struct derived_head *head, const char *stages,
			 struct query_result **out, struct err *e)
{
	struct query_error error = {.code = NEAP_OK};
	struct ast_script *more = NULL;
	*out = NULL;
	enum neap_err code = query_parse(stages, strlen(stages), &more, &error);
	if (!code)
		code = run_joined(s, script, statement_idx, head, &more->statements[0].query, out,
				  &error);
	query_script_free(more);
	if (code == ERR_NOMEM)
		return err_nomem(e, "the report");
	return code ? err_set(e, code, "%s", error.text) : NEAP_OK;
}

static bool is_plain_stage(const struct ast_stage *stage)
{
	switch (stage->kind) {
	case STAGE_AS:
	case STAGE_ASSERT:
	case STAGE_PERCENT:
	case STAGE_HIDE:
	case STAGE_ZOOM:
	case STAGE_TRIM:
	case STAGE_COLLAPSE:
	case STAGE_WHERE:
		return true;
	default:
		return false;
	}
}

bool derive_is_plain(const struct ast_script *script, size_t statement_idx)
{
	for (size_t i = find_head(script, statement_idx); i <= statement_idx; i++) {
		const struct ast_statement *st = &script->statements[i];
		for (size_t k = 0; !st->is_let && k < st->query.stage_count; k++) {
			if (!is_plain_stage(&st->query.stages[k]))
				return false;
		}
	}
	return true;
}
