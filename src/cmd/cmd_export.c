/* neap export: an answer as a file of another tool. */
#include "config.h"

#include "query/parse.h"
#include "query/vocab.h"
#include "src/base/buf.h"
#include "src/cmd/ask.h"
#include "src/cmd/cmd.h"
#include "src/cmd/formats.h"
#include "src/cmd/setting.h"
#include "src/exchange/exchange.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum option_id {
	OPT_FORMAT = 256,
	OPT_FORMATS,
	OPT_STRICT
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, OPT_FORMAT},
	{"formats", no_argument, NULL, OPT_FORMATS},
	{"strict", no_argument, NULL, OPT_STRICT},
	{SETTING_WRAPPER},
	OPTION_HELP,
	{NULL, 0, NULL, 0},
};

struct exporting {
	struct ask ask;
	const char *output; /* NULL: standard output */
	enum exchange_format format;
};

/* ---- formats ------------------------------------------------------------------------- */

static bool is_end(const char *path, const char *end, size_t end_bytes)
{
	size_t bytes = strlen(path);
	return bytes > end_bytes && !memcmp(path + bytes - end_bytes, end, end_bytes);
}

/* One of the usual names of a format: ".svg", or "massif.out.PID". */
static bool fits_name(const char *path, const char *suffix, size_t bytes)
{
	static const char pid[] = ".PID";
	if (*suffix == '.')
		return is_end(path, suffix, bytes);
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t stem = bytes > strlen(pid) ? bytes - strlen(pid) : bytes;
	return !strncmp(name, suffix, stem);
}

static bool fits_format(const char *path, const struct exchange_format_info *f)
{
	for (const char *p = f->suffixes; *p;) {
		size_t bytes = strcspn(p, " ");
		if (bytes && fits_name(path, p, bytes))
			return true;
		p += bytes + (p[bytes] == ' ');
	}
	return false;
}

/* What a file of this name usually is; EXCHANGE_ANY if nothing that can be written. */
static enum exchange_format format_of_name(const char *path)
{
	for (int i = 0; i < EXCHANGE_FORMAT_COUNT; i++) {
		const struct exchange_format_info *f =
			exchange_format_info((enum exchange_format)i);
		if (f->can_write && fits_format(path, f))
			return (enum exchange_format)i;
	}
	return EXCHANGE_ANY;
}

static int take_format(const char *name, struct exporting *ex)
{
	ex->format = exchange_format_find(name);
	if (ex->format != EXCHANGE_ANY && exchange_format_info(ex->format)->can_write)
		return CMD_OK;
	return cmd_bad_usage(&cmd_export, "'%s' is no format that neap can write; %s", name,
			     "neap export --formats lists them");
}

/* ---- arguments ------------------------------------------------------------------------- */

static int take_option(int option, const char *value, void *request)
{
	struct exporting *ex = request;
	switch (option) {
	case 'o':
		ex->output = strcmp(value, "-") != 0 ? value : NULL;
		return CMD_OK;
	case OPT_FORMAT:
		return take_format(value, ex);
	case OPT_STRICT:
		ex->ask.is_strict = true;
		return CMD_OK;
	case OPT_FORMATS: {
		int status = print_formats(true);
		return status ? status : CMD_DONE;
	}
	default:
		return setting_take(&cmd_export, &ex->ask.settings, option, value);
	}
}

/* A query has more than one word or begins with a population; a file called so needs a slash. */
static bool is_query(const char *arg)
{
	size_t bytes = strcspn(arg, " \t\n|;");
	return (strpbrk(arg, "| \t\n") && access(arg, F_OK) != 0) ||
	       vocab_find(&vocab_populations, arg, bytes);
}

static int choose_format(struct exporting *ex)
{
	if (ex->format == EXCHANGE_ANY && ex->output)
		ex->format = format_of_name(ex->output);
	if (ex->format == EXCHANGE_ANY && ex->output)
		return cmd_bad_usage(&cmd_export,
				     "which format is '%s'?  Say --format=NAME; neap export "
				     "--formats lists them",
				     ex->output);
	if (ex->format == EXCHANGE_ANY)
		return cmd_bad_usage(&cmd_export, "say where to: -o NAME.html, -o NAME.svg, -o "
						  "NAME.pb.gz, ...; neap export --formats lists "
						  "what there is");
	if (ex->format == EXCHANGE_PPROF && !ex->output && isatty(STDOUT_FILENO))
		return cmd_bad_usage(&cmd_export, "'pprof' is no text for a terminal: add -o FILE");
	return CMD_OK;
}

