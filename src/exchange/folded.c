/*
 * Folded stacks, as flame graphs are made of: "outermost;...;innermost NUMBER" in each line.
 *
 * The number is taken for bytes that are live: the format does not say.  Numbers may have a fraction, which is
 * rounded.  Lines of another form are left out and reported by number.
 */
#include "config.h"

#include "src/exchange/exchange_priv.h"
#include "src/exchange/heaptext.h"

#include <inttypes.h>
#include <string.h>

/* The stack and the number after its last blank; false if there is none. */
static bool split(struct slice line, struct slice *stack, uint64_t *value)
{
	struct slice number = {line.end, line.end};
	while (number.p > line.p && number.p[-1] != ' ' && number.p[-1] != '\t')
		number.p--;
	*stack = slice_init(line.p, (size_t)(number.p - line.p));
	uint64_t digit;
	if (slice_left(stack) == 0 || !slice_number(&number, value))
		return false;
	if (!slice_is(&number, "."))
		return slice_left(&number) == 0;
	struct slice fraction = number;
	if (slice_left(&number) > 0 && !slice_number(&number, &digit))
		return false;
	if (slice_left(&fraction) > 0 && *fraction.p >= '5' && *value < UINT64_MAX)
		++*value;
	return slice_left(&number) == 0;
}

/* Whether at least half of the lines are stacks (or all, with two numbers); a comment says nothing. */
static bool looks_folded(const uint8_t *head, size_t bytes, bool has_two_numbers)
{
	const char *p = (const char *)head, *end = p + bytes;
	size_t good_count = 0, bad_count = 0;
	while (p < end) {
		const char *next = memchr(p, '\n', (size_t)(end - p));
		struct slice line = slice_init(p, (size_t)((next ? next : end) - p)), stack, rest;
		struct slice comment = line;
		uint64_t value;
		p = next ? next + 1 : end;
		if (slice_left(&line) == 0 || slice_is(&comment, "#") || slice_is(&comment, "//"))
			continue;
		bool is_good = split(line, &stack, &value) &&
			       (!has_two_numbers || split(stack, &rest, &value));
		good_count += is_good;
		bad_count += !is_good && next; /* the last may be cut by the window */
	}
	return good_count > 0 && (has_two_numbers ? bad_count == 0 : good_count >= bad_count);
}

bool folded_detect(const uint8_t *head, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (head[i] < 0x20 && head[i] != '\n' && head[i] != '\r' && head[i] != '\t')
			return false;
	return bytes > 0 && *head != '{' && *head != '<' && looks_folded(head, bytes, false);
}

static void book(struct import *im, struct slice stack, uint64_t value)
{
	node_id node = PROFILE_NODE_ROOT;
	for (const char *p = stack.p; p <= stack.end && node;) {
		const char *next = memchr(p, ';', (size_t)(stack.end - p));
		struct slice name = slice_init(p, (size_t)((next ? next : stack.end) - p));
		p = next ? next + 1 : stack.end + 1;
		if (slice_left(&name) == 0)
			name = slice_init("[no name]", 9);
		func_id func = import_func(im, name.p, slice_left(&name));
		node = import_node(im, node, import_named_frame(im, func, 0, 0));
	}
	struct import_account a = {.node = node, .size_bytes = PROFILE_SIZE_MIXED};
	import_born(im, import_account(im, &a), value, value);
}

enum neap_err folded_read(struct input *in, struct import *im, struct err *e)
{
	const uint8_t *head;
	const char *line;
	size_t bytes = input_peek(in, DETECT_BYTES, &head), stack_count = 0;
	if (looks_folded(head, bytes, true))
		return err_set(
			e, ERR_UNSUPPORTED,
			"these are folded stacks with two numbers in each line, the difference of "
			"two profiles: import each of the two by itself, then neap diff A B");
	bool is_cut = false;
	while (input_line(in, &line, &bytes)) {
		struct slice t = slice_init(line, bytes), stack;
		uint64_t value;
		is_cut = input_line_is_cut(in);
		if (slice_left(&t) == 0)
			continue;
		if (!split(t, &stack, &value)) {
			import_odd(im, "expected FRAME;FRAME;... NUMBER");
			continue;
		}
		book(im, stack, value);
		stack_count++;
	}
	if (!stack_count && !input_has_failed(in))
		return err_corrupt(e, "no line of the file is FRAME;FRAME;... NUMBER");
	if (is_cut)
		import_note(im,
			    "the last line has no end: if the file was cut, its number may be too "
			    "small");
	import_note(im,
		    "the numbers are taken for bytes; folded stacks do not say what they count");
	return NEAP_OK;
}
