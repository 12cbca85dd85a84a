/* Every block of a file as text: what neap-file(5) describes, with the real numbers. */
#include "config.h"

#include "src/profile/reader_priv.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/fmt.h"

struct dump {
	struct buf *out;
	/* Counts before the current block. */
	size_t frame_count, node_count, site_count;
};

#define NAME_BYTES 4096

static void put_name(struct buf *out, const char *s)
{
	char safe[NAME_BYTES];
	buf_printf(out, "\"%s\"", fmt_safe(safe, sizeof safe, s, strlen(s), true));
}

/* ---- tables -------------------------------------------------------------------------- */

static void dump_run(const struct profile_run *r, struct buf *out)
{
	const char *const texts[][2] = {{"tool", r->tool},
					{"exe", r->exe},
					{"cwd", r->cwd},
					{"host", r->host},
					{"kernel", r->kernel}};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		buf_printf(out, "  %s ", texts[i][0]);
		put_name(out, texts[i][1]);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < r->argv_count; i++) {
		buf_printf(out, "  argv %zu ", i);
		put_name(out, r->argv[i]);
		buf_putc(out, '\n');
	}
	buf_printf(out, "  pid %u ppid %u cpus %u forked %d\n", r->pid, r->ppid, r->cpu_count,
		   r->is_forked);
	buf_printf(out,
		   "  start_unix_ns %" PRIu64 " interval_ns %" PRIu64 " sample_bytes %" PRIu64 "\n",
		   r->start_unix_ns, r->interval_ns, r->sample_bytes);
}

static void dump_module(const struct profile_module *m, size_t id, struct buf *out)
{
	char hex[2 * sizeof m->build_id + 1];
	buf_printf(out, "  module %zu ", id);
	put_name(out, m->path);
	buf_printf(out,
		   " build_id %s flags 0x%x va 0x%" PRIx64 "-0x%" PRIx64 " bias 0x%" PRIx64
		   " snapshots %u-%u\n",
		   fmt_hex(hex, sizeof hex, m->build_id, m->build_id_bytes), m->flags, m->start_va,
		   m->end_va, m->bias, m->first_snap, m->last_snap);
}

static void dump_record(void *ctx, const struct profile *p, enum block_type type, size_t id)
{
	struct buf *out = ((struct dump *)ctx)->out;
	if (type == BLOCK_MODULES) {
		dump_module(&p->modules[id - 1], id, out);
	} else if (type == BLOCK_THREADS) {
		const struct profile_thread *t = &p->threads[id - 1];
		buf_printf(out, "  thread %zu ", id);
		put_name(out, t->name);
		buf_printf(out, " tid %u flags 0x%x snapshots %u-%u\n", t->tid, t->flags,
			   t->first_snap, t->last_snap);
	} else if (type == BLOCK_MARKS) {
		const struct profile_mark *m = &p->marks[id - 1];
		buf_puts(out, "  mark ");
		put_name(out, m->name);
		buf_printf(out, " snapshot %u time_ns %" PRIu64 "\n", m->snap, m->time_ns);
	}
}

static void dump_tree(const struct profile *p, const struct dump *d)
{
	struct buf *out = d->out;
	for (size_t i = d->frame_count; i < p->frame_count; i++)
		buf_printf(out, "  frame %zu module %u pc 0x%" PRIx64 " flags 0x%x\n", i + 1,
			   p->frames[i].module, p->frames[i].pc, p->frames[i].flags);
	for (size_t i = d->node_count; i < p->node_count; i++)
		buf_printf(out, "  node %zu parent %u frame %u flags 0x%x\n", i,
			   profile_node_parent(p, i), profile_node_frame(p, i),
			   profile_node_flags(p, i));
	for (size_t i = d->site_count; i < p->site_count; i++) {
		uint64_t size_bytes = profile_site_size_bytes(p, i);
		buf_printf(out, "  site %zu node %u ", i + 1, profile_site_node(p, i));
		if (size_bytes == PROFILE_SIZE_MIXED)
			buf_puts(out, "size mixed");
		else
			buf_printf(out, "size %" PRIu64, size_bytes);
		buf_printf(out, " api %s\n", profile_api_name(profile_site_api(p, i)));
	}
}

/* ---- snapshots ------------------------------------------------------------------------- */

