/*
 * DHAT's JSON, of valgrind's tool and of Rust's dhat crate.
 *
 *   {"dhatFileVersion": 2, "mode": "heap", "cmd": "./big", "pid": 3902, "tu": "instrs", "te": 253354, "tg": 245281,
 *    "pps": [{"tb": 706, "tbk": 1, "gb": 706, "gbk": 1, "eb": 0, "ebk": 0, "fs": [1, 2, 3]}, ...],
 *    "ftbl": ["[root]", "0x1086A1: a (big.c:10)", ...]}
 *
 * A program point is a stack with what was allocated there in all (tb bytes in tbk blocks), what was
 * live at the peak (gb, gbk) and at the end (eb, ebk).  Its frames, innermost first, are numbers in a table
 * that comes last, so the points are kept until then: 60 bytes each, and 4 a frame.
 *
 * Of a file that is cut in the table of frames, the values are kept; frames that it lost are "[cut off]".  Cut
 * before the table, it has no stacks at all, and is refused.
 *
 * The modes copy and ad-hoc count other things than memory, and are refused.
 */
#include "config.h"

#include "src/exchange/exchange_priv.h"
#include "src/exchange/json_in.h"
#include "src/exchange/valgrind.h"

#include "src/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct point {
	uint64_t total_bytes, total_blocks;
	uint64_t peak_bytes, peak_blocks;
	uint64_t end_bytes, end_blocks;
	size_t first_frame, frame_count;
	unsigned given; /* a bit for each of the six numbers that the file has */
};
#define TOTAL_GIVEN 0x03u
#define ALL_GIVEN   0x3fu

struct dhat {
	struct input *in;
	struct import *im;
	struct json_in *json;
	uint64_t version, pid, end, peak;
	char mode[16], unit[16];
	bool has_lifetimes; /* what died is known */
	bool has_points, has_frames, is_cut;
	struct point *points;
	size_t point_count, point_cap;
	uint32_t *indices; /* of frames, of all points */
	size_t index_count, index_cap;
	frame_id *frames;
	size_t frame_count, frame_cap;
	frame_id lost_frame; /* stands for all that are cut off */
};

static enum neap_err bad_value(const struct dhat *d, const char *expected, struct err *e)
{
	return err_corrupt(e, "'%s' is not what DHAT writes: expected %s", input_name(d->in),
			   expected);
}

/* The next token, or the failure of JSON. */
static enum neap_err next(struct dhat *d, struct json_token *t, struct err *e)
{
	return json_next(d->json, t) ? NEAP_OK : json_error(d->json, e);
}

/* ---- program points ------------------------------------------------------------------------- */

static enum neap_err read_indices(struct dhat *d, struct point *p, struct err *e)
{
	struct json_token t;
	uint64_t number;
	enum neap_err code = next(d, &t, e);
	if (!code && t.kind != JSON_ARRAY)
		return bad_value(d, "a list of frames after 'fs'", e);
	p->first_frame = d->index_count;
	while (!code && !(code = next(d, &t, e)) && t.kind != JSON_ARRAY_END) {
		if (!json_u64(&t, &number) || number > UINT32_MAX)
			return bad_value(d, "numbers of frames in 'fs'", e);
		if (!vec_reserve((void **)&d->indices, &d->index_cap, d->index_count + 1,
				 sizeof *d->indices))
			return err_nomem(e, "DHAT's program points");
		d->indices[d->index_count++] = (uint32_t)number;
	}
	p->frame_count = d->index_count - p->first_frame;
	return code;
}

/* One key of a point with its value. */
static enum neap_err read_point_field(struct dhat *d, struct point *p, const struct json_token *key,
				      struct err *e)
{
	static const char *const names[] = {"tb", "tbk", "gb", "gbk", "eb", "ebk"};
	uint64_t *const fields[] = {&p->total_bytes, &p->total_blocks, &p->peak_bytes,
				    &p->peak_blocks, &p->end_bytes,    &p->end_blocks};
	struct json_token t;
	if (json_is(key, "fs"))
		return read_indices(d, p, e);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!json_is(key, names[i]))
			continue;
		enum neap_err code = next(d, &t, e);
		if (!code && !json_u64(&t, fields[i]))
			code = bad_value(d, "a number in a program point", e);
		p->given |= 1u << i;
		return code;
	}
	return json_skip(d->json, key) ? NEAP_OK : json_error(d->json, e);
}

