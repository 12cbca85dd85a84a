/*
 * bigheaptrack MEGABYTES - text as heaptrack writes it, format 3, to standard output.
 *
 * The mix is that of a long run: few new call paths and kinds of allocations after the beginning, then
 * births and deaths, a fifth of them temporary, a million in a second.  The same text each time.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define IPS          4000u
#define TRACES       2000000u
#define INFOS        1000000u
#define LIVE_MOST    200000u
#define EVENTS_A_NEW 40u /* a new trace or kind of allocation after so many events */

static uint64_t state = 88172645463325252u;
static uint64_t written_bytes;

static uint32_t any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % below);
}

#define PUT(...) (written_bytes += (uint64_t)printf(__VA_ARGS__))

static void put_names(void)
{
	PUT("v 10400 3\nX ./big --run\nI 1000 7d09db\ns c /usr/bin/big_\ns 8 /src/a.c\n");
	for (uint32_t i = 0; i < IPS; i++) {
		char name[32];
		int bytes = snprintf(name, sizeof name, "ns::function_%u(int)", i);
		PUT("s %x %s\n", (unsigned)bytes, name);
	}
	for (uint32_t i = 0; i < IPS; i++)
		PUT("i %" PRIx64 " 1 %x 2 %x\n", UINT64_C(0x7f0000000000) + i * 61u, i + 3,
		    i % 900 + 1);
}

static uint32_t traces, infos;

static void put_new(void)
{
	if (traces < TRACES && (traces < 2 || any(3) < 2)) {
		PUT("t %x %x\n", any(IPS) + 1, traces ? any(traces + 1) : 0);
		traces++;
	} else if (infos < INFOS) {
		PUT("a %x %x\n", (any(512) + 1) * 8, any(traces) + 1);
		infos++;
	}
}

int main(int argc, char **argv)
{
	uint64_t most_bytes = (argc > 1 ? strtoull(argv[1], NULL, 10) : 100) << 20;
	static uint32_t live[LIVE_MOST];
	uint32_t live_count = 0;
	put_names();
	while (infos < 1000)
		put_new();
	for (uint64_t event = 0; written_bytes < most_bytes; event++) {
		if (event % EVENTS_A_NEW == 0)
			put_new();
		if (event % 10000 == 0)
			PUT("c %" PRIx64 "\nR %x\n", event / 1000, 5000 + any(20000));
		uint32_t info =
			any(any(any(infos) + 1) + 1); /* some are much more frequent than others */
		if (any(5) == 0) {
			PUT("+ %x\n- %x\n", info, info);
		} else if (live_count < LIVE_MOST && (!live_count || any(1000) < 502)) {
			PUT("+ %x\n", info);
			live[live_count++] = info;
		} else {
			uint32_t at = any(live_count);
			PUT("- %x\n", live[at]);
			live[at] = live[--live_count];
		}
	}
	return fflush(stdout) ? 1 : 0;
}