static void dump_snapshot(void *ctx, const struct loader *l, const struct profile_snapshot *s)
{
	const struct profile *p = l->p;
	struct buf *out = ((struct dump *)ctx)->out;
	buf_printf(out,
		   "  snapshot %zu time_ns %" PRIu64 " cpu_ns %" PRIu64 " rss_bytes %" PRIu64
		   " live_bytes %" PRId64 "\n",
		   p->snapshot_count + 1, s->time_ns, s->cpu_ns, s->rss_bytes, s->live_bytes);
	const struct new_cohorts *n = &l->snap.born;
	for (size_t i = 0; i < n->count; i++)
		buf_printf(out,
			   "    new cohort %zu site %" PRIu64 " thread %" PRIu64 " birth %" PRIu64
			   " flags 0x%" PRIx64 " births %" PRIu64 " bytes %" PRIu64
			   " temporary %" PRIu64 " bytes %" PRIu64 "\n",
			   p->cohort_count + i + 1, n->sites[i], n->threads[i], n->birth_snaps[i],
			   n->flags[i], n->births[i], n->born_bytes[i], n->temporary[i],
			   n->temporary_bytes[i]);
	for (size_t i = 0; i < l->snap.died.count; i++)
		buf_printf(out,
			   "    deaths cohort %" PRIu64 " blocks %" PRIu64 " bytes %" PRIu64 "\n",
			   l->snap.died.cohorts[i], l->snap.died.blocks[i], l->snap.died.bytes[i]);
	for (size_t i = 0; i < l->snap.adjustment_count; i++) {
		const struct adjustment *a = &l->snap.adjustments[i];
		buf_printf(out,
			   "    late cohort %u births %" PRIu64 " bytes %" PRIu64
			   " temporary %" PRIu64 " bytes %" PRIu64 "\n",
			   a->cohort, a->change.births, a->change.born_bytes, a->change.temporary,
			   a->change.temporary_bytes);
	}
}

/* ---- single records --------------------------------------------------------------------- */

static void dump_peak(const struct profile *p, struct buf *out)
{
	buf_printf(out,
		   "  peak bytes %" PRIu64 " time_ns %" PRIu64 " bound_bytes %" PRIu64
		   " snapshot %u\n",
		   p->peak.bytes, p->peak.time_ns, p->peak.bound_bytes, p->peak.snap);
	for (size_t i = 0; i < p->peak_entry_count; i++)
		buf_printf(out, "    live cohort %u blocks %" PRIu64 " bytes %" PRIu64 "\n",
			   p->peak_entries[i].cohort, p->peak_entries[i].blocks,
			   p->peak_entries[i].bytes);
}

static void dump_symbols(const struct profile_symbols *s, struct buf *out)
{
	for (size_t i = 0; i < s->func_count; i++) {
		buf_printf(out, "  function %zu ", i + 1);
		put_name(out, s->funcs[i].name);
		if (s->funcs[i].linkage != s->funcs[i].name) {
			buf_puts(out, " linkage ");
			put_name(out, s->funcs[i].linkage);
		}
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < s->file_count; i++) {
		buf_printf(out, "  file %zu ", i + 1);
		put_name(out, s->files[i]);
		buf_putc(out, '\n');
	}
	for (size_t f = 0; f < s->frame_count; f++)
		for (size_t i = s->first_line[f]; i < s->first_line[f + 1]; i++)
			buf_printf(out, "  frame %zu function %u file %u line %u\n", f + 1,
				   s->lines[i].func, s->lines[i].file, s->lines[i].line);
}

static void dump_tails(const struct loader *l, struct buf *out)
{
	const struct profile_tails *t = &l->tails;
	for (size_t i = 0; i < t->frame_count; i++)
		buf_printf(out, "  frame %zu module %u pc 0x%" PRIx64 "\n",
			   l->tails_first_frame + i + 1, t->frames[i].module, t->frames[i].pc);
	for (size_t i = 0; i < t->count; i++) {
		const struct profile_tail *item = &t->items[i];
		buf_printf(out, "  below frame %u, above ", item->caller);
		if (item->callee)
			buf_printf(out, "frame %u:", item->callee);
		else
			buf_printf(out, "%s:", profile_api_name(item->api));
		for (size_t k = 0; k < item->step_count; k++)
			buf_printf(out, " %zu",
				   l->tails_first_frame + t->steps[item->first_step + k] + 1);
		buf_putc(out, '\n');
	}
}

