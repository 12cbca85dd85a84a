/* neap query: ask a profile. */
#include "config.h"

#include "query/vocab.h"
#include "src/base/buf.h"
#include "src/base/limits.h"
#include "src/cmd/ask.h"
#include "src/cmd/cmd.h"
#include "src/cmd/setting.h"
#include "src/cmd/vocabulary.h"
#include "src/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum option_id {
	OPT_EXPLAIN = 256,
	OPT_STRICT,
	OPT_FIELDS,
	OPT_FORMATS,
	OPT_POPULATIONS,
	OPT_COMPLETE
};

struct request {
	struct ask ask;
	const char *script;   /* -f */
	const char *complete; /* --complete */
};

static const struct option long_options[] = {
	{"file", required_argument, NULL, 'f'},
	{"explain", no_argument, NULL, OPT_EXPLAIN},
	{"strict", no_argument, NULL, OPT_STRICT},
	{"fields", no_argument, NULL, OPT_FIELDS},
	{"formats", no_argument, NULL, OPT_FORMATS},
	{"populations", no_argument, NULL, OPT_POPULATIONS},
	{"complete", required_argument, NULL, OPT_COMPLETE},
	OPTION_COLOUR,
	OPTION_WIDTH,
	{SETTING_WRAPPER},
	{SETTING_SOURCE_PATH},
	OPTION_HELP,
	{NULL, 0, NULL, 0},
};

/* The words of the language. */
static int list(int option)
{
	if (option == OPT_FIELDS)
		vocabulary_fields();
	else if (option == OPT_FORMATS)
		vocabulary_formats();
	else
		vocabulary_populations();
	int status = cmd_finish(CMD_OK);
	return status ? status : CMD_DONE;
}

static int take_option(int option, const char *value, void *request)
{
	struct request *r = request;
	switch (option) {
	case 'f':
		r->script = value;
		return CMD_OK;
	case OPT_EXPLAIN:
		r->ask.is_explaining = true;
		return CMD_OK;
	case OPT_STRICT:
		r->ask.is_strict = true;
		return CMD_OK;
	case OPT_COMPLETE:
		r->complete = value;
		return CMD_OK;
	case OPT_COLOUR:
		return option_colour(&cmd_query, value, &r->ask.colour);
	case OPT_WIDTH:
		return option_width(&cmd_query, value, &r->ask.width_cols);
	case OPT_WRAPPER:
	case OPT_SOURCE_PATH:
		return setting_take(&cmd_query, &r->ask.settings, option, value);
	default:
		return list(option);
	}
}

/* ---- which argument is what ------------------------------------------------------------ */

/* A query can be a single word; a file that is called so needs a slash. */
static bool is_word_of_query(const char *arg)
{
	size_t bytes = strlen(arg);
	return vocab_find(&vocab_populations, arg, bytes) ||
	       vocab_find(&vocab_stages, arg, bytes) || vocab_find(&vocab_views, arg, bytes);
}

/* An existing file with a name that no query is; also one that cannot be looked at. */
static bool is_file(const char *arg)
{
	struct stat st;
	if (!strcmp(arg, "-") || strpbrk(arg, "| \t\n") || is_word_of_query(arg))
		return false;
	if (!stat(arg, &st))
		return !S_ISDIR(st.st_mode);
	return errno == EIO || errno == EACCES || errno == ESTALE || errno == EOVERFLOW;
}

static int check_arguments(int count, char **args)
{
	if (!count)
		return cmd_bad_usage(&cmd_query, "no query; for example: neap query '%s'",
				     "live | by func | top 20");
	const char *query = args[count - 1];
	if (is_file(query) && count > 1 && !is_file(args[0]))
		return cmd_bad_usage(&cmd_query, "the query comes last: neap query %s '%s'", query,
				     args[0]);
	if (is_file(query))
		return cmd_bad_usage(&cmd_query,
				     "'%s' is a file, and there is no query; for example: "
				     "neap query %s 'live | by func | top 20'",
				     query, query);
	return CMD_OK;
}

/* `-f SCRIPT` stands for the query. */
static int check_script(int count, char **args)
{
	const char *last = count ? args[count - 1] : "";
	struct stat st;
	if (!is_word_of_query(last) && (!strpbrk(last, "| \t\n") || !stat(last, &st)))
		return CMD_OK;
	return cmd_bad_usage(&cmd_query, "a query or a script, not both: -f and '%s'", last);
}

/* ---- scripts ------------------------------------------------------------------------------ */

