/* 92 unlikely programs, one for each word; each must end, print, and see the same as alone.
 * BUILD: gcc -g -O2 -pthread -o 92-unlikely 92-unlikely.c
 * RUN:   ./92-unlikely WORD; without a word, the words
 * TRUTH func=in_known allocs=100 bytes=100900 live_blocks=25 live_bytes=25225
 * in_known runs last, in the first process, whatever the word did before.  tests/integration/unseen.sh compares
 * it with itself alone, and with a preload that does nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

NI static void work(void)
{
	void *p[100];
	for (size_t i = 0; i < 100; i++) {
		p[i] = malloc(10 + 3 * i);
		KEEP(p[i]);
	}
	for (int i = 0; i < 100; i++)
		free(p[i]);
}
static void work_and_end(void)
{
	work();
	_exit(3);
}
static void in_child(void (*run)(void))
{
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (!child)
		run();
	waitpid(child, &status, 0);
	printf("child %x\n", status);
}

/* ---- filters of system calls -------------------------------------------------------------- */

static void filter(const int *calls, int count, unsigned verdict)
{
	struct sock_filter code[32];
	unsigned short n = 0;
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (int i = 0; i < count; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)calls[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {n, code};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		printf("no filter\n");
}
static const int socket_calls[] = {SYS_socket, SYS_connect, SYS_sendto, SYS_recvmsg};
/* A child of fork that would be killed for a socket. */
static void do_filterfork(void)
{
	filter(socket_calls, 4, SECCOMP_RET_KILL_PROCESS);
	work();
	in_child(work_and_end);
}
static char **argv;
static void become(void)
{
	char *args[] = {argv[0], "ended", NULL};
	execv("/proc/self/exe", args);
	_exit(98);
}
static void do_ended(void)
{
	work_and_end();
}
/* The same for a program that is started under the filter. */
static void do_filterexec(void)
{
	filter(socket_calls, 4, SECCOMP_RET_KILL_PROCESS);
	in_child(become);
}
static void *work_in_thread(void *arg)
{
	work();
	return arg;
}
static void threads(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, work_in_thread, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}
/* What threads and children would like to ask is refused. */
static void do_filtererrors(void)
{
	const int calls[] = {SYS_open, SYS_openat, SYS_socket, SYS_prctl, SYS_gettid, SYS_readlink};
	filter(calls, 6, SECCOMP_RET_ERRNO | EPERM);
	threads();
	in_child(work_and_end);
}
/* No memory may become executable. */
static void do_mdwe(void)
{
	prctl(PR_SET_MDWE, 1, 0, 0, 0);
	work();
	threads();
	in_child(work_and_end);
}

/* ---- processes ------------------------------------------------------------------------------ */

static void do_generations(void)
{
	int depth = 0;
	for (; depth < 30; depth++) {
		int status;
		void *p = malloc(100);
		KEEP(p);
		pid_t child = fork();
		if (child && depth) {
			waitpid(child, &status, 0);
			_exit(WEXITSTATUS(status) + 1);
		}
		if (child) {
			waitpid(child, &status, 0);
			printf("last %x\n", status);
			return;
		}
	}
	_exit(depth);
}
static void do_subreaper(void)
{
	int status, count = 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < 3; i++) {
		if (fork())
			continue;
		if (!fork())
			work_and_end();
		_exit(4);
	}
	while (wait(&status) > 0)
		count++;
	printf("reaped %d\n", count);
}
/* A command line of almost all that a process may have. */
static void do_longcommand(void)
{
	static char text[100], *args[16001];
	memset(text, 'x', sizeof text - 1);
	args[0] = argv[0];
	args[1] = "ended";
	for (int i = 2; i < 16000; i++)
		args[i] = text;
	fflush(stdout);
	pid_t child = fork();
	int status;
	if (!child) {
		execv("/proc/self/exe", args);
		_exit(98);
	}
	waitpid(child, &status, 0);
	printf("child %x\n", status);
}

/* ---- stacks ----------------------------------------------------------------------------------- */

static void handler(int signal)
{
	(void)signal;
	work();
}
/* An alternate stack that is gone later, at a place where other memory lies then. */
static void do_altgone(void)
{
	const size_t bytes = 64 << 10;
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 10; i++) {
		void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		stack_t stack = {.ss_sp = memory, .ss_size = bytes};
		sigaltstack(&stack, NULL);
		raise(SIGUSR1);
		stack.ss_flags = SS_DISABLE;
		sigaltstack(&stack, NULL);
		if (i % 2)
			munmap(memory, bytes);
		else
			mprotect(memory, bytes, PROT_NONE);
		work();
	}
	printf("ten stacks\n");
}
static ucontext_t outside, inside;
static void two_halves(void)
{
	work();
	swapcontext(&inside, &outside);
	work();
}
/* A coroutine's stack cannot be read while it is away. */
static void do_hiddenstack(void)
{
	const size_t bytes = 128 << 10;
	void *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = bytes;
	inside.uc_link = &outside;
	makecontext(&inside, two_halves, 0);
	swapcontext(&outside, &inside);
	mprotect(stack, bytes, PROT_NONE);
	work();
	mprotect(stack, bytes, PROT_READ | PROT_WRITE);
	swapcontext(&outside, &inside);
	munmap(stack, bytes);
	work();
	printf("back\n");
}
static sigjmp_buf back;
static void leave(int signal)
{
	(void)signal;
	work();
	siglongjmp(back, 1);
}
static void do_faults(void)
{
	struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER}, before;
	sigaction(SIGSEGV, &action, &before);
	for (volatile int i = 0; i < 50; i++) {
		if (!sigsetjmp(back, 1))
			*(volatile int *)8 = 1; /* NOLINT */
		work();
	}
	sigaction(SIGSEGV, &before, NULL);
	printf("%d\n", before.sa_handler == SIG_DFL);
}

static void *known[100];
NI void in_known(void)
{
	for (int i = 0; i < 100; i++) {
		void *p = malloc(1009);
		KEEP(p);
		if (i % 4)
			free(p);
		else
			known[i] = p;
	}
	__asm__ volatile("" : : "r"(known) : "memory");
}
static const struct {
	const char *word;
	void (*fn)(void);
} words[] = {
	{"filterfork", do_filterfork},
	{"filterexec", do_filterexec},
	{"filtererrors", do_filtererrors},
	{"mdwe", do_mdwe},
	{"generations", do_generations},
	{"subreaper", do_subreaper},
	{"longcommand", do_longcommand},
	{"altgone", do_altgone},
	{"hiddenstack", do_hiddenstack},
	{"faults", do_faults},
	{"ended", do_ended}, /* what others become */
};
int main(int count, char **args)
{
	argv = args;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (count < 2 && words[i].fn != do_ended)
			puts(words[i].word);
		else if (count > 1 && !strcmp(argv[1], words[i].word)) {
			words[i].fn();
			in_known();
			return 7;
		}
	}
	return count > 1;
}
