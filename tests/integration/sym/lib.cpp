#include "shape.h"

namespace
{
__attribute__((noinline)) int helper(int n)
{
	return shape::four(n) - 7;
}
} // namespace

int lib_work(int n)
{
	shape::square<5> s{n};
	return helper(s.area()) + s.grow(2) + 1;
}
