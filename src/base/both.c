/* A thread for each call: to make one takes less time than any work that is worth one. */
#include "config.h"

#include "src/base/both.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct half {
	void (*work)(void *half);
	void *of;
};

static void *run(void *arg)
{
	const struct half *h = arg;
	h->work(h->of);
	return NULL;
}

static bool start(struct half *h, pthread_t *thread_out)
{
	sigset_t all, before;
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before))
		return false;
	bool is_made = !pthread_create(thread_out, NULL, run, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_made;
}

void both_run(void (*work)(void *half), void *a, void *b)
{
	struct half other = {work, b};
	pthread_t thread;
	bool is_started = start(&other, &thread);
	work(a);
	if (is_started)
		pthread_join(thread, NULL);
	else
		work(b);
}