/* ---- running ----------------------------------------------------------------------------- */

static void put_quoted(struct buf *out, const char *s)
{
	buf_putc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_putc(out, '\\');
		if (*s == '\n')
			buf_puts(out, "\\n");
		else
			buf_putc(out, *s);
	}
	buf_putc(out, '"');
}

static void put_format(const struct exporting *ex, struct buf *text)
{
	buf_printf(text, "\n| as %s", exchange_format_info(ex->format)->name); /* behind comments */
	if (ex->output) {
		buf_puts(text, " to ");
		put_quoted(text, ex->output);
	}
}

static void default_query(void *arg, const char *population, struct buf *text)
{
	const struct exporting *ex = arg;
	buf_printf(text, "%s%s%s", ex->ask.file_count == 2 ? "diff " : "", population,
		   ex->format == EXCHANGE_SVG ? " | flame" : "");
	put_format(ex, text);
}

/* What cannot be parsed is said when it is run. */
static int check_single(const char *query, size_t bytes)
{
	struct query_error error;
	struct ast_script *script = NULL;
	size_t query_count = 0;
	if (query_parse(query, bytes, &script, &error))
		return CMD_OK;
	for (size_t i = 0; i < script->statement_count; i++)
		query_count += !script->statements[i].is_let;
	query_script_free(script);
	if (query_count < 2)
		return CMD_OK;
	return cmd_bad_usage(&cmd_export, "a file holds the answer to one query, and these are %zu",
			     query_count);
}

static int ask_for(struct exporting *ex, const char *query)
{
	struct buf text = {0};
	if (!query)
		return ask_run_default(&ex->ask, default_query, ex);
	size_t bytes = strlen(query);
	while (bytes && strchr(" \t\n;", query[bytes - 1]))
		bytes--;
	int status = check_single(query, bytes);
	if (status)
		return status;
	buf_put(&text, query, bytes);
	put_format(ex, &text);
	status = ask_run_made(&ex->ask, &text);
	buf_release(&text);
	return status;
}

static int run_on(struct exporting *ex, int count, char **args)
{
	const char *query = count && is_query(args[count - 1]) ? args[count - 1] : NULL;
	count -= query != NULL;
	int status = ask_check_files(&cmd_export, count, args);
	if (!status)
		status = choose_format(ex);
	ex->ask.files = (const char *const *)args;
	ex->ask.file_count = (size_t)count;
	return status ? status : ask_for(ex, query);
}

static int run(int argc, char **argv)
{
	struct exporting ex = {.format = EXCHANGE_ANY};
	const struct option_reader reader = {&cmd_export, ":ho:", long_options, take_option};
	int status = options_read(&reader, argc, argv, &ex);
	if (!status)
		status = setting_load(&ex.ask.settings);
	if (!status)
		status = run_on(&ex, argc - optind, argv + optind);
	settings_release(&ex.ask.settings);
	return status;
}

static const char usage[] =
	"Usage: neap export [OPTION]... [FILE [NEW]] ['QUERY'] -o OUT\n"
	"\n"
	"Write a profile, or the answer to a query, as a file of another tool.\n"
	"\n"
	"  neap export -o report.html                 a page with charts, tables, flame graph\n"
	"  neap export server.neap -o heap.pb.gz      for pprof: allocated, in use, peak\n"
	"  neap export 'leaked | flame' -o leaks.svg  a picture\n"
	"  neap export old.neap new.neap 'diff peak | flame' -o grown.svg\n"
	"\n"
	"The name of OUT says which format.  Without QUERY it is what was live at the peak,\n"
	"or at the end where a file of another tool does not know the peak;\n"
	"without FILE the newest *.neap of this directory.\n"
	"\n"
	"  -o, --output=OUT      where to (- is standard output)\n"
	"      --format=NAME     when the name of OUT does not say it\n"
	"      --formats         list formats and the names of their files\n"
	"      --strict          names that match nothing are errors; an incomplete profile\n"
	"                        ends with status 4\n"
	"      --wrapper=REGEX   functions that only hand out memory for their callers\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 done, 1 an assertion failed, 2 the query or the usage is wrong,\n"
	"3 a file can't be read, 4 the profile is incomplete (under --strict).\n";

const struct cmd cmd_export = {
	.name = "export",
	.summary = "write a profile for another tool",
	.usage = usage,
	.run = run,
};
