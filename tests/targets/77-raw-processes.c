/* 77 processes made without libc's fork: raw clone, clone with vfork's flags, a child that drops its rights, and
 *    forks while threads are inside malloc.
 * BUILD: gcc -g -O2 -pthread -o 77-raw-processes 77-raw-processes.c
 * RUN:   ./77-raw-processes [FORKS]
 * The first process: before allocs=30 bytes=5310 live 30; in_thread allocs=3000000 live 0; between (in the child that shares
 * its memory) allocs=3 bytes=537 live 0.  The children of fork and the one of raw clone: in_child allocs=20 bytes=3460
 * live 10, before live 20.  Run as root, one more child becomes another user first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static void *inherited[30], *own[20];
static volatile int is_over;
NI void before(void)
{
	for (int i = 0; i < 30; i++) {
		void *p = malloc(177);
		KEEP(p);
		inherited[i] = p;
	}
}
NI void in_child(void)
{
	for (int i = 0; i < 20; i++) {
		void *p = malloc(173);
		KEEP(p);
		if (i % 2)
			free(p);
		else
			own[i] = p;
	}
	for (int i = 0; i < 10; i++)
		free(inherited[i]);
}
NI void between(void)
{
	for (int i = 0; i < 3; i++) {
		void *p = malloc(179);
		KEEP(p);
		free(p);
	}
}
NI void in_thread(int i)
{
	void *p = malloc((size_t)(30 + i % 300)), *q = malloc((size_t)(3000 + i % 300));
	KEEP(p);
	KEEP(q);
	free(p);
	free(q);
}
static void *run(void *arg)
{
	for (int i = 0; i < 500000; i++)
		in_thread(i);
	while (!is_over)
		usleep(1000);
	return arg;
}
static int wait_for(pid_t p)
{
	int st = 1;
	return p <= 0 || waitpid(p, &st, 0) != p || st;
}
int main(int argc, char **argv)
{
	int bad = 0, forks = argc > 1 ? atoi(argv[1]) : 200;
	before();
	pid_t p = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (p == 0) {
		in_child();
		_exit(0);
	}
	bad |= wait_for(p);
	p = (pid_t)vfork();
	if (p == 0) {
		between();
		_exit(0);
	}
	bad |= wait_for(p);
	if (getuid() == 0) {
		p = fork();
		if (p == 0) {
			if ((setgid(65534) || setuid(65534)) &&
			    errno != EPERM) /* a container's root is refused */
				_exit(3);
			in_child();
			_exit(0);
		}
		bad |= wait_for(p);
	}
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, run, NULL))
			return 2;
	for (int i = 0; i < forks; i++) {
		p = fork();
		if (p == 0) {
			in_child();
			_exit(0);
		}
		bad |= wait_for(p);
	}
	is_over = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return bad;
}
