/* 18 plugins that are dlclosed before exit; a second plugin reuses the address range.
 * BUILD: gcc -g -O2 -shared -fPIC -DNAME=plugin_one_leak -DSZ=1009 -DCNT=64 -o plug18a.so plug18.inc.c
 *        gcc -g -O2 -shared -fPIC -DNAME=plugin_two_leak -DSZ=2003 -DCNT=32 -o plug18b.so plug18.inc.c
 *        gcc -g -O2 -o 18-dlopen-dlclose 18-dlopen-dlclose.c -ldl
 * RUN:   ./18-dlopen-dlclose     (in the directory holding plug18a.so and plug18b.so)
 * TRUTH func=plugin_one_leak allocs=640 bytes=645760 live_blocks=640 live_bytes=645760
 * TRUTH func=plugin_two_leak allocs=320 bytes=640960 live_blocks=320 live_bytes=640960
 * 10 rounds of: open A, call, close, open B, call, close. Both plugins normally map at the SAME
 * address: names, files and lines (plug18.inc.c) must be right for both, never "<unknown module>"
 * and never the other plugin's name. The program prints "same-address=1" when the reuse happened.
 * BUG: google/sanitizers#89, #899, #318, llvm-project#53566, iree#23995 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#define NI __attribute__((noinline, noclone))
NI static void *use(const char *so, const char *sym)
{
	void *h = dlopen(so, RTLD_NOW | RTLD_LOCAL);
	if (!h) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	void (*f)(void) = (void (*)(void))dlsym(h, sym);
	f();
	void *addr = (void *)f;
	dlclose(h);
	return addr;
}
int main(void)
{
	int same = 0;
	for (int i = 0; i < 10; i++) {
		void *a = use("./plug18a.so", "plugin_one_leak"),
		     *b = use("./plug18b.so", "plugin_two_leak");
		same |= a == b;
	}
	dprintf(1, "same-address=%d\n", same);
	return 0;
}
