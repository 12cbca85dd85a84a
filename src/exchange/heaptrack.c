/*
 * heaptrack's interpreted data, file formats 0 to 3.
 *
 * A line is a letter, a blank, and fields; all numbers are hexadecimal.
 *
 *   v version format    X command     I page_size pages    S suppression   A attached
 *   s string            i ip module [function [file line {function file line}]]
 *   t ip parent         a size trace  + info   - info      c milliseconds  R pages
 *
 * Strings, instruction pointers and traces are numbered from 1, in the order of their lines, allocation infos from 0.
 * Format 0 has `+ size trace address` and `- address` instead of infos.
 *
 * As heaptrack does, a trace whose innermost frame is operator new counts as its caller's, and a block is
 * temporary if it is freed before anything else is allocated or freed.  (heaptrack_print also takes a free
 * of info 0 that follows another free as temporary, by mistake; the notes say how many.)  heaptrack_print takes
 * suppressed leaks off what it calls leaked; here nothing is suppressed.
 *
 * Facts from the sources and files of heaptrack 1.0 to 1.5.
 */
#include "config.h"

#include "src/exchange/exchange_priv.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <string.h>

#define FORMAT_LATEST  3u
#define NS_PER_MS      1000000u
#define NO_INFO        UINT64_MAX
#define INLINED_MOST   256u
#define ADDRESS_ABSENT UINT32_MAX

struct text_of { /* a string, and its id in each role it has had */
	const char *s;
	uint32_t bytes;
	func_id func;
	file_id file;
	mod_id module;
};

struct ip {
	frame_id frame;
	bool is_new; /* operator new */
};

/*
 * Births and deaths that were read but not booked yet, a ring.  What they need is on its way to the cache
 * meanwhile: their accounts at first, half way through what these point to.
 */
#define WAITING_MOST 32u
struct event {
	uint32_t info;
	bool is_birth;
};

struct heaptrack {
	struct input *in;
	struct import *im;
	unsigned format;
	bool has_version, has_events;
	struct arena arena;
	struct text_of *texts;
	size_t text_count, text_cap;
	struct ip *ips;
	size_t ip_count, ip_cap;
	node_id *nodes; /* by trace */
	size_t node_count, node_cap;
	account_id first_account; /* of info 0; the others follow */
	bool has_lost_account;    /* the import has failed, and will say so */
	size_t info_count;
	struct map live; /* format 0: account by address */

	struct event waiting[WAITING_MOST];
	unsigned waited_count, booked_count; /* ever, modulo 2^32 */
	uint64_t last; /* info (or address) allocated last, if nothing happened since */
	uint64_t quirk_count;
	uint64_t page_bytes;
	struct import_instant at;
	bool has_tick; /* `at` waits for the resident memory that follows */
	unsigned suppression_count;
};

/* ---- reading fields --------------------------------------------------------------------------- */

struct field {
	const char *p, *end;
};

/* Value of a digit; 16 for anything else, as the end of a line. */
static const uint8_t hex_digits[256] = {
#define X   16
#define X16 X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X
	X16, X16, X16, 0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   X,   X, X,
	X,   X,   X,   X16, X16, X,   10,  11,  12,  13,  14,  15,  X,   X,   X, X,
	X,   X,   X,   X,   X,   X16, X16, X16, X16, X16, X16, X16, X16, X16,
#undef X16
#undef X
};

/* A number and the blank after it.  False without one; more than 16 digits keep the last. */
static inline bool take_hex(struct field *f, uint64_t *out)
{
	const char *p = f->p;
	uint64_t v = 0;
	unsigned digit;
	while (p < f->end && (digit = hex_digits[(uint8_t)*p]) < 16) {
		v = v << 4 | digit;
		p++;
	}
	*out = v;
	if (p == f->p)
		return false;
	f->p = p + (p < f->end && *p == ' ');
	return true;
}

static enum neap_err bad_line(const struct heaptrack *h, const char *expected, struct err *e)
{
	return err_corrupt(e, "line %" PRIu64 " of '%s' is not what heaptrack writes: expected %s",
			   input_line_number(h->in), input_name(h->in), expected);
}

/* ---- names and stacks --------------------------------------------------------------------------- */

