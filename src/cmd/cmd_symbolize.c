/*
 * neap symbolize: look up names again, with what is on this machine or on a server.
 *
 * What the profile knew stays where nothing better is found, so it can be run as often, and on
 * as many machines, as one likes.  The profile is replaced as a whole, by rename: interrupted
 * at any time it is the old one or the new one.
 */
#include "config.h"

#include "src/base/buf.h"
#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/cmd/cmd.h"
#include "src/cmd/find.h"
#include "src/cmd/options.h"
#include "src/cmd/save.h"
#include "src/cmd/screen.h"
#include "src/profile/profile.h"
#include "src/sym/debuginfod.h"
#include "src/sym/keep.h"
#include "src/sym/symbolise.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_MS 200

struct request {
	const char *path; /* NULL: the newest here */
	const char *output;
	const char **dirs; /* NULL-terminated */
	size_t dir_count, dir_cap;
	bool uses_debuginfod, is_quiet;
};

enum option_id {
	OPT_DEBUG_DIR = 256,
	OPT_DEBUGINFOD
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"debug-dir", required_argument, NULL, OPT_DEBUG_DIR},
	{"debuginfod", no_argument, NULL, OPT_DEBUGINFOD},
	{"quiet", no_argument, NULL, 'q'},
	OPTION_HELP,
	{NULL, 0, NULL, 0},
};

/* ---- options -------------------------------------------------------------------------- */

static int add_dir(struct request *r, const char *dir)
{
	struct stat st;
	struct err e;
	if (stat(dir, &st) || !S_ISDIR(st.st_mode))
		return cmd_bad_usage(&cmd_symbolize, "--debug-dir %s: there is no such folder",
				     dir);
	if (!vec_reserve((void **)&r->dirs, &r->dir_cap, r->dir_count + 2, sizeof *r->dirs)) {
		err_nomem(&e, "the options");
		return cmd_fail(&e);
	}
	r->dirs[r->dir_count++] = dir;
	r->dirs[r->dir_count] = NULL;
	return CMD_OK;
}

static int take_option(int option, const char *value, void *request)
{
	struct request *r = request;
	switch (option) {
	case 'o':
		r->output = value;
		return CMD_OK;
	case OPT_DEBUG_DIR:
		return add_dir(r, value);
	case OPT_DEBUGINFOD:
		r->uses_debuginfod = true;
		return CMD_OK;
	default:
		r->is_quiet = true;
		return CMD_OK;
	}
}

static int parse(int argc, char **argv, struct request *r)
{
	const struct option_reader reader = {&cmd_symbolize, ":ho:q", long_options, take_option};
	int status = options_read(&reader, argc, argv, r);
	if (status)
		return status;
	if (argc - optind > 1)
		return cmd_bad_usage(&cmd_symbolize, "one profile at a time, but '%s' is another",
				     argv[optind + 1]);
	r->path = argv[optind] ? profile_path(argv[optind]) : NULL;
	if (r->path && !strcmp(r->path, "/dev/stdin") && !r->output)
		return cmd_bad_usage(&cmd_symbolize,
				     "standard input cannot be replaced: say where to, -o FILE");
	return CMD_OK;
}

/* ---- what it says ------------------------------------------------------------------------ */

/* Lines of progress come from several threads. */
struct speaker {
	pthread_mutex_t lock;
	bool draws, has_line;
	int64_t drawn_ms;
	const struct profile *profile;
};

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void draw_line(struct speaker *s, const char *text)
{
	int64_t now = now_ms();
	pthread_mutex_lock(&s->lock);
	if (s->draws && now - s->drawn_ms >= PROGRESS_MS) {
		fprintf(stderr, "\r\033[K%.78s", text);
		s->has_line = true;
		s->drawn_ms = now;
	}
	pthread_mutex_unlock(&s->lock);
}

