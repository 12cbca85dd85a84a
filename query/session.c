/* Profiles that queries name: opened once, with their index, kept until the session ends. */
#include "config.h"

#include "query/plan.h"

#include "query/names.h"
#include "src/sym/sym.h"
#include "src/sym/types.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum neap_err query_session_new(const struct query_options *o, struct query_session **out,
				struct err *e)
{
	*out = mem_zalloc(sizeof **out);
	if (!*out)
		return err_nomem(e, "the session");
	if (o)
		(*out)->options = *o;
	else
		(*out)->options.cursor_ns = UINT64_MAX;
	return NEAP_OK;
}

void granule_free(struct granule *gr)
{
	if (!gr)
		return;
	mem_free(gr->group);
	mem_free(gr->first);
	mem_free(gr->place);
	mem_free(gr->rank);
	stacks_free(gr->tree);
	mem_free(gr);
}

static void file_free(struct query_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < GRANULES_KEPT; i++)
		granule_free(f->granules[i]);
	strtab_release(&f->address_names);
	strtab_release(&f->thread_names);
	graph_types_release(&f->types);
	mem_free(f->address_name_of);
	stacks_free(f->stacks);
	mem_free(f->depth);
	graph_free(f->g);
	profile_free(f->p);
	mem_free(f->path);
	mem_free(f);
}

void query_session_free(struct query_session *s)
{
	if (!s)
		return;
	for (size_t i = s->lent_count; i < s->file_count; i++)
		file_free(s->files[i]);
	strtab_release(&s->texts);
	mem_free(s->files);
	mem_free(s);
}

static enum neap_err file_open(const struct query_session *s, const char *path,
			       struct query_file **out, struct err *e)
{
	const struct graph_options options = {
		.is_wrapper = s->options.is_wrapper ? s->options.is_wrapper : sym_is_wrapper,
		.is_more = s->options.wrappers ? query_wrappers_fit : NULL,
		.context = s->options.wrappers};
	struct query_file *f = mem_zalloc(sizeof *f);
	*out = NULL;
	if (!f)
		return err_nomem(e, "a profile");
	enum neap_err code = NEAP_OK;
	f->path = mem_strdup(path);
	if (!f->path)
		code = err_nomem(e, "a profile");
	if (!code)
		code = (s->options.open ? s->options.open : profile_open)(path, &f->p, e);
	if (!code)
		code = graph_build(f->p, &options, &f->g, e);
	if (!code && s->options.wrappers)
		code = query_wrappers_trouble(s->options.wrappers, e);
	if (code) {
		file_free(f);
		return code;
	}
	f->columns = graph_columns(f->g);
	*out = f;
	return NEAP_OK;
}

static enum neap_err add_file(struct query_session *s, const char *path, struct query_file **out,
			      struct err *e)
{
	*out = NULL;
	if (!vec_reserve((void **)&s->files, &s->file_cap, s->file_count + 1, sizeof *s->files))
		return err_nomem(e, "a profile");
	enum neap_err code = file_open(s, path, out, e);
	if (!code)
		s->files[s->file_count++] = *out;
	return code;
}

enum neap_err query_session_open(struct query_session *s, const char *path, struct err *e)
{
	struct query_file *f;
	enum neap_err code = add_file(s, path, &f, e);
	if (code)
		return code;
	/* Named ones first, in order; others that queries opened move back. */
	for (size_t i = s->file_count - 1; i > s->named_count; i--)
		s->files[i] = s->files[i - 1];
	s->files[s->named_count++] = f;
	return NEAP_OK;
}

enum neap_err query_session_lend(struct query_session *s, struct query_session *from, struct err *e)
{
	assert(s->file_count == s->lent_count && from->file_count);
	if (!vec_reserve((void **)&s->files, &s->file_cap, s->file_count + 1, sizeof *s->files))
		return err_nomem(e, "a profile");
	s->files[s->file_count++] = from->files[0];
	s->named_count = s->lent_count = s->file_count;
	return NEAP_OK;
}

const struct graph *query_session_graph(const struct query_session *s)
{
	return s->file_count ? s->files[0]->g : NULL;
}

static struct query_file *find_file(const struct query_session *s, const struct ast_text *path)
{
	for (size_t i = 0; i < s->file_count; i++) {
		const char *known = s->files[i]->path;
		if (strlen(known) == path->bytes && !memcmp(known, path->s, path->bytes))
			return s->files[i];
	}
	return NULL;
}

enum neap_err session_file(struct query_session *s, const struct ast_text *path,
			   struct query_file **out, struct query_error *error)
{
	struct err e = {0};
	*out = find_file(s, path);
	if (*out)
		return NEAP_OK;
	char *name = mem_strndup(path->s, path->bytes);
	if (!name)
		return query_no_memory(error);
	enum neap_err code = add_file(s, name, out, &e);
	mem_free(name);
	return code ? query_fail_err(error, path->span, &e) : NEAP_OK;
}

/* ---- names of entries ----------------------------------------------------------------- */

static uint32_t make_address_name(struct query_file *f, const struct graph_frame *frame)
{
	struct buf b = {0};
	if (frame->module_path)
		buf_printf(&b, "%s+0x%" PRIx64, path_last(frame->module_path), frame->pc);
	else
		buf_printf(&b, "0x%" PRIx64, frame->pc);
	uint32_t id = UINT32_MAX;
	if (!b.has_failed)
		id = strtab_add(&f->address_names, b.data, b.count_bytes);
	buf_release(&b);
	return id;
}

static const char *address_name(struct query_file *f, const struct graph_frame *frame)
{
	size_t count = f->columns.entry_count;
	if (!f->address_name_of) {
		f->address_name_of = mem_array(count, sizeof *f->address_name_of);
		if (!f->address_name_of)
			return NULL;
		memset(f->address_name_of, 0xff, count * sizeof *f->address_name_of);
	}
	uint32_t *id = &f->address_name_of[frame->entry];
	if (*id == UINT32_MAX)
		*id = make_address_name(f, frame);
	return *id == UINT32_MAX ? NULL : strtab_get(&f->address_names, *id);
}

const char *file_entry_name(struct query_file *f, entry_id entry)
{
	struct graph_frame frame = graph_entry(f->g, entry);
	switch (frame.kind) {
	case FRAME_NAMED:
		return frame.name;
	case FRAME_SIGNAL:
		return "[signal]";
	case FRAME_TRUNCATED:
		return "[truncated]";
	case FRAME_NO_STACK:
		return "[no stack]";
	case FRAME_ADDRESS:
		break;
	}
	return address_name(f, &frame);
}

const char *file_thread_name(struct query_file *f, thread_id id)
{
	struct buf b = {0};
	const char *name = f->p->threads[id - 1].name;
	if (name && *name)
		buf_printf(&b, "%s ", name);
	buf_printf(&b, "#%" PRIu32, id);
	uint32_t at =
		b.has_failed ? UINT32_MAX : strtab_add(&f->thread_names, b.data, b.count_bytes);
	buf_release(&b);
	return at == UINT32_MAX ? NULL : strtab_get(&f->thread_names, at);
}

const struct graph_types *file_types(const struct query_session *s, struct query_file *f)
{
	struct err e;
	if (!f->types.of_site &&
	    graph_types_build(f->g, s->options.type_of ? s->options.type_of : sym_type_of,
			      &f->types, &e))
		return NULL;
	return &f->types;
}

bool plan_knows_types(const struct plan *pl)
{
	for (size_t i = 0; i < pl->side_count; i++) {
		const struct graph_types *types = file_types(pl->session, pl->sides[i].file);
		if (!types || types->names.count)
			return true;
	}
	return false;
}
