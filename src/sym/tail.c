/*
 * Which pairs to ask about, and asking in a child process.
 *
 * A pair whose names fit is a call as usual, and most are.  Names that do not fit may still be of
 * one function, since it can have several; the child looks at addresses.
 */
#include "config.h"

#include "src/sym/tail.h"

#include <ctype.h>
#include <string.h>

#include "src/base/limits.h"
#include "src/sym/isolate.h"
#include "src/sym/sym_priv.h"

#define PATIENCE_MS 60000u
#define LIMIT_PAIRS (1u << 20)

struct finder {
	const struct symbolise_request *req;
	const struct tail_names *names;
	struct tail_pair *pairs;
	size_t count, cap;
	struct map seen; /* caller and callee -> anything: looked at already */
	struct map seen_apis;
};

/*
 * Constructors and destructors have several names, of which C1 and C2, D1 and D2, are mostly one
 * function, and C4, D4 stand for all.
 */
static bool is_same_function(const char *a, const char *b)
{
	size_t different = 0;
	for (; *a && *a == *b; a++, b++)
		different = *a == 'C' || *a == 'D';
	if (!*a || !*b || !different || !isdigit((unsigned char)*a) || !isdigit((unsigned char)*b))
		return !*a && !*b;
	return !strcmp(a + 1, b + 1);
}

static bool is_usable(const struct finder *s, frame_id f)
{
	return f && f <= s->req->frame_count && s->req->frames[f - 1].module &&
	       !(s->req->frames[f - 1].flags & FRAME_GUESSED);
}

static bool add_pair(struct finder *s, struct tail_pair pair)
{
	if (s->count == LIMIT_PAIRS)
		return true;
	if (!vec_reserve((void **)&s->pairs, &s->cap, s->count + 1, sizeof *s->pairs))
		return false;
	s->pairs[s->count++] = pair;
	return true;
}

/* Of a tree that has functions found earlier in it: the frame that called them. */
static frame_id frame_around(const struct finder *s, node_id n)
{
	const struct profile_tree *t = &s->req->tree;
	while (n >= PROFILE_NODE_FIRST && t->node_frame[n] > s->req->frame_count)
		n = t->node_parent[n];
	return n >= PROFILE_NODE_FIRST ? t->node_frame[n] : 0;
}

/*
 * How parts of the C library and of the loader jump to each other is not worth reading their debug information
 * a second time, which takes longer than all other names of a small program.
 */
