/* Which files a query looks at: the plan of its head says it. */
#include "config.h"

#include "tui/model.h"

#include <string.h>

#include "query/parse.h"
#include "query/plan.h"
#include "tui/model_priv.h"

static void set_sides(struct model *m, const struct query_file *now,
		      const struct query_file *before)
{
	m->now = now->g;
	m->now_path = now->path;
	m->before = before ? before->g : NULL;
	m->before_path = before ? before->path : NULL;
}

void model_reset_sides(struct model *m)
{
	const struct query_session *s = m->session;
	bool is_diff = s->named_count > 1;
	set_sides(m, s->files[is_diff ? 1 : 0], is_diff ? s->files[0] : NULL);
}

static enum neap_err plan_sides(struct model *m, const struct ast_script *script,
				struct query_error *error)
{
	struct plan pl;
	enum neap_err code =
		plan_build(m->session, script, script->statement_count - 1, &pl, error);
	if (!code)
		set_sides(m, pl.sides[pl.side_count - 1].file,
			  pl.is_two_files ? pl.sides[0].file : NULL);
	plan_release(&pl);
	return code;
}

enum neap_err model_find_sides(struct model *m, struct query_error *error)
{
	const char *head = model_state(m)->head;
	struct ast_script *script = NULL;
	enum neap_err code = query_parse(head, strlen(head), &script, error);
	if (!code)
		code = plan_sides(m, script, error);
	query_script_free(script);
	return code;
}

/* Can a string of the language hold it? */
static bool is_sayable(const char *path)
{
	for (const char *p = path; *p; p++) {
		if (((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f)
			return false;
	}
	return true;
}

enum neap_err model_whole_run(const struct model *m, bool is_before, const char *population,
			      struct buf *out, struct query_error *error)
{
	const char *path = is_before ? m->before_path : m->now_path;
	bool is_first = path == m->session->files[0]->path;
	if (!is_first && !is_sayable(path))
		return model_fail(error, ERR_USAGE,
				  "the name of the file has control characters, which no query "
				  "can say");
	buf_puts(out, population);
	if (!is_first) {
		buf_puts(out, " of ");
		query_quote(out, path);
	}
	return out->has_failed ? model_fail(error, ERR_NOMEM, "out of memory") : NEAP_OK;
}
