/* Which files a query looks at, as the resolver of queries chooses them. */
#include "config.h"

#include "tui/model.h"

#include <string.h>

#include "query/parse.h"
#include "query/plan.h"

/* What cannot be read makes the query fail, which says why. */
static const struct query_file *file_of(struct query_session *s, const struct ast_source *src,
					const struct query_file *fallback)
{
	struct query_file *named;
	struct query_error ignored = {.code = NEAP_OK};
	if (!src->has_file || session_file(s, &src->file, &named, &ignored))
		return fallback;
	return named;
}

struct sides {
	const struct query_file *now, *before;
};

static struct sides sides_of(struct query_session *s, const struct ast_query *q)
{
	const struct query_file *first = s->files[0];
	const struct query_file *second = s->named_count > 1 ? s->files[1] : first;
	if (q->head != HEAD_DIFF)
		return (struct sides){file_of(s, &q->a, first), NULL};
	if (!q->has_b && q->a.has_file)
		return (struct sides){first, file_of(s, &q->a, first)};
	if (q->has_b && (q->a.has_file || q->b.has_file))
		second = first;
	const struct ast_source *b = q->has_b ? &q->b : &q->a;
	return (struct sides){file_of(s, b, second), file_of(s, &q->a, first)};
}

void model_find_sides(struct model *m)
{
	struct query_session *s = m->session;
	const char *head = model_state(m)->head;
	struct ast_script *script = NULL;
	struct query_error ignored = {.code = NEAP_OK};
	struct sides sides = {s->files[0], NULL};
	if (!query_parse(head, strlen(head), &script, &ignored) && script->statement_count)
		sides = sides_of(s, &script->statements[script->statement_count - 1].query);
	query_script_free(script);
	m->now = sides.now->g;
	m->now_path = sides.now->path;
	m->before = sides.before && sides.before != sides.now ? sides.before->g : NULL;
	m->before_path = m->before ? sides.before->path : NULL;
}

/* A name that strings of the language cannot hold is left out: then it is the first file. */
void model_whole_run(const struct model *m, bool is_before, struct buf *out)
{
	const char *path = is_before ? m->before_path : m->now_path;
	buf_puts(out, "allocated");
	for (const char *p = path; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return;
	}
	if (path == m->session->files[0]->path)
		return;
	buf_puts(out, " of ");
	query_quote(out, path);
}
