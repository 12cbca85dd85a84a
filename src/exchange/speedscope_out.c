/*
 * speedscope.app's file format, "sampled" profiles: a weight for each stack, root first.
 *
 *   {"$schema": ..., "shared": {"frames": [{"name", "file", "line"}, ...]},
 *    "profiles": [{"type": "sampled", "name": "total", "unit": "bytes", "startValue": 0,
 *                  "endValue": 12, "samples": [[0, 1], ...], "weights": [8, ...]}],
 *    "name": ..., "exporter": "neap 0.1.0", "activeProfileIndex": 0}
 *
 * Deep stacks that begin alike would be written again and again.  They become an "evented" profile, where
 * each frame opens and closes once, and what lies between is its weight:
 *
 *                  "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "C", "frame": 0, "at": 12}]
 *
 * Weights are not negative: a value with differences becomes two profiles, what is more and what
 * is less.  Format: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
 */
#include "config.h"

#include "src/exchange/export_priv.h"

#include "src/base/mem.h"

#include <inttypes.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void put_frames(const struct export_tree *t, struct buf *out)
{
	buf_puts(out, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < t->frame_count; i++) {
		const struct export_frame *f = &t->frames[i];
		buf_puts(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		export_json(out, f->function);
		if (f->file || f->module_path) {
			buf_puts(out, ",\"file\":");
			export_json(out, f->file ? f->file : f->module_path);
		}
		if (f->line)
			buf_printf(out, ",\"line\":%" PRIu32, f->line);
		buf_putc(out, '}');
	}
	buf_puts(out, "]},\n");
}

/* The part of a node's own value that a profile shows: sign 1 or -1. */
static int64_t weight(const struct export_tree *t, size_t node, size_t value, int sign)
{
	int64_t self = export_self(t, node, value);
	if (sign < 0)
		self = (int64_t)(0 - (uint64_t)self);
	return self > 0 ? self : 0;
}

/* One profile. */
struct shown {
	const struct export_tree *t;
	struct buf *out;
	size_t value;
	int sign;
	uint64_t *weights; /* by node: at and below it */
	uint64_t sum;
	uint64_t node_count, frame_count; /* with weight below; in the stacks with weight */
	uint32_t *path; /* sampled: the frames of a stack; evented: the nodes that are open */
	size_t path_cap, path_count;
	uint64_t at;
	bool is_first;
};

static uint64_t weight_of(const struct shown *s, size_t node)
{
	return (uint64_t)weight(s->t, node, s->value, s->sign);
}

static void find_weights(struct shown *s)
{
	for (size_t i = s->t->node_count; i-- > 0;) {
		const struct export_node *n = &s->t->nodes[i];
		uint64_t own = weight_of(s, i);
		s->weights[i] += own;
		*(n->parent == EXPORT_NONE ? &s->sum : &s->weights[n->parent]) += s->weights[i];
		s->node_count += s->weights[i] > 0;
		s->frame_count += own ? n->depth + 1u : 0;
	}
}

/* ---- sampled ------------------------------------------------------------------------- */

/* Frames of a stack, the root first. */
static bool put_stack(struct shown *s, uint32_t node)
{
	const struct export_node *nodes = s->t->nodes;
	size_t count = nodes[node].depth + 1u;
	if (!vec_reserve((void **)&s->path, &s->path_cap, count, sizeof *s->path))
		return false;
	for (size_t i = count; i-- > 0; node = nodes[node].parent)
		s->path[i] = nodes[node].frame;
	for (size_t i = 0; i < count; i++)
		buf_printf(s->out, "%c%" PRIu32, i ? ',' : '[', s->path[i]);
	buf_putc(s->out, ']');
	return true;
}

static bool put_samples(struct shown *s)
{
	bool is_first = true, is_good = true;
	buf_puts(s->out, "\"samples\":[");
	for (uint32_t i = 0; is_good && i < s->t->node_count; i++) {
		if (!weight_of(s, i))
			continue;
		buf_puts(s->out, is_first ? "\n" : ",\n");
		is_good = put_stack(s, i);
		is_first = false;
	}
	buf_puts(s->out, "],\n\"weights\":[");
	is_first = true;
	for (uint32_t i = 0; is_good && i < s->t->node_count; i++) {
		uint64_t w = weight_of(s, i);
		if (w)
			buf_printf(s->out, "%s%" PRIu64, is_first ? "" : ",", w);
		is_first = is_first && !w;
	}
	return is_good;
}

/* ---- evented ------------------------------------------------------------------------- */

static void put_event(struct shown *s, char type, uint32_t node)
{
	buf_printf(s->out, "%s\n{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}",
		   s->is_first ? "" : ",", type, s->t->nodes[node].frame, s->at);
	s->is_first = false;
}

/* Those that do not hold a node. */
static void close_before(struct shown *s, size_t node)
{
	while (s->path_count && s->t->nodes[s->path[s->path_count - 1]].end <= node)
		put_event(s, 'C', s->path[--s->path_count]);
}

static bool put_events(struct shown *s)
{
	s->is_first = true;
	buf_puts(s->out, "\"events\":[");
	for (uint32_t i = 0; i < s->t->node_count; i++) {
		if (!s->weights[i])
			continue;
		close_before(s, i);
		if (!vec_reserve((void **)&s->path, &s->path_cap, s->path_count + 1,
				 sizeof *s->path))
			return false;
		s->path[s->path_count++] = i;
		put_event(s, 'O', i);
		s->at += weight_of(s, i);
	}
	close_before(s, s->t->node_count);
	return true;
}

/* ---- a profile ----------------------------------------------------------------------- */

#define EVENTED_FROM \
	16u /* frames in stacks for each node; an event takes as much room as six of them */

static bool put_profile(const struct export_tree *t, size_t value, int sign, const char *suffix,
			struct buf *out)
{
	struct shown s = {.t = t, .out = out, .value = value, .sign = sign};
	struct buf name = {0};
	s.weights = mem_zarray(t->node_count + 1, sizeof *s.weights);
	buf_printf(&name, "%s%s", t->values[value].name, suffix);
	bool is_good = s.weights && !name.has_failed;
	if (is_good) {
		find_weights(&s);
		bool is_evented = s.frame_count / EVENTED_FROM > s.node_count;
		buf_printf(out, "{\"type\":\"%s\",\"name\":", is_evented ? "evented" : "sampled");
		export_json(out, name.data);
		buf_printf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n",
			   t->values[value].unit == EXPORT_BYTES ? "bytes" : "none", s.sum);
		is_good = is_evented ? put_events(&s) : put_samples(&s);
		buf_puts(out, "]}");
	}
	mem_free(s.weights);
	mem_free(s.path);
	buf_release(&name);
	return is_good;
}

