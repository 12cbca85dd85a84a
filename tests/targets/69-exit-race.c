/* 69 threads go on allocating while the process exits, in each of the ways a process can exit.
 * BUILD: gcc -g -O2 -pthread -o 69-exit-race 69-exit-race.c
 * RUN:   ./69-exit-race return|exit|quick_exit|_exit|pthread_exit|thread
 * TRUTH func=in_main allocs=100 bytes=14900 live_blocks=100 live_bytes=14900
 * at_end: allocs=10 bytes=1510 live_blocks=10 live_bytes=1510, but nothing for _exit.
 * 4 threads allocate and free as fast as they can until the kernel ends them; with pthread_exit they stop after
 * a while, and the last of them ends the process.  "thread": one of the threads calls exit.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static void *kept[200];
static int kept_count;
static volatile int may_stop, stops_one;
NI void in_thread(int bytes)
{
	void *p = malloc((size_t)bytes);
	KEEP(p);
	free(p);
	KEEP(p);
}
static void *run(void *arg)
{
	for (int i = 0; !may_stop; i++) {
		in_thread(20 + i % 500);
		if (stops_one && arg)
			exit(0);
	}
	return NULL;
}
NI void in_main(void)
{
	for (int i = 0; i < 100; i++) {
		void *p = malloc(149);
		KEEP(p);
		kept[kept_count++] = p;
	}
}
NI void at_end(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = malloc(151);
		KEEP(p);
		kept[kept_count++] = p;
		usleep(2000);
	}
}
static void *stopper(void *arg)
{
	usleep(100000);
	may_stop = 1;
	return arg;
}
int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";
	pthread_t t;
	in_main();
	atexit(at_end);
	at_quick_exit(at_end);
	for (long i = 0; i < 4; i++)
		pthread_create(&t, NULL, run, (void *)(i == 0));
	usleep(50000);
	if (!strcmp(way, "exit"))
		exit(0);
	if (!strcmp(way, "quick_exit"))
		quick_exit(0);
	if (!strcmp(way, "_exit"))
		_exit(0);
	if (!strcmp(way, "thread")) {
		stops_one = 1;
		pause();
	}
	if (!strcmp(way, "pthread_exit")) {
		pthread_create(&t, NULL, stopper, NULL);
		pthread_exit(NULL);
	}
	return 0;
}
