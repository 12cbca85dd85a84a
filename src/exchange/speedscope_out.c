/*
 * speedscope.app's file format, "sampled" profiles: a weight for each stack, root first.
 *
 *   {"$schema": ..., "shared": {"frames": [{"name", "file", "line"}, ...]},
 *    "profiles": [{"type": "sampled", "name": "total", "unit": "bytes", "startValue": 0,
 *                  "endValue": 12, "samples": [[0, 1], ...], "weights": [8, ...]}],
 *    "name": ..., "exporter": "neap 0.1.0", "activeProfileIndex": 0}
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

/* Frames of a stack, the root first. */
static bool put_stack(const struct export_tree *t, uint32_t node, uint32_t **path, size_t *cap,
		      struct buf *out)
{
	size_t count = t->nodes[node].depth + 1u;
	if (!vec_reserve((void **)path, cap, count, sizeof **path))
		return false;
	for (size_t i = count; i-- > 0; node = t->nodes[node].parent)
		(*path)[i] = t->nodes[node].frame;
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%c%" PRIu32, i ? ',' : '[', (*path)[i]);
	buf_putc(out, ']');
	return true;
}

static bool put_profile(const struct export_tree *t, size_t value, int sign, const char *suffix,
			struct buf *out)
{
	uint32_t *path = NULL;
	size_t cap = 0;
	uint64_t sum = 0;
	bool is_first = true, is_good = true;
	for (size_t i = 0; i < t->node_count; i++)
		sum += (uint64_t)weight(t, i, value, sign);
	buf_puts(out, "{\"type\":\"sampled\",\"name\":");
	struct buf name = {0};
	buf_printf(&name, "%s%s", t->values[value].name, suffix);
	export_json(out, name.count_bytes ? name.data : "");
	buf_printf(out,
		   ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
		   t->values[value].unit == EXPORT_BYTES ? "bytes" : "none", sum);
	for (uint32_t i = 0; is_good && i < t->node_count; i++) {
		if (!weight(t, i, value, sign))
			continue;
		buf_puts(out, is_first ? "\n" : ",\n");
		is_good = put_stack(t, i, &path, &cap, out);
		is_first = false;
	}
	buf_puts(out, "],\n\"weights\":[");
	is_first = true;
	for (uint32_t i = 0; is_good && i < t->node_count; i++) {
		int64_t w = weight(t, i, value, sign);
		if (w)
			buf_printf(out, "%s%" PRId64, is_first ? "" : ",", w);
		is_first = is_first && !w;
	}
	buf_puts(out, "]}");
	mem_free(path);
	is_good = is_good && !name.has_failed;
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
