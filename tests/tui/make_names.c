/*
 * make_names FILE - a profile whose functions, files and modules are called what breaks a terminal:
 * commands of all kinds, characters without a width, of two columns, from right to left, half ones.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/build_profile.h"

#define LONG_BYTES 10000u
#define SNAP_COUNT 6u

static const char *const names[] = {
	"\033[31mred\033[0m",
	"\033]0;title\007",
	"\033]8;;http://example.org\033\\link\033]8;;\033\\",
	"\033P+q544e\033\\",
	"\xc2\x9b"
	"2J\xc2\x9d"
	"0;title\xc2\x9c",
	"\x9b"
	"2J",
	"bell\a back\b\b\b delete\x7f shift\x0e\x0f",
	"line\nline\r\nline\vline\fline\ttab",
	"\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80",
	"half \xe6\xbc",
	"right \xe2\x80\xaeto left\xe2\x80\xac \xe2\x81\xa6isolated\xe2\x81\xa9 "
	"\xe2\x80\x8f\xd8\x9c",
	"\xd7\x90\xd7\x91\xd7\x92 \xd8\xa7\xd8\xa8",
	"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97::\xe6\xbc\xa2\xe5\xad\x97",
	"x\xe6\xbc\xa2y\xe5\xad\x97z",
	"e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86\xcc\x87\xcc\x88 zalgo",
	"\xcc\x81mark first",
	"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 family",
	"\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8 jamo",
	"zero\xe2\x80\x8bwidth\xef\xbb\xbf soft\xc2\xadhyphen\xe2\x81\xa0",
	"line\xe2\x80\xa8separator\xe2\x80\xa9",
	"tags \xf3\xa0\x81\x81 noncharacter \xef\xbf\xbf",
	"\"; let x = 1; | zoom '\\\"",
	"/regex[/\\Q",
	"",
	" ",
	"%s%n%1000000d",
	")::(<x>::>y",
};
#define NAME_COUNT (sizeof names / sizeof names[0])

static const char *name_of(size_t i, char *space, size_t cap)
{
	static const char *const parts[] = {"n:", "\xe6\xbc\xa2", "e\xcc\x81", "a<b,", "\xff"};
	const char *part = parts[i % 5];
	if (i < NAME_COUNT)
		return names[i];
	size_t bytes = strlen(part), at = 0;
	for (; at + bytes < cap; at += bytes)
		memcpy(space + at, part, bytes);
	space[at] = '\0';
	return space;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	struct build *b = build_new(argv[1], NULL);
	node_id leaves[NAME_COUNT + 5], node = PROFILE_NODE_ROOT;
	for (size_t i = 0; i < NAME_COUNT + 5; i++) {
		char space[LONG_BYTES];
		const char *name = name_of(i, space, sizeof space);
		struct build_line line = {name, i % 3 ? name : "", (uint32_t)i};
		mod_id module = build_module(b, i % 4 ? name : "/usr/lib/libc.so.6");
		node = build_node(b, i % 6 ? node : PROFILE_NODE_ROOT,
				  build_frame(b, module, 0, &line, 1), 0);
		leaves[i] = node;
	}
	for (unsigned snap = 1; snap <= SNAP_COUNT; snap++) {
		thread_id thread = snap > 1 ? build_thread(b, names[snap]) : 1;
		build_snapshot(b, snap * 100 * BUILD_MS);
		for (size_t i = 0; i < NAME_COUNT + 5; i++) {
			cohort_id c =
				build_alloc(b, leaves[i], 16 << (i + snap) % 9, thread, 20 + i);
			build_free(b, c, i * snap % 20, i % 2);
		}
		build_end_snapshot(b);
	}
	build_close(b);
	return 0;
}
