/* 71 C++20 coroutines: frames on the heap, resumed from elsewhere, in other threads too.
 * BUILD: g++ -g -O2 -std=c++20 -pthread -o 71-coroutines 71-coroutines.cpp
 * RUN:   ./71-coroutines
 * TRUTH func=in_body allocs=9000 bytes=2169000 live_blocks=1000 live_bytes=241000
 * INCLUSIVE func=first_resume  allocs=3000 bytes=723000
 * INCLUSIVE func=second_resume allocs=3000 bytes=723000
 * INCLUSIVE func=other_thread  allocs=3000 bytes=723000
 * 1000 coroutines allocate at three places; each is resumed first by the main program, then again from deeper,
 * then by another thread.  One block in nine is kept.
 */
#include <coroutine>
#include <cstdlib>
#include <thread>
#include <vector>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static std::vector<void *> kept;
NI void in_body(int i)
{
	void *p = malloc(241);
	KEEP(p);
	if (i % 9)
		free(p);
	else
		kept.push_back(p);
	KEEP(i);
}
struct Task {
	struct promise_type {
		Task get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			abort();
		}
	};
	std::coroutine_handle<promise_type> handle;
};
static Task body(int n)
{
	for (int part = 0; part < 3; part++) {
		for (int i = 0; i < 3; i++)
			in_body(n * 9 + part * 3 + i);
		co_await std::suspend_always{};
	}
}
NI void first_resume(Task &t)
{
	t.handle.resume();
	__asm__ volatile("" ::: "memory");
}
NI void second_resume(Task &t, int depth)
{
	if (depth)
		second_resume(t, depth - 1);
	else
		t.handle.resume();
	KEEP(depth);
}
NI void other_thread(std::vector<Task> *all)
{
	for (auto &t : *all)
		t.handle.resume();
	KEEP(all);
}
int main()
{
	std::vector<Task> all;
	kept.reserve(2000);
	for (int i = 0; i < 1000; i++)
		all.push_back(body(i));
	for (auto &t : all)
		first_resume(t);
	for (int i = 0; i < 1000; i++)
		second_resume(all[i], i % 5);
	std::thread(other_thread, &all).join();
	for (auto &t : all) {
		t.handle.resume();
		t.handle.destroy();
	}
	return 0;
}
