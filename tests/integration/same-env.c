/*
 * same-env - start a program so that two runs of it cannot be told apart.
 *
 *   same-env PRELOAD PROGRAM ARGS...       PRELOAD: one more library to preload, or -
 *
 * A run under neap and one under rawlog.so differ in the values of LD_PRELOAD and
 * NEAP_SOCKET.  Programs copy their environment, so the lengths would show in the
 * numbers.  This pads both to fixed lengths (LD_PRELOAD with colons, the path of
 * NEAP_SOCKET with slashes), puts the variables in one order, drops neap's others,
 * and replaces itself by the program.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD_CHARS 400
#define SOCKET_CHARS  100 /* sun_path has 108 */
#define VARIABLES_MAX 256

extern char **environ;

/* NAME=pppppVALUE with so many p that value and padding are `chars` long. */
static char *padded(const char *name, const char *value, char pad, size_t chars)
{
	size_t bytes = strlen(value), name_bytes = strlen(name);
	if (bytes > chars) {
		fprintf(stderr, "same-env: %s is longer than %zu characters: %s\n", name, chars,
			value);
		exit(126);
	}
	char *s = malloc(name_bytes + chars + 2);
	if (!s)
		exit(126);
	memcpy(s, name, name_bytes);
	s[name_bytes] = '=';
	memset(s + name_bytes + 1, pad, chars);
	memcpy(s + name_bytes + 1 + chars - bytes, value, bytes + 1);
	return s;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
	const char *preload = getenv("LD_PRELOAD"), *path = getenv("NEAP_SOCKET");
	char both[PRELOAD_CHARS + 1];
	char *kept[VARIABLES_MAX + 3];
	size_t count = 0;
	if (argc < 3 || !preload || !path || path[0] != '/') {
		fprintf(stderr,
			"same-env: needs a library, a program, LD_PRELOAD and NEAP_SOCKET\n");
		return 126;
	}
	bool has_more = strcmp(argv[1], "-") != 0;
	snprintf(both, sizeof both, "%s%s%s", preload, has_more ? ":" : "",
		 has_more ? argv[1] : "");
	kept[count++] = padded("LD_PRELOAD", both, ':', PRELOAD_CHARS);
	kept[count++] = padded("NEAP_SOCKET", path, '/', SOCKET_CHARS);
	for (char **v = environ; *v && count < VARIABLES_MAX; v++)
		if (strncmp(*v, "LD_PRELOAD=", 11) && strncmp(*v, "NEAP_", 5))
			kept[count++] = *v;
	qsort(kept, count, sizeof kept[0], by_text);
	kept[count] = NULL;
	execve(argv[2], argv + 2, kept);
	perror(argv[2]);
	return 127;
}
