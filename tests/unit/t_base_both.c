/* Two halves of some work at the same time. */
#include "config.h"

#include "src/base/both.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

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

Test(both, does_both_halves_here_if_no_thread_can_be_made)
{
	const struct rlimit none = {.rlim_cur = 1, .rlim_max = RLIM_INFINITY};
	struct rlimit before;
	struct half a = {.times = 0}, b = {.times = 0};
	cr_assert_eq(getrlimit(RLIMIT_AS, &before), 0);
	cr_assert_eq(setrlimit(RLIMIT_AS, &none), 0); /* no room for its stack */
	both_run(work, &a, &b);
	cr_assert_eq(setrlimit(RLIMIT_AS, &before), 0);
	cr_assert_eq(a.times, 1);
	cr_assert_eq(b.times, 1);
	cr_assert(pthread_equal(b.thread, pthread_self()));
}