static enum neap_err read_string(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t bytes = (uint64_t)(f.end - f.p);
	if (h->format >= 3 && (!take_hex(&f, &bytes) || bytes > (uint64_t)(f.end - f.p)))
		return bad_line(h, "'s' with the length of a string and the string", e);
	const char *copy = arena_strndup(&h->arena, f.p, (size_t)bytes);
	if (!copy ||
	    !vec_reserve((void **)&h->texts, &h->text_cap, h->text_count + 1, sizeof *h->texts))
		return err_nomem(e, "heaptrack's strings");
	h->texts[h->text_count++] = (struct text_of){.s = copy, .bytes = (uint32_t)bytes};
	return NEAP_OK;
}

/* 0 is no string; NULL then and for numbers that are too high. */
static struct text_of *text_at(struct heaptrack *h, uint64_t number)
{
	return number && number <= h->text_count ? &h->texts[number - 1] : NULL;
}

static mod_id module_of(struct heaptrack *h, uint64_t number)
{
	struct text_of *t = text_at(h, number);
	if (t && !t->module)
		t->module = import_module(h->im, t->s, t->bytes);
	return t ? t->module : 0;
}

static struct profile_line line_of(struct heaptrack *h, uint64_t func, uint64_t file, uint64_t line)
{
	struct text_of *f = text_at(h, func), *p = text_at(h, file);
	if (f && !f->func)
		f->func = import_func(h->im, f->s, f->bytes);
	if (p && !p->file)
		p->file = import_file(h->im, p->s, p->bytes);
	return (struct profile_line){f ? f->func : 0, p ? p->file : 0,
				     line <= UINT32_MAX ? (uint32_t)line : 0};
}

static bool is_operator_new(const struct text_of *t)
{
	static const char *const names[] = {
		"operator new(unsigned long)",
		"operator new[](unsigned long)",
		"operator new(unsigned int)",
		"operator new[](unsigned int)",
	};
	for (size_t i = 0; t && i < sizeof names / sizeof names[0]; i++) {
		if (t->bytes == strlen(names[i]) && !memcmp(t->s, names[i], t->bytes))
			return true;
	}
	return false;
}

static enum neap_err read_ip(struct heaptrack *h, struct field f, struct err *e)
{
	struct profile_line lines[INLINED_MOST];
	struct import_frame frame = {.lines = lines};
	uint64_t ip, module, func, file, line, first_func = 0;
	if (!take_hex(&f, &ip) || !take_hex(&f, &module))
		return bad_line(h, "'i' with an instruction pointer and a module", e);
	while (frame.line_count < INLINED_MOST && take_hex(&f, &func)) {
		file = line = 0;
		if (!take_hex(&f, &file))
			file = 0;
		if (!take_hex(&f, &line))
			line = 0;
		if (!frame.line_count)
			first_func = func;
		lines[frame.line_count] = line_of(h, func, file, line);
		if (lines[frame.line_count].func)
			frame.line_count++;
	}
	frame.module = module_of(h, module);
	frame.pc = ip + 1; /* it is that of the call */
	if (!vec_reserve((void **)&h->ips, &h->ip_cap, h->ip_count + 1, sizeof *h->ips))
		return err_nomem(e, "heaptrack's instruction pointers");
	h->ips[h->ip_count++] = (struct ip){.frame = import_frame(h->im, &frame),
					    .is_new = is_operator_new(text_at(h, first_func))};
	return NEAP_OK;
}

static node_id node_of(const struct heaptrack *h, uint64_t trace)
{
	return trace ? h->nodes[trace - 1] : PROFILE_NODE_ROOT;
}

static enum neap_err read_trace(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t ip, parent;
	if (!take_hex(&f, &ip) || !take_hex(&f, &parent))
		return bad_line(h, "'t' with an instruction pointer and a trace", e);
	if (!ip || ip > h->ip_count || parent > h->node_count)
		return bad_line(h, "'t' with numbers of things that came before", e);
	if (!vec_reserve((void **)&h->nodes, &h->node_cap, h->node_count + 1, sizeof *h->nodes))
		return err_nomem(e, "heaptrack's traces");
	const struct ip *i = &h->ips[ip - 1];
	node_id node = node_of(h, parent);
	if (!i->is_new)
		node = import_node_new(h->im, node,
				       i->frame); /* heaptrack's own tree has none twice */
	h->nodes[h->node_count++] = node;
	return NEAP_OK;
}

