/*
 * runstat - run a command and measure one program that it starts.
 *
 *   runstat TARGET COMMAND ARGS...
 *
 * TARGET is the path of the program's executable.  It is looked for among COMMAND
 * and its descendants, so the same measurement serves a native run and runs under
 * profilers that start it in their own way.  Prints one line:
 *
 *   command_s=S   wall seconds of the whole command
 *   target_s=S    wall seconds from the first sight of TARGET to its end (to about 0.3 ms)
 *   target_cpu_s=S  processor seconds of TARGET (its threads that are alive; to about 2 ms)
 *   after_s=S     wall seconds of the command after TARGET's end
 *   rss_kib=N     peak resident memory of TARGET, shared pages included (read every 2 ms)
 *   helper_share=S  CPU time of COMMAND's own process as a share of the time from the first to the
 *                   last sight of TARGET; 0 if they are one process
 *   status=N      exit status of COMMAND (128+n for a signal)
 *
 * The line goes to descriptor 3.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIND_US  200 /* between looks for the target */
#define WATCH_MS 2   /* between looks at its memory */

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_target(pid_t pid, const char *target)
{
	char link[64], exe[PATH_MAX];
	snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(link, exe, sizeof exe - 1);
	if (n < 0)
		return false;
	exe[n] = '\0';
	return !strcmp(exe, target);
}

/* Depth first through the children; 0 if it is not there (yet). */
static pid_t find_target(pid_t pid, const char *target, int depth)
{
	char path[64];
	if (is_target(pid, target))
		return pid;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *f = depth < 8 ? fopen(path, "re") : NULL;
	if (!f)
		return 0;
	int child;
	pid_t found = 0;
	while (!found && fscanf(f, "%d", &child) == 1)
		found = find_target(child, target, depth + 1);
	fclose(f);
	return found;
}

static long peak_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/* CPU seconds of all live threads of a process. */
static double cpu_s(pid_t pid)
{
	char path[PATH_MAX];
	double sum = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	if (!d)
		return 0;
	for (struct dirent *e; (e = readdir(d));) {
		uint64_t ns = 0;
		if (e->d_name[0] == '.') /* ".." is the process: it has such a file too */
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)pid, e->d_name);
		FILE *f = fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%" SCNu64, &ns) == 1)
			sum += (double)ns / 1e9;
		fclose(f);
	}
	closedir(d);
	return sum;
}

struct result {
	double first_seen, ended, target_cpu_s, helper_share;
	long rss_kib;
};

static void watch(pid_t command, pid_t target, struct result *out)
{
	int fd = (int)syscall(SYS_pidfd_open, target, 0);
	out->first_seen = now_s();
	double helper_before_s = cpu_s(command);
	for (;;) {
		/* Before it has ended: what COMMAND does from then on is not the target's cost. */
		double helper_s = cpu_s(command) - helper_before_s,
		       seen_s = now_s() - out->first_seen;
		long kib = peak_kib(target);
		if (kib > out->rss_kib)
			out->rss_kib = kib;
		double cpu = cpu_s(target);
		if (cpu > out->target_cpu_s)
			out->target_cpu_s = cpu;
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (fd < 0 || poll(&p, 1, WATCH_MS))
			break;
		if (target != command)
			out->helper_share = helper_s / seen_s;
	}
	out->ended = now_s();
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	char target[PATH_MAX];
	if (argc < 3 || !realpath(argv[1], target)) {
		fprintf(stderr, "usage: runstat TARGET COMMAND ARGS... (and descriptor 3 open)\n");
		return 2;
	}
	struct result r = {0};
	double start = now_s();
	pid_t command = fork();
	if (command == 0) {
		close(3);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	int st;
	pid_t done = 0, found = 0;
	while (!found && !(done = waitpid(command, &st, WNOHANG))) {
		found = find_target(command, target, 0);
		if (!found)
			usleep(FIND_US);
	}
	if (found)
		watch(command, found, &r);
	if (!done && waitpid(command, &st, 0) != command)
		return 2;
	double end = now_s();
	if (!found)
		fprintf(stderr, "runstat: %s was never seen\n", target);
	dprintf(3,
		"command_s=%.4f target_s=%.4f target_cpu_s=%.4f after_s=%.4f rss_kib=%ld "
		"helper_share=%.4f "
		"status=%d\n",
		end - start, found ? r.ended - r.first_seen : 0, r.target_cpu_s,
		found ? end - r.ended : 0, r.rss_kib, r.helper_share,
		WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st));
	return found ? 0 : 1;
}