static void dump_end(const struct profile_end *e, struct buf *out)
{
	static const char *const kinds[] = {"unknown", "exited", "signaled", "exec", "stopped"};
	buf_printf(out, "  end %s", kinds[e->kind]);
	if (e->has_status)
		buf_printf(out, " status %d", e->status);
	buf_printf(out, " time_ns %" PRIu64 " reason ", e->time_ns);
	put_name(out, e->reason);
	buf_putc(out, '\n');
}

static void dump_source(const struct profile_source *s, struct buf *out)
{
	const char *const texts[][2] = {{"format", s->format},       {"title", s->title},
					{"file", s->file},           {"producer", s->producer},
					{"time_unit", s->time_unit}, {"notes", s->notes}};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		buf_printf(out, "  %s ", texts[i][0]);
		put_name(out, texts[i][1]);
		buf_putc(out, '\n');
	}
	buf_printf(out, "  estimated %d partial %d unknown 0x%" PRIx64 ": ", s->is_estimated,
		   s->is_partial, s->unknown);
	profile_facts_text(s->unknown, out);
	buf_putc(out, '\n');
}

static void dump_content(const struct loader *l, unsigned type, const struct dump *d)
{
	const struct profile *p = l->p;
	switch (type) {
	case BLOCK_RUN:
		dump_run(&p->run, d->out);
		break;
	case BLOCK_SOURCE:
		dump_source(&p->source, d->out);
		break;
	case BLOCK_DROPS:
		for (unsigned i = 0; i < DROP_COUNT; i++)
			buf_printf(d->out, "  drop %s %" PRIu64 "\n",
				   profile_drop_name((enum profile_drop)i), p->drops[i]);
		break;
	case BLOCK_PEAK:
		dump_peak(p, d->out);
		break;
	case BLOCK_SYMBOLS:
		dump_symbols(&p->symbols, d->out);
		break;
	case BLOCK_TAILS:
		dump_tails(l, d->out);
		break;
	case BLOCK_END:
		dump_end(&p->end, d->out);
		break;
	default:
		dump_tree(p, d);
	}
}

/* ---- all -------------------------------------------------------------------------------------- */

static enum neap_err dump_block(struct loader *l, const struct block *b, struct dump *d,
				struct err *e)
{
	buf_printf(d->out, "block %s (%u) at %" PRIu64 ": %u bytes, %u raw%s, checksum %08x\n",
		   block_type_name(b->type), b->type, b->offset, b->stored_bytes, b->raw_bytes,
		   b->flags & BLOCK_IS_ZSTD ? " (zstd)" : "", b->crc);
	d->frame_count = l->p->frame_count;
	d->node_count = l->p->node_count;
	d->site_count = l->p->site_count;
	enum neap_err err = loader_block(l, b, e);
	if (err == ERR_NOMEM)
		return err;
	if (err)
		buf_printf(d->out, "  BROKEN: %s\n", e->text);
	else
		dump_content(l, b->type, d);
	return NEAP_OK;
}

static enum neap_err dump_blocks(struct loader *l, const void *data, size_t bytes, size_t pos,
				 struct dump *d, struct err *e)
{
	struct block b;
	enum block_state state;
	enum neap_err err = NEAP_OK;
	while (!err && (state = block_next(data, bytes, &pos, &b)) != BLOCK_LAST &&
	       state != BLOCK_CUT) {
		if (state == BLOCK_WHOLE)
			err = dump_block(l, &b, d, e);
		else
			buf_printf(d->out, "block at %" PRIu64 ": DAMAGED, left out\n", b.offset);
		if (d->out->has_failed)
			err = err_nomem(e, "the text of the profile");
	}
	if (!err && pos < bytes)
		buf_printf(d->out, "CUT: %zu bytes at %zu are not a whole block\n", bytes - pos,
			   pos);
	return err;
}

enum neap_err profile_dump(const void *data, size_t bytes, const char *name, struct buf *out,
			   struct err *e)
{
	size_t pos;
	struct err local;
	struct err *to = e ? e : &local;
	enum neap_err err = file_header_check(data, bytes, name, &pos, to);
	if (err)
		return err;
	buf_printf(out, "header: version %u, %zu bytes\n", FILE_VERSION, pos);
	struct loader l;
	struct dump d = {.out = out};
	err = loader_init(&l, name, bytes, to);
	l.on_record = dump_record;
	l.on_snapshot = dump_snapshot;
	l.ctx = &d;
	if (!err)
		err = dump_blocks(&l, data, bytes, pos, &d, to);
	loader_release(&l);
	profile_free(l.p);
	if (!err && out->has_failed)
		err = err_nomem(to, "the text of the profile");
	return err;
}
