/* The part of tail.c in C++. */
#include <cstdlib>
#define NI __attribute__((noinline))

namespace
{
void *volatile cxx_kept;
volatile unsigned cxx_ways;

struct shop {
	NI static void cxx_leaf(std::size_t bytes)
	{
		cxx_kept = std::malloc(bytes);
		cxx_ways = cxx_ways + 1;
	}
};
} // namespace

extern "C" NI void cxx_one(std::size_t bytes)
{
	cxx_ways = cxx_ways + 2;
	shop::cxx_leaf(bytes);
}
