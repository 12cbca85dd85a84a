/* Which files a query looks at, as the resolver of queries chooses them. */
#include "config.h"

#include "tui/model.h"

#include <string.h>

#include "query/parse.h"
#include "query/plan.h"
#include "tui/model_priv.h"

struct sides {
	struct query_session *session;
	const struct query_file *now, *before;
	struct query_error *error; /* of the first file that cannot be read */
};

static const struct query_file *file_of(struct sides *sides, const struct ast_source *src,
					const struct query_file *fallback)
{
	struct query_file *named;
	struct query_error error = {.code = NEAP_OK};
	if (!src->has_file)
		return fallback;
	if (!session_file(sides->session, &src->file, &named, &error))
		return named;
	if (!sides->error->code)
		*sides->error = error;
	return fallback;
}

static void find_sides(struct sides *sides, const struct ast_query *q)
{
	const struct query_session *s = sides->session;
	const struct query_file *first = s->files[0];
	const struct query_file *second = s->named_count > 1 ? s->files[1] : first;
	if (q->head == HEAD_DIFF && !q->has_b && q->a.has_file) {
		sides->before = file_of(sides, &q->a, first);
		return;
	}
	if (q->has_b && (q->a.has_file || q->b.has_file))
		second = first;
	if (q->head == HEAD_DIFF)
		sides->before = file_of(sides, &q->a, first);
	const struct ast_source *now = q->has_b ? &q->b : &q->a;
	sides->now = file_of(sides, now, q->head == HEAD_DIFF ? second : first);
}

enum neap_err model_find_sides(struct model *m, struct query_error *error)
{
	struct query_session *s = m->session;
	const char *head = model_state(m)->head;
	struct ast_script *script = NULL;
	struct sides sides = {.session = s, .now = s->files[0], .error = error};
	*error = (struct query_error){.code = NEAP_OK};
	if (!query_parse(head, strlen(head), &script, error) && script->statement_count)
		find_sides(&sides, &script->statements[script->statement_count - 1].query);
	query_script_free(script);
	m->now = sides.now->g;
	m->now_path = sides.now->path;
	m->before = sides.before && sides.before != sides.now ? sides.before->g : NULL;
	m->before_path = m->before ? sides.before->path : NULL;
	return error->code;
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

enum neap_err model_whole_run(const struct model *m, bool is_before, struct buf *out,
			      struct query_error *error)
{
	const char *path = is_before ? m->before_path : m->now_path;
	bool is_first = path == m->session->files[0]->path;
	if (!is_first && !is_sayable(path))
		return model_fail(error, ERR_USAGE,
				  "the name of the file has control characters, which no query "
				  "can say");
	buf_puts(out, "allocated");
	if (!is_first) {
		buf_puts(out, " of ");
		query_quote(out, path);
	}
	return out->has_failed ? model_fail(error, ERR_NOMEM, "out of memory") : NEAP_OK;
}
