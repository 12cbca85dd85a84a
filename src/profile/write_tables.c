/*
 * The writer's tables: modules, threads, the call tree, sites, marks.  A record goes into the
 * columns of its table, which become a block when the writer flushes.
 */
#include "config.h"

#include "src/profile/writer_priv.h"

#include <string.h>

/* ---- columns ------------------------------------------------------------------------------ */

void pending_release(struct pending *p)
{
	for (size_t i = 0; i < 3; i++)
		buf_release(&p->columns[i]);
	buf_release(&p->sparse);
}

size_t pending_bytes(const struct pending *p)
{
	return p->columns[0].count_bytes + p->columns[1].count_bytes + p->columns[2].count_bytes +
	       p->sparse.count_bytes;
}

/* The record that was just put has this value in the sparse column. */
static void put_sparse(struct pending *p, uint64_t value)
{
	if (!value)
		return;
	buf_varint(&p->sparse, p->count - p->sparse_next);
	buf_varint(&p->sparse, value);
	p->sparse_next = p->count + 1;
	p->sparse_count++;
}

/* A record with a new id is complete; 0 if something failed. */
static uint32_t finish_record(struct profile_writer *w, struct pending *p)
{
	bool has_failed = p->sparse.has_failed;
	for (size_t i = 0; i < 3; i++)
		has_failed |= p->columns[i].has_failed;
	if (has_failed)
		writer_fail(w, ERR_NOMEM, "the profile's tables");
	if (p->total_count >= LIMIT_IDS)
		writer_fail(w, ERR_LIMIT, "more records than LIMIT_IDS");
	if (writer_has_failed(w))
		return 0;
	p->count++;
	p->total_count++;
	return p->total_count;
}

void pending_pack(struct profile_writer *w, enum block_type type, struct pending *p,
		  bool has_sparse)
{
	if (!p->count)
		return;
	struct buf *out = &w->payload;
	buf_varint(out, p->total_count - p->count + 1);
	buf_varint(out, p->count);
	for (size_t i = 0; i < 3; i++)
		buf_put(out, p->columns[i].data, p->columns[i].count_bytes);
	if (has_sparse) {
		buf_varint(out, p->sparse_count);
		buf_put(out, p->sparse.data, p->sparse.count_bytes);
	}
	for (size_t i = 0; i < 3; i++)
		buf_clear(&p->columns[i]);
	buf_clear(&p->sparse);
	p->count = p->sparse_count = p->sparse_next = 0;
	writer_pack(w, type, out);
}

void pending_pack_rows(struct profile_writer *w, enum block_type type, struct pending *p)
{
	if (!p->count)
		return;
	buf_varint(&w->payload, p->count);
	buf_put(&w->payload, p->columns[0].data, p->columns[0].count_bytes);
	buf_clear(&p->columns[0]);
	p->count = 0;
	writer_pack(w, type, &w->payload);
}

/* ---- modules and threads ---------------------------------------------------------------- */

static void put_module(struct profile_writer *w, mod_id id, const struct profile_module *m)
{
	struct buf *b = &w->modules.columns[0];
	buf_varint(b, id);
	writer_text(b, m->path);
	size_t id_bytes = m->build_id_bytes;
	if (id_bytes > sizeof m->build_id)
		id_bytes = sizeof m->build_id;
	buf_str(b, (const char *)m->build_id, id_bytes);
	buf_varint(b, m->flags);
	buf_varint(b, m->start_va);
	buf_varint(b, m->end_va - m->start_va);
	buf_svarint(b, (int64_t)(m->bias - m->start_va));
	buf_varint(b, m->first_snap);
	buf_varint(b, m->last_snap);
}

static void put_thread(struct profile_writer *w, thread_id id, const struct profile_thread *t)
{
	struct buf *b = &w->threads.columns[0];
	buf_varint(b, id);
	writer_text(b, t->name);
	buf_varint(b, t->tid);
	buf_varint(b, t->flags);
	buf_varint(b, t->first_snap);
	buf_varint(b, t->last_snap);
}

mod_id profile_add_module(struct profile_writer *w, const struct profile_module *m)
{
	put_module(w, w->modules.total_count + 1, m);
	return finish_record(w, &w->modules);
}

thread_id profile_add_thread(struct profile_writer *w, const struct profile_thread *t)
{
	put_thread(w, w->threads.total_count + 1, t);
	return finish_record(w, &w->threads);
}

void profile_update_module(struct profile_writer *w, mod_id id, const struct profile_module *m)
{
	if (!writer_knows(w, id, w->modules.total_count, "update of an unknown module"))
		return;
	put_module(w, id, m);
	if (finish_record(w, &w->modules))
		w->modules.total_count--;
}

