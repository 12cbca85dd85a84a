/*
 * What LeakSanitizer says of a program that leaks (gcc or clang -fsanitize=address or leak).
 *
 *   ==3927==ERROR: LeakSanitizer: detected memory leaks
 *
 *   Direct leak of 6456 byte(s) in 1 object(s) allocated from:
 *       #0 0x7f1c182b83b7 in __interceptor_calloc ../sanitizer/asan_malloc_linux.cpp:77
 *       #1 0x55956178ac6f in main /src/main.c:67:3
 *       #2 0x7f1c17845249 in __libc_start_call_main (/lib/libc.so.6+0x27249) (BuildId: 6fd8)
 *       #3 0x7f1c17845304  (/lib/libc.so.6+0x27304)
 *
 *   SUMMARY: AddressSanitizer: 180280 byte(s) leaked in 11 allocation(s).
 *
 * Innermost first; addresses are those of calls.  The first is the sanitizer's malloc, which says what was
 * called and is no place of the program's.  Lines with the same address are functions that
 * were inlined into each other.  What only leaked blocks point to is "indirect": stacks of both
 * kinds are put below a frame that says which, since it is the direct ones that need mending.
 * All else in the log is output of the program and is passed over.
 */
#include "config.h"

#include "src/exchange/exchange_priv.h"
#include "src/exchange/heaptext.h"

#include "src/base/mem.h"

#include <inttypes.h>
#include <string.h>

struct call { /* one line */
	uint64_t addr, module_va;
	struct slice func, file, module, build_id;
	uint64_t line;
};

struct lsan {
	struct input *in;
	struct import *im;
	uint64_t leak_count, summary_count, process_count;
	bool is_leak; /* inside the stack of one */
	struct heap_row values;
	const char *kind;
	enum profile_api api; /* what the program called */
	bool has_unknown_api;

	/* the stack, innermost first, and the frame being put together */
	frame_id *frames;
	size_t frame_count, frame_cap;
	struct import_frame frame;
	struct profile_line *lines;
	size_t line_cap;
	uint64_t addr;
	bool has_frame;
};

static bool find(struct slice t, const char *word, struct slice *at)
{
	size_t bytes = strlen(word);
	*at = t;
	const char *p = slice_left(&t) >= bytes ? memmem(t.p, slice_left(&t), word, bytes) : NULL;
	if (p)
		at->p = p;
	return p != NULL;
}

bool lsan_detect(const uint8_t *head, size_t bytes)
{
	struct slice t = {(const char *)head, (const char *)head + bytes}, at;
	return find(t, "ERROR: LeakSanitizer:", &at) ||
	       (find(t, "==ERROR: ", &at) && find(at, "Sanitizer: ", &at));
}

/* ---- a line of a stack ------------------------------------------------------------------------- */

/* Takes ":NUMBER" off the end; false if there is none. */
static bool take_number(struct slice *t, uint64_t *out)
{
	const char *p = t->end;
	while (p > t->p && p[-1] >= '0' && p[-1] <= '9')
		p--;
	struct slice digits = {p, t->end};
	if (p == t->p || p[-1] != ':' || !slice_number(&digits, out))
		return false;
	t->end = p - 1;
	return true;
}

/* "FILE:LINE" or "FILE:LINE:COLUMN" */
static bool take_place(struct slice t, struct call *c)
{
	uint64_t number;
	if (!take_number(&t, &c->line))
		return false;
	if (take_number(&t, &number)) /* what we had was the column */
		c->line = number;
	c->file = t;
	return slice_left(&t) > 0;
}

/* The last "(INSIDE)" of t, which then ends before it. */
static bool take_brackets(struct slice *t, struct slice *inside)
{
	if (slice_left(t) < 2 || t->end[-1] != ')')
		return false;
	const char *open = memrchr(t->p, '(', slice_left(t));
	if (!open || (open > t->p && open[-1] != ' '))
		return false; /* of the parameters of a function */
	*inside = (struct slice){open + 1, t->end - 1};
	*t = slice_init(t->p, (size_t)(open - t->p));
	return true;
}

/* "(MODULE+0xOFFSET)" at the end, or that and "(BuildId: HEX)". */
static void take_module(struct slice *t, struct call *c)
{
	struct slice inside, rest = *t, build_id = {NULL, NULL};
	if (!take_brackets(&rest, &inside))
		return;
	if (slice_is(&inside, "BuildId: ")) {
		build_id = inside;
		if (!take_brackets(&rest, &inside))
			return;
	}
	const char *plus = memrchr(inside.p, '+', slice_left(&inside));
	struct slice offset = {plus ? plus + 1 : inside.end, inside.end};
	if (!plus || !slice_hex(&offset, &c->module_va) || slice_left(&offset) > 0)
		return;
	c->module = (struct slice){inside.p, plus};
	c->build_id = build_id;
	*t = rest;
}

