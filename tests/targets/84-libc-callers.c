/* 84 functions of libc that allocate for their caller or for themselves.
 * BUILD: gcc -g -O2 -o 84-libc-callers 84-libc-callers.c
 * RUN:   ./84-libc-callers
 * INCLUSIVE func=lines     live_blocks=3 allocs=11 live_bytes=360
 * INCLUSIVE func=paths     live_blocks=2 allocs=6
 * INCLUSIVE func=folders   live_blocks=0 live_bytes=0
 * INCLUSIVE func=files     live_blocks=2
 * INCLUSIVE func=patterns  live_blocks=0 live_bytes=0
 * INCLUSIVE func=addresses live_blocks=0 live_bytes=0
 * INCLUSIVE func=memory    live_blocks=1
 * INCLUSIVE func=trees     live_blocks=0 live_bytes=0
 * INCLUSIVE func=hashes    live_blocks=0 live_bytes=0 allocs=1 bytes=2448
 * INCLUSIVE func=globs     live_blocks=0 live_bytes=0
 * What libc frees is freed, what the program kept is kept: 3 of 10 lines of getline, which asks for 120 bytes (and once for the buffer of its stream), 2 results of
 * realpath, a FILE that was not closed with its buffer, and a memory stream's text.  real-programs.sh compares its totals
 * with an independent count. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <glob.h>
#include <netdb.h>
#include <regex.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")
static void *kept[10];
NI void lines(FILE *in)
{
	for (int i = 0; i < 10; i++) {
		char *line = NULL;
		size_t bytes = 0;
		if (getline(&line, &bytes, in) < 2)
			exit(1);
		if (i < 3)
			kept[i] = line;
		else
			free(line);
	}
	KEEP(kept);
}
NI void paths(void)
{
	for (int i = 0; i < 6; i++) {
		char *path = realpath("/usr/../usr/./bin", NULL);
		KEEP(path);
		if (i < 2)
			kept[3 + i] = path;
		else
			free(path);
	}
}
NI void folders(void)
{
	struct dirent **names;
	int count = scandir("/usr", &names, NULL, alphasort);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	DIR *d = opendir("/usr");
	while (readdir(d))
		;
	closedir(d);
}
NI void files(const char *self)
{
	char text[100];
	for (int i = 0; i < 5; i++) {
		FILE *f = fopen(self, "r");
		if (!f || !fgets(text, sizeof text, f))
			exit(2);
		if (i)
			fclose(f);
		else
			kept[5] = f;
	}
}
NI void patterns(void)
{
	regex_t r;
	for (int i = 0; i < 5; i++) {
		if (regcomp(&r, "^(a|b)*c[0-9]+(x{2,5}|y)$", REG_EXTENDED))
			exit(3);
		regexec(&r, "ababc123xxx", 0, NULL, 0);
		regfree(&r);
	}
}
NI void addresses(void)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found;
	for (int i = 0; i < 5; i++) {
		if (getaddrinfo("127.0.0.1", "80", &hints, &found))
			exit(4);
		freeaddrinfo(found);
	}
}
NI void memory(void)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	for (int i = 0; i < 3000; i++)
		fprintf(f, "%d ", i);
	fclose(f);
	kept[6] = text;
	KEEP(kept);
}
static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}
static void nothing(void *a)
{
	KEEP(a);
}
NI void trees(void)
{
	static const char *const words[] = {"a", "b", "c", "d", "e"};
	void *root = NULL;
	for (int i = 0; i < 5; i++)
		tsearch(words[i], &root, compare);
	tdestroy(root, nothing);
}
NI void hashes(void)
{
	struct hsearch_data table = {0};
	if (!hcreate_r(100, &table))
		exit(5);
	hdestroy_r(&table);
}
NI void globs(void)
{
	glob_t g;
	if (glob("/usr/*", 0, NULL, &g) == 0)
		globfree(&g);
}
int main(int argc, char **argv)
{
	static char text[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
	FILE *in = fmemopen(text, sizeof text - 1, "r");
	if (!in)
		return 77;
	lines(in);
	fclose(in);
	paths();
	folders();
	files(argv[argc - 1]);
	patterns();
	addresses();
	memory();
	trees();
	hashes();
	globs();
	return 0;
}
