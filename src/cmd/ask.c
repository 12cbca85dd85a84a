/* One session per run; statements in order. */
#include "config.h"

#include "src/cmd/ask.h"

#include "query/plan.h"
#include "query/query.h"
#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/cmd/cmd.h"
#include "src/cmd/find.h"
#include "src/cmd/save.h"
#include "src/exchange/exchange.h"
#include "src/report/compose.h"
#include "src/report/out.h"
#include "src/sym/debuginfod.h"

#include <stdio.h>
#include <string.h>

#define FILE_WIDTH_COLS    100u
#define SOURCE_PATIENCE_MS 5000u

struct asking {
	const struct ask *ask;
	const char *name, *text;
	size_t bytes;
	struct ast_script *script;
	struct query_session *session;
	char *newest;            /* taken because no file was named */
	const char *only_newest; /* the same, as a list of files */
	const char *const *files;
	size_t file_count, result_count;
	struct debuginfod *debuginfod; /* for sources */
	bool has_tried_debuginfod, has_said_fetching;
};

/* ---- messages ---------------------------------------------------------------------- */

static int status_of(enum neap_err code)
{
	switch (code) {
	case NEAP_OK:
		return CMD_OK;
	case ERR_NOMEM:
		return CMD_FAILED;
	case ERR_IO:
	case ERR_FORMAT:
		return CMD_UNREADABLE;
	default:
		return CMD_USAGE;
	}
}

static int fail_query(const struct asking *a, const struct query_error *error)
{
	struct buf text = {0};
	query_error_print(error, a->name, a->text, a->bytes, &text);
	if (text.has_failed || !text.count_bytes)
		fprintf(stderr, "neap: %s\n", error->text);
	else
		fwrite(text.data, 1, text.count_bytes, stderr);
	buf_release(&text);
	return status_of(error->code);
}

/* A result that cannot be shown so is a wrong query; a file that cannot be written is none that cannot be read. */
static int fail_result(const struct err *e)
{
	cmd_fail(e);
	return e->code == ERR_IO ? CMD_FAILED : status_of(e->code);
}

static void say(const char *kind, const char *text)
{
	screen_say(kind, text, strlen(text));
}

/* ---- files --------------------------------------------------------------------------- */

static bool needs_default_file(const struct ast_script *s)
{
	for (size_t i = 0; i < s->statement_count; i++) {
		const struct ast_query *q = &s->statements[i].query;
		bool has_unnamed =
			q->head == HEAD_REFINE || !q->a.has_file || (q->has_b && !q->b.has_file);
		if (!s->statements[i].is_let && has_unnamed)
			return true;
	}
	return false;
}

static int choose_files(struct asking *a, bool is_quiet)
{
	struct err e = {0};
	a->files = a->ask->files;
	a->file_count = a->ask->file_count;
	if (a->file_count || (a->script && !needs_default_file(a->script)))
		return CMD_OK;
	if (newest_profile(".", &a->newest, &e))
		return is_quiet ? CMD_UNREADABLE : cmd_fail_to_read(&e);
	a->only_newest = a->newest;
	a->files = &a->only_newest;
	a->file_count = 1;
	if (!is_quiet)
		say("newest profile here: ", a->newest);
	return CMD_OK;
}

static int open_session(struct asking *a, bool is_quiet)
{
	const struct query_options options = {.is_strict = a->ask->is_strict,
					      .open = exchange_open,
					      .cursor_ns = UINT64_MAX,
					      .wrappers = a->ask->settings.wrappers};
	struct err e = {0};
	int status = choose_files(a, is_quiet);
	if (status)
		return status;
	enum neap_err code = query_session_new(&options, &a->session, &e);
	for (size_t i = 0; !code && i < a->file_count; i++)
		code = query_session_open(a->session, a->files[i], &e);
	if (!code)
		return CMD_OK;
	return is_quiet ? CMD_UNREADABLE : cmd_fail_to_read(&e);
}

static void asking_release(struct asking *a)
{
	if (a->debuginfod && *debuginfod_trouble(a->debuginfod))
		say("note: ", debuginfod_trouble(a->debuginfod));
	debuginfod_free(a->debuginfod);
	query_session_free(a->session);
	query_script_free(a->script);
	mem_free(a->newest);
}

