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
template <class T> static inline __attribute__((always_inline)) T twice(T x)
{
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