static void clear_line(struct speaker *s)
{
	if (s->has_line)
		fputs("\r\033[K", stderr);
	s->has_line = false;
}

static void show_looked_up(void *context, size_t done_count, size_t all_count)
{
	char all[FMT_BYTES], share[FMT_BYTES], line[128];
	snprintf(line, sizeof line, "neap  naming %s addresses ... %s",
		 fmt_count(all, sizeof all, (int64_t)all_count),
		 fmt_pct(share, sizeof share, (double)done_count, (double)all_count));
	draw_line(context, line);
}

/* The last part of the path of the module with a build id; the id itself if there is none. */
static const char *module_with(const struct profile *p, const char *hex)
{
	char id[2 * sizeof p->modules[0].build_id + 1];
	for (size_t i = 0; i < p->module_count; i++) {
		const struct profile_module *m = &p->modules[i];
		const char *slash = strrchr(m->path, '/');
		fmt_hex(id, sizeof id, m->build_id, m->build_id_bytes);
		if (m->build_id_bytes && !strcmp(id, hex))
			return slash ? slash + 1 : m->path;
	}
	return hex;
}

static void show_fetched(void *context, const char *what, uint64_t done_bytes, uint64_t all_bytes)
{
	struct speaker *s = context;
	char done[FMT_BYTES], all[FMT_BYTES], name[64], line[256];
	const char *module = module_with(s->profile, what);
	fmt_safe(name, sizeof name, module, strnlen(module, sizeof name - 1), false);
	snprintf(line, sizeof line, "neap  fetching debug information of %s: %s%s%s", name,
		 fmt_bytes(done, sizeof done, (int64_t)done_bytes), all_bytes ? " of " : "",
		 all_bytes ? fmt_bytes(all, sizeof all, (int64_t)all_bytes) : "");
	draw_line(s, line);
}

/* Paths come from the profile: nothing in them reaches the terminal as a command. */
static void say(FILE *out, const char *text)
{
	char safe[4096];
	fprintf(out, "%s\n", fmt_safe(safe, sizeof safe, text, strlen(text), screen_is_utf8()));
}

static bool needs_names(const struct profile *p, const struct profile_symbols *s, size_t module_idx)
{
	for (frame_id f = 1; f <= profile_own_frames(p); f++) {
		mod_id id = p->frames[f - 1].module;
		if (id && !strcmp(p->modules[id - 1].path, p->modules[module_idx].path) &&
		    !symbols_is_named(s, f))
			return true;
	}
	return false;
}

/* Why there are no names, unless they were known before. */
static void say_warnings(const struct profile *p, const struct symbolise_result *found,
			 const struct kept_symbols *kept)
{
	for (size_t i = 0; i < found->warning_count; i++) {
		if (needs_names(p, &kept->symbols, found->warning_module_idx[i])) {
			fputs("neap: ", stderr);
			say(stderr, found->warnings[i]);
		}
	}
}

static void say_counts(const char *path, const struct profile *p, const struct kept_symbols *kept)
{
	char all[FMT_BYTES], named[FMT_BYTES], lined[FMT_BYTES], better[FMT_BYTES];
	struct buf text = {0};
	buf_printf(&text, "%s: names for %s of %s addresses, lines for %s; ", path,
		   fmt_count(named, sizeof named, (int64_t)kept->named_count),
		   fmt_count(all, sizeof all, (int64_t)profile_own_frames(p)),
		   fmt_count(lined, sizeof lined, (int64_t)kept->lined_count));
	if (kept->better_count)
		buf_printf(&text, "more than before for %s",
			   fmt_count(better, sizeof better, (int64_t)kept->better_count));
	else
		buf_puts(&text, "no more than before");
	if (!text.has_failed)
		say(stdout, text.data);
	buf_release(&text);
	if (kept->named_count < profile_own_frames(p))
		printf("What has no names, and how to supply them: neap info --missing-symbols\n");
}

/* ---- doing it ------------------------------------------------------------------------------ */

