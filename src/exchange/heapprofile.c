/*
 * Sampling heap profiles of V8: Chrome's "Allocation sampling" and node --heap-prof (.heapprofile).
 *
 *   {"head": {"callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 3, ...},
 *             "selfSize": 4096, "id": 1, "children": [{...}, ...]},
 *    "samples": [...]}
 *
 * A node has the bytes that are live of what it allocated, scaled up from samples by V8.  How many
 * blocks they are is not in the file.  Lines count from 0.  The node "(root)" is no function.
 *
 * Its detector also knows V8's other files, to say what they are.
 */
#include "config.h"

#include "src/exchange/exchange_priv.h"
#include "src/exchange/json_in.h"

#include "src/base/mem.h"

#include <inttypes.h>
#include <string.h>

struct level { /* a node whose end was not read yet */
	node_id node;
	uint64_t self_bytes;
	bool is_known;    /* its callFrame was read */
	bool in_children; /* between [ and ] */
};

struct heapprofile {
	struct json_in *json;
	struct import *im;
	struct level *levels;
	size_t level_count, level_cap;
	uint64_t node_count;
	bool has_head;
};

/* ---- what it is -------------------------------------------------------------------------------- */

/* Another file of V8's, in words; NULL if it is none. */
static const char *other_kind(const uint8_t *head, size_t bytes)
{
	if (json_mentions(head, bytes, "\"snapshot\"") &&
	    json_mentions(head, bytes, "\"node_fields\""))
		return "a heap snapshot of V8: it has objects, not where they were allocated; take "
		       "an allocation sampling (node --heap-prof)";
	if (json_mentions(head, bytes, "\"callFrame\"") &&
	    json_mentions(head, bytes, "\"hitCount\""))
		return "a CPU profile of V8: it has no heap in it; take an allocation sampling "
		       "(node --heap-prof)";
	if (json_mentions(head, bytes, "\"traceEvents\""))
		return "a trace of Chrome: it has no heap in it that neap can read; take an "
		       "allocation sampling (.heapprofile)";
	return NULL;
}