/* ---- sources -------------------------------------------------------------------------- */

static void note_fetching(void *context, const char *what, uint64_t done_bytes, uint64_t all_bytes)
{
	struct asking *a = context;
	(void)done_bytes;
	(void)all_bytes;
	if (a->has_said_fetching)
		return;
	a->has_said_fetching = true;
	say("asking debuginfod for ", what);
}

/* Opened when the first file is missing. */
static int fetch_source(void *context, const uint8_t *build_id, size_t build_id_bytes,
			const char *path)
{
	struct asking *a = context;
	const struct debuginfod_options options = {
		.progress = note_fetching, .context = a, .patience_ms = SOURCE_PATIENCE_MS};
	struct err e;
	if (!a->has_tried_debuginfod && debuginfod_new(&options, &a->debuginfod, &e))
		say("note: ", e.text);
	a->has_tried_debuginfod = true;
	return a->debuginfod
		       ? debuginfod_fetch_source(a->debuginfod, build_id, build_id_bytes, path)
		       : -1;
}

/* ---- results --------------------------------------------------------------------------- */

static int write_result(struct asking *a, size_t i, const struct query_result *r)
{
	const struct ask *ask = a->ask;
	size_t width = ask->width_cols ? ask->width_cols : screen_width();
	const struct out_options o = {
		.width_cols = r->to_file && !ask->width_cols ? FILE_WIDTH_COLS : width,
		.has_colour = !r->to_file && screen_has_colour(ask->colour),
		.is_utf8 = screen_is_utf8(),
		.files = a->files,
		.file_count = a->file_count,
		.sources = &ask->settings.sources,
		.fetch_source = debuginfod_is_set_up() ? fetch_source : NULL,
		.fetch_context = a,
	};
	bool is_for_people = r->format == FORMAT_TABLE || r->format == FORMAT_MARKDOWN;
	struct buf out = {0};
	struct err e = {0};
	enum neap_err code = NEAP_OK;
	if (!r->to_file && is_for_people && a->result_count++)
		buf_putc(&out, '\n');
	code = compose_write(a->session, a->script, i, r, &o, &out, &e);
	if (!code && r->to_file)
		code = save_file(r->to_file, out.count_bytes ? out.data : "", out.count_bytes, &e);
	else if (!code && out.count_bytes)
		fwrite(out.data, 1, out.count_bytes, stdout);
	if (!code && !out.count_bytes)
		say("note: ", "nothing matches, so that nothing is written");
	buf_release(&out);
	return code ? fail_result(&e) : CMD_OK;
}

static int judge(const struct asking *a, const struct query_result *r)
{
	if (r->has_assertion && !r->assertion_holds) {
		struct buf totals = {0};
		out_totals(r, &totals);
		say("assertion failed: ", r->assertion_text ? r->assertion_text : "");
		if (totals.count_bytes && !totals.has_failed)
			say("it is: ", totals.data);
		buf_release(&totals);
		return ASK_ASSERTION_FAILED;
	}
	if (r->is_incomplete && a->ask->is_strict) {
		say("", "the profile is incomplete, as the notes say; without --strict that is "
			"status 0");
		return ASK_INCOMPLETE;
	}
	return CMD_OK;
}

/* A failed assertion is an answer: what follows still runs.  After an error it does not. */
static int run_statement(struct asking *a, size_t i, bool *is_answered)
{
	struct query_result *r = NULL;
	struct query_error error = {0};
	if (query_run(a->session, a->script, i, &r, &error))
		return fail_query(a, &error);
	for (size_t k = 0; k < r->note_count; k++)
		say("note: ", r->notes[k]);
	int status = write_result(a, i, r);
	if (!status) {
		*is_answered = true;
		fflush(stdout);
		status = judge(a, r);
	}
	query_result_free(r);
	return status;
}

/* ---- plans ----------------------------------------------------------------------------- */

#define STEP_FIELDS 3 /* words, cohorts or rows, bytes: with tabs between */

