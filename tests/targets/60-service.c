/* 60 service: what queries ask about, and one leak that grows among caches that do not.
 * BUILD: gcc -g -O2 -o 60-service 60-service.c
 * RUN:   ./60-service
 * TRUTH func=session_new  allocs=240 bytes=122880 live_blocks=240 live_bytes=122880
 * TRUTH func=hash_insert  allocs=1000 bytes=48000 live_blocks=1000 live_bytes=48000
 * TRUTH func=cache_put    allocs=240 bytes=491520 live_blocks=16 live_bytes=32768
 * TRUTH func=pool_fill    allocs=64 bytes=65536 live_blocks=0
 * TRUTH func=pool_swap    allocs=240 bytes=245760 live_blocks=64 live_bytes=65536
 * TRUTH func=parse_object allocs=240 bytes=23040 live_blocks=0
 * 240 requests, 5 ms apart, between the marks "warmup", "first", "second".  Each forgets a
 * session (the leak); a ring of 16 bodies replaces its oldest, a pool of 64 a pseudo-random one;
 * a table is filled before the first request.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
extern void neap_mark(const char *name) __attribute__((weak));
static void *table[1000], *ring[16], *pool[64];
static void *volatile last_session;

static void mark(const char *name)
{
	if (neap_mark)
		neap_mark(name);
}
NI void *xmalloc(size_t size)
{
	void *p = malloc(size);
	KEEP(p);
	if (!p)
		abort();
	return p;
}
NI void hash_insert(int i)
{
	table[i] = xmalloc(48);
	KEEP(i);
}
NI void *session_new(int request)
{
	void *p = xmalloc(512);
	memset(p, request, 512);
	return p;
}
NI void cache_put(int request)
{
	free(ring[request % 16]);
	ring[request % 16] = xmalloc(2048);
	KEEP(request);
}
NI void pool_fill(void)
{
	for (int i = 0; i < 64; i++)
		pool[i] = xmalloc(1024);
}
NI void pool_swap(int request)
{
	int at = (int)((uint32_t)request * 2654435761u >> 26);
	free(pool[at]);
	pool[at] = xmalloc(1024);
	KEEP(at);
}
NI void *parse_object(int depth)
{
	void *p = xmalloc(96);
	if (depth > 1)
		free(parse_object(depth - 1));
	KEEP(depth);
	return p;
}
NI void json_parse(void)
{
	void *p = parse_object(1);
	KEEP(p);
	free(p);
}
NI void handle_request(int request)
{
	json_parse();
	cache_put(request);
	pool_swap(request);
	last_session = session_new(request);
}
int main(void)
{
	const struct timespec pause = {0, 5000000};
	for (int i = 0; i < 1000; i++)
		hash_insert(i);
	pool_fill();
	mark("warmup");
	for (int request = 0; request < 240; request++) {
		if (request == 60)
			mark("first");
		if (request == 180)
			mark("second");
		handle_request(request);
		nanosleep(&pause, NULL);
	}
	return 0;
}