static enum neap_err read_info(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t bytes, trace;
	if (!take_hex(&f, &bytes) || !take_hex(&f, &trace) || trace > h->node_count ||
	    bytes == PROFILE_SIZE_MIXED)
		return bad_line(h, "'a' with a size and a trace that came before", e);
	if (h->info_count >= UINT32_MAX)
		return bad_line(h, "fewer kinds of allocations", e);
	const struct import_account a = {.node = node_of(h, trace), .size_bytes = bytes};
	account_id account = import_account_new(h->im, &a);
	if (!h->info_count)
		h->first_account = account;
	h->has_lost_account |= !account;
	h->info_count++;
	return NEAP_OK;
}

/* ---- events ----------------------------------------------------------------------------------------- */

static enum neap_err is_raw(const struct heaptrack *h, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED,
		       "'%s' is raw data of heaptrack, without names: interpret it on the machine "
		       "where it was recorded, with /usr/lib/heaptrack/libexec/heaptrack_interpret "
		       "< RAW | gzip > heaptrack.gz (unpack RAW first), then import that",
		       input_name(h->in));
}

/* The tick waits one line for the memory that belongs to it. */
static void close_tick(struct heaptrack *h)
{
	h->has_tick = false;
	import_tick(h->im, &h->at);
}

static enum neap_err born_at_address(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t bytes, trace, address;
	if (!take_hex(&f, &bytes) || !take_hex(&f, &trace) || !take_hex(&f, &address) ||
	    trace > h->node_count || bytes == PROFILE_SIZE_MIXED)
		return bad_line(h, "'+' with a size, a trace that came before, and an address", e);
	const struct import_account a = {.node = node_of(h, trace), .size_bytes = bytes};
	account_id id = import_account(h->im, &a);
	uint32_t old = map_find(&h->live, address);
	if (old != MAP_ABSENT && old != 0) /* its free was not seen */
		import_died(h->im, old, 1, 0, 0);
	import_born(h->im, id, 1, 0);
	if (!map_put(&h->live, address, id))
		return err_nomem(e, "heaptrack's live blocks");
	h->last = address;
	return NEAP_OK;
}

static enum neap_err died_at_address(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t address;
	if (!take_hex(&f, &address))
		return bad_line(h, "'-' with an address", e);
	uint32_t id = map_find(&h->live, address);
	if (id != MAP_ABSENT && id != 0) {
		import_died(h->im, id, 1, 0, h->last == address);
		map_put(&h->live, address, 0); /* is there: cannot fail */
	}
	h->last = NO_INFO;
	return NEAP_OK;
}

static inline account_id account_of(const struct heaptrack *h, struct event event)
{
	return h->has_lost_account ? 0 : h->first_account + event.info;
}

static inline struct event *waiting_at(struct heaptrack *h, unsigned number)
{
	return &h->waiting[number % WAITING_MOST];
}

static inline void book_next(struct heaptrack *h)
{
	struct event event = *waiting_at(h, h->booked_count++);
	if (event.is_birth) {
		import_born(h->im, account_of(h, event), 1, 0);
		h->last = event.info;
		return;
	}
	import_died(h->im, account_of(h, event), 1, 0, h->last == event.info);
	h->quirk_count += h->last == NO_INFO && !event.info;
	h->last = NO_INFO;
}

/* In the order of the file, before anything else is done. */
static void book_waiting(struct heaptrack *h)
{
	while (h->booked_count != h->waited_count)
		book_next(h);
}

static inline void wait_for(struct heaptrack *h, uint64_t info, bool is_birth)
{
	struct event event = {(uint32_t)info, is_birth};
	unsigned count = h->waited_count - h->booked_count;
	if (count == WAITING_MOST)
		book_next(h);
	if (count >= WAITING_MOST / 2) {
		struct event half_way = *waiting_at(h, h->waited_count - WAITING_MOST / 2);
		if (!half_way.is_birth)
			import_touch_again(h->im, account_of(h, half_way));
	}
	import_touch(h->im, account_of(h, event));
	*waiting_at(h, h->waited_count++) = event;
}

