/*
 * speedscope's own files.
 *
 *   {"$schema": "https://www.speedscope.app/file-format-schema.json",
 *    "shared": {"frames": [{"name": "f", "file": "a.c", "line": 3}, ...]},
 *    "profiles": [
 *      {"type": "sampled", "name": "x", "unit": "bytes", "samples": [[0, 1], ...], "weights": [8, ...]},
 *      {"type": "evented", ..., "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "C", ...}]}],
 *    "activeProfileIndex": 0}
 *
 * Stacks begin with the outermost frame.  Frames may come after the profiles, so stacks are kept as a
 * tree of numbers of frames.  One profile is read: the active one if it counts bytes, else
 * the first that does.  Those that measure time are refused.
 */
#include "config.h"

#include "src/exchange/exchange_priv.h"
#include "src/exchange/json_in.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NO_NODE UINT32_MAX

struct frame {
	func_id func;
	file_id file;
	uint32_t line;
};

struct node { /* number of its parent is smaller */
	uint32_t parent, frame;
	node_id id;
};

struct sample {
	uint32_t node; /* NO_NODE: an empty stack */
	double weight;
};

struct profile_of { /* the file may have several */
	size_t first_sample, sample_count, weight_count;
	char name[64], unit[24];
};

struct speedscope {
	struct json_in *json;
	struct import *im;
	struct frame *frames;
	size_t frame_count, frame_cap;
	struct node *nodes;
	size_t node_count, node_cap;
	struct map node_of; /* parent and frame -> number */
	struct sample *samples;
	size_t sample_count, sample_cap;
	struct profile_of *profiles;
	size_t profile_count, profile_cap;
	uint64_t active;
	bool has_frames;

	/* of "evented" */
	uint32_t top;
	double at;
};

bool speedscope_detect(const uint8_t *head, size_t bytes)
{
	if (!json_begins(head, bytes))
		return false;
	return json_mentions(head, bytes, "speedscope.app/file-format-schema") ||
	       (json_mentions(head, bytes, "\"shared\"") &&
		json_mentions(head, bytes, "\"frames\"") &&
		!json_mentions(head, bytes, "\"libs\""));
}

/* ---- pieces -------------------------------------------------------------------------------------- */

static enum neap_err no_memory(struct err *e)
{
	return err_nomem(e, "a speedscope profile");
}

static void copy_text(char *dst, size_t cap, const struct json_token *t)
{
	size_t bytes = t->bytes < cap ? t->bytes : cap - 1;
	memcpy(dst, t->text, bytes);
	dst[bytes] = '\0';
}

/* The value behind a key: takes it if it is of this kind, passes over it if not. */
static bool take(struct speedscope *s, enum json_kind kind, struct json_token *out)
{
	if (!json_next(s->json, out))
		return false;
	if (out->kind == kind)
		return true;
	json_skip(s->json, out);
	return false;
}

static enum neap_err node_under(struct speedscope *s, uint32_t parent, uint32_t frame,
				uint32_t *out, struct err *e)
{
	uint64_t key = (uint64_t)parent << 32 | frame;
	*out = map_find(&s->node_of, key);
	if (*out != MAP_ABSENT)
		return NEAP_OK;
	if (s->node_count >= NO_NODE - 1 ||
	    !vec_reserve((void **)&s->nodes, &s->node_cap, s->node_count + 1, sizeof s->nodes[0]) ||
	    !map_put(&s->node_of, key, (uint32_t)s->node_count))
		return no_memory(e);
	*out = (uint32_t)s->node_count;
	s->nodes[s->node_count++] = (struct node){parent, frame, 0};
	return NEAP_OK;
}

static enum neap_err add_sample(struct speedscope *s, uint32_t node, double weight, struct err *e)
{
	if (!vec_reserve((void **)&s->samples, &s->sample_cap, s->sample_count + 1,
			 sizeof s->samples[0]))
		return no_memory(e);
	s->samples[s->sample_count++] = (struct sample){node, weight};
	return NEAP_OK;
}

/* ---- frames ------------------------------------------------------------------------------------------ */

static enum neap_err read_frame(struct speedscope *s, struct err *e)
{
	struct json_token t, value;
	struct frame f = {0};
	while (json_next(s->json, &t) && t.kind == JSON_KEY) {
		uint64_t line;
		bool is_name = json_is(&t, "name"), is_file = json_is(&t, "file");
		if (!is_name && !is_file && !json_is(&t, "line"))
			json_skip(s->json, &t);
		else if (!take(s, is_name || is_file ? JSON_STRING : JSON_NUMBER, &value))
			continue;
		else if (is_name)
			f.func = import_func(s->im, value.text, value.bytes);
		else if (is_file)
			f.file = import_file(s->im, value.text, value.bytes);
		else
			f.line = json_u64(&value, &line) && line <= UINT32_MAX ? (uint32_t)line : 0;
	}
	if (json_has_failed(s->json) || t.kind != JSON_OBJECT_END)
		return json_unexpected(s->json, "the end of a frame", e);
	if (!vec_reserve((void **)&s->frames, &s->frame_cap, s->frame_count + 1,
			 sizeof s->frames[0]))
		return no_memory(e);
	s->frames[s->frame_count++] = f;
	return NEAP_OK;
}

