/* Writing the view to a file. */
#include "config.h"

#include "tui/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/report/out.h"

#define WIDTH_COLS 120u

static const char *format_of(const char *path)
{
	static const struct {
		const char *end, *format;
	} formats[] = {
		{".speedscope.json", "speedscope"},
		{".tsv", "tsv"},
		{".csv", "csv"},
		{".json", "json"},
		{".jsonl", "jsonl"},
		{".md", "markdown"},
		{".folded", "folded"},
		{".svg", "svg"},
		{".html", "html"},
		{".pb.gz", "pprof"},
		{".callgrind", "callgrind"},
		{".dot", "dot"},
	};
	size_t bytes = strlen(path);
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		size_t end = strlen(formats[i].end);
		if (bytes > end && !strcmp(path + bytes - end, formats[i].end))
			return formats[i].format;
	}
	return NULL;
}

static enum neap_err write_file(const char *path, const struct buf *text, struct err *e)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return err_sys(e, errno, "write", path);
	bool is_good = fwrite(text->data, 1, text->count_bytes, out) == text->count_bytes;
	int errnum = errno;
	if (fclose(out)) {
		errnum = errno;
		is_good = false;
	}
	return is_good ? NEAP_OK : err_sys(e, errnum, "write", path);
}

static enum neap_err make(struct browser *b, const char *query, struct buf *out,
			  struct query_error *error)
{
	struct ast_script *script = NULL;
	struct query_result *r = NULL;
	struct err e = {0};
	const struct out_options o = {.width_cols = WIDTH_COLS,
				      .is_utf8 = true,
				      .files = b->model.paths,
				      .file_count = b->model.path_count};
	enum neap_err code = query_parse(query, strlen(query), &script, error);
	if (!code)
		code = query_run(b->model.session, script, script->statement_count - 1, &r, error);
	if (!code && out_write(r, &o, out, &e)) {
		code = e.code;
		snprintf(error->text, sizeof error->text, "%.200s", e.text);
	}
	query_result_free(r);
	query_script_free(script);
	return code;
}

static bool is_profile(const struct browser *b, const struct stat *st)
{
	struct stat other;
	for (size_t i = 0; i < b->model.path_count; i++) {
		if (!stat(b->model.paths[i], &other) && other.st_dev == st->st_dev &&
		    other.st_ino == st->st_ino)
			return true;
	}
	return false;
}

/* What is there already is replaced by those who give its name twice; a profile never is. */
static bool may_write(struct browser *b, const char *path)
{
	struct stat st;
	if (stat(path, &st))
		return true;
	if (is_profile(b, &st)) {
		browser_say(b, ROLE_ERROR,
			    "%.300s is the profile that is shown; nothing was written", path);
		return false;
	}
	bool is_twice = b->there.count_bytes && !strcmp(b->there.data, path);
	buf_clear(&b->there);
	if (is_twice || !S_ISREG(st.st_mode))
		return true;
	buf_puts(&b->there, path);
	browser_say(b, ROLE_WARNING, "%.300s is there already: w and this name again replace it",
		    path);
	return false;
}

void export_view(struct browser *b, const char *path)
{
	if (!may_write(b, path))
		return;
	struct query_error error = {.code = NEAP_OK};
	struct err e = {0};
	struct buf query = {0}, text = {0};
	const char *format = format_of(path);
	browser_question(b, &query);
	if (format)
		buf_printf(&query, " | as %s", format);
	enum neap_err code = query.has_failed ? ERR_NOMEM : make(b, query.data, &text, &error);
	if (code)
		browser_tell(b, code, &error);
	else if (text.has_failed || write_file(path, &text, &e))
		browser_say(b, ROLE_ERROR, "%s", text.has_failed ? "out of memory" : e.text);
	else
		browser_say(b, ROLE_DIM, "wrote %zu bytes to %s", text.count_bytes, path);
	buf_release(&query);
	buf_release(&text);
}