static enum neap_err read_born(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t info, more;
	if (h->has_tick)
		close_tick(h);
	if (!h->format)
		return born_at_address(h, f, e);
	if (!take_hex(&f, &info))
		return bad_line(h, "'+' with the number of an 'a' that came before", e);
	if (f.p < f.end && take_hex(&f, &more))
		return is_raw(h, e);
	if (info >= h->info_count)
		return bad_line(h, "'+' with the number of an 'a' that came before", e);
	wait_for(h, info, true);
	return NEAP_OK;
}

static enum neap_err read_died(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t info;
	if (h->has_tick)
		close_tick(h);
	if (!h->format)
		return died_at_address(h, f, e);
	if (!take_hex(&f, &info) || info >= h->info_count)
		return bad_line(h, "'-' with the number of an 'a' that came before", e);
	wait_for(h, info, false);
	return NEAP_OK;
}

static enum neap_err read_time(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t ms;
	book_waiting(h);
	if (!take_hex(&f, &ms) || ms > UINT64_MAX / NS_PER_MS)
		return bad_line(h, "'c' with milliseconds", e);
	if (h->has_tick)
		close_tick(h);
	if (ms * NS_PER_MS >= h->at.time_ns)
		h->at.time_ns = ms * NS_PER_MS;
	h->has_tick = true;
	return NEAP_OK;
}

static enum neap_err read_resident(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t pages, bytes;
	if (!take_hex(&f, &pages))
		return bad_line(h, "'R' with a number of pages", e);
	if (!__builtin_mul_overflow(pages, h->page_bytes, &bytes) && bytes <= INT64_MAX)
		h->at.rss_bytes = bytes;
	if (h->has_tick)
		close_tick(h);
	return NEAP_OK;
}

/* ---- the whole file ---------------------------------------------------------------------------------- */

static enum neap_err read_version(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t version, format;
	if (h->has_version || !take_hex(&f, &version))
		return bad_line(h, "one 'v' with heaptrack's version", e);
	if (!take_hex(&f, &format))
		format = version == 0x10200 ? 1 : 0;
	if (format > FORMAT_LATEST)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' has heaptrack's file format %" PRIu64
			       "; neap reads formats 0 to 3 (heaptrack up to 1.5)",
			       input_name(h->in), format);
	h->format = (unsigned)format;
	h->has_version = true;
	import_producer(h->im, "heaptrack %" PRIu64 ".%" PRIu64 ".%" PRIu64, version >> 16,
			version >> 8 & 0xff, version & 0xff);
	return NEAP_OK;
}

static enum neap_err read_system(struct heaptrack *h, struct field f, struct err *e)
{
	uint64_t page_bytes;
	if (!take_hex(&f, &page_bytes) || !page_bytes || page_bytes > 1u << 30)
		return bad_line(h, "'I' with the size of a page", e);
	h->page_bytes = page_bytes;
	return NEAP_OK;
}

static enum neap_err read_odd(struct heaptrack *h, char type, struct field f, struct err *e)
{
	switch (type) {
	case 'S':
		h->suppression_count++;
		return NEAP_OK;
	case 'A':
		import_note(h->im, "heaptrack was attached to the running process: blocks from "
				   "before are not known");
		return NEAP_OK;
	case 'X':
		import_command(h->im, f.p, (size_t)(f.end - f.p));
		return NEAP_OK;
	case 'x': /* only raw data say where modules lie */
	case 'm':
		return is_raw(h, e);
	case '#':
		return NEAP_OK;
	default:
		import_odd(h->im, "heaptrack writes no lines with '%c'",
			   type > ' ' && type < 0x7f ? type : '?');
		return NEAP_OK;
	}
}

static enum neap_err read_line(struct heaptrack *h, const char *line, size_t bytes, struct err *e)
{
	struct field f = {line + (bytes > 1 ? 2 : bytes), line + bytes};
	if (!bytes)
		return NEAP_OK;
	if (!h->has_version && line[0] != 'v' && line[0] != '#')
		return bad_line(h, "'v' with a version first", e);
	switch (line[0]) {
	case '+':
		return read_born(h, f, e);
	case '-':
		return read_died(h, f, e);
	case 'a':
		return read_info(h, f, e);
	case 't':
		return read_trace(h, f, e);
	case 'i':
		return read_ip(h, f, e);
	case 's':
		return read_string(h, f, e);
	case 'c':
		return read_time(h, f, e);
	case 'R':
		return read_resident(h, f, e);
	case 'v':
		return read_version(h, f, e);
	case 'I':
		return read_system(h, f, e);
	default:
		return read_odd(h, line[0], f, e);
	}
}