/* What is behind "#K": an address, a function, and a place or a module. */
static bool read_call(struct slice t, struct call *c)
{
	memset(c, 0, sizeof *c);
	slice_blanks(&t);
	if (!slice_is(&t, "0x") || !slice_hex(&t, &c->addr))
		return false;
	slice_blanks(&t);
	bool has_func = slice_is(&t, "in ");
	take_module(&t, c);
	if (!has_func)
		return true;
	c->func = t;
	/* A path begins with a slash; if it does not, it is the last word. */
	struct slice path;
	if (find(t, " /", &path) && take_place(slice_init(path.p, slice_left(&path)), c)) {
		c->func.end = path.p;
	} else {
		const char *blank = memrchr(t.p, ' ', slice_left(&t));
		struct slice word = {blank ? blank + 1 : t.end, t.end};
		if (take_place(word, c) || slice_is(&word, "??:?"))
			c->func.end = blank ? blank : t.p;
	}
	if (slice_is(&c->file, "??")) {
		c->file.p = c->file.end;
		c->line = 0;
	}
	return true;
}

/* ---- stacks --------------------------------------------------------------------------------------- */

static size_t read_build_id(struct slice hex, uint8_t *out, size_t cap)
{
	size_t bytes = slice_left(&hex) / 2;
	if (bytes > cap)
		return 0;
	for (size_t i = 0; i < bytes; i++) {
		struct slice pair = {hex.p + 2 * i, hex.p + 2 * i + 2};
		uint64_t value;
		if (!slice_hex(&pair, &value) || slice_left(&pair) > 0)
			return 0;
		out[i] = (uint8_t)value;
	}
	return bytes;
}

/* False if memory ran out. */
static bool find_module(struct lsan *l, const struct call *c, mod_id *out)
{
	char *path = mem_strndup(c->module.p, slice_left(&c->module));
	if (!path)
		return false;
	struct profile_module m = {.path = path, .end_va = UINT64_MAX, .first_snap = 1};
	m.build_id_bytes = (uint32_t)read_build_id(c->build_id, m.build_id, sizeof m.build_id);
	*out = import_module_mapped(l->im, &m);
	mem_free(path);
	return true;
}

static enum neap_err end_frame(struct lsan *l, struct err *e)
{
	if (!l->has_frame)
		return NEAP_OK;
	l->has_frame = false;
	if (!vec_reserve((void **)&l->frames, &l->frame_cap, l->frame_count + 1,
			 sizeof l->frames[0]))
		return err_nomem(e, "a stack of LeakSanitizer");
	l->frame.lines = l->lines;
	l->frames[l->frame_count++] = import_frame(l->im, &l->frame);
	return NEAP_OK;
}

/* Another function at the same address goes into the same frame; the same one called itself. */
static bool goes_on(const struct lsan *l, const struct call *c, func_id func)
{
	return l->has_frame && c->addr == l->addr && func && l->frame.line_count > 0 &&
	       l->lines[l->frame.line_count - 1].func != func;
}

/* What is called by this name; API_UNKNOWN: no function of the allocator. */
static enum profile_api api_of(struct slice func)
{
	struct slice name = func;
	slice_is(&name, "__interceptor_");
	struct slice rest = name;
	if (slice_is(&rest, "operator new[](") || slice_is(&rest, "_Znam"))
		return API_NEW_ARRAY;
	if (slice_is(&rest, "operator new(") || slice_is(&rest, "_Znwm"))
		return API_NEW;
	for (int api = API_MALLOC; api < API_COUNT; api++) {
		rest = name;
		if (slice_is(&rest, profile_api_name((enum profile_api)api)) &&
		    slice_left(&rest) == 0)
			return (enum profile_api)api;
	}
	return API_UNKNOWN;
}

static enum neap_err add_call(struct lsan *l, const struct call *c, struct err *e)
{
	if (l->frame_count == 0 && !l->has_frame && l->api == API_UNKNOWN) {
		l->api = api_of(c->func);
		if (l->api != API_UNKNOWN)
			return NEAP_OK;
	}
	func_id func = import_func(l->im, c->func.p, slice_left(&c->func));
	if (!goes_on(l, c, func)) {
		enum neap_err err = end_frame(l, e);
		if (err)
			return err;
		l->frame = (struct import_frame){.pc = c->addr + 1};
		if (slice_left(&c->module) > 0) {
			if (!find_module(l, c, &l->frame.module))
				return err_nomem(e, "a stack of LeakSanitizer");
			l->frame.pc = c->module_va + 1;
		}
		l->addr = c->addr;
		l->has_frame = true;
	}
	if (!func)
		return NEAP_OK;
	if (!vec_reserve((void **)&l->lines, &l->line_cap, l->frame.line_count + 1,
			 sizeof l->lines[0]))
		return err_nomem(e, "a stack of LeakSanitizer");
	l->lines[l->frame.line_count++] =
		(struct profile_line){func, import_file(l->im, c->file.p, slice_left(&c->file)),
				      c->line <= UINT32_MAX ? (uint32_t)c->line : 0};
	return NEAP_OK;
}

