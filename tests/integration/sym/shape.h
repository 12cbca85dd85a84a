// Inlined functions in a header of another folder, several levels deep.
#ifndef SHAPE_H
#define SHAPE_H
extern "C" {
extern volatile int shape_sink;
int part_entry(int n);
void part_stop(int n) __attribute__((noreturn));
int part_tail(int n);
}
int lib_work(int n);
namespace shape
{
// Large enough for dwz to share it between the program and its library, which has to pay for the rest.
struct wide {
	int a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;
	long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15;
	char c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15;
	double d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15;
};
template <int N> struct square {
	int side;
	__attribute__((always_inline)) int area() const
	{
		int a = side * N;
		shape_sink += a;
		return a * side;
	}
	__attribute__((noinline)) int grow(int by)
	{
		side += by * N;
		shape_sink = side;
		return area() + N;
	}
};
template <class T>
static inline __attribute__((always_inline)) T twice(T x, const wide *none = nullptr)
{
	if (none)
		shape_sink = none->a0;
	shape_sink += (int)x;
	T y = x + x;
	shape_sink -= (int)y;
	return y;
}
template <class T> static inline __attribute__((always_inline)) T four(T x)
{
	T a = twice(x);
	return twice(a) + twice(x + 1);
}
} // namespace shape
#endif
