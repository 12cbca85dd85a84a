/* neap import: a profile of another tool becomes one of ours. */
#include "config.h"

#include "src/base/buf.h"
#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/cmd/cmd.h"
#include "src/cmd/formats.h"
#include "src/cmd/options.h"
#include "src/cmd/screen.h"
#include "src/exchange/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX      ".neap"
#define MOST_NUMBER 99999u
#define SAY_FROM_NS 500000000u /* nothing is shown of what is done sooner */
#define SAY_EACH_NS 100000000u

enum option_id {
	OPT_FORMAT = 256,
	OPT_FORMATS,
	OPT_FORCE
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, OPT_FORMAT},
	{"formats", no_argument, NULL, OPT_FORMATS},
	{"force", no_argument, NULL, OPT_FORCE},
	OPTION_HELP,
	{NULL, 0, NULL, 0},
};

struct importing {
	const char *file, *output;
	enum exchange_format format;
	bool wants_overwrite;
	/* progress */
	bool has_line;
	uint64_t start_ns, said_ns;
	struct buf summary;
};

static int take_format(const char *name, struct importing *im)
{
	im->format = exchange_format_find(name);
	if (im->format != EXCHANGE_ANY && exchange_format_info(im->format)->can_read)
		return CMD_OK;
	return cmd_bad_usage(&cmd_import, "there is no format '%s' to import; --formats lists them",
			     name);
}

static int take_option(int option, const char *value, void *request)
{
	struct importing *im = request;
	switch (option) {
	case 'o':
		im->output = value;
		return CMD_OK;
	case OPT_FORMAT:
		return take_format(value, im);
	case OPT_FORMATS: {
		int status = print_formats(false);
		return status ? status : CMD_DONE;
	}
	default:
		im->wants_overwrite = true;
		return CMD_OK;
	}
}

static int parse(int argc, char **argv, struct importing *im)
{
	const struct option_reader reader = {&cmd_import, ":ho:", long_options, take_option};
	int status = options_read(&reader, argc, argv, im);
	if (status)
		return status;
	if (optind == argc)
		return cmd_bad_usage(&cmd_import, "which file?");
	if (argc - optind > 1)
		return cmd_bad_usage(&cmd_import, "one file at a time, '%s' is too much",
				     argv[optind + 1]);
	im->file = argv[optind];
	return CMD_OK;
}

/* ---- the name of the output ---------------------------------------------------------------------- */

static bool cut_suffix(struct buf *name, const char *suffix)
{
	size_t bytes = strlen(suffix);
	if (name->count_bytes <= bytes ||
	    strcasecmp(name->data + name->count_bytes - bytes, suffix) != 0)
		return false;
	name->count_bytes -= bytes;
	name->data[name->count_bytes] = '\0';
	return true;
}

/* What the file is called, without what says how it is packed and what is in it. */
static void put_stem(struct buf *name, const char *path)
{
	static const char *const packed[] = {".gz", ".zst", ".bz2", ".xz"};
	static const char *const kinds[] = {".pb",  ".speedscope.json", ".json",        ".heap",
					    ".ctf", ".folded",          ".heapprofile", ".pprof",
					    ".txt"};
	const char *slash = strrchr(path, '/');
	buf_puts(name, !strcmp(path, "-") ? "imported" : slash ? slash + 1 : path);
	if (name->has_failed)
		return;
	for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
		if (cut_suffix(name, packed[i]))
			break;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (cut_suffix(name, kinds[i]))
			break;
	}
}

