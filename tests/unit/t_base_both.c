/* Two halves of some work at the same time. */
#include "config.h"

#include "src/base/both.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>

struct half {
	pthread_t thread;
	int times, takes_signals;
};

static void work(void *arg)
{
	struct half *h = arg;
	sigset_t blocked;
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	h->thread = pthread_self();
	h->takes_signals = !sigismember(&blocked, SIGTERM);
	h->times++;
}

Test(both, does_the_first_half_here_and_the_second_in_a_thread_without_signals)
{
	struct half a = {.times = 0}, b = {.times = 0};
	both_run(work, &a, &b);
	cr_assert_eq(a.times, 1);
	cr_assert_eq(b.times, 1);
	cr_assert(pthread_equal(a.thread, pthread_self()));
	cr_assert_not(pthread_equal(b.thread, pthread_self()));
	cr_assert(a.takes_signals);
	cr_assert_not(b.takes_signals);
	work(&a);
	cr_assert(a.takes_signals);
}

/* Threads of libc's choice get stacks of this size. */
static void set_stack_bytes(size_t bytes)
{
	pthread_attr_t attr;
	cr_assert_eq(pthread_getattr_default_np(&attr), 0);
	cr_assert_eq(pthread_attr_setstacksize(&attr, bytes), 0);
	cr_assert_eq(pthread_setattr_default_np(&attr), 0);
	pthread_attr_destroy(&attr);
}

Test(both, does_both_halves_here_if_no_thread_can_be_made)
{
	struct half a = {.times = 0}, b = {.times = 0};
	set_stack_bytes((size_t)1 << 50); /* more than a process can have */
	both_run(work, &a, &b);
	set_stack_bytes((size_t)8 << 20);
	cr_assert_eq(a.times, 1);
	cr_assert_eq(b.times, 1);
	cr_assert(pthread_equal(b.thread, pthread_self()));
}
