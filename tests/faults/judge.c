/*
 * Is what the program did a fair answer to the fault?  Either
 *   - nobody can tell that there was one: an optional thing was left out, or it was
 *     done in another way; or
 *   - it ended with a status that says so, one message names the cause, what it had
 *     printed is true as far as it goes, and no file is half there.
 * A status of its own stays, with less to say about it, where the undisturbed run
 * fails too.
 */
#define _GNU_SOURCE
#include "tests/faults/faults.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static bool is_same(const struct text *a, const struct text *b)
{
	return a->bytes == b->bytes && (!a->bytes || !memcmp(a->data, b->data, a->bytes));
}

static bool is_start(const struct text *part, const struct text *whole)
{
	return part->bytes <= whole->bytes &&
	       (!part->bytes || !memcmp(part->data, whole->data, part->bytes));
}

static bool has_line(const struct text *t, const char *line, size_t bytes)
{
	for (size_t at = 0; at < t->bytes;) {
		const char *end = memchr(t->data + at, '\n', t->bytes - at);
		size_t here = end ? (size_t)(end - t->data) - at : t->bytes - at;
		if (here == bytes && !memcmp(t->data + at, line, bytes))
			return true;
		at += here + 1;
	}
	return false;
}

static bool has_same_files(const struct run *a, const struct run *b)
{
	if (a->file_count != b->file_count)
		return false;
	for (size_t i = 0; i < a->file_count; i++)
		if (!is_same(&a->file_names[i], &b->file_names[i]) ||
		    !is_same(&a->files[i], &b->files[i]))
			return false;
	return true;
}

static bool is_unnoticed(const struct run *r, const struct run *ref)
{
	return r->status == ref->status && is_same(&r->out, &ref->out) &&
	       is_same(&r->err, &ref->err) && has_same_files(r, ref);
}

/*
 * What completes a line in a shell never complains; it may know fewer names.  Each of its
 * lines has to be one that would have been there.
 */
static bool is_completion(const struct run *r, const struct run *ref, bool is_completing)
{
	bool is_fair = is_completing && r->status == ref->status && !r->err.bytes;
	for (size_t at = 0; is_fair && at < r->out.bytes;) {
		const char *line = r->out.data + at, *end;
		end = memchr(line, '\n', r->out.bytes - at);
		size_t bytes = end ? (size_t)(end - line) : r->out.bytes - at;
		is_fair = has_line(&ref->out, line, bytes);
		at += bytes + 1;
	}
	return is_fair;
}

/* Every file that is there is one that would have been there, and whole. */
static bool has_only_whole_files(const struct run *r, const struct run *ref)
{
	for (size_t i = 0; i < r->file_count; i++) {
		bool is_whole = false;
		for (size_t k = 0; k < ref->file_count; k++)
			is_whole |= is_same(&r->file_names[i], &ref->file_names[k]) &&
				    is_same(&r->files[i], &ref->files[k]);
		if (!is_whole)
			return false;
	}
	return true;
}

static bool names_cause(int errnum, const char *line, size_t bytes)
{
	static const char words[] = "out of memory", more[] = "Cannot allocate memory";
	if (errnum == ENOMEM)
		return memmem(line, bytes, words, strlen(words)) ||
		       memmem(line, bytes, more, strlen(more));
	const char *why = strerror(errnum);
	return memmem(line, bytes, why, strlen(why)) != NULL;
}

/* "neap: what is wrong", where the undisturbed run also shows the place. */
static bool is_said_shorter(const struct text *ref, const char *line, size_t bytes)
{
	const char start[] = "neap: ";
	size_t skip = strlen(start);
	return bytes > skip && !memcmp(line, start, skip) &&
	       memmem(ref->data, ref->bytes, line + skip, bytes - skip);
}

/* Lines of the standard error that no undisturbed run has: how many, how many with the cause. */
static void count_news(int errnum, const struct run *r, const struct run *ref, size_t *news,
		       size_t *causes)
{
	*news = *causes = 0;
	for (size_t at = 0; at < r->err.bytes;) {
		const char *line = r->err.data + at, *end;
		end = memchr(line, '\n', r->err.bytes - at);
		size_t bytes = end ? (size_t)(end - line) : r->err.bytes - at;
		if (!has_line(&ref->err, line, bytes) && !is_said_shorter(&ref->err, line, bytes)) {
			*news += 1;
			*causes += names_cause(errnum, line, bytes);
		}
		at += bytes + 1;
	}
}

static const char *judge_error(int errnum, const struct run *r, const struct run *ref)
{
	size_t news, causes;
	count_news(errnum, r, ref, &news, &causes);
	/* What `neap info --check` could not check is one of its findings. */
	if (!news && r->out.bytes && names_cause(errnum, r->out.data, r->out.bytes))
		return NULL;
	if (!is_start(&r->out, &ref->out))
		return "what it printed is not the start of what it should print";
	if (!has_only_whole_files(r, ref))
		return "it left a file that is not whole";
	if (WEXITSTATUS(ref->status) && r->status == ref->status && !news)
		return NULL;
	if (!causes)
		return "its status is an error, but no message names the cause";
	if (news > 1)
		return "there is more than one message";
	return NULL;
}

const char *judge_run(const struct faults *f, const struct run *r, const struct run *refs, size_t n)
{
	const char *verdict = NULL;
	if (WIFSIGNALED(r->status))
		return WTERMSIG(r->status) == SIGALRM ? "it hangs" : strsignal(WTERMSIG(r->status));
	for (size_t i = 0; i < n; i++)
		if (is_unnoticed(r, &refs[i]) || is_completion(r, &refs[i], f->is_completing))
			return NULL;
	if (f->must_recover)
		return "it should have gone on";
	if (!WEXITSTATUS(r->status))
		return "its status is 0, but it did not do what it should";
	if (WEXITSTATUS(r->status) > 4)
		return "its status is none that the manual knows";
	for (size_t i = 0; i < n; i++) {
		verdict = judge_error(f->errnum, r, &refs[i]);
		if (!verdict)
			break;
	}
	return verdict;
}