static enum neap_err read_point(struct dhat *d, struct err *e)
{
	struct point p = {0};
	struct json_token t;
	enum neap_err code = NEAP_OK;
	while (!code && !(code = next(d, &t, e)) && t.kind != JSON_OBJECT_END)
		code = read_point_field(d, &p, &t, e);
	if (code)
		return code;
	if (!vec_reserve((void **)&d->points, &d->point_cap, d->point_count + 1, sizeof *d->points))
		return err_nomem(e, "DHAT's program points");
	d->points[d->point_count++] = p;
	return NEAP_OK;
}

static enum neap_err read_points(struct dhat *d, struct err *e)
{
	struct json_token t;
	enum neap_err code = next(d, &t, e);
	if (!code && t.kind != JSON_ARRAY)
		return bad_value(d, "a list after 'pps'", e);
	while (!code && !(code = next(d, &t, e)) && t.kind != JSON_ARRAY_END)
		code = t.kind == JSON_OBJECT ? read_point(d, e)
					     : bad_value(d, "program points in 'pps'", e);
	d->has_points = true;
	return code;
}

static enum neap_err read_frames(struct dhat *d, struct err *e)
{
	struct json_token t;
	enum neap_err code = next(d, &t, e);
	if (!code && t.kind != JSON_ARRAY)
		return bad_value(d, "a list after 'ftbl'", e);
	while (!code && !(code = next(d, &t, e)) && t.kind != JSON_ARRAY_END) {
		if (t.kind != JSON_STRING)
			return bad_value(d, "texts in 'ftbl'", e);
		if (!vec_reserve((void **)&d->frames, &d->frame_cap, d->frame_count + 1,
				 sizeof *d->frames))
			return err_nomem(e, "DHAT's frames");
		d->frames[d->frame_count++] =
			json_is(&t, "[root]") ? 0 : valgrind_frame(d->im, t.text, t.bytes);
	}
	d->has_frames = true;
	return code;
}

/* ---- the document ------------------------------------------------------------------------------ */

static enum neap_err read_value(struct dhat *d, const struct json_token *key, struct err *e)
{
	static const char *const names[] = {"dhatFileVersion", "pid", "te", "tg"};
	uint64_t *const numbers[] = {&d->version, &d->pid, &d->end, &d->peak};
	size_t i = 0;
	bool is_mode = json_is(key, "mode"), is_unit = json_is(key, "tu");
	bool is_command = json_is(key, "cmd"), is_lifetimes = json_is(key, "bklt");
	struct json_token t;
	while (i < 4 && !json_is(key, names[i]))
		i++;
	if (i == 4 && !is_mode && !is_unit && !is_command && !is_lifetimes)
		return json_skip(d->json, key) ? NEAP_OK : json_error(d->json, e);
	enum neap_err code = next(d, &t, e);
	if (code)
		return code;
	if (i < 4 && !json_u64(&t, numbers[i]))
		return bad_value(d, "a number", e);
	if (is_mode)
		snprintf(d->mode, sizeof d->mode, "%s", t.text);
	if (is_unit)
		snprintf(d->unit, sizeof d->unit, "%s", t.text);
	if (is_command)
		import_command(d->im, t.text, t.bytes);
	if (is_lifetimes)
		d->has_lifetimes = json_is(&t, "true");
	return NEAP_OK;
}

/* Before the points, which are most of the file. */
static enum neap_err check_mode(const struct dhat *d, struct err *e)
{
	if (d->version && d->version != 2)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' has DHAT's file version %" PRIu64 "; neap reads version 2",
			       input_name(d->in), d->version);
	if (strcmp(d->mode, "heap") != 0)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' is of DHAT's mode '%.15s', which counts something else than "
			       "memory in use; record with valgrind --tool=dhat --mode=heap",
			       input_name(d->in), d->mode);
	return NEAP_OK;
}

/* All values are there, and some names. */
static enum neap_err keep_what_is_cut(struct dhat *d, enum neap_err code, struct err *e)
{
	if (!json_is_cut(d->json))
		return code;
	if (!d->has_points || !d->frame_count)
		return err_set(e, ERR_FORMAT,
			       "'%s' is cut; DHAT writes the names of frames last, and they are "
			       "missing, so nothing of it can be used: copy it again",
			       input_name(d->in));
	func_id func = import_func(d->im, "[cut off]", strlen("[cut off]"));
	d->lost_frame = import_named_frame(d->im, func, 0, 0);
	d->is_cut = true;
	import_partial(d->im, "of its frames only the first %zu have names", d->frame_count);
	return NEAP_OK;
}