/* A lease for reading is not given while somebody writes. */
static bool is_being_written(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	signal(SIGIO, SIG_IGN); /* what comes if somebody opens it to write meanwhile */
	bool is_taken = fcntl(fd, F_SETLEASE, F_RDLCK) && errno == EAGAIN;
	close(fd);
	return is_taken;
}

struct task {
	const struct request *request;
	const char *path, *target; /* target: where the result goes */
	struct buf file;           /* the profile's bytes */
	struct profile *profile;
	struct debuginfod *debuginfod;
	struct speaker speaker;
	struct symbolise_result found;
	struct kept_symbols kept;
};

static enum neap_err load(struct task *t, struct err *e)
{
	enum neap_err code = profile_read_file(t->path, &t->file, e);
	if (!code)
		code = profile_parse(t->file.data, t->file.count_bytes, t->path, &t->profile, e);
	if (!code && !strcmp(t->path, t->target) && is_being_written(t->path))
		code = err_set(e, ERR_LIMIT,
			       "'%s' is still being written; wait for its end, or name another "
			       "file with -o",
			       t->path);
	return code;
}

/* A loaded profile's tree as columns. */
struct tree_columns {
	struct profile_tree tree;
	node_id *node_parent, *site_node;
	frame_id *node_frame;
	uint8_t *site_api;
};

static void tree_columns_release(struct tree_columns *c)
{
	mem_free(c->node_parent);
	mem_free(c->node_frame);
	mem_free(c->site_node);
	mem_free(c->site_api);
}

static bool tree_columns_init(struct tree_columns *c, const struct profile *p)
{
	c->node_parent = mem_array(p->node_count, sizeof *c->node_parent);
	c->node_frame = mem_array(p->node_count, sizeof *c->node_frame);
	c->site_node = mem_array(p->site_count, sizeof *c->site_node);
	c->site_api = mem_array(p->site_count, sizeof *c->site_api);
	if (!c->node_parent || !c->node_frame || !c->site_node || !c->site_api) {
		tree_columns_release(c);
		return false;
	}
	for (node_id n = 0; n < p->node_count; n++) {
		c->node_parent[n] = profile_node_parent(p, n);
		c->node_frame[n] = profile_node_frame(p, n);
	}
	for (size_t i = 0; i < p->site_count; i++) {
		c->site_node[i] = profile_site_node(p, i);
		c->site_api[i] = (uint8_t)profile_site_api(p, i);
	}
	c->tree = (struct profile_tree){.node_parent = c->node_parent,
					.node_frame = c->node_frame,
					.node_count = p->node_count,
					.site_node = c->site_node,
					.site_api = c->site_api,
					.site_count = p->site_count};
	return true;
}

static enum neap_err look_up(struct task *t, struct err *e)
{
	const struct profile *p = t->profile;
	static const struct profile_symbols none;
	struct tree_columns columns;
	if (!tree_columns_init(&columns, p))
		return err_nomem(e, "the call tree");
	const struct symbolise_request req = {
		.modules = p->modules,
		.module_count = p->module_count,
		.frames = p->frames,
		.frame_count = profile_own_frames(p),
		.tree = columns.tree,
		.search = {.debug_dirs = t->request->dirs,
			   .fetch = t->debuginfod ? debuginfod_fetch : NULL,
			   .fetch_context = t->debuginfod},
		.recorded_unix_ns = p->run.start_unix_ns,
		.progress = show_looked_up,
		.progress_context = &t->speaker,
	};
	enum neap_err code = symbolise_frames(&req, &t->found, e);
	tree_columns_release(&columns);
	clear_line(&t->speaker);
	if (!code)
		code = symbols_keep(p->has_symbols ? &p->symbols : &none, &t->found.symbols,
				    &t->kept, e);
	return code;
}