static enum neap_err read_frames(struct speedscope *s, struct err *e)
{
	struct json_token t;
	enum neap_err err = NEAP_OK;
	if (!json_next(s->json, &t) || t.kind != JSON_ARRAY)
		return json_unexpected(s->json, "a list of frames", e);
	while (!err && json_next(s->json, &t) && t.kind == JSON_OBJECT)
		err = read_frame(s, e);
	if (!err && (json_has_failed(s->json) || t.kind != JSON_ARRAY_END))
		return json_unexpected(s->json, "an object in the list of frames", e);
	s->has_frames = !err;
	return err;
}

static enum neap_err read_shared(struct speedscope *s, struct err *e)
{
	struct json_token t;
	enum neap_err err = NEAP_OK;
	if (!json_next(s->json, &t) || t.kind != JSON_OBJECT)
		return json_unexpected(s->json, "an object after \"shared\"", e);
	while (!err && json_next(s->json, &t) && t.kind == JSON_KEY) {
		if (json_is(&t, "frames") && !s->has_frames)
			err = read_frames(s, e);
		else
			json_skip(s->json, &t);
	}
	return !err && json_has_failed(s->json) ? json_unexpected(s->json, "", e) : err;
}

/* ---- profiles ------------------------------------------------------------------------------------------ */

/* One stack: a list of numbers of frames. */
static enum neap_err read_stack(struct speedscope *s, struct err *e)
{
	struct json_token t;
	uint32_t node = NO_NODE;
	uint64_t frame;
	enum neap_err err = NEAP_OK;
	while (!err && json_next(s->json, &t) && t.kind != JSON_ARRAY_END) {
		if (!json_u64(&t, &frame) || frame >= NO_NODE)
			return json_unexpected(s->json, "the number of a frame", e);
		err = node_under(s, node, (uint32_t)frame, &node, e);
	}
	if (!err && json_has_failed(s->json))
		return json_unexpected(s->json, "", e);
	return err ? err : add_sample(s, node, 0, e);
}

static enum neap_err read_samples(struct speedscope *s, struct profile_of *p, struct err *e)
{
	struct json_token t;
	enum neap_err err = NEAP_OK;
	if (!json_next(s->json, &t) || t.kind != JSON_ARRAY)
		return json_unexpected(s->json, "a list of stacks after \"samples\"", e);
	while (!err && json_next(s->json, &t) && t.kind == JSON_ARRAY)
		err = read_stack(s, e);
	if (!err && (json_has_failed(s->json) || t.kind != JSON_ARRAY_END))
		return json_unexpected(s->json, "a list of numbers of frames", e);
	p->sample_count = s->sample_count - p->first_sample;
	return err;
}

static enum neap_err read_weights(struct speedscope *s, struct profile_of *p, struct err *e)
{
	struct json_token t;
	double weight;
	if (!json_next(s->json, &t) || t.kind != JSON_ARRAY)
		return json_unexpected(s->json, "a list of numbers after \"weights\"", e);
	while (json_next(s->json, &t) && t.kind == JSON_NUMBER) {
		if (!json_double(&t, &weight))
			return json_unexpected(s->json, "a number", e);
		if (p->weight_count >= p->sample_count)
			return json_unexpected(s->json,
					       "\"samples\" before \"weights\", and as many", e);
		s->samples[p->first_sample + p->weight_count++].weight = weight;
	}
	return json_has_failed(s->json) || t.kind != JSON_ARRAY_END
		       ? json_unexpected(s->json, "a number", e)
		       : NEAP_OK;
}

struct happening { /* of "evented" */
	bool is_open, is_close;
	uint64_t frame;
	double at;
};

static enum neap_err read_event(struct speedscope *s, struct happening *out, struct err *e)
{
	struct json_token t, value;
	memset(out, 0, sizeof *out);
	while (json_next(s->json, &t) && t.kind == JSON_KEY) {
		bool is_type = json_is(&t, "type"), is_frame = json_is(&t, "frame"),
		     is_at = json_is(&t, "at");
		if (!is_type && !is_frame && !is_at) {
			json_skip(s->json, &t);
			continue;
		}
		if (!json_next(s->json, &value))
			break;
		if (is_type) {
			out->is_open = json_is(&value, "O");
			out->is_close = json_is(&value, "C");
		} else if (is_frame && (!json_u64(&value, &out->frame) || out->frame >= NO_NODE)) {
			return json_unexpected(s->json, "the number of a frame", e);
		} else if (is_at && !json_double(&value, &out->at)) {
			return json_unexpected(s->json, "a number after \"at\"", e);
		}
	}
	return json_has_failed(s->json) || t.kind != JSON_OBJECT_END
		       ? json_unexpected(s->json, "the end of an event", e)
		       : NEAP_OK;
}

