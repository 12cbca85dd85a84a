/* What is remembered: as text, and as a file. */
#include "config.h"

#include "tui/saved.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "query/plan.h"
#include "src/base/mem.h"
#include "tui/bookmarks.h"

#define DEPTH_MOST 100000u
#define FNV_PRIME  0x100000001b3u

static const char head_line[] = "neap-browse 1";

/* ---- which file ------------------------------------------------------------------------ */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *p = data;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * FNV_PRIME;
	return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* Its bytes, the lowest first. */
static uint64_t hash_number(uint64_t hash, uint64_t number)
{
	for (unsigned shift = 0; shift < 64; shift += 8)
		hash = (hash ^ (number >> shift & 0xff)) * FNV_PRIME;
	return hash;
}

static uint64_t hash_run(uint64_t hash, const struct profile_run *run)
{
	const uint64_t numbers[] = {run->pid, run->ppid, run->start_unix_ns, run->sample_bytes,
				    run->argv_count};
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		hash = hash_number(hash, numbers[i]);
	for (size_t i = 0; i < run->argv_count; i++)
		hash = hash_text(hash, run->argv[i]);
	hash = hash_text(hash, run->exe);
	hash = hash_text(hash, run->cwd);
	return hash_text(hash, run->host);
}

static bool put_folder(struct buf *out)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	if (state && *state == '/')
		buf_printf(out, "%s/neap/browse", state);
	else if (home && *home == '/')
		buf_printf(out, "%s/.local/state/neap/browse", home);
	return out->count_bytes && !out->has_failed;
}

uint64_t saved_hash(const struct model *m)
{
	const struct query_session *s = m->session;
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < m->path_count && i < s->named_count; i++)
		hash = hash_run(hash, &s->files[i]->p->run);
	return hash;
}

bool saved_path(const struct browser *b, struct buf *out)
{
	if (!put_folder(out))
		return false;
	buf_printf(out, "/%016" PRIx64, saved_hash(&b->model));
	return !out->has_failed;
}

/* ---- as text ------------------------------------------------------------------------------- */

/* One line, whatever a query holds. */
static void put_value(struct buf *out, const char *word, const char *value)
{
	buf_printf(out, "%s ", word);
	for (; *value; value++) {
		if (*value == '\n')
			buf_puts(out, "\\n");
		else if (*value == '\\')
			buf_puts(out, "\\\\");
		else
			buf_putc(out, *value);
	}
	buf_putc(out, '\n');
}

static void put_state(struct buf *out, const struct saved_state *s)
{
	buf_printf(out, "view %s %s %u\n", screen_name(s->screen), s->is_inverted ? "up" : "down",
		   s->callers_depth);
	put_value(out, "query", s->query);
	if (s->subject)
		put_value(out, "subject", s->subject);
	if (s->hist)
		put_value(out, "hist", s->hist);
}

void saved_text(const struct browser *b, struct buf *out)
{
	struct saved_state now;
	if (!model_save(&b->model, &now)) {
		out->has_failed = true;
		return;
	}
	buf_printf(out, "%s\n", head_line);
	put_state(out, &now);
	saved_release(&now);
	for (size_t i = 0; i < b->bookmark_count; i++) {
		buf_printf(out, "mark %c\n", b->bookmarks[i].letter);
		put_state(out, &b->bookmarks[i].state);
	}
	for (size_t i = 0; i < SCREEN_COUNT; i++) {
		const struct view *v = view_of((enum screen)i);
		struct buf folds = {0};
		if (b->selves[i] && v->save_folds)
			v->save_folds(b->selves[i], &folds);
		if (folds.count_bytes && !folds.has_failed)
			buf_printf(out, "folds %s %s\n", screen_name((enum screen)i), folds.data);
		buf_release(&folds);
	}
	buf_puts(out, "end\n");
}

/* ---- from text ------------------------------------------------------------------------------- */

/* What a file says, before any of it is used. */
struct reading {
	struct reading_state {
		char letter; /* of a bookmark; 0: the view itself */
		bool has_view;
		struct saved_state state;
	} states[1 + BOOKMARKS_MOST];
	size_t count;
	const char *folds[SCREEN_COUNT]; /* borrowed from the text */
	bool has_ended;
};

static void reading_release(struct reading *r)
{
	for (size_t i = 0; i < r->count; i++)
		saved_release(&r->states[i].state);
	mem_free(r);
}

static char *take_value(const char *text)
{
	struct buf out = {0};
	for (; *text; text++) {
		if (*text == '\\' && (text[1] == 'n' || text[1] == '\\'))
			buf_putc(&out, *++text == 'n' ? '\n' : '\\');
		else
			buf_putc(&out, *text);
	}
	char *copy = out.has_failed ? NULL : mem_strdup(out.count_bytes ? out.data : "");
	buf_release(&out);
	return copy;
}

