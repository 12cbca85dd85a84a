/*
 * Comparing texts and numbers with what a condition says.
 *
 *   =, !=, in (...)   whole names: of functions with or without parameters, return type and
 *                     tags of the ABI, or mangled; of files and modules the whole path or its
 *                     end after a slash; in bare words * and ? are wildcards
 *   ~, !~             a part of the text, or a regular expression
 * Upper and lower case differ, except under /.../i.
 */
#include "config.h"

#include "query/plan.h"

#include "query/names.h"

#include <string.h>

enum neap_err text_match_init(struct text_match *m, enum ast_op op, enum ast_field field,
			      const struct ast_pattern *patterns, size_t count,
			      struct query_error *error)
{
	struct err e = {0};
	size_t offset;
	*m = (struct text_match){.op = op,
				 .field = field,
				 .patterns = patterns,
				 .pattern_count = count,
				 .error = error};
	if (!count || patterns[0].kind != PATTERN_REGEX)
		return NEAP_OK;
	const struct ast_text *t = &patterns[0].text;
	enum neap_err code =
		regex_compile(t->s, t->bytes, patterns[0].ignores_case, &m->regex, &offset, &e);
	if (!code)
		return NEAP_OK;
	struct ast_span at = t->span;
	uint32_t inside = (uint32_t)offset + 1; /* after the slash */
	if (code == ERR_USAGE && inside < at.bytes)
		at = (struct ast_span){at.start + inside, 1};
	return query_fail_err(error, at, &e);
}

void text_match_release(struct text_match *m)
{
	regex_free(m->regex);
	m->regex = NULL;
}

static bool part_is(const struct ast_pattern *p, bool is_wild, const char *s, size_t bytes)
{
	const struct ast_text *t = &p->text;
	if (is_wild)
		return wildcard_fits(t->s, t->bytes, s, bytes);
	return t->bytes == bytes && !memcmp(t->s, s, bytes);
}

/* "f[abi:cxx11]" -> "f": tags of the ABI that compilers put behind a function's name. */
static size_t without_tags(const char *s, size_t bytes)
{
	static const char tag[] = "[abi:";
	while (bytes && s[bytes - 1] == ']') {
		const char *open = memrchr(s, '[', bytes);
		if (!open || strncmp(open, tag, sizeof tag - 1) != 0)
			break;
		bytes = (size_t)(open - s);
	}
	return bytes;
}

static bool function_is(const struct ast_pattern *p, bool is_wild, const char *name,
			const char *linkage)
{
	size_t bytes = strlen(name);
	if (part_is(p, is_wild, name, bytes) ||
	    (linkage && part_is(p, is_wild, linkage, strlen(linkage))))
		return true;
	/* Reading a name takes longer than finding that the pattern is no part of it. */
	if (!is_wild && !memmem(name, bytes, p->text.s, p->text.bytes))
		return false;
	struct part plain = name_plain(name);
	size_t plain_bytes = plain.end - plain.start;
	return part_is(p, is_wild, name + plain.start, plain_bytes) ||
	       part_is(p, is_wild, name + plain.start,
		       without_tags(name + plain.start, plain_bytes)) ||
	       part_is(p, is_wild, name, plain.end) ||
	       part_is(p, is_wild, name + plain.start, bytes - plain.start);
}

/* The whole path, or what follows any of its slashes. */
static bool path_is(const struct ast_pattern *p, bool is_wild, const char *path)
{
	if (part_is(p, is_wild, path, strlen(path)))
		return true;
	for (const char *s = path; (s = strchr(s, '/'));) {
		s++;
		if (part_is(p, is_wild, s, strlen(s)))
			return true;
	}
	return false;
}

static bool name_is(const struct text_match *m, const struct ast_pattern *p, const char *text,
		    const char *alternative)
{
	bool is_wild = p->kind == PATTERN_WORD && has_wildcard(p->text.s, p->text.bytes);
	switch (m->field) {
	case FIELD_FUNC:
		return function_is(p, is_wild, text, alternative);
	case FIELD_FILE:
		return path_is(p, is_wild, text);
	case FIELD_MODULE:
		return part_is(p, is_wild, text, strlen(text)) ||
		       part_is(p, is_wild, path_last(text), strlen(path_last(text)));
	default:
		break;
	}
	return part_is(p, is_wild, text, strlen(text)) ||
	       (alternative && part_is(p, is_wild, alternative, strlen(alternative)));
}

static enum neap_err contains(struct text_match *m, const char *text, bool *fits_out)
{
	struct err e = {0};
	const struct ast_pattern *p = &m->patterns[0];
	if (!m->regex) {
		*fits_out = text_contains(text, p->text.s, p->text.bytes);
		return NEAP_OK;
	}
	enum neap_err code = regex_search(m->regex, text, strlen(text), fits_out, &e);
	return code ? query_fail_err(m->error, p->text.span, &e) : NEAP_OK;
}

enum neap_err text_match_run(struct text_match *m, const char *text, const char *alternative,
			     bool *fits_out)
{
	bool fits = false;
	*fits_out = false;
	if (m->op == OP_MATCH || m->op == OP_NOT_MATCH) {
		enum neap_err code = contains(m, text, &fits);
		if (code)
			return code;
	} else {
		for (size_t i = 0; !fits && i < m->pattern_count; i++)
			fits = name_is(m, &m->patterns[i], text, alternative);
	}
	*fits_out = fits != (m->op == OP_NE || m->op == OP_NOT_MATCH);
	return NEAP_OK;
}

/* Percentages are compared with shares, which are parts of 1. */
static double number_of(const struct ast_quantity *q)
{
	if (q->unit == UNIT_PERCENT)
		return q->number / 100;
	return q->unit == UNIT_NONE ? q->number : (double)q->value;
}

static bool is_one_of(const struct ast_compare *c, double value)
{
	struct ast_quantity q;
	for (size_t i = 0; i < c->value_count; i++) {
		if (resolve_number(&c->values[i].text, &q) && value == number_of(&q))
			return true;
	}
	return false;
}

bool number_fits(const struct ast_compare *c, double value)
{
	switch (c->op) {
	case OP_EQ:
	case OP_IN_LIST:
		return is_one_of(c, value);
	case OP_NE:
		return !is_one_of(c, value);
	case OP_LT:
		return value < number_of(&c->low);
	case OP_LE:
		return value <= number_of(&c->low);
	case OP_GT:
		return value > number_of(&c->low);
	case OP_GE:
		return value >= number_of(&c->low);
	case OP_IN_RANGE:
		return (!c->has_low || value >= number_of(&c->low)) &&
		       (!c->has_high || value <= number_of(&c->high));
	case OP_MATCH:
	case OP_NOT_MATCH:
		break;
	}
	return false;
}
