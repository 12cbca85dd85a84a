/* Makes code while running and names it in /tmp/perf-PID.map, as runtimes do.  jit none: names nothing; jit deleted:
 * takes the names away before it ends. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static NI void allocate(void)
{
	void *p = malloc(129);
	KEEP(p);
}
/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
static char path[64];
static void name_code(const void *at, const char *name)
{
	FILE *f = fopen(path, "a");
	if (!f)
		exit(2);
	fprintf(f, "%lx %zx %s\n", (unsigned long)(uintptr_t)at, sizeof code, name);
	fclose(f);
}
static NI void run(uint8_t *at, int times)
{
	void (*f)(void (*)(void)) = (void (*)(void (*)(void)))(uintptr_t)at;
	for (int i = 0; i < times; i++)
		f(allocate);
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	bool is_deleted = argc > 1 && !strcmp(argv[1], "deleted");
	uint8_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 2;
	memcpy(page, code, sizeof code);
	memcpy(page + 64, code, sizeof code);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	if (argc == 1 || is_deleted) {
		name_code(page, "thrown_away");
		name_code(page, "Shop.add:cart.js:12");
		name_code(page + 64, "Shop.pay");
	}
	run(page, 300);
	run(page + 64, 20);
	if (is_deleted) {
		usleep(500000);
		unlink(path);
	}
	return 0;
}