static bool has_negative(const struct export_tree *t, size_t value)
{
	for (size_t i = 0; i < t->node_count; i++) {
		if (export_self(t, i, value) < 0)
			return true;
	}
	return false;
}

enum neap_err export_speedscope(const struct export_about *about, const struct export_tree *t,
				struct buf *out, struct err *e)
{
	bool is_good = true;
	size_t active = 0, count = 0;
	buf_puts(out, "{\"$schema\":\"" SCHEMA "\",\n");
	put_frames(t, out);
	buf_puts(out, "\"profiles\":[\n");
	for (size_t v = 0; is_good && v < t->value_count; v++) {
		bool is_split = has_negative(t, v);
		if (v == t->main_value)
			active = count;
		buf_puts(out, v ? ",\n" : "");
		is_good = put_profile(t, v, 1, is_split ? " (more)" : "", out);
		count++;
		if (!is_split)
			continue;
		buf_puts(out, ",\n");
		is_good = is_good && put_profile(t, v, -1, " (less)", out);
		count++;
	}
	buf_puts(out, "],\n\"name\":");
	export_json(out, about->title);
	buf_puts(out, ",\n\"exporter\":");
	export_json(out, about->tool);
	buf_printf(out, ",\n\"activeProfileIndex\":%zu,\n\"neap\":{\"query\":", active);
	export_json(out, about->query);
	buf_puts(out, ",\"population\":");
	export_json(out, about->population);
	buf_puts(out, "}}\n");
	return is_good && !out->has_failed ? NEAP_OK : err_nomem(e, "the speedscope file");
}
