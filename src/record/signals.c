/* Signals that come to the recorder: most are meant for the program. */
#include "config.h"

#include "src/record/record_priv.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int stop_signals[] = {SIGTERM, SIGHUP, SIGQUIT, SIGINT};
/* What would end us and is not meant for us either.  An alarm may have been set before execve. */
static const int other_signals[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR};

static bool is_stop_signal(uint32_t signal)
{
	for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
		if ((int)signal == stop_signals[i])
			return true;
	}
	return false;
}

void signals_mask(sigset_t *mask)
{
	sigemptyset(mask);
	for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++)
		sigaddset(mask, stop_signals[i]);
	for (size_t i = 0; i < sizeof other_signals / sizeof other_signals[0]; i++)
		sigaddset(mask, other_signals[i]);
	for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
		sigaddset(mask, signal);
}

/* Did one of the processes that are recorded send it?  Then it was to all of their group, or to its
 * parent, and has reached the program already, or was not for it. */
static bool is_from_family(const struct recorder *r, const struct signalfd_siginfo *s)
{
	bool is_from_process = s->ssi_code <= 0; /* SI_USER, SI_QUEUE, SI_TKILL */
	pid_t pid = (pid_t)s->ssi_pid;
	if (!is_from_process || !pid)
		return false;
	for (size_t i = 0; i < r->process_count; i++) {
		if (r->processes[i]->pid == pid)
			return true;
	}
	return pid == r->child.pid;
}

/* A key at the terminal reaches the program by itself; what was sent to us alone is passed on. */
static void pass_on(const struct recorder *r, const struct signalfd_siginfo *s)
{
	int signal = (int)s->ssi_signo;
	const union sigval value = {.sival_ptr = (void *)(uintptr_t)s->ssi_ptr};
	bool is_key = s->ssi_code == SI_KERNEL && is_stop_signal(s->ssi_signo);
	if (is_key || is_from_family(r, s) || r->child.pid <= 0)
		return;
	if (s->ssi_code == SI_QUEUE)
		sigqueue(r->child.pid, signal, value);
	else
		kill(r->child.pid, signal);
}

static void ask_to_stop(struct recorder *r)
{
	r->stop_count++;
	if (r->stop_count == 1 && r->process_count)
		speaker_say(&r->speaker, "waiting for %zu more processes; once more to stop",
			    r->process_count);
	if (r->stop_count == 1)
		__atomic_store_n(&r->naming.wants_no_names, 1, __ATOMIC_RELEASE);
	else
		r->wants_stop = true;
}

void signals_handle(struct recorder *r)
{
	struct signalfd_siginfo s;
	while (read(r->signal_fd, &s, sizeof s) == (ssize_t)sizeof s) {
		if (!r->child_has_ended)
			pass_on(r, &s);
		else if (is_stop_signal(s.ssi_signo) && !is_from_family(r, &s))
			ask_to_stop(r);
	}
}

void signals_release(struct recorder *r)
{
	struct signalfd_siginfo s;
	if (r->signal_fd >= 0) {
		while (read(r->signal_fd, &s, sizeof s) == (ssize_t)sizeof s) {
			/* it came too late for anybody */
		}
		close(r->signal_fd);
	}
	if (r->has_old_mask)
		pthread_sigmask(SIG_SETMASK, &r->old_mask, NULL);
}