static bool is_directory(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Without ".neap", which put_name adds again. */
static void put_wanted(const struct importing *im, struct buf *out)
{
	if (im->output && !is_directory(im->output)) {
		buf_puts(out, im->output);
		cut_suffix(out, SUFFIX);
		return;
	}
	struct buf stem = {0};
	put_stem(&stem, im->file);
	if (im->output)
		buf_printf(out, "%s%s", im->output,
			   im->output[strlen(im->output) - 1] == '/' ? "" : "/");
	buf_puts(out, stem.has_failed ? "" : stem.data);
	out->has_failed |= stem.has_failed;
	buf_release(&stem);
}

/* A new file: never over another one unless the user said so.  Descriptor, or -1 with errno. */
static int open_output(const struct importing *im, const struct buf *wanted, struct buf *path)
{
	struct stat st;
	if (im->output && !stat(im->output, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		buf_puts(path, im->output);
		return open(path->data, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	}
	for (unsigned number = 0; number <= MOST_NUMBER; number++) {
		buf_clear(path);
		if (number)
			buf_printf(path, "%s.%u%s", wanted->data, number, SUFFIX);
		else
			buf_printf(path, "%s%s", wanted->data, SUFFIX);
		if (path->has_failed) {
			errno = ENOMEM;
			return -1;
		}
		if (im->wants_overwrite)
			unlink(path->data);
		int fd = open(path->data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	errno = EEXIST;
	return -1;
}

/* ---- progress --------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool show_progress(void *arg, uint64_t done_bytes, uint64_t all_bytes)
{
	struct importing *im = arg;
	uint64_t now = now_ns();
	char done[FMT_BYTES], pct[FMT_BYTES];
	if (now - im->start_ns < SAY_FROM_NS || now - im->said_ns < SAY_EACH_NS)
		return false;
	im->said_ns = now;
	im->has_line = true;
	fprintf(stderr, "\r\033[Kneap: importing, %s",
		fmt_bytes(done, sizeof done, (int64_t)done_bytes));
	if (all_bytes)
		fprintf(stderr, ", %s",
			fmt_pct(pct, sizeof pct, (double)done_bytes, (double)all_bytes));
	fflush(stderr);
	return false;
}

static void end_progress(struct importing *im)
{
	if (im->has_line)
		fputs("\r\033[K", stderr);
	im->has_line = false;
}

/* ---- what became of it ---------------------------------------------------------------------------------- */

/* Names from the file: nothing in them reaches the terminal as a command. */
static void say_lines(const char *notes)
{
	while (*notes) {
		size_t bytes = strcspn(notes, "\n");
		screen_say("", notes, bytes);
		notes += bytes + (notes[bytes] == '\n');
	}
}

/* Said when the file is written: lines, kept until then. */
static void summarise(void *arg, const struct profile_source *s, snap_id snapshot_count,
		      uint32_t node_count)
{
	struct buf *out = &((struct importing *)arg)->summary;
	char snapshots[FMT_THINGS_BYTES], paths[FMT_THINGS_BYTES];
	buf_printf(out, "imported from %s%s%s%s, %s, %s%s\n", s->title, *s->producer ? " (" : "",
		   s->producer, *s->producer ? ")" : "",
		   fmt_things(snapshots, sizeof snapshots, snapshot_count, "snapshot"),
		   fmt_things(paths, sizeof paths, node_count, "call path"),
		   s->is_estimated ? ", estimated from samples" : "");
	if (s->unknown) {
		buf_puts(out, "not known: ");
		profile_facts_text(s->unknown, out);
		buf_putc(out, '\n');
	}
	buf_puts(out, s->notes);
}

static void say_summary(const struct importing *im, const char *path)
{
	struct buf first = {0};
	const char *lines = im->summary.count_bytes ? im->summary.data : "";
	buf_printf(&first, "%s: %s", path, lines);
	if (first.count_bytes)
		say_lines(first.data);
	buf_release(&first);
}

static int import_file(struct importing *im)
{
	struct buf wanted = {0}, path = {0};
	struct err e = {0};
	const struct exchange_options options = {
		.format = im->format,
		.on_progress = isatty(STDERR_FILENO) ? show_progress : NULL,
		.on_source = summarise,
		.arg = im,
	};
	put_wanted(im, &wanted);
	int fd = wanted.has_failed ? -1 : open_output(im, &wanted, &path);
	enum neap_err code = NEAP_OK;
	if (fd < 0)
		code = err_sys(&e, wanted.has_failed ? ENOMEM : errno, "make",
			       path.count_bytes ? path.data : "the profile");
	im->start_ns = now_ns();
	if (!code) {
		code = exchange_import(im->file, fd, path.data, &options, &e);
		end_progress(im);
		struct stat st;
		if (code && !stat(path.data, &st) && S_ISREG(st.st_mode))
			unlink(path.data);
	}
	if (!code)
		say_summary(im, path.data);
	buf_release(&im->summary);
	buf_release(&wanted);
	buf_release(&path);
	return code ? cmd_fail(&e) : CMD_OK;
}

static int run(int argc, char **argv)
{
	struct importing im = {.format = EXCHANGE_ANY};
	int status = parse(argc, argv, &im);
	return status ? status : cmd_finish(import_file(&im));
}

static const char usage[] =
	"Usage: neap import [OPTION]... FILE\n"
	"\n"
	"Turn a profile that another tool wrote into one of neap's.  `neap report`, `browse`,\n"
	"`query` and `diff` read such files directly too; imported once, they open faster.\n"
	"What the format does not know stays [unknown].  FILE may be packed by gzip, zstd,\n"
	"bzip2 or xz; - is standard input.\n"
	"\n"
	"  -o, --output FILE    name of the profile (default: as FILE, in this directory)\n"
	"      --format NAME    take FILE to be of this format (default: by its content)\n"
	"      --formats        list the formats\n"
	"      --force          replace an existing profile (default: use a numbered name)\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 the usage is wrong.\n";

const struct cmd cmd_import = {
	.name = "import",
	.summary = "read a profile of heaptrack, valgrind, pprof, ...",
	.usage = usage,
	.run = run,
};
