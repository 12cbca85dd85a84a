/* Following files that grow. */
#include "config.h"

#include "tui/follow.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "query/plan.h"
#include "src/base/mem.h"
#include "tui/saved.h"

#define POLL_MS   1000
/* A reload may take this part of the time: a large file is loaded less often. */
#define LOAD_PART 5

static struct follow_file look_at(const char *path)
{
	struct stat st;
	if (stat(path, &st))
		return (struct follow_file){.bytes = -1};
	return (struct follow_file){.bytes = st.st_size,
				    .time_s = st.st_mtim.tv_sec,
				    .time_ns = st.st_mtim.tv_nsec,
				    .inode = st.st_ino};
}

static bool is_same(const struct follow_file *a, const struct follow_file *b)
{
	return a->bytes == b->bytes && a->time_s == b->time_s && a->time_ns == b->time_ns &&
	       a->inode == b->inode;
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Has the newest of the profiles no end?  One that was cut off looks the same. */
static bool is_recording(const struct browser *b)
{
	const struct query_session *s = b->model.session;
	return s->named_count && s->files[s->named_count - 1]->p->end.kind == END_UNKNOWN;
}

void follow_begin(struct browser *b, bool is_asked)
{
	struct follow *f = &b->follow;
	f->is_asked = is_asked;
	f->is_on = is_asked || is_recording(b);
	for (size_t i = 0; i < b->model.path_count && i < 2; i++)
		f->files[i] = look_at(b->model.paths[i]);
}

int follow_wait_ms(const struct browser *b)
{
	return b->follow.is_on ? POLL_MS : -1;
}

const char *follow_word(const struct browser *b)
{
	if (!b->follow.is_on)
		return NULL;
	/* Without having seen it grow, a file without an end may just have been cut off. */
	if (is_recording(b) && (b->follow.is_asked || b->follow.load_count))
		return "recording";
	return b->follow.is_asked ? "following" : NULL;
}

/* What borrows from the old profiles; views load anew, and look at nothing old before that. */
static void forget(struct browser *b)
{
	for (size_t i = 0; i < SCREEN_COUNT; i++)
		b->loaded[i] = 0;
	names_release(&b->name_lists);
	b->name_lists.session = b->model.session;
	through_release(&b->through);
	strip_forget(b);
	b->names.cwd = b->model.profile->run.cwd;
}

/* The title says that the file is followed; words in place of the keys only at the begin and end. */
static void say(struct browser *b, bool was_recording, bool is_other)
{
	if (is_other)
		browser_say(b, ROLE_WARNING, "another recording has taken the place of the file");
	else if (was_recording && !is_recording(b))
		browser_say(b, ROLE_STRONG, "the recording has ended; this is all of it");
	else if (b->follow.load_count == 1)
		browser_say(b, ROLE_DIM, "the file has grown; what is new is shown as it comes");
}

static void reload(struct browser *b)
{
	struct err e = {0};
	bool was_recording = is_recording(b);
	uint64_t hash = saved_hash(&b->model);
	int64_t begin = now_ms();
	if (model_reload(&b->model, b->query_options, &e)) {
		/* Perhaps it is being replaced: the next change is looked at again. */
		browser_say(b, ROLE_WARNING, "the file has changed, but cannot be read: %.300s",
			    e.text);
	} else {
		b->follow.load_count++;
		forget(b);
		say(b, was_recording, saved_hash(&b->model) != hash);
		b->follow.is_on = b->follow.is_asked || is_recording(b);
	}
	b->follow.next_ms = begin + (now_ms() - begin) * LOAD_PART;
}

void follow_tick(struct browser *b)
{
	struct follow *f = &b->follow;
	bool has_changed = false;
	if (!f->is_on || b->prompt || b->help || b->awaits_letter || b->cursor.has_start ||
	    now_ms() < f->next_ms)
		return;
	for (size_t i = 0; i < b->model.path_count && i < 2; i++) {
		struct follow_file now = look_at(b->model.paths[i]);
		if (now.bytes < 0 ? f->files[i].bytes < 0 : is_same(&now, &f->files[i]))
			continue;
		f->files[i] = now;
		if (now.bytes >= 0)
			has_changed = true;
		else
			browser_say(b, ROLE_WARNING, "%.300s is gone; what was read of it is shown",
				    b->model.paths[i]);
	}
	if (has_changed)
		reload(b);
}