/* Only what changed is written, so that a second time gives the same bytes. */
static enum neap_err write_result(struct task *t, struct err *e)
{
	struct buf out = {0};
	enum neap_err code = NEAP_OK;
	if (t->kept.better_count) {
		code = profile_replace_symbols(t->file.data, t->file.count_bytes, t->path,
					       &t->kept.symbols, &out, e);
		if (!code)
			code = save_file(t->target, out.data, out.count_bytes, e);
	} else if (strcmp(t->path, t->target) != 0) {
		code = save_file(t->target, t->file.data, t->file.count_bytes, e);
	}
	buf_release(&out);
	return code;
}

static enum neap_err symbolize(struct task *t, struct err *e)
{
	const struct debuginfod_options options = {.progress = show_fetched,
						   .context = &t->speaker};
	enum neap_err code = load(t, e);
	t->speaker.profile = t->profile;
	if (!code && t->request->uses_debuginfod)
		code = debuginfod_new(&options, &t->debuginfod, e);
	if (!code)
		code = look_up(t, e);
	if (!code)
		code = write_result(t, e);
	if (code)
		return code;
	say_warnings(t->profile, &t->found, &t->kept);
	if (t->debuginfod && *debuginfod_trouble(t->debuginfod))
		fprintf(stderr, "neap: %s\n", debuginfod_trouble(t->debuginfod));
	if (!t->request->is_quiet)
		say_counts(t->target, t->profile, &t->kept);
	return NEAP_OK;
}

static void task_release(struct task *t)
{
	kept_symbols_release(&t->kept); /* borrows strings from what follows */
	symbolise_release(&t->found);
	debuginfod_free(t->debuginfod);
	profile_free(t->profile);
	buf_release(&t->file);
	pthread_mutex_destroy(&t->speaker.lock);
}

static int run_on(const struct request *r, const char *path)
{
	struct err e = {0};
	struct task t = {
		.request = r,
		.path = path,
		.target = r->output ? r->output : path,
		.speaker = {.lock = PTHREAD_MUTEX_INITIALIZER,
			    .draws = !r->is_quiet && isatty(STDERR_FILENO)},
	};
	enum neap_err code = symbolize(&t, &e);
	bool is_unreadable = code && !t.profile;
	task_release(&t);
	if (!code)
		return cmd_finish(CMD_OK);
	if (is_unreadable)
		return profile_fail(path, &e);
	cmd_fail(&e);
	return CMD_FAILED;
}

static int run(int argc, char **argv)
{
	struct request r = {.path = NULL};
	struct err e = {0};
	char *newest = NULL;
	int status = parse(argc, argv, &r);
	if (!status) {
		if (!r.path && newest_profile(".", &newest, &e))
			status = cmd_fail_to_read(&e);
		else
			status = run_on(&r, r.path ? r.path : newest);
	}
	mem_free(newest);
	mem_free(r.dirs);
	return status;
}

static const char usage[] =
	"Usage: neap symbolize [OPTION]... [FILE]\n"
	"\n"
	"Look up the names of functions and the lines of source again, with what is on this\n"
	"machine now.  What the profile knew is kept, so it can be run at any time, on any\n"
	"machine and more than once; files with another build id are never used.  Without\n"
	"FILE the newest *.neap of this directory is meant.\n"
	"\n"
	"  neap symbolize --debug-dir ~/build server.neap    programs or *.debug files there\n"
	"  neap symbolize --debuginfod server.neap           fetch what is missing\n"
	"\n"
	"  -o, --output=FILE     write the result here, leave the profile as it is\n"
	"      --debug-dir=DIR   also look here; may be given several times\n"
	"      --debuginfod      also ask the servers in DEBUGINFOD_URLS\n"
	"  -q, --quiet           no progress, no summary; only warnings and errors\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 wrong usage, 3 the file can't be read.\n";

const struct cmd cmd_symbolize = {
	.name = "symbolize",
	.summary = "add names that were missing",
	.usage = usage,
	.run = run,
};
