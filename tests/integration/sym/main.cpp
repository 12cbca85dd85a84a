#include "shape.h"

volatile int shape_sink;

namespace
{
struct counter {
	int total = 0;
	__attribute__((noinline)) void add(int n)
	{
		total += shape::four(n);
	}
};
} // namespace

template <class F> static __attribute__((noinline)) int apply(F f, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += f(i);
	return sum;
}

static __attribute__((noinline)) int hidden(int n)
{
	shape::square<3> s{n};
	int before = s.area();
	return s.grow(n) - before;
}

static __attribute__((noinline)) int check(int n)
{
	if (n > 1000)
		part_stop(n);
	return lib_work(n) + 1;
}

int main(int argc, char **)
{
	counter c;
	int k = argc;
	c.add(argc);
	int sum = apply([k](int i) { return shape::twice(i) * k; }, argc * 4);
	struct local {
		static __attribute__((noinline)) int inside(int n)
		{
			shape_sink += n;
			return hidden(n) + n;
		}
	};
	sum += local::inside(argc) + check(argc) + part_entry(argc) + part_tail(argc);
	return (sum + c.total) & 1;
}

#ifdef OTHER /* the same code, but another compilation */
volatile int other_in_main;
#endif