static enum neap_err read_stream(FILE *in, const char *name, struct buf *out, struct err *e)
{
	char part[4096];
	size_t got;
	while ((got = fread(part, 1, sizeof part, in))) {
		buf_put(out, part, got);
		if (out->count_bytes > LIMIT_QUERY_BYTES)
			return err_set(e, ERR_USAGE, "'%s' is longer than 64 KiB: no query", name);
	}
	if (ferror(in))
		return err_sys(e, errno, "read", name);
	return out->has_failed ? err_nomem(e, "the query") : NEAP_OK;
}

/* Some editors put a mark of UTF-8 in front. */
static int run_text(const struct request *r, const char *name, const struct buf *text)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t mark_bytes = strlen(mark);
	bool has_mark = text->count_bytes >= mark_bytes && !memcmp(text->data, mark, mark_bytes);
	size_t from = has_mark ? mark_bytes : 0;
	return ask_run(&r->ask, name, text->count_bytes ? text->data + from : "",
		       text->count_bytes - from);
}

static int run_stream(const struct request *r, const char *name)
{
	struct err e = {0};
	struct buf text = {0};
	bool is_stdin = !strcmp(name, "-");
	FILE *in = is_stdin ? stdin : fopen(name, "re");
	enum neap_err code = in ? read_stream(in, is_stdin ? "stdin" : name, &text, &e)
				: err_sys(&e, errno, "read", name);
	if (in && !is_stdin)
		fclose(in);
	int status = code == ERR_IO ? cmd_fail_to_read(&e) : code ? cmd_fail(&e) : CMD_OK;
	if (!status)
		status = run_text(r, is_stdin ? "stdin" : name, &text);
	buf_release(&text);
	return status;
}

static int run_on(struct request *r, int count, char **args)
{
	bool has_query = !r->script && !r->complete;
	int status = has_query   ? check_arguments(count, args)
		     : r->script ? check_script(count, args)
				 : CMD_OK;
	if (!status)
		status = ask_check_files(&cmd_query, count - has_query, args);
	if (status)
		return status;
	r->ask.files = (const char *const *)args;
	r->ask.file_count = (size_t)(count - has_query);
	if (r->complete)
		return ask_complete(&r->ask, r->complete);
	if (r->script)
		return run_stream(r, r->script);
	const char *query = args[count - 1];
	if (!strcmp(query, "-"))
		return run_stream(r, query);
	return ask_run(&r->ask, "query", query, strlen(query));
}

static int run(int argc, char **argv)
{
	struct request r = {.script = NULL};
	const struct option_reader reader = {&cmd_query, ":hf:", long_options, take_option};
	int status = options_read(&reader, argc, argv, &r);
	if (!status)
		status = setting_load(&r.ask.settings);
	if (!status)
		status = run_on(&r, argc - optind, argv + optind);
	settings_release(&r.ask.settings);
	return status;
}

static const char usage[] =
	"Usage: neap query [OPTION]... [FILE [NEW]] 'QUERY'\n"
	"       neap query [OPTION]... [FILE [NEW]] -f SCRIPT\n"
	"\n"
	"Ask a profile: a population of memory blocks, conditions, and stages between bars.\n"
	"\n"
	"  neap query 'peak | by func | top 20'        who holds the memory at the peak\n"
	"  neap query 'leaked module=libjson.so | tree'\n"
	"  neap query server.neap 'growth in 10s..end | by file,line | top 10'\n"
	"  neap query old.neap new.neap 'diff leaked | by func'\n"
	"  neap query 'peak | assert total < 512MiB \"too much memory\"'\n"
	"\n"
	"Without FILE the newest *.neap of this directory is meant.  The query comes last;\n"
	"`-` reads it from stdin.  neap-query(7) explains the language.\n"
	"\n"
	"  -f, --file=SCRIPT     queries from a file (- is stdin), separated by ; or newlines\n"
	"      --explain         the plan, with rows and bytes after each step\n"
	"      --strict          names that match nothing are errors; an incomplete profile\n"
	"                        ends with status 4\n"
	"      --fields          list fields, keys, columns and quantifiers\n"
	"      --formats         list output formats\n"
	"      --populations     list populations\n"
	"      --complete=TEXT   what may follow this beginning of a query\n"
	"      --wrapper=REGEX   functions that only hand out memory for their callers\n"
	"      --source-path=FROM=TO\n"
	"                        sources below FROM are below TO now, for `source`\n"
	"      --color=WHEN      auto (default), always or never\n"
	"      --width=COLS      columns of a line (default: the terminal's, 100 elsewhere)\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 done, 1 an assertion failed, 2 the query or the usage is wrong,\n"
	"3 a file can't be read, 4 the profile is incomplete (under --strict).\n";

const struct cmd cmd_query = {
	.name = "query",
	.summary = "ask a profile a question",
	.usage = usage,
	.run = run,
};