static enum neap_err read_document(struct dhat *d, struct err *e)
{
	struct json_token t;
	enum neap_err code = next(d, &t, e);
	if (!code && t.kind != JSON_OBJECT)
		return bad_value(d, "an object", e);
	while (!code && !(code = next(d, &t, e)) && t.kind == JSON_KEY) {
		if (json_is(&t, "pps")) {
			code = check_mode(d, e);
			if (!code)
				code = read_points(d, e);
		} else if (json_is(&t, "ftbl")) {
			code = read_frames(d, e);
		} else {
			code = read_value(d, &t, e);
		}
	}
	if (!code)
		code = next(d, &t, e); /* the end, or what is wrong behind it */
	if (code)
		return keep_what_is_cut(d, code, e);
	if (!d->has_points || !d->has_frames)
		return bad_value(d, "program points 'pps' and frames 'ftbl'", e);
	return NEAP_OK;
}

/* ---- what it means ----------------------------------------------------------------------------- */

static enum neap_err node_of(struct dhat *d, const struct point *p, node_id *out, struct err *e)
{
	*out = PROFILE_NODE_ROOT;
	for (size_t i = p->frame_count; i-- > 0;) {
		uint32_t index = d->indices[p->first_frame + i];
		if (index >= d->frame_count && !d->is_cut)
			return bad_value(d, "numbers of frames that 'ftbl' has", e);
		frame_id frame = index < d->frame_count ? d->frames[index] : d->lost_frame;
		if (frame)
			*out = import_node(d->im, *out, frame);
	}
	return NEAP_OK;
}

static bool has_bytes_without_blocks(const struct point *p)
{
	return (p->total_bytes && !p->total_blocks) || (p->peak_bytes && !p->peak_blocks) ||
	       (p->end_bytes && !p->end_blocks);
}

/* What is not there is not 0. */
static enum neap_err check_point(const struct dhat *d, const struct point *p, struct err *e)
{
	unsigned needed = d->has_lifetimes ? ALL_GIVEN : TOTAL_GIVEN;
	if ((p->given & needed) != needed)
		return bad_value(d,
				 d->has_lifetimes
					 ? "tb, tbk, gb, gbk, eb and ebk in each program point"
					 : "tb and tbk in each program point",
				 e);
	if (has_bytes_without_blocks(p))
		return bad_value(d, "no bytes without a block", e);
	if (p->end_blocks > p->total_blocks || p->end_bytes > p->total_bytes ||
	    p->peak_blocks > p->total_blocks || p->peak_bytes > p->total_bytes)
		return bad_value(d, "no more live than was allocated", e);
	return NEAP_OK;
}

static enum neap_err book(struct dhat *d, const struct point *p, struct err *e)
{
	node_id node;
	enum neap_err code = node_of(d, p, &node, e);
	if (!code)
		code = check_point(d, p, e);
	if (code)
		return code;
	account_id a = import_account(
		d->im, &(struct import_account){.node = node, .size_bytes = PROFILE_SIZE_MIXED});
	import_born(d->im, a, p->total_blocks, p->total_bytes);
	if (!d->has_lifetimes)
		return NEAP_OK;
	import_peak_entry(d->im, a, p->peak_blocks, p->peak_bytes);
	import_died(d->im, a, p->total_blocks - p->end_blocks, p->total_bytes - p->end_bytes, 0);
	return NEAP_OK;
}

static enum neap_err book_all(struct dhat *d, struct err *e)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; i < d->point_count && !code; i++)
		code = book(d, &d->points[i], e);
	if (code)
		return code;
	import_process(d->im, &(struct import_process){.pid = (uint32_t)d->pid});
	import_time_unit(d->im, strcmp(d->unit, "instrs") != 0 ? d->unit : "instructions");
	if (d->has_lifetimes)
		import_peak_time(d->im, d->peak, 0);
	else
		import_lacks(d->im, FACT_LIVE | FACT_FREED | FACT_PEAK);
	import_step(d->im, &(struct import_instant){.time_ns = d->end});
	import_end(d->im, END_EXITED, d->end);
	return NEAP_OK;
}

bool dhat_detect(const uint8_t *head, size_t bytes)
{
	return bytes && *head == '{' && json_mentions(head, bytes, "\"dhatFileVersion\"");
}

enum neap_err dhat_read(struct input *in, struct import *im, struct err *e)
{
	struct dhat d = {.in = in, .im = im, .mode = "heap"};
	enum neap_err code = json_new(in, &d.json, e);
	if (!code)
		code = read_document(&d, e);
	if (!code)
		code = book_all(&d, e);
	json_free(d.json);
	mem_free(d.points);
	mem_free(d.indices);
	mem_free(d.frames);
	return code;
}
