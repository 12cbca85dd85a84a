/* 64 frames that compilers do not make: assembly without CFI, code made at run time, longjmp, callbacks of bsearch.
 * BUILD: gcc -g -O2 -fno-omit-frame-pointer -o 64-odd-frames 64-odd-frames.c
 * RUN:   ./64-odd-frames
 * TRUTH func=in_leaf allocs=7993 bytes=1031097 live_blocks=0 live_bytes=0
 * INCLUSIVE func=main        allocs=7993 bytes=1031097
 * INCLUSIVE func=by_assembly allocs=1000 bytes=129000
 * INCLUSIVE func=by_machine  allocs=2000 bytes=258000
 * INCLUSIVE func=by_bsearch  allocs=1000 bytes=129000
 * INCLUSIVE func=jumper      allocs=2993 bytes=386097
 * INCLUSIVE func=landed      allocs=1000 bytes=129000
 * INCLUSIVE func=not_called  allocs=0 bytes=0
 * The assembly pushes rbp but has no CFI; so has the code that is made at run time, whose place is unmapped and
 * made anew at the same address with a frame of another size.  jumper() is left by longjmp from up to 21 frames
 * further in; then the same stack addresses belong to landed().
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
NI void in_leaf(void)
{
	void *p = malloc(129);
	KEEP(p);
	free(p);
	KEEP(p);
}
void bare(void (*f)(void));
__asm__(".text\n.globl bare\n.type bare,@function\nbare:\n"
	"push %rbp\nmov %rsp,%rbp\npush %rbx\nsub $104,%rsp\nand $-16,%rsp\n"
	"call *%rdi\n"
	"lea -8(%rbp),%rsp\npop %rbx\npop %rbp\nret\n.size bare,.-bare\n");
NI void not_called(void)
{
	in_leaf();
	__asm__ volatile("");
}
NI void by_assembly(void)
{
	bare(in_leaf);
	__asm__ volatile("");
}
static void (*machine)(void (*f)(void));
/* push rbp; mov rbp, rsp; sub rsp, room; call rdi; leave; ret */
static void make_machine(uint8_t room)
{
	static void *place;
	const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83,
				0xec, room, 0xff, 0xd7, 0xc9, 0xc3};
	if (place)
		munmap(place, 4096);
	void *p = mmap(place, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
	if (p == MAP_FAILED)
		exit(2);
	place = p;
	memcpy(p, code, sizeof code);
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	machine = (void (*)(void (*)(void)))p;
}
NI void by_machine(void)
{
	machine(in_leaf);
	__asm__ volatile("");
}
NI int by_bsearch(const void *a, const void *b)
{
	if (*(const int *)a == *(const int *)b)
		in_leaf();
	return *(const int *)a - *(const int *)b;
}
static jmp_buf back;
NI void inwards(int n)
{
	if (n % 7 == 0)
		in_leaf();
	if (n == 0)
		longjmp(back, 1);
	inwards(n - 1);
	KEEP(n);
}
NI void jumper(int n)
{
	char room[64];
	char *p = room;
	KEEP(p);
	in_leaf();
	inwards(n);
	KEEP(p);
}
NI void landed(void)
{
	char room[64];
	char *p = room;
	KEEP(p);
	in_leaf();
	KEEP(p);
}
int main(void)
{
	int numbers[1000];
	for (int i = 0; i < 1000; i++)
		numbers[i] = i;
	for (int i = 0; i < 1000; i++)
		by_assembly();
	for (volatile int i = 0; i < 2000; i++) {
		if (i % 500 == 0)
			make_machine((uint8_t)(16 + i / 500 * 16));
		by_machine();
	}
	for (int i = 0; i < 1000; i++)
		if (!bsearch(&i, numbers, 1000, sizeof numbers[0], by_bsearch))
			return 1;
	static volatile int i;
	for (i = 0; i < 1000; i++) {
		if (!setjmp(back))
			jumper(i % 21);
		landed();
	}
	return 0;
}