static enum neap_err end_leak(struct lsan *l, struct err *e)
{
	if (!l->is_leak)
		return NEAP_OK;
	l->is_leak = false;
	enum neap_err err = end_frame(l, e);
	func_id kind = import_func(l->im, l->kind, strlen(l->kind));
	node_id node = import_node(l->im, PROFILE_NODE_ROOT, import_named_frame(l->im, kind, 0, 0));
	for (size_t i = l->frame_count; i-- > 0;)
		node = import_node(l->im, node, l->frames[i]);
	struct import_account a = {.node = node, .size_bytes = PROFILE_SIZE_MIXED, .api = l->api};
	l->has_unknown_api = l->has_unknown_api || l->api == API_UNKNOWN;
	import_born(l->im, import_account(l->im, &a), l->values.live_blocks, l->values.live_bytes);
	l->frame_count = 0;
	l->leak_count++;
	return err;
}

/* "Direct leak of N byte(s) in M object(s) allocated from:" */
static enum neap_err begin_leak(struct lsan *l, struct slice t, const char *kind, struct err *e)
{
	enum neap_err err = end_leak(l, e);
	struct heap_row v = {0};
	if (!slice_number(&t, &v.live_bytes) || !slice_is(&t, " byte(s) in ") ||
	    !slice_number(&t, &v.live_blocks) || !slice_is(&t, " object(s)") ||
	    (v.live_blocks == 0 && v.live_bytes > 0)) {
		import_odd(l->im, "expected N byte(s) in M object(s)");
		return err;
	}
	l->is_leak = true;
	l->kind = kind;
	l->api = API_UNKNOWN;
	l->values = v;
	return err;
}

/* ---- the log -------------------------------------------------------------------------------------- */

static enum neap_err read_line(struct lsan *l, struct slice t, struct err *e)
{
	struct slice at = t;
	uint64_t number;
	struct call c;
	if (slice_is(&at, "Direct leak of "))
		return begin_leak(l, at, "[direct leak]", e);
	if (slice_is(&at, "Indirect leak of "))
		return begin_leak(l, at, "[indirect leak]", e);
	if (slice_is(&at, "#") && slice_number(&at, &number)) {
		if (l->is_leak && read_call(at, &c))
			return add_call(l, &c, e);
		return NEAP_OK;
	}
	if (find(t, "ERROR: LeakSanitizer: detected memory leaks", &at))
		l->process_count++;
	else if (slice_is(&at, "SUMMARY: "))
		l->summary_count++;
	else if (slice_left(&t) > 0)
		return NEAP_OK;
	return end_leak(l, e);
}

static enum neap_err check(struct lsan *l, struct err *e)
{
	if (l->leak_count == 0 && l->process_count == 0)
		return err_set(
			e, ERR_UNSUPPORTED,
			"this is a report of a sanitizer without leaks, so there is no memory to "
			"look at; neap reads what LeakSanitizer says at the end of a program");
	if (l->leak_count == 0)
		return err_corrupt(
			e, "the log ends in line %" PRIu64 ", before the end of the first leak",
			input_line_number(l->in));
	if (l->summary_count < l->process_count)
		import_partial(l->im, "it ends in line %" PRIu64 ", before LeakSanitizer's summary",
			       input_line_number(l->in));
	if (l->has_unknown_api)
		import_lacks(l->im, FACT_APIS);
	if (l->process_count > 1)
		import_note(l->im, "the leaks of %" PRIu64 " processes are added up",
			    l->process_count);
	return NEAP_OK;
}

enum neap_err lsan_read(struct input *in, struct import *im, struct err *e)
{
	struct lsan l = {.in = in, .im = im};
	const char *line;
	size_t bytes;
	enum neap_err err = NEAP_OK;
	while (!err && input_line(in, &line, &bytes)) {
		if (!input_line_is_cut(in)) /* numbers of one that is cut may be too small */
			err = read_line(&l, slice_init(line, bytes), e);
	}
	if (!err && !input_has_failed(in)) {
		err = end_leak(&l, e);
		if (!err)
			err = check(&l, e);
	}
	mem_free(l.frames);
	mem_free(l.lines);
	return err;
}