static bool screen_of(const char *name, enum screen *out)
{
	for (size_t i = 0; i < SCREEN_COUNT; i++) {
		if (!strcmp(name, screen_name((enum screen)i))) {
			*out = (enum screen)i;
			return true;
		}
	}
	return false;
}

static bool take_view(struct reading_state *s, const char *value)
{
	char name[16], way[8];
	unsigned depth;
	int end = 0;
	if (s->has_view || sscanf(value, "%15s %7s %6u%n", name, way, &depth, &end) != 3 ||
	    value[end] || depth > DEPTH_MOST || !screen_of(name, &s->state.screen))
		return false;
	s->state.callers_depth = depth;
	s->state.is_inverted = !strcmp(way, "up");
	s->has_view = true;
	return true;
}

static bool take_text(char **to, const char *value)
{
	if (*to)
		return false;
	*to = take_value(value);
	return *to;
}

static bool take_mark(struct reading *r, const char *value)
{
	if (!value[0] || value[1] || r->count == sizeof r->states / sizeof r->states[0])
		return false;
	r->states[r->count++] = (struct reading_state){.letter = value[0]};
	return true;
}

static bool take_folds(struct reading *r, char *value)
{
	enum screen s;
	char *space = strchr(value, ' ');
	if (!space)
		return false;
	*space = '\0';
	if (!screen_of(value, &s))
		return false;
	r->folds[s] = space + 1;
	return true;
}

static bool take_line(struct reading *r, char *line)
{
	struct reading_state *s = &r->states[r->count - 1];
	char *value = strchr(line, ' ');
	if (r->has_ended)
		return false;
	if (!strcmp(line, "end")) {
		r->has_ended = true;
		return true;
	}
	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(line, "view"))
		return take_view(s, value);
	if (!strcmp(line, "query"))
		return take_text(&s->state.query, value);
	if (!strcmp(line, "subject"))
		return take_text(&s->state.subject, value);
	if (!strcmp(line, "hist"))
		return take_text(&s->state.hist, value);
	if (!strcmp(line, "mark"))
		return take_mark(r, value);
	return !strcmp(line, "folds") && take_folds(r, value);
}

static bool take_lines(struct reading *r, char *text)
{
	char *end = strchr(text, '\n');
	if (!end)
		return false;
	*end = '\0';
	if (strcmp(text, head_line) != 0)
		return false;
	r->count = 1;
	for (text = end + 1; *text; text = end + 1) {
		end = strchr(text, '\n');
		if (!end)
			return false;
		*end = '\0';
		if (!take_line(r, text))
			return false;
	}
	for (size_t i = 0; i < r->count; i++) {
		if (!r->states[i].has_view || !r->states[i].state.query)
			return false;
	}
	return r->has_ended;
}

/* Bookmarks parse when somebody goes to them; the view is what is shown now. */
static bool use(struct browser *b, struct reading *r)
{
	struct query_error error;
	if (model_go_saved(&b->model, &r->states[0].state, &error))
		return false;
	model_begin_here(&b->model);
	for (size_t i = 1; i < r->count; i++) {
		struct saved_state s = r->states[i].state;
		r->states[i].state = (struct saved_state){.query = NULL};
		bookmarks_set(b, (unsigned char)r->states[i].letter, &s);
	}
	for (size_t i = 0; i < SCREEN_COUNT; i++) {
		const struct view *v = view_of((enum screen)i);
		if (!r->folds[i] || !v->take_folds)
			continue;
		if (!b->selves[i])
			b->selves[i] = mem_zalloc(v->self_bytes);
		if (b->selves[i])
			v->take_folds(b->selves[i], r->folds[i]);
	}
	return true;
}

/* Bookmarks that another browser has set meanwhile. */
static bool use_bookmarks(struct browser *b, struct reading *r)
{
	for (size_t i = 1; i < r->count; i++) {
		unsigned char letter = (unsigned char)r->states[i].letter;
		struct saved_state s = r->states[i].state;
		if (bookmarks_find(b, letter))
			continue;
		r->states[i].state = (struct saved_state){.query = NULL};
		bookmarks_set(b, letter, &s);
	}
	return true;
}

static bool take(struct browser *b, const char *text, size_t bytes,
		 bool (*used)(struct browser *b, struct reading *r))
{
	char *copy = memchr(text, 0, bytes) ? NULL : mem_strndup(text, bytes);
	struct reading *r = mem_zalloc(sizeof *r);
	bool is_good = copy && r && take_lines(r, copy) && used(b, r);
	if (r)
		reading_release(r);
	mem_free(copy);
	return is_good;
}

bool saved_take(struct browser *b, const char *text, size_t bytes)
{
	return take(b, text, bytes, use);
}

/* ---- reading the file ---------------------------------------------------------------------------- */

