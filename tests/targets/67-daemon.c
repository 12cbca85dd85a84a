/* 67 a program that becomes a daemon: forks twice, closes every descriptor, uses the numbers again, leaves its
 *    directory and clears its environment.
 * BUILD: gcc -g -O2 -o 67-daemon 67-daemon.c
 * RUN:   ./67-daemon
 * The first process: in_start allocs=50 bytes=5350 live 50.  The daemon: in_daemon allocs=200 bytes=22200
 * live 20, and half of the inherited blocks freed.  The daemon exits with 1 if a descriptor is not what it
 * opened: the pipes to the first process tell it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
void *start_blocks[50], *daemon_blocks[200];
NI void in_start(void)
{
	for (int i = 0; i < 50; i++) {
		start_blocks[i] = malloc(107);
		KEEP(i);
	}
}
NI void in_daemon(int from, int to)
{
	for (int i = from; i < to; i++) {
		daemon_blocks[i] = malloc(111);
		KEEP(i);
		if (i % 10)
			free(daemon_blocks[i]);
	}
}
static void *in_thread(void *arg)
{
	(void)arg;
	in_daemon(100, 200);
	return NULL;
}
/* Descriptors 0 to 2 are /dev/null, 3 to 9 a pipe's end each; no other is open. */
static int is_as_opened(const struct stat *null, const struct stat *pipe_end)
{
	for (int fd = 0; fd < 64; fd++) {
		struct stat st;
		int ret = fstat(fd, &st);
		const struct stat *want = fd < 3 ? null : pipe_end;
		if (fd < 10 ? ret || st.st_ino != want->st_ino || st.st_dev != want->st_dev : !ret)
			return 0;
	}
	return 1;
}
static int be_daemon(int result_fd)
{
	struct stat null, pipe_end;
	dup2(result_fd, 40);
	for (int fd = 0; fd < 40; fd++)
		close(fd);
	if (open("/dev/null", O_RDWR) != 0 || dup(0) != 1 || dup(0) != 2)
		return 1;
	for (int fd = 3; fd < 10; fd++)
		if (dup(40) != fd)
			return 1;
	close(40);
	fstat(0, &null);
	fstat(3, &pipe_end);
	umask(0);
	clearenv();
	if (chdir("/"))
		return 1;
	in_daemon(0, 100);
	pthread_t t;
	if (pthread_create(&t, NULL, in_thread, NULL) || pthread_join(t, NULL))
		return 1;
	for (int i = 0; i < 25; i++)
		free(start_blocks[i]);
	return !is_as_opened(&null, &pipe_end);
}
int main(void)
{
	int ends[2];
	char verdict = 1;
	in_start();
	if (pipe(ends))
		return 2;
	pid_t p = fork();
	if (p == 0) {
		close(ends[0]);
		setsid();
		if (fork())
			_exit(0);
		verdict = (char)be_daemon(ends[1]);
		if (write(3, &verdict, 1) != 1)
			_exit(3);
		_exit(0);
	}
	waitpid(p, NULL, 0);
	close(ends[1]);
	if (read(ends[0], &verdict, 1) != 1)
		return 4;
	return verdict;
}
