/* The builder of imported profiles: beginning, end, and what is said of the whole file. */
#include "config.h"

#include "src/exchange/import_priv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_INTERVAL_NS 10000000u
#define COHORTS_FIRST     500000u /* snapshots hold so many before intervals double */
#define ODD_SHOWN         4u
#define NOTE_BYTES        1024u

/* ---- failures ------------------------------------------------------------------------------ */

void import_fail(struct import *im, enum neap_err code, const char *fmt, ...)
{
	va_list ap;
	char text[ERR_TEXT_BYTES];
	if (im->err.code)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(&im->err, code, "%s", text);
}

void import_no_memory(struct import *im)
{
	if (!im->err.code)
		err_nomem(&im->err, "the imported profile");
}

bool import_has_failed(const struct import *im)
{
	return im->err.code != NEAP_OK;
}

struct input *import_input(const struct import *im)
{
	return im->in;
}

/* ---- the whole file ----------------------------------------------------------------------------- */

static const char *keep_text(struct import *im, const char *s, size_t bytes)
{
	const char *copy = arena_strndup(&im->arena, s, bytes);
	if (!copy)
		import_no_memory(im);
	return copy ? copy : "";
}

void import_argv(struct import *im, const char *const *argv, size_t count)
{
	const char **copy = arena_array(&im->arena, count + 1, sizeof *copy);
	if (!copy) {
		import_no_memory(im);
		return;
	}
	for (size_t i = 0; i < count; i++)
		copy[i] = keep_text(im, argv[i], strlen(argv[i]));
	im->run.argv = copy;
	im->run.argv_count = count;
}

void import_command(struct import *im, const char *text, size_t bytes)
{
	size_t most = bytes / 2 + 1, count = 0;
	const char **argv = arena_array(&im->arena, most + 1, sizeof *argv);
	char *copy = arena_strndup(&im->arena, text, bytes);
	if (!argv || !copy) {
		import_no_memory(im);
		return;
	}
	for (char *save = NULL, *word = strtok_r(copy, " \t", &save); word && count < most;
	     word = strtok_r(NULL, " \t", &save))
		argv[count++] = word;
	im->run.argv = argv;
	im->run.argv_count = count;
}

static const char *or_empty(struct import *im, const char *s)
{
	return s ? keep_text(im, s, strlen(s)) : "";
}

void import_process(struct import *im, const struct import_process *p)
{
	im->run.pid = p->pid;
	im->run.cpu_count = p->cpu_count;
	im->run.exe = or_empty(im, p->exe);
	im->run.cwd = or_empty(im, p->cwd);
	im->run.host = or_empty(im, p->host);
	im->run.kernel = or_empty(im, p->kernel);
	im->run.start_unix_ns = p->start_unix_ns;
	im->run.sample_bytes = p->sample_bytes;
}

void import_producer(struct import *im, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	im->producer = keep_text(im, text, strlen(text));
}

void import_time_unit(struct import *im, const char *unit)
{
	im->time_unit = keep_text(im, unit, strlen(unit));
}

void import_lacks(struct import *im, uint64_t facts)
{
	im->unknown |= facts;
}

void import_has(struct import *im, uint64_t facts)
{
	im->unknown &= ~facts;
}

void import_estimated(struct import *im)
{
	im->is_estimated = true;
}

/* ---- notes ---------------------------------------------------------------------------------------- */

static void add_note(struct import *im, const char *text)
{
	if (im->note_count >= IMPORT_NOTES_MOST)
		return;
	if (im->note_count++)
		buf_putc(&im->notes, '\n');
	buf_puts(&im->notes, text);
}

void import_note(struct import *im, const char *fmt, ...)
{
	char text[NOTE_BYTES];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	add_note(im, text);
}

void import_odd(struct import *im, const char *fmt, ...)
{
	char text[NOTE_BYTES / 2], line[NOTE_BYTES];
	va_list ap;
	if (im->odd_count++ >= ODD_SHOWN)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	uint64_t number = input_line_number(im->in);
	if (number)
		snprintf(line, sizeof line, "line %" PRIu64 ": %s", number, text);
	else
		snprintf(line, sizeof line, "byte %" PRIu64 ": %s", input_offset(im->in), text);
	add_note(im, line);
}

void import_partial(struct import *im, const char *fmt, ...)
{
	char text[NOTE_BYTES / 2];
	va_list ap;
	if (im->is_partial)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	im->is_partial = true;
	import_note(im, "the file ends too early: %s; what came before was imported", text);
}

void import_end(struct import *im, enum profile_end_kind kind, uint64_t time_ns)
{
	im->end = (struct profile_end){.kind = kind, .time_ns = time_ns, .reason = ""};
	im->has_end = true;
}

/* ---- begin and end --------------------------------------------------------------------------------- */

enum neap_err import_new(struct input *in, enum exchange_format format, int fd,
			 const char *out_path, const struct exchange_options *o,
			 struct import **out, struct err *e)
{
	*out = NULL;
	struct import *im = mem_zalloc(sizeof *im);
	if (!im)
		return err_nomem(e, "the import");
	*im = (struct import){
		.in = in,
		.format = format,
		.options = o,
		.run = {.tool = "neap " PACKAGE_VERSION},
		.unknown = FACT_ALL & ~exchange_format_info(format)->facts,
		.producer = "",
		.time_unit = "",
		.free_lot = LOT_NONE,
		.interval_ns = FIRST_INTERVAL_NS,
		.due_ns = FIRST_INTERVAL_NS,
		.cohort_most = COHORTS_FIRST,
	};
	enum neap_err code = profile_writer_new(fd, out_path, &im->run, &im->w, e);
	if (code) {
		mem_free(im);
		return code;
	}
	*out = im;
	return NEAP_OK;
}

static void import_free(struct import *im)
{
	import_names_release(im);
	mem_free(im->account_lines.block);
	mem_free(im->account_index.slots);
	mem_free(im->site_index.slots);
	mem_free(im->lot_lines.block);
	mem_free(im->names);
	mem_free(im->mixed);
	mem_free(im->dirty.bits);
	mem_free(im->dirty.words);
	mem_free(im->changes);
	mem_free(im->gone);
	buf_release(&im->notes);
	arena_release(&im->arena);
	mem_free(im);
}

void import_abandon(struct import *im)
{
	if (!im)
		return;
	profile_writer_close(im->w, NULL);
	import_free(im);
}

enum neap_err import_finish(struct import *im, struct err *e)
{
	if (im->is_booked || !im->snap)
		import_step(im, &im->last);
	if (!im->err.code)
		import_write_end(im);
	struct err own = im->err;
	struct err written = {0};
	enum neap_err code = profile_writer_close(im->w, &written);
	import_free(im);
	if (own.code) {
		if (e)
			*e = own;
		return own.code;
	}
	if (code && e)
		*e = written;
	return code;
}
