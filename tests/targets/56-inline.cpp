/* 56 inlined functions, templates, lambdas, namespaces: names of code that has no frame of its own.
 * BUILD: g++ -g -O2 -o 56-inline 56-inline.cpp
 * RUN:   ./56-inline
 * TRUTH func=deep::inlined_twice<int> allocs=700 bytes=45500 live_blocks=70 live_bytes=4550
 * TRUTH func=deep::inlined_twice<char> allocs=300 bytes=20100 live_blocks=30 live_bytes=2010
 * INCLUSIVE func=deep::outer allocs=1000 bytes=65600
 * INCLUSIVE func=middle allocs=700 bytes=45500
 * INCLUSIVE func=other_middle allocs=300 bytes=20100
 * TRUTH func=make_objects allocs=50 bytes=4850 live_blocks=50 live_bytes=4850
 * TRUTH func=make_arrays allocs=50 bytes=5050 live_blocks=0 live_bytes=0
 * inlined_twice is always inlined into middle and other_middle, these into outer.
 * make_objects and make_arrays use operator new: 97 bytes each and char[101].
 */
#include <cstdlib>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static void *kept[256];
static int kept_count;
namespace deep
{
template <typename T> __attribute__((always_inline)) inline void inlined_twice(int i)
{
	void *p = malloc(64 + sizeof(T) % 4 * 3 + (sizeof(T) == 4));
	KEEP(p);
	if (i % 10 == 0)
		kept[kept_count++] = p;
	else
		free(p);
}
} // namespace deep
__attribute__((always_inline)) inline void middle(int i)
{
	deep::inlined_twice<int>(i);
}
__attribute__((always_inline)) inline void other_middle(int i)
{
	deep::inlined_twice<char>(i);
}
namespace deep
{
NI void outer(int i)
{
	if (i < 700)
		middle(i);
	else
		other_middle(i);
	KEEP(i);
}
} // namespace deep
struct Object {
	char bytes[97];
};
NI void make_objects()
{
	for (int i = 0; i < 50; i++) {
		Object *o = new Object;
		KEEP(o);
		kept[kept_count++] = o;
	}
}
NI void make_arrays()
{
	for (int i = 0; i < 50; i++) {
		char *a = new char[101];
		KEEP(a);
		delete[] a;
	}
}
int main()
{
	for (int i = 0; i < 1000; i++)
		deep::outer(i);
	make_objects();
	make_arrays();
	return 0;
}