struct step_line {
	const char *at[STEP_FIELDS];
	size_t bytes[STEP_FIELDS];
	size_t count;
};

/* The next line; false at the end.  The query itself is a line of one field. */
static bool next_step(const char **text, struct step_line *out)
{
	const char *p = *text;
	out->count = 0;
	if (!*p)
		return false;
	while (out->count < STEP_FIELDS) {
		size_t bytes = strcspn(p, out->count + 1 < STEP_FIELDS ? "\t\n" : "\n");
		out->at[out->count] = p;
		out->bytes[out->count++] = bytes;
		p += bytes;
		if (*p != '\t')
			break;
		p++;
	}
	*text = p + (*p == '\n');
	return true;
}

/* Words to the left, numbers to the right. */
static void print_steps(const char *text)
{
	struct step_line line;
	size_t cols[STEP_FIELDS] = {0};
	for (const char *p = text; next_step(&p, &line);) {
		for (size_t i = 0; line.count > 1 && i < line.count; i++) {
			size_t width = fmt_width(line.at[i], line.bytes[i]);
			cols[i] = width > cols[i] ? width : cols[i];
		}
	}
	for (const char *p = text; next_step(&p, &line); putchar('\n')) {
		for (size_t i = 0; i < line.count; i++) {
			size_t width = fmt_width(line.at[i], line.bytes[i]);
			int pad = line.count > 1 && width < cols[i] ? (int)(cols[i] - width) : 0;
			printf("%s%*s", i ? "  " : "", i ? pad : 0, "");
			fwrite(line.at[i], 1, line.bytes[i], stdout);
			printf("%*s", i ? 0 : pad, "");
		}
	}
}

static int explain_statement(struct asking *a, size_t i, bool *is_answered)
{
	struct buf out = {0};
	struct query_error error = {0};
	int status = CMD_OK;
	if (query_explain(a->session, a->script, i, &out, &error))
		status = fail_query(a, &error);
	else if (out.count_bytes)
		print_steps(out.data);
	*is_answered = !status;
	buf_release(&out);
	return status;
}

/* With two files, a query that is no diff is hardly meant; one that names its file is. */
static void note_unused(const struct asking *a)
{
	for (size_t i = 0; a->file_count > 1 && i < a->script->statement_count; i++) {
		const struct ast_query *q = &a->script->statements[i].query;
		bool is_plain = !a->script->statements[i].is_let && q->head == HEAD_SOURCE;
		if (!is_plain || q->a.has_file)
			continue;
		screen_say("note: only `diff` compares two files; the first alone is asked: ",
			   a->text + q->span.start, q->span.bytes);
		return;
	}
}

static int run_statements(struct asking *a)
{
	int worst = CMD_OK;
	note_unused(a);
	for (size_t i = 0; i < a->script->statement_count; i++) {
		if (a->script->statements[i].is_let)
			continue;
		bool is_answered = false;
		int status = a->ask->is_explaining ? explain_statement(a, i, &is_answered)
						   : run_statement(a, i, &is_answered);
		if (!is_answered)
			return status;
		if (status && worst != ASK_ASSERTION_FAILED)
			worst = status;
	}
	return worst;
}

static bool has_query(const struct ast_script *s)
{
	for (size_t i = 0; i < s->statement_count; i++) {
		if (!s->statements[i].is_let)
			return true;
	}
	return false;
}

static int parse(struct asking *a)
{
	struct query_error error = {0};
	if (query_parse(a->text, a->bytes, &a->script, &error))
		return fail_query(a, &error);
	if (has_query(a->script))
		return CMD_OK;
	fprintf(stderr,
		"neap: there is no query in '%s'; for example: "
		"live | by func | top 20\n",
		a->name);
	return CMD_USAGE;
}

int ask_run(const struct ask *ask, const char *name, const char *text, size_t bytes)
{
	struct asking a = {.ask = ask, .name = name, .text = text, .bytes = bytes};
	int status = parse(&a);
	if (!status)
		status = open_session(&a, false);
	if (!status)
		status = run_statements(&a);
	asking_release(&a);
	return cmd_finish(status);
}