/* What lies between two events belongs to the stack that was open. */
static enum neap_err happen(struct speedscope *s, const struct happening *ev, struct err *e)
{
	enum neap_err err = NEAP_OK;
	if (ev->at > s->at && s->top != NO_NODE)
		err = add_sample(s, s->top, ev->at - s->at, e);
	s->at = ev->at;
	if (!err && ev->is_open)
		err = node_under(s, s->top, (uint32_t)ev->frame, &s->top, e);
	else if (!err && ev->is_close && s->top != NO_NODE)
		s->top = s->nodes[s->top].parent;
	return err;
}

static enum neap_err read_events(struct speedscope *s, struct profile_of *p, struct err *e)
{
	struct json_token t;
	struct happening ev;
	enum neap_err err = NEAP_OK;
	if (!json_next(s->json, &t) || t.kind != JSON_ARRAY)
		return json_unexpected(s->json, "a list of events", e);
	s->top = NO_NODE;
	s->at = -INFINITY;
	while (!err && json_next(s->json, &t) && t.kind == JSON_OBJECT) {
		err = read_event(s, &ev, e);
		if (!err)
			err = happen(s, &ev, e);
	}
	if (!err && (json_has_failed(s->json) || t.kind != JSON_ARRAY_END))
		return json_unexpected(s->json, "an object in the list of events", e);
	p->sample_count = p->weight_count = s->sample_count - p->first_sample;
	return err;
}

static enum neap_err read_profile(struct speedscope *s, struct err *e)
{
	struct json_token t, value;
	enum neap_err err = NEAP_OK;
	if (!vec_reserve((void **)&s->profiles, &s->profile_cap, s->profile_count + 1,
			 sizeof s->profiles[0]))
		return no_memory(e);
	struct profile_of *p = &s->profiles[s->profile_count++];
	*p = (struct profile_of){.first_sample = s->sample_count};
	while (!err && json_next(s->json, &t) && t.kind == JSON_KEY) {
		bool is_name = json_is(&t, "name"), is_unit = json_is(&t, "unit");
		if (json_is(&t, "samples"))
			err = read_samples(s, p, e);
		else if (json_is(&t, "weights"))
			err = read_weights(s, p, e);
		else if (json_is(&t, "events"))
			err = read_events(s, p, e);
		else if (!is_name && !is_unit)
			json_skip(s->json, &t);
		else if (take(s, JSON_STRING, &value))
			copy_text(is_name ? p->name : p->unit,
				  is_name ? sizeof p->name : sizeof p->unit, &value);
	}
	return !err && json_has_failed(s->json) ? json_unexpected(s->json, "", e) : err;
}

static enum neap_err read_profiles(struct speedscope *s, struct err *e)
{
	struct json_token t;
	enum neap_err err = NEAP_OK;
	if (!json_next(s->json, &t) || t.kind != JSON_ARRAY)
		return json_unexpected(s->json, "a list after \"profiles\"", e);
	while (!err && json_next(s->json, &t) && t.kind == JSON_OBJECT)
		err = read_profile(s, e);
	if (!err && (json_has_failed(s->json) || t.kind != JSON_ARRAY_END))
		return json_unexpected(s->json, "an object in \"profiles\"", e);
	return err;
}

static void read_other(struct speedscope *s, const struct json_token *key)
{
	struct json_token value;
	bool is_exporter = json_is(key, "exporter");
	if (!is_exporter && !json_is(key, "activeProfileIndex"))
		json_skip(s->json, key);
	else if (!take(s, is_exporter ? JSON_STRING : JSON_NUMBER, &value))
		return;
	else if (is_exporter)
		import_producer(s->im, "%s", value.text);
	else
		json_u64(&value, &s->active);
}

static enum neap_err read_document(struct speedscope *s, struct err *e)
{
	struct json_token t;
	enum neap_err err = NEAP_OK;
	if (!json_next(s->json, &t) || t.kind != JSON_OBJECT)
		return json_unexpected(s->json, "an object", e);
	while (!err && json_next(s->json, &t) && t.kind == JSON_KEY) {
		if (json_is(&t, "shared"))
			err = read_shared(s, e);
		else if (json_is(&t, "profiles"))
			err = read_profiles(s, e);
		else
			read_other(s, &t);
	}
	return !err && json_has_failed(s->json) ? json_unexpected(s->json, "", e) : err;
}