static bool is_inside_libc(const struct finder *s, frame_id caller, frame_id callee)
{
	static const char *const starts[] = {"libc.so", "libc-", "ld-", "ld.so"};
	mod_id module = s->req->frames[caller - 1].module;
	const char *path = s->req->modules[module - 1].path, *slash = strrchr(path, '/');
	if (module != s->req->frames[callee - 1].module)
		return false;
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		if (!strncmp(slash ? slash + 1 : path, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

static bool look_at(struct finder *s, frame_id caller, frame_id callee)
{
	uint64_t key = (uint64_t)caller << 32 | callee;
	if (map_find(&s->seen, key) != MAP_ABSENT)
		return true;
	if (!map_put(&s->seen, key, 0))
		return false;
	const struct tail_names *n = s->names;
	const char *called = n->text(n->context, n->callee[caller - 1] - 1);
	const char *is_in = n->text(n->context, n->func[callee - 1] - 1);
	return !is_usable(s, caller) || !is_usable(s, callee) || is_same_function(called, is_in) ||
	       is_inside_libc(s, caller, callee) ||
	       add_pair(s, (struct tail_pair){.caller = caller, .callee = callee});
}

static bool look_at_frames(struct finder *s)
{
	const struct profile_tree *t = &s->req->tree;
	for (node_id n = PROFILE_NODE_FIRST; n < t->node_count; n++) {
		frame_id callee = t->node_frame[n];
		if (!callee || callee > s->req->frame_count)
			continue;
		frame_id caller = frame_around(s, t->node_parent[n]);
		uint32_t called = caller ? s->names->callee[caller - 1] : 0;
		uint32_t is_in = s->names->func[callee - 1];
		if (called && is_in && called != is_in && !look_at(s, caller, callee))
			return false;
	}
	return true;
}

/* Blocks are asked for by a call of the allocator, or of what jumps there. */
static bool look_at_sites(struct finder *s)
{
	const struct profile_tree *t = &s->req->tree;
	for (size_t i = 0; i < t->site_count; i++) {
		frame_id caller = frame_around(s, t->site_node[i]);
		uint64_t key = (uint64_t)caller << 32 | t->site_api[i];
		if (!caller || !s->names->callee[caller - 1] || !is_usable(s, caller) ||
		    map_find(&s->seen_apis, key) != MAP_ABSENT)
			continue;
		struct tail_pair pair = {.caller = caller, .api = (enum profile_api)t->site_api[i]};
		const char *called =
			s->names->text(s->names->context, s->names->callee[caller - 1] - 1);
		if (!map_put(&s->seen_apis, key, 0) ||
		    (!tail_is_api(called, pair.api) && !add_pair(s, pair)))
			return false;
	}
	return true;
}

/* ---- the child ------------------------------------------------------------------------ */

static bool prove_in_child(void *context, atomic_size_t *done, struct buf *out)
{
	const struct finder *s = context;
	struct tail_chains c = {0};
	if (!tail_prove(s->req, s->pairs, s->count, done, &c))
		return false;
	buf_varint(out, c.count);
	for (size_t i = 0; i < c.count; i++) {
		buf_varint(out, c.pairs[i].caller);
		buf_varint(out, c.pairs[i].callee);
		buf_varint(out, c.pairs[i].api);
		buf_varint(out, c.first_step[i + 1] - c.first_step[i]);
		for (size_t k = c.first_step[i]; k < c.first_step[i + 1]; k++) {
			buf_varint(out, c.steps[k].module);
			buf_varint(out, c.steps[k].pc);
		}
	}
	return true;
}

static bool read_step(const struct finder *s, struct reader *r, struct tail_chains *out, size_t at)
{
	uint64_t module = reader_varint(r), pc = reader_varint(r);
	if (r->has_failed || !module || module > s->req->module_count ||
	    !vec_reserve((void **)&out->steps, &out->step_cap, at + 1, sizeof *out->steps))
		return false;
	out->steps[at] = (struct tail_step){(mod_id)module, pc};
	return true;
}

static bool read_chain(const struct finder *s, struct reader *r, struct tail_chains *out)
{
	uint64_t caller = reader_varint(r), callee = reader_varint(r), api = reader_varint(r);
	size_t count = reader_count(r, 2), at = out->count ? out->first_step[out->count] : 0;
	if (r->has_failed || !caller || caller > s->req->frame_count ||
	    callee > s->req->frame_count || api >= API_COUNT || !count ||
	    !vec_reserve((void **)&out->pairs, &out->pair_cap, out->count + 1,
			 sizeof *out->pairs) ||
	    !vec_reserve((void **)&out->first_step, &out->first_cap, out->count + 2,
			 sizeof *out->first_step))
		return false;
	for (size_t k = 0; k < count; k++)
		if (!read_step(s, r, out, at + k))
			return false;
	out->pairs[out->count++] =
		(struct tail_pair){(frame_id)caller, (frame_id)callee, (enum profile_api)api};
	out->first_step[0] = 0;
	out->first_step[out->count] = (uint32_t)(at + count);
	return true;
}

/* A child that crashes proves nothing. */
static void ask_child(struct finder *s, pthread_mutex_t *fork_lock, struct tail_chains *out)
{
	struct buf result = {0};
	struct isolated child = {
		.work = prove_in_child,
		.context = s,
		.fds = {-1, -1, -1},
		.more_fds = s->req->module_fds,
		.more_count = s->req->module_fds ? s->req->module_count : 0,
		.lock = fork_lock,
		.patience_ms = PATIENCE_MS,
	};
	if (isolate_run(&child, &result)) {
		struct reader r = reader_init(result.data, result.count_bytes);
		bool is_ok = true;
		for (size_t left = reader_count(&r, 5); is_ok && left; left--)
			is_ok = read_chain(s, &r, out);
		if (!is_ok)
			tail_chains_release(out);
	}
	buf_release(&result);
}

bool tail_find(const struct symbolise_request *req, const struct tail_names *names,
	       pthread_mutex_t *fork_lock, struct tail_chains *out)
{
	struct finder s = {.req = req, .names = names};
	*out = (struct tail_chains){0};
	bool is_ok = look_at_frames(&s) && look_at_sites(&s);
	if (is_ok && s.count)
		ask_child(&s, fork_lock, out);
	mem_free(s.pairs);
	map_release(&s.seen);
	map_release(&s.seen_apis);
	return is_ok;
}