int ask_run_made(const struct ask *ask, const struct buf *text)
{
	struct err e = {0};
	if (text->has_failed) {
		err_nomem(&e, "the query");
		return cmd_fail(&e);
	}
	return ask_run(ask, "query", text->data, text->count_bytes);
}

#define FILES_MOST 2

int ask_check_files(const struct cmd *c, int count, char *const *files)
{
	if (count <= FILES_MOST)
		return CMD_OK;
	return cmd_bad_usage(c, "two files at most, but '%s' is a third; is the query in quotes?",
			     files[FILES_MOST]);
}

static const char *population_to_show(const struct query_session *s)
{
	uint64_t unknown = 0;
	for (size_t i = 0; i < s->named_count; i++) {
		const struct profile *p = s->files[i]->p;
		unknown |= p->has_source ? p->source.unknown : 0;
	}
	if (!(unknown & FACT_PEAK))
		return "peak";
	return unknown & FACT_LIVE ? "allocated" : "live";
}

int ask_run_default(const struct ask *ask,
		    void (*write)(void *arg, const char *population, struct buf *text), void *arg)
{
	struct asking a = {.ask = ask, .name = "query"};
	struct buf text = {0};
	struct err e = {0};
	int status = open_session(&a, false);
	if (!status) {
		write(arg, population_to_show(a.session), &text);
		a.text = text.data;
		a.bytes = text.count_bytes;
		if (!text.has_failed)
			status = parse(&a);
		else if (err_nomem(&e, "the query"))
			status = cmd_fail(&e);
	}
	if (!status)
		status = run_statements(&a);
	asking_release(&a);
	buf_release(&text);
	return cmd_finish(status);
}

/* ---- completion --------------------------------------------------------------------------- */

struct naming {
	struct asking *a;
	const char *prefix;
	size_t prefix_bytes;
	void (*emit)(void *emit_arg, const char *name);
	void *emit_arg;
};

static void emit_rows(const struct naming *n, const struct query_result *r)
{
	for (size_t row = 0; row < r->row_count; row++) {
		for (size_t c = 0; c < r->column_count; c++) {
			const char *text = r->cells[row * r->column_count + c].text;
			if (r->columns[c].is_key && text &&
			    !strncmp(text, n->prefix, n->prefix_bytes))
				n->emit(n->emit_arg, text);
		}
	}
}

/* Names are found by a query, the heaviest first. */
static void list_names(void *arg, enum ast_field field, const char *prefix, size_t bytes,
		       void (*emit)(void *emit_arg, const char *name), void *emit_arg)
{
	static const char *const queries[FIELD_COUNT] = {
		[FIELD_FUNC] = "allocated | by func | sort total desc",
		[FIELD_FILE] = "allocated | by file | sort total desc",
		[FIELD_MODULE] = "allocated | by module | sort total desc",
		[FIELD_THREAD] = "allocated | by thread | sort total desc",
		[FIELD_API] = "allocated | by api | sort total desc",
		[FIELD_TYPE] = "allocated | by type | sort total desc",
	};
	struct naming n = {arg, prefix, bytes, emit, emit_arg};
	struct ast_script *script = NULL;
	struct query_result *r = NULL;
	struct query_error error;
	const char *query = field < FIELD_COUNT ? queries[field] : NULL;
	if (!query || !n.a->session)
		return;
	if (!query_parse(query, strlen(query), &script, &error) &&
	    !query_run(n.a->session, script, 0, &r, &error))
		emit_rows(&n, r);
	query_result_free(r);
	query_script_free(script);
}

int ask_complete(const struct ask *ask, const char *text)
{
	struct asking a = {.ask = ask};
	struct query_names names = {.list = list_names, .arg = &a};
	struct buf out = {0};
	struct err e = {0};
	if (open_session(&a, true)) { /* then without names */
		query_session_free(a.session);
		a.session = NULL;
	}
	enum neap_err code = query_complete(text, strlen(text), &names, &out, &e);
	if (!code && out.count_bytes)
		fwrite(out.data, 1, out.count_bytes, stdout);
	buf_release(&out);
	asking_release(&a);
	return code ? cmd_fail(&e) : cmd_finish(CMD_OK);
}