/* ---- booking ------------------------------------------------------------------------------------------- */

static bool is_unit(const struct profile_of *p, const char *unit)
{
	return !strcmp(p->unit, unit);
}

/* The one to read; NULL, with the reason, if there is none. */
static const struct profile_of *choose(const struct speedscope *s, struct err *e)
{
	const struct profile_of *best = NULL;
	for (size_t i = 0; i < s->profile_count; i++) {
		const struct profile_of *p = &s->profiles[i];
		bool is_bytes = is_unit(p, "bytes");
		if (!is_bytes && !is_unit(p, "none") && !is_unit(p, ""))
			continue;
		if (!best || (is_bytes && !is_unit(best, "bytes")) ||
		    (i == s->active && is_bytes == is_unit(best, "bytes")))
			best = p;
	}
	if (best)
		return best;
	if (s->profile_count == 0)
		err_corrupt(e, "the file has no profile in it");
	else
		err_set(e, ERR_UNSUPPORTED,
			"this is a speedscope profile in %s: it is of time and has no heap in it; "
			"neap "
			"reads those in bytes",
			s->profiles[0].unit);
	return NULL;
}

static enum neap_err make_node(struct speedscope *s, struct node *n, struct err *e)
{
	if (n->frame >= s->frame_count)
		return err_corrupt(e, "a stack goes through frame %" PRIu32 " of %zu", n->frame,
				   s->frame_count);
	struct frame *f = &s->frames[n->frame];
	if (!f->func)
		f->func = import_func(s->im, "[no name]", strlen("[no name]"));
	node_id parent = n->parent == NO_NODE ? PROFILE_NODE_ROOT : s->nodes[n->parent].id;
	n->id = import_node(s->im, parent, import_named_frame(s->im, f->func, f->file, f->line));
	return NEAP_OK;
}

/* Fractions are summed for each stack before they are rounded. */
static enum neap_err book(struct speedscope *s, const struct profile_of *p, struct err *e)
{
	double *sums = mem_zarray(s->node_count + 1, sizeof *sums); /* last: without a stack */
	enum neap_err err = sums ? NEAP_OK : no_memory(e);
	for (size_t i = 0; i < s->node_count && !err; i++)
		err = make_node(s, &s->nodes[i], e);
	size_t bad_count = 0;
	for (size_t i = 0; i < p->weight_count && !err; i++) {
		const struct sample *x = &s->samples[p->first_sample + i];
		if (x->weight >= 0)
			sums[x->node == NO_NODE ? s->node_count : x->node] += x->weight;
		else
			bad_count++;
	}
	for (size_t i = 0; i <= s->node_count && !err; i++) {
		uint64_t bytes = sums[i] < 0x1p62 ? (uint64_t)(sums[i] + 0.5) : UINT64_MAX;
		struct import_account a = {.size_bytes = PROFILE_SIZE_MIXED};
		a.node = i < s->node_count ? s->nodes[i].id : PROFILE_NODE_ROOT;
		if (bytes > 0)
			import_born(s->im, import_account(s->im, &a), bytes, bytes);
	}
	if (bad_count > 0)
		import_note(s->im, "%zu stacks with weights below 0 were left out", bad_count);
	mem_free(sums);
	return err;
}

static enum neap_err use(struct speedscope *s, struct err *e)
{
	const struct profile_of *p = choose(s, e);
	if (!p)
		return e ? e->code : ERR_UNSUPPORTED;
	if (!s->has_frames)
		return err_corrupt(e,
				   "the file has no frames: it is cut, or no speedscope profile");
	if (s->profile_count > 1)
		import_note(s->im, "of the %zu profiles in the file, '%s' was read",
			    s->profile_count, p->name);
	if (!is_unit(p, "bytes"))
		import_note(s->im,
			    "its numbers are taken for bytes; the file does not say what they "
			    "count");
	if (p->weight_count < p->sample_count)
		import_partial(s->im, "%zu of %zu stacks have a weight", p->weight_count,
			       p->sample_count);
	return book(s, p, e);
}

enum neap_err speedscope_read(struct input *in, struct import *im, struct err *e)
{
	struct speedscope s = {.im = im};
	enum neap_err err = json_new(in, &s.json, e);
	if (!err)
		err = read_document(&s, e);
	if (err && s.json && json_is_cut(s.json) && s.has_frames && s.profile_count > 0 &&
	    s.profiles[0].weight_count > 0) {
		import_partial(im, "it is cut in the middle");
		err = NEAP_OK;
	}
	if (!err && !input_has_failed(in))
		err = use(&s, e);
	json_free(s.json);
	mem_free(s.frames);
	mem_free(s.nodes);
	mem_free(s.samples);
	mem_free(s.profiles);
	map_release(&s.node_of);
	return err;
}
