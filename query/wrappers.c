/* A short list: names are asked once each when a profile is opened. */
#include "config.h"

#include "query/wrappers.h"

#include "query/regex.h"
#include "src/base/mem.h"

#include <string.h>

struct query_wrappers {
	struct pattern {
		struct regex *regex;
		char *text;
	} * items;
	size_t count, cap;
	struct err trouble;
};

enum neap_err query_wrappers_add(struct query_wrappers **w, const char *pattern, struct err *e)
{
	struct err why = {0};
	size_t offset;
	if (!*w && !(*w = mem_zalloc(sizeof **w)))
		return err_nomem(e, "the wrappers");
	struct query_wrappers *all = *w;
	if (!vec_reserve((void **)&all->items, &all->cap, all->count + 1, sizeof *all->items))
		return err_nomem(e, "the wrappers");
	struct pattern p = {.text = mem_strdup(pattern)};
	if (!p.text)
		return err_nomem(e, "the wrappers");
	enum neap_err code =
		regex_compile(pattern, strlen(pattern), false, &p.regex, &offset, &why);
	if (code) {
		mem_free(p.text);
		return code == ERR_USAGE
			       ? err_set(e, code, "'%s' is no regular expression: %s (at %zu)",
					 pattern, why.text, offset + 1)
			       : err_nomem(e, "the wrappers");
	}
	all->items[all->count++] = p;
	return NEAP_OK;
}

void query_wrappers_free(struct query_wrappers *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->count; i++) {
		regex_free(w->items[i].regex);
		mem_free(w->items[i].text);
	}
	mem_free(w->items);
	mem_free(w);
}

static bool fits(struct query_wrappers *w, struct pattern *p, const char *name)
{
	struct err why = {0};
	bool is_found = false;
	if (!p->regex)
		return false;
	enum neap_err code = regex_search(p->regex, name, strlen(name), &is_found, &why);
	if (!code)
		return is_found;
	if (!w->trouble.code) {
		if (code == ERR_NOMEM)
			err_nomem(&w->trouble, "the wrappers");
		else
			err_set(&w->trouble, code, "the wrapper '%s': %s", p->text, why.text);
	}
	regex_free(p->regex);
	p->regex = NULL;
	return false;
}

bool query_wrappers_fit(void *context, const char *name)
{
	struct query_wrappers *w = context;
	for (size_t i = 0; i < w->count; i++) {
		if (fits(w, &w->items[i], name))
			return true;
	}
	return false;
}

enum neap_err query_wrappers_trouble(const struct query_wrappers *w, struct err *e)
{
	if (w->trouble.code)
		*e = w->trouble;
	return w->trouble.code;
}
