/* See valgrind.h. */
#include "config.h"

#include "src/exchange/valgrind.h"

#include <string.h>

struct part {
	const char *s;
	size_t bytes;
};

static bool has_prefix(const struct part *p, const char *prefix)
{
	size_t bytes = strlen(prefix);
	return p->bytes >= bytes && !memcmp(p->s, prefix, bytes);
}

/* "0x1a: " in front goes; the address it names, or 0. */
static uint64_t take_address(struct part *p)
{
	uint64_t address = 0;
	size_t i = 2;
	if (!has_prefix(p, "0x"))
		return 0;
	for (; i < p->bytes && i < 2 + 16; i++) {
		unsigned char c = (unsigned char)p->s[i];
		unsigned digit = c >= '0' && c <= '9'   ? c - (unsigned)'0'
				 : c >= 'a' && c <= 'f' ? c - (unsigned)'a' + 10
				 : c >= 'A' && c <= 'F' ? c - (unsigned)'A' + 10
							: 16;
		if (digit > 15)
			break;
		address = address << 4 | digit;
	}
	if (i == 2 || i + 1 >= p->bytes || p->s[i] != ':' || p->s[i + 1] != ' ')
		return 0;
	p->s += i + 2;
	p->bytes -= i + 2;
	return address;
}

/* ":123" at the end goes. */
static bool take_number(struct part *p, uint32_t *out)
{
	size_t at = p->bytes;
	uint64_t number = 0, unit = 1;
	while (at && p->s[at - 1] >= '0' && p->s[at - 1] <= '9' && unit < 10000000000u) {
		number += unit * (uint64_t)(p->s[--at] - '0');
		unit *= 10;
	}
	if (at == p->bytes || at < 2 || p->s[at - 1] != ':')
		return false;
	*out = number <= UINT32_MAX ? (uint32_t)number : 0;
	p->bytes = at - 1;
	return true;
}

struct place {
	struct part file, module;
	uint32_t line;
};

/* " (...)" at the end, if it says where. */
static void take_place(struct part *p, struct place *out)
{
	size_t at = p->bytes;
	if (!at || p->s[at - 1] != ')')
		return;
	while (at > 1 && !(p->s[at - 1] == '(' && p->s[at - 2] == ' '))
		at--;
	struct part inside = {p->s + at, at > 1 ? p->bytes - at - 1 : 0};
	/* A path may hold " (": "in" is looked for further out. */
	for (size_t in = at; in > 1; in--) {
		const struct part rest = {p->s + in - 2, p->bytes - in + 2};
		if (!has_prefix(&rest, " (in "))
			continue;
		out->module = (struct part){rest.s + 5, rest.bytes - 6};
		p->bytes = in - 2;
		return;
	}
	if (at < 2 || !take_number(&inside, &out->line))
		return;
	uint32_t line;
	if (take_number(&inside, &line)) /* what came last was the column */
		out->line = line;
	out->file = inside;
	p->bytes = at - 2;
}

frame_id valgrind_frame(struct import *im, const char *text, size_t bytes)
{
	struct part name = {text, bytes};
	struct place place = {.line = 0};
	uint64_t address = take_address(&name);
	if (address)
		take_place(&name, &place);
	struct profile_line line = {.line = place.line};
	bool has_name = name.bytes && !(name.bytes == 3 && !memcmp(name.s, "???", 3));
	if (has_name)
		line.func = import_func(im, name.s, name.bytes);
	if (place.file.bytes)
		line.file = import_file(im, place.file.s, place.file.bytes);
	return import_frame(im,
			    &(struct import_frame){
				    .module = place.module.bytes ? import_module(im, place.module.s,
										 place.module.bytes)
								 : 0,
				    .pc = address ? address + 1 : 0, /* it is that of the call */
				    .lines = &line,
				    .line_count = line.func ? 1 : 0,
			    });
}
