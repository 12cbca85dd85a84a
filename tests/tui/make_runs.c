/*
 * Two runs of a server, for the walks: DIRECTORY/before.neap and DIRECTORY/after.neap.
 *
 * What there is to find (20 s, a snapshot every 250 ms):
 *   hash_insert   allocates for the catalog (until 35 %), for headers (freed at once) and, from
 *                 15 % to 70 %, for sessions: those are what it holds between 40 % and 60 %
 *   cart_item_new is never freed: the leak of `before`, mended in `after`
 *   report_rows   makes the peak, at 62 %
 *   copy_text     is most of the churn
 *   session_open  keeps its entries in `after`: what got worse
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/build_profile.h"

#define SRC        "/home/user/shop/src/"
#define SNAP_COUNT 80u
#define SNAP_MS    250u

struct server {
	struct build *b;
	node_id catalog_hash, header_hash, session_hash, session, page, copy, cart, rows;
};

static void make_tree(struct server *s)
{
	struct build *b = s->b;
	node_id main = build_call(b, PROFILE_NODE_ROOT, "main", SRC "main.c", 58);
	node_id load = build_call(b, main, "load_catalog", SRC "catalog.c", 120);
	node_id add = build_call(b, load, "catalog_add", SRC "catalog.c", 77);
	node_id serve = build_call(b, main, "serve", SRC "server.c", 210);
	node_id handle = build_call(b, serve, "handle_request", SRC "server.c", 154);
	node_id headers = build_call(b, handle, "parse_headers", SRC "http.c", 88);
	node_id open = build_call(b, handle, "session_open", SRC "session.c", 31);
	node_id render = build_call(b, handle, "render_page", SRC "page.c", 64);
	node_id log = build_call(b, handle, "log_request", SRC "log.c", 45);
	node_id cart = build_call(b, handle, "cart_add", SRC "cart.c", 21);
	node_id report = build_call(b, main, "report_daily", SRC "report.c", 70);
	s->catalog_hash = build_call(b, add, "hash_insert", SRC "hash.c", 41);
	s->header_hash = build_call(b, headers, "hash_insert", SRC "hash.c", 41);
	s->session_hash = build_call(b, open, "hash_insert", SRC "hash.c", 41);
	s->session = build_call(b, open, "session_new", SRC "session.c", 19);
	s->page = build_call(b, render, "buffer_grow", SRC "buffer.c", 23);
	s->copy = build_call(b, log, "copy_text", SRC "log.c", 12);
	s->cart = build_call(b, cart, "cart_item_new", SRC "cart.c", 11);
	s->rows = build_call(b, report, "report_rows", SRC "report.c", 33);
}

/* Blocks born in a snapshot and not freed yet. */
struct pool {
	cohort_id cohorts[SNAP_COUNT + 1];
	uint64_t blocks[SNAP_COUNT + 1];
};

static void born(struct server *s, struct pool *p, unsigned snap, node_id node, uint64_t bytes,
		 thread_id thread, uint64_t blocks)
{
	p->cohorts[snap] = build_alloc(s->b, node, bytes, thread, blocks);
	p->blocks[snap] = blocks;
}

static void die(struct server *s, struct pool *p, unsigned born_snap)
{
	if (p->blocks[born_snap])
		build_free(s->b, p->cohorts[born_snap], p->blocks[born_snap], 0);
	p->blocks[born_snap] = 0;
}

struct pools {
	struct pool catalog, headers, hash, sessions, pages, rows;
};

static void take_snapshot(struct server *s, struct pools *p, unsigned snap, thread_id worker,
			  bool is_after)
{
	if (snap <= 8)
		born(s, &p->catalog, snap, s->catalog_hash, 64, 1, 40000);
	for (unsigned i = 1; snap == 28 && i <= 8; i++)
		die(s, &p->catalog, i);
	if (snap >= 12) {
		born(s, &p->headers, snap, s->header_hash, 64, worker, 9000);
		die(s, &p->headers, snap - 1);
		born(s, &p->pages, snap, s->page, 16384, worker, 120 + snap % 5);
		die(s, &p->pages, snap - 1);
		cohort_id copies = build_alloc(s->b, s->copy, 96, worker, 30000);
		build_free(s->b, copies, 30000, 29000);
		if (!is_after)
			build_alloc(s->b, s->cart, 144, worker, 500);
	}
	if (snap >= 12 && snap <= 56) {
		born(s, &p->hash, snap, s->session_hash, 64, worker, 8000);
		born(s, &p->sessions, snap, s->session, 512, worker, 300);
	}
	for (unsigned i = 12; snap >= 57 && i <= 56; i++) {
		if (i % 3 == snap % 3 && !is_after)
			die(s, &p->hash, i);
		if (i % 3 == snap % 3)
			die(s, &p->sessions, i);
	}
	if (snap == 49 || snap == 50)
		born(s, &p->rows, snap, s->rows, 256, 1, 90000);
	for (unsigned i = 49; snap == 52 && i <= 50; i++)
		die(s, &p->rows, i);
}

static void make_run(const char *path, bool is_after)
{
	static const char *const argv[] = {"./shop", "--serve"};
	static struct pools pools; /* too large for a stack */
	struct profile_run run = build_default_run;
	run.argv = argv;
	run.argv_count = 2;
	run.cwd = "/home/user/shop";
	run.exe = "/home/user/shop/shop";
	struct server s = {.b = build_new(path, &run)};
	memset(&pools, 0, sizeof pools);
	make_tree(&s);
	thread_id worker = build_thread(s.b, "worker");
	for (unsigned snap = 1; snap <= SNAP_COUNT; snap++) {
		build_snapshot(s.b, (uint64_t)snap * SNAP_MS * BUILD_MS);
		take_snapshot(&s, &pools, snap, worker, is_after);
		build_end_snapshot(s.b);
	}
	profile_add_mark(build_writer(s.b), "warm", 10, 10ull * SNAP_MS * BUILD_MS);
	build_close(s.b);
}

int main(int argc, char **argv)
{
	char path[4096];
	static const char *const names[] = {"before", "after"};
	if (argc != 2) {
		fputs("usage: make_runs DIRECTORY\n", stderr);
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		int length = snprintf(path, sizeof path, "%s/%s.neap", argv[1], names[i]);
		if (length < 0 || (size_t)length >= sizeof path)
			return 2;
		make_run(path, i == 1);
	}
	return 0;
}
