extern volatile int shape_sink;
int part_entry(int n);
int part_tail(int n);
void part_stop(int n) __attribute__((noreturn));

static __attribute__((noinline)) int last(int n)
{
	shape_sink += n;
	return shape_sink * n;
}

static __attribute__((noinline)) int middle(int n)
{
	shape_sink -= n;
	return last(n * 3);
}

int part_tail(int n)
{
	shape_sink = n;
	return middle(n + 1);
}

static __attribute__((noinline, noreturn)) void stop_now(int n)
{
	shape_sink = n;
	for (;;)
		shape_sink++;
}

/* The call is the last instruction: the return address lies behind the function. */
void part_stop(int n)
{
	shape_sink += 2 * n;
	stop_now(n + 5);
}

int part_entry(int n)
{
	int a = middle(n);
	return a + last(a) + 1;
}

#ifdef OTHER /* the same code, but another compilation */
volatile int other_in_part;
#endif
