/* Runs a fuzzer's function on each file that is named: the saved corpora, without clang. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* In a block of exactly its size, so that a sanitizer sees who reads past it. */
static void replay(const char *path)
{
	struct stat st;
	FILE *f = fopen(path, "rb");
	if (!f || fstat(fileno(f), &st)) {
		perror(path);
		exit(1);
	}
	size_t bytes = (size_t)st.st_size;
	uint8_t *data = malloc(bytes ? bytes : 1);
	if (!data || fread(data, 1, bytes, f) != bytes) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(1);
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, bytes);
	free(data);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%d files replayed\n", argc - 1);
	return argc > 1 ? 0 : 1;
}
