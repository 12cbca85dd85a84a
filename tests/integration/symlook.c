/*
 * Prints what neap knows of addresses in a module, as addr2line -a -f -i does:
 *
 *   symlook [-d DEBUG-DIR]... MODULE <ADDRESSES
 *
 * One hexadecimal address a line, which is looked up as it is.  For each: the address, then
 * for every function, innermost inlined first, its linkage name and "file:line"; "??" and "??:0"
 * for what is not known.  The last line, on stderr, tells where the names come from.
 */
#include "config.h"

#include "src/sym/sym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/limits.h"

#define MOST_DIRS 16

static void print_all(struct sym_module *m)
{
	static struct sym_line found[LIMIT_INLINE_DEPTH];
	char text[64];
	while (fgets(text, sizeof text, stdin)) {
		uint64_t va = strtoull(text, NULL, 16);
		size_t count = sym_lookup(m, va, found, LIMIT_INLINE_DEPTH);
		printf("0x%016llx\n", (unsigned long long)va);
		if (!count)
			puts("??\n??:0");
		for (size_t i = 0; i < count; i++)
			printf("%s\n%s:%u\n", found[i].linkage,
			       found[i].file[0] ? found[i].file : "??", found[i].line);
	}
}

int main(int argc, char **argv)
{
	const char *dirs[MOST_DIRS + 1] = {0};
	size_t dir_count = 0;
	int option;
	while ((option = getopt(argc, argv, "d:")) != -1) {
		if (option != 'd' || dir_count == MOST_DIRS)
			return 2;
		dirs[dir_count++] = optarg;
	}
	if (optind + 1 != argc)
		return 2;
	struct sym_request req = {.path = argv[optind], .fd = -1, .search = {.debug_dirs = dirs}};
	struct sym_module *m;
	struct err e = {0};
	if (sym_module_open(&req, &m, &e)) {
		fprintf(stderr, "symlook: %s\n", e.text);
		return 1;
	}
	print_all(m);
	fprintf(stderr, "%s\n", sym_module_source(m));
	sym_module_free(m);
	return 0;
}