/*
 * Most lines are "+ INFO" or "- INFO": as many of these as come one after the other, counted in *lines_out.  Text that
 * ends with a line end needs no look at its end.
 */
static const char *read_events(struct heaptrack *h, const char *p, const char *end,
			       uint64_t *lines_out)
{
	uint64_t lines = 0;
	if (h->has_tick || !h->format)
		return p;
	while (p < end && (*p == '+' || *p == '-') && p[1] == ' ') {
		const char *at = p + 2;
		uint64_t info = 0;
		unsigned digit;
		while ((digit = hex_digits[(uint8_t)*at]) < 16) {
			info = info << 4 | digit;
			at++;
		}
		if (*at != '\n' || at == p + 2 || info >= h->info_count)
			break;
		wait_for(h, info, *p == '+');
		p = at + 1;
		lines++;
	}
	*lines_out = lines;
	return p;
}

/* Whole lines, one after the other. */
static enum neap_err read_block(struct heaptrack *h, const char *p, const char *end, struct err *e)
{
	enum neap_err code = NEAP_OK;
	while (p < end && !code) {
		uint64_t lines = 0;
		p = read_events(h, p, end, &lines);
		input_count_lines(h->in, lines + (p < end));
		if (p == end)
			break;
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		code = read_line(h, p, (size_t)(lf - p), e);
		p = lf + 1;
	}
	return code;
}

/* The last line of a file that was cut ends anywhere: nothing in it can be trusted. */
static enum neap_err read_lines(struct heaptrack *h, struct err *e)
{
	const char *lines;
	size_t bytes;
	while ((bytes = input_lines(h->in, &lines)) > 0) {
		if (lines[bytes - 1] != '\n') { /* input_lines gives it alone */
			input_count_lines(h->in, 1);
			import_partial(h->im, "line %" PRIu64 " has no end",
				       input_line_number(h->in));
			return NEAP_OK;
		}
		enum neap_err code = read_block(h, lines, lines + bytes, e);
		if (code)
			return code;
		if (import_has_failed(h->im))
			return NEAP_OK;
	}
	return NEAP_OK;
}

static void finish(struct heaptrack *h)
{
	book_waiting(h);
	import_step(h->im, &h->at);
	import_end(h->im, END_UNKNOWN, h->at.time_ns);
	if (h->suppression_count)
		import_note(h->im,
			    "the program names %u leak suppressions; neap counts what they hide, "
			    "heaptrack_print does not",
			    h->suppression_count);
	if (h->quirk_count)
		import_note(h->im,
			    "heaptrack_print counts %" PRIu64
			    " temporary allocations more: frees of the kind it numbered 0, right "
			    "after another free",
			    h->quirk_count);
}

bool heaptrack_detect(const uint8_t *head, size_t bytes)
{
	struct field f = {(const char *)head + 2, (const char *)head + bytes};
	uint64_t version;
	if (bytes < 4 || head[0] != 'v' || head[1] != ' ' || !take_hex(&f, &version))
		return false;
	uint64_t format;
	take_hex(&f, &format);
	return f.p < f.end && (*f.p == '\n' || *f.p == '\r');
}

enum neap_err heaptrack_read(struct input *in, struct import *im, struct err *e)
{
	struct heaptrack h = {.in = in, .im = im, .last = NO_INFO, .page_bytes = 4096};
	import_track_peak(im);
	enum neap_err code = read_lines(&h, e);
	if (!code && !h.has_version)
		code = err_corrupt(e, "'%s' does not begin as heaptrack's files do",
				   input_name(in));
	if (!code)
		finish(&h);
	arena_release(&h.arena);
	mem_free(h.texts);
	mem_free(h.ips);
	mem_free(h.nodes);
	map_release(&h.live);
	return code;
}