bool heapprofile_detect(const uint8_t *head, size_t bytes)
{
	if (!json_begins(head, bytes))
		return false;
	return (json_mentions(head, bytes, "\"head\"") &&
		json_mentions(head, bytes, "\"callFrame\"")) ||
	       other_kind(head, bytes);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static enum neap_err push(struct heapprofile *h, struct err *e)
{
	if (!vec_reserve((void **)&h->levels, &h->level_cap, h->level_count + 1,
			 sizeof h->levels[0]))
		return err_nomem(e, "a heap profile");
	h->levels[h->level_count++] = (struct level){0};
	h->node_count++;
	return NEAP_OK;
}

static void pop(struct heapprofile *h)
{
	struct level *l = &h->levels[--h->level_count];
	if (l->self_bytes == 0 || !l->is_known)
		return;
	struct import_account a = {.node = l->node, .size_bytes = PROFILE_SIZE_MIXED};
	import_born(h->im, import_account(h->im, &a), l->self_bytes, l->self_bytes);
}

struct call_frame {
	func_id func;
	file_id file;
	uint32_t line;
	bool is_root;
};

static void take_member(struct heapprofile *h, const char *key, const struct json_token *t,
			struct call_frame *f)
{
	double line;
	if (!strcmp(key, "functionName") && t->kind == JSON_STRING) {
		f->is_root = json_is(t, "(root)");
		f->func = t->bytes > 0 ? import_func(h->im, t->text, t->bytes) : 0;
	} else if (!strcmp(key, "url") && t->kind == JSON_STRING) {
		f->file = import_file(h->im, t->text, t->bytes);
	} else if (!strcmp(key, "lineNumber") && json_double(t, &line) && line >= 0 &&
		   line < UINT32_MAX) {
		f->line = (uint32_t)line + 1;
	}
}

/* The object behind "callFrame". */
static enum neap_err read_call_frame(struct heapprofile *h, struct err *e)
{
	struct json_token t;
	struct call_frame f = {0};
	char key[16];
	if (!json_next(h->json, &t) || t.kind != JSON_OBJECT)
		return json_unexpected(h->json, "an object after \"callFrame\"", e);
	while (json_next(h->json, &t) && t.kind == JSON_KEY) {
		size_t bytes = t.bytes < sizeof key ? t.bytes : sizeof key - 1;
		memcpy(key, t.text, bytes);
		key[bytes] = '\0';
		if (!json_next(h->json, &t))
			break;
		take_member(h, key, &t, &f);
		if (t.kind == JSON_OBJECT || t.kind == JSON_ARRAY)
			json_skip(h->json, &t);
	}
	if (t.kind != JSON_OBJECT_END || json_has_failed(h->json))
		return json_unexpected(h->json, "the end of a callFrame", e);
	struct level *l = &h->levels[h->level_count - 1];
	node_id parent =
		h->level_count > 1 ? h->levels[h->level_count - 2].node : PROFILE_NODE_ROOT;
	l->is_known = true;
	l->node = parent;
	if (f.is_root && h->level_count == 1)
		return NEAP_OK;
	if (!f.func)
		f.func = import_func(h->im, "(anonymous)", strlen("(anonymous)"));
	l->node = import_node(h->im, parent, import_named_frame(h->im, f.func, f.file, f.line));
	return NEAP_OK;
}

/* A member of a node. */
static enum neap_err read_member(struct heapprofile *h, const struct json_token *key, struct err *e)
{
	struct level *l = &h->levels[h->level_count - 1];
	struct json_token t;
	if (json_is(key, "callFrame"))
		return read_call_frame(h, e);
	if (json_is(key, "selfSize")) {
		if (!json_next(h->json, &t) || !json_u64(&t, &l->self_bytes))
			return json_unexpected(h->json, "a number of bytes after \"selfSize\"", e);
		return NEAP_OK;
	}
	if (json_is(key, "children")) {
		if (!l->is_known)
			return json_unexpected(h->json, "\"callFrame\" before \"children\"", e);
		if (!json_next(h->json, &t) || t.kind != JSON_ARRAY)
			return json_unexpected(h->json, "a list after \"children\"", e);
		l->in_children = true;
		return NEAP_OK;
	}
	return json_skip(h->json, key) ? NEAP_OK : json_unexpected(h->json, "", e);
}

static enum neap_err read_nodes(struct heapprofile *h, struct err *e)
{
	struct json_token t;
	enum neap_err err = NEAP_OK;
	if (!json_next(h->json, &t) || t.kind != JSON_OBJECT)
		return json_unexpected(h->json, "an object after \"head\"", e);
	h->has_head = true;
	err = push(h, e);
	while (!err && h->level_count > 0) {
		struct level *l = &h->levels[h->level_count - 1];
		if (!json_next(h->json, &t))
			err = json_unexpected(h->json, "", e);
		else if (l->in_children && t.kind == JSON_ARRAY_END)
			l->in_children = false;
		else if (l->in_children)
			err = t.kind == JSON_OBJECT
				      ? push(h, e)
				      : json_unexpected(h->json, "an object in \"children\"", e);
		else if (t.kind == JSON_OBJECT_END)
			pop(h);
		else
			err = read_member(h, &t, e);
	}
	return err;
}

static enum neap_err read_document(struct heapprofile *h, struct err *e)
{
	struct json_token t;
	enum neap_err err = NEAP_OK;
	if (!json_next(h->json, &t) || t.kind != JSON_OBJECT)
		return json_unexpected(h->json, "an object", e);
	while (!err) {
		if (!json_next(h->json, &t))
			return json_unexpected(h->json, "", e);
		if (t.kind != JSON_KEY)
			break;
		if (json_is(&t, "head") && !h->has_head)
			err = read_nodes(h, e);
		else if (!json_skip(h->json, &t))
			err = json_unexpected(h->json, "", e);
	}
	if (!err && !h->has_head)
		return err_corrupt(e, "the file has no \"head\"");
	return err;
}

enum neap_err heapprofile_read(struct input *in, struct import *im, struct err *e)
{
	const uint8_t *head;
	size_t bytes = input_peek(in, DETECT_BYTES, &head);
	bool is_ours = json_mentions(head, bytes, "\"head\"") &&
		       json_mentions(head, bytes, "\"callFrame\"");
	if (!is_ours && other_kind(head, bytes))
		return err_set(e, ERR_UNSUPPORTED, "this is %s", other_kind(head, bytes));
	struct heapprofile h = {.im = im};
	enum neap_err err = json_new(in, &h.json, e);
	if (!err)
		err = read_document(&h, e);
	if (err && h.json && json_is_cut(h.json) && h.node_count > 1) {
		import_partial(im,
			       "it is cut in the middle, after %" PRIu64 " nodes of the call tree",
			       h.node_count);
		err = NEAP_OK;
	}
	while (h.level_count > 0)
		pop(&h);
	import_estimated(im);
	import_note(im,
		    "bytes are what V8 estimates from its samples; how far apart these were is not "
		    "in the file");
	json_free(h.json);
	mem_free(h.levels);
	return err;
}
