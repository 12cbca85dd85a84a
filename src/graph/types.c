/* Types of sites, from the names of the functions that hand out their memory. */
#include "config.h"

#include "src/graph/graph_priv.h"

static bool name_types(const struct graph *g, bool (*type_of)(const char *name, struct buf *out),
		       struct graph_types *t, uint32_t *func_type)
{
	const struct profile_symbols *s = &g->p->symbols;
	struct buf text = {0};
	bool is_ok = true;
	for (func_id id = 1; is_ok && id <= s->func_count; id++) {
		buf_clear(&text);
		if (g->func_canon[id] != id || !type_of(s->funcs[id - 1].name, &text))
			continue;
		uint32_t type = text.has_failed
					? UINT32_MAX
					: strtab_add(&t->names, text.data, text.count_bytes);
		is_ok = type != UINT32_MAX;
		func_type[id] = type + 1;
	}
	buf_release(&text);
	return is_ok;
}

/* Outwards through the wrappers and the first frame that is none. */
static uint32_t type_of_stack(const struct graph *g, const uint32_t *func_type, node_id n)
{
	struct graph_walk w = graph_walk_init(g, n);
	for (entry_id entry; (entry = graph_walk_next(&w)) != ENTRY_NONE;) {
		func_id func = g->entry_func[entry];
		if (func_type[func])
			return func_type[func];
		if (!g->func_is_wrapper[func] && !graph_entry(g, entry).is_tail)
			return 0;
	}
	return 0;
}

enum neap_err graph_types_build(const struct graph *g,
				bool (*type_of)(const char *name, struct buf *out),
				struct graph_types *out, struct err *e)
{
	const struct profile *p = g->p;
	*out = (struct graph_types){.of_site = NULL};
	uint32_t *func_type = mem_zarray(p->symbols.func_count + 1, sizeof *func_type);
	out->of_site = mem_zarray(p->site_count, sizeof *out->of_site);
	bool is_ok = func_type && out->of_site && name_types(g, type_of, out, func_type);
	for (size_t i = 0; is_ok && out->names.count && i < p->site_count; i++) {
		node_id n = profile_site_node(p, i);
		bool is_same = i && profile_site_node(p, i - 1) == n;
		out->of_site[i] = is_same ? out->of_site[i - 1] : type_of_stack(g, func_type, n);
	}
	mem_free(func_type);
	if (is_ok)
		return NEAP_OK;
	graph_types_release(out);
	return err_nomem(e, "types of objects");
}

void graph_types_release(struct graph_types *t)
{
	strtab_release(&t->names);
	mem_free(t->of_site);
	*t = (struct graph_types){.of_site = NULL};
}