void profile_update_thread(struct profile_writer *w, thread_id id, const struct profile_thread *t)
{
	if (!writer_knows(w, id, w->threads.total_count, "update of an unknown thread"))
		return;
	put_thread(w, id, t);
	if (finish_record(w, &w->threads))
		w->threads.total_count--;
}

/* ---- call tree ------------------------------------------------------------------------------ */

frame_id profile_add_frame(struct profile_writer *w, const struct profile_frame *f)
{
	if (f->module &&
	    !writer_knows(w, f->module, w->modules.total_count, "frame in unknown module"))
		return 0;
	buf_svarint(&w->frames.columns[0], (int64_t)f->module - w->last_module);
	buf_svarint(&w->frames.columns[1], (int64_t)(f->pc - w->last_pc));
	put_sparse(&w->frames, f->flags);
	w->last_module = f->module;
	w->last_pc = f->pc;
	return finish_record(w, &w->frames);
}

/* The guess: below a frame comes the frame that came below it last. */
static bool follower_slot(struct profile_writer *w, frame_id parent_frame)
{
	size_t old_count = w->follower_count;
	if (parent_frame < old_count)
		return true;
	if (!vec_reserve((void **)&w->follower, &w->follower_cap, (size_t)parent_frame + 1,
			 sizeof *w->follower))
		return false;
	w->follower_count = (size_t)parent_frame + 1;
	memset(w->follower + old_count, 0, (w->follower_count - old_count) * sizeof *w->follower);
	return true;
}

node_id profile_add_node(struct profile_writer *w, node_id parent, frame_id frame, uint32_t flags)
{
	if (!writer_knows(w, parent, w->nodes.total_count, "node with unknown parent") ||
	    !writer_knows(w, frame, w->frames.total_count, "node with unknown frame"))
		return 0;
	uint32_t id = w->nodes.total_count + 1;
	frame_id above = w->node_frame[parent];
	if (!vec_reserve((void **)&w->node_frame, &w->node_frame_cap, (size_t)id + 1,
			 sizeof *w->node_frame) ||
	    !vec_reserve((void **)&w->node_parent, &w->node_parent_cap, (size_t)id + 1,
			 sizeof *w->node_parent) ||
	    !follower_slot(w, above)) {
		writer_fail(w, ERR_NOMEM, "the call tree");
		return 0;
	}
	buf_varint(&w->nodes.columns[0], id - 1 - parent);
	if (frame == w->follower[above]) {
		buf_varint(&w->nodes.columns[1], 0);
	} else {
		int64_t below_top = (int64_t)w->top_frame + 1 - frame;
		buf_varint(&w->nodes.columns[1], 1 + zigzag(below_top));
	}
	put_sparse(&w->nodes, flags & 0xff);
	w->follower[above] = frame;
	w->node_frame[id] = frame;
	w->node_parent[id] = parent;
	if (frame > w->top_frame)
		w->top_frame = frame;
	return finish_record(w, &w->nodes);
}

site_id profile_add_site(struct profile_writer *w, const struct profile_site *s)
{
	if (!writer_knows(w, s->node, w->nodes.total_count, "site with unknown node"))
		return 0;
	size_t n = w->sites.total_count;
	if (!vec_reserve((void **)&w->site_size, &w->site_size_cap, n + 1, sizeof *w->site_size) ||
	    !vec_reserve((void **)&w->site_node, &w->site_node_cap, n + 1, sizeof *w->site_node) ||
	    !vec_reserve((void **)&w->site_api, &w->site_api_cap, n + 1, sizeof *w->site_api)) {
		writer_fail(w, ERR_NOMEM, "the sites");
		return 0;
	}
	w->site_size[n] = s->size_bytes;
	w->site_node[n] = s->node;
	w->site_api[n] = (uint8_t)s->api;
	buf_svarint(&w->sites.columns[0], (int64_t)s->node - w->last_site_node);
	buf_varint(&w->sites.columns[1], s->size_bytes + 1); /* mixed wraps to 0 */
	buf_varint(&w->sites.columns[2], (uint64_t)s->api);
	w->last_site_node = s->node;
	return finish_record(w, &w->sites);
}

/* ---- marks -------------------------------------------------------------------------------- */

void profile_add_mark(struct profile_writer *w, const char *name, snap_id snap, uint64_t time_ns)
{
	struct buf *b = &w->marks.columns[0];
	writer_text(b, name);
	buf_varint(b, snap);
	buf_varint(b, time_ns);
	finish_record(w, &w->marks);
}