/* False: it cannot be read, or is none of ours by its size. */
static bool read_file(const char *path, struct buf *out)
{
	char part[4096];
	size_t got;
	FILE *in = fopen(path, "re");
	if (!in)
		return false;
	while (out->count_bytes <= SAVED_FILE_MOST && (got = fread(part, 1, sizeof part, in)) > 0)
		buf_put(out, part, got);
	bool is_good = !ferror(in) && !out->has_failed && out->count_bytes &&
		       out->count_bytes <= SAVED_FILE_MOST;
	fclose(in);
	return is_good;
}

/* "neap-browse 2": of one that has other words. */
static bool is_of_other_version(const struct buf *text)
{
	size_t bytes = strcspn(head_line, " ") + 1;
	return text->count_bytes > bytes && !strncmp(text->data, head_line, bytes) &&
	       strncmp(text->data, head_line, strlen(head_line)) != 0;
}

void saved_read(struct browser *b)
{
	struct buf path = {0}, text = {0};
	if (saved_path(b, &path) && !access(path.data, F_OK)) {
		bool is_good =
			read_file(path.data, &text) && saved_take(b, text.data, text.count_bytes);
		if (!is_good)
			browser_say(b, ROLE_WARNING, "the view of last time is %s and not used",
				    is_of_other_version(&text) ? "of another version" : "damaged");
	}
	buf_release(&path);
	buf_release(&text);
}

/* ---- writing it ------------------------------------------------------------------------------------ */

static enum neap_err make_folders(char *path, struct err *e)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		int status = mkdir(path, 0700);
		int errnum = errno;
		if (status && errnum != EEXIST) {
			enum neap_err code = err_sys(e, errnum, "make", path);
			*p = '/';
			return code;
		}
		*p = '/';
	}
	return NEAP_OK;
}

/* Beside the file, then in its place. */
static enum neap_err write_whole(const char *path, const struct buf *text, struct err *e)
{
	struct buf name = {0};
	buf_printf(&name, "%s.XXXXXX", path);
	if (name.has_failed)
		return err_nomem(e, "the state");
	enum neap_err code = NEAP_OK;
	int fd = mkostemp(name.data, O_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		code = err_sys(e, errno, "write", path);
		if (fd >= 0)
			close(fd);
	} else {
		bool is_good = fwrite(text->data, 1, text->count_bytes, out) == text->count_bytes;
		is_good = !fclose(out) && is_good;
		if (!is_good || rename(name.data, path))
			code = err_sys(e, errno, "write", path);
	}
	if (code && fd >= 0)
		unlink(name.data);
	buf_release(&name);
	return code;
}

struct oldest {
	char name[256];
	struct timespec when;
	size_t count;
};

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void find_oldest(DIR *folder, struct oldest *o)
{
	struct dirent *d;
	*o = (struct oldest){.count = 0};
	rewinddir(folder);
	while ((d = readdir(folder))) {
		struct stat st;
		if (fstatat(dirfd(folder), d->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (!o->count++ || is_before(&st.st_mtim, &o->when)) {
			o->when = st.st_mtim;
			snprintf(o->name, sizeof o->name, "%s", d->d_name);
		}
	}
}

/* Each call adds one file at most, so few are removed. */
static void remove_old(char *path)
{
	struct oldest o;
	char *slash = strrchr(path, '/');
	*slash = '\0';
	DIR *folder = opendir(path);
	*slash = '/';
	if (!folder)
		return;
	for (unsigned i = 0; i < 4; i++) {
		find_oldest(folder, &o);
		if (o.count <= SAVED_FILES_KEPT || unlinkat(dirfd(folder), o.name, 0))
			break;
	}
	closedir(folder);
}

/* What is damaged is replaced. */
static void merge(struct browser *b, const char *path)
{
	struct buf text = {0};
	if (read_file(path, &text))
		take(b, text.data, text.count_bytes, use_bookmarks);
	buf_release(&text);
}

enum neap_err saved_write(struct browser *b, struct err *e)
{
	struct buf path = {0}, text = {0};
	enum neap_err code = NEAP_OK;
	bool has_path = saved_path(b, &path);
	if (has_path)
		merge(b, path.data);
	saved_text(b, &text);
	if (text.has_failed || path.has_failed)
		code = err_nomem(e, "the state");
	else if (!has_path)
		code = err_set(e, ERR_ABSENT, "neither XDG_STATE_HOME nor HOME is a path");
	else if (text.count_bytes > SAVED_FILE_MOST)
		code = err_set(e, ERR_LIMIT, "the state is too large to be kept");
	if (!code)
		code = make_folders(path.data, e);
	if (!code)
		code = write_whole(path.data, &text, e);
	if (!code)
		remove_old(path.data);
	buf_release(&path);
	buf_release(&text);
	return code;
}
