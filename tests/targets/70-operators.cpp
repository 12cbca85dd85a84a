/* 70 every form of operator new and delete, and C23's sized free.
 * BUILD: g++ -g -O2 -std=c++17 -faligned-new -fsized-deallocation -o 70-operators 70-operators.cpp
 * RUN:   ./70-operators
 * TRUTH func=plain        allocs=40 bytes=6840 live_blocks=0 live_bytes=0
 * TRUTH func=aligned      allocs=40 bytes=7680 live_blocks=0 live_bytes=0
 * TRUTH func=kept_forms   allocs=4 bytes=833 live_blocks=4 live_bytes=833
 * TRUTH func=failing      allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=caught       allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=c23          allocs=20 bytes=4260 live_blocks=0 live_bytes=0
 * TRUTH func=classes      allocs=10 bytes=2330 live_blocks=0 live_bytes=0
 * plain() and aligned() delete by every form that fits: plain, nothrow, sized, of arrays.  failing() asks for too
 * much: bad_alloc, or what the handler throws, from four forms, and a null pointer from the nothrow ones (the
 * exceptions' own memory comes from libstdc++).
 * libstdc++ rounds the size of aligned blocks up to their alignment before it calls malloc: 192 and 224 bytes.
 * Truth is by the innermost function outside the operators.
 */
#include <cstdint>
#include <cstdlib>
#include <new>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
extern "C" void free_sized(void *p, size_t bytes) __attribute__((weak));
extern "C" void free_aligned_sized(void *p, size_t align, size_t bytes) __attribute__((weak));
void *kept[4];
NI void plain()
{
	for (int i = 0; i < 10; i++) {
		void *a = ::operator new(171), *b = ::operator new[](171);
		void *c = ::operator new(171, std::nothrow),
		     *d = ::operator new[](171, std::nothrow);
		KEEP(a);
		KEEP(b);
		KEEP(c);
		KEEP(d);
		i & 1 ? ::operator delete(a) : ::operator delete(a, (size_t)171);
		i & 1 ? ::operator delete[](b) : ::operator delete[](b, (size_t)171);
		::operator delete(c, std::nothrow);
		::operator delete[](d, std::nothrow);
	}
}
NI void aligned()
{
	const std::align_val_t at{64};
	for (int i = 0; i < 10; i++) {
		void *a = ::operator new(191, at), *b = ::operator new[](191, at);
		void *c = ::operator new(191, at, std::nothrow);
		void *d = ::operator new[](191, at, std::nothrow);
		KEEP(a);
		KEEP(b);
		KEEP(c);
		KEEP(d);
		if (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)d) % 64)
			abort();
		i & 1 ? ::operator delete(a, at) : ::operator delete(a, (size_t)191, at);
		i & 1 ? ::operator delete[](b, at) : ::operator delete[](b, (size_t)191, at);
		::operator delete(c, at, std::nothrow);
		::operator delete[](d, at, std::nothrow);
	}
}
NI void kept_forms()
{
	kept[0] = ::operator new(203);
	kept[1] = ::operator new[](203);
	kept[2] = ::operator new (203, std::align_val_t{32});
	kept[3] = ::operator new[](203, std::nothrow);
	KEEP(kept[3]);
}
/* How many throw std::bad_alloc, or what the handler throws, of the forms that do. */
NI int caught(size_t much)
{
	int count = 0;
	for (int form = 0; form < 4; form++) {
		try {
			kept[0] = form == 0   ? ::operator new(much)
				  : form == 1 ? ::operator new[](much)
				  : form == 2 ? ::operator new (much, std::align_val_t{128})
					      : ::operator new[](much, std::align_val_t{128});
		} catch (const std::bad_alloc &) {
			count++;
		} catch (int) {
			count += 10;
		}
	}
	return count;
}
static int handled;
static void give_up()
{
	handled++;
	throw 1;
}
NI int failing()
{
	volatile size_t much = PTRDIFF_MAX - 1000;
	const std::align_val_t at{256};
	bool is_right = caught(much) == 4;
	void *p[4] = {::operator new(much, std::nothrow), ::operator new[](much, std::nothrow),
		      ::operator new(much, at, std::nothrow),
		      ::operator new[](much, at, std::nothrow)};
	for (void *none : p) {
		KEEP(none);
		is_right = is_right && !none;
		::operator delete(none, std::nothrow);
		::operator delete[](none, (size_t)much, at);
	}
	std::set_new_handler(give_up);
	is_right = is_right && caught(much) == 40 && handled == 4;
	std::set_new_handler(nullptr);
	return is_right;
}
NI void c23()
{
	for (int i = 0; i < 10; i++) {
		void *a = malloc(213), *b = aligned_alloc(32, 213);
		KEEP(a);
		KEEP(b);
		free_sized ? free_sized(a, 213) : free(a);
		free_aligned_sized ? free_aligned_sized(b, 32, 213) : free(b);
	}
}
struct Own {
	char room[233];
	static void *operator new(size_t bytes);
	static void operator delete(void *p)
	{
		free(p);
	}
};
NI void *classes(size_t bytes)
{
	void *p = malloc(bytes);
	KEEP(p);
	return p;
}
void *Own::operator new(size_t bytes)
{
	return classes(bytes);
}
int main()
{
	plain();
	aligned();
	int ok = failing();
	kept_forms();
	c23();
	for (int i = 0; i < 10; i++) {
		Own *o = new Own;
		KEEP(o);
		delete o;
	}
	return !ok;
}
