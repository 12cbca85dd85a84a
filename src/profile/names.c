/* Words for the numbers of the file. */
#include "config.h"

#include "src/profile/profile.h"

#include "src/profile/profile_priv.h"

const char *profile_api_name(enum profile_api api)
{
	static const char *const names[API_COUNT] = {
		[API_UNKNOWN] = "unknown",
		[API_MALLOC] = "malloc",
		[API_CALLOC] = "calloc",
		[API_REALLOC] = "realloc",
		[API_REALLOCARRAY] = "reallocarray",
		[API_POSIX_MEMALIGN] = "posix_memalign",
		[API_ALIGNED_ALLOC] = "aligned_alloc",
		[API_MEMALIGN] = "memalign",
		[API_VALLOC] = "valloc",
		[API_PVALLOC] = "pvalloc",
		[API_NEW] = "operator new",
		[API_NEW_ARRAY] = "operator new[]",
		[API_MMAP] = "mmap",
	};
	return (unsigned)api < API_COUNT ? names[api] : "unknown";
}

static const struct {
	const char *key, *meaning;
} drops[DROP_COUNT] = {
	[DROP_NODES] = {"nodes", "blocks not counted: no room for their call path"},
	[DROP_COHORTS] = {"cohorts", "blocks not counted: no room for their counters"},
	[DROP_THREADS] = {"threads", "blocks not counted: no room for the thread's tables"},
	[DROP_MAP] = {"map", "blocks not counted: no room in the table of live blocks"},
	[DROP_REENTRY] = {"reentry", "blocks not counted: third hook nested in one thread"},
	[DROP_STARTUP] = {"startup",
			  "blocks not counted: asked for before the collector was ready"},
	[DROP_MODULES] = {"modules", "modules without a record: their frames have no name"},
	[DROP_FRAMES] = {"frames", "stacks cut because they were too deep"},
	[DROP_FOREIGN] = {"foreign", "frees of blocks that were never counted"},
	[DROP_UNWIND] = {"unwind", "stacks that end before the root: no unwind rule for a frame"},
};

const char *profile_drop_name(enum profile_drop d)
{
	return (unsigned)d < DROP_COUNT ? drops[d].key : "unknown";
}

const char *profile_drop_meaning(enum profile_drop d)
{
	return (unsigned)d < DROP_COUNT ? drops[d].meaning : "a cause this version does not know";
}

const char *profile_fact_name(unsigned bit)
{
	static const char *const names[FACT_COUNT] = {
		"what was live at the end", /* in the order of enum profile_fact */
		"times",
		"threads",
		"sizes of blocks",
		"numbers of blocks",
		"allocations in all",
		"frees",
		"temporary blocks",
		"lifetimes",
		"functions called",
		"the peak",
		"the exact peak",
		"addresses",
	};
	return bit < FACT_COUNT ? names[bit] : "unknown";
}

void profile_facts_text(uint64_t facts, struct buf *out)
{
	const char *separator = "";
	if (facts & FACT_PEAK)
		facts &= ~(uint64_t)FACT_PEAK_EXACT;
	for (unsigned bit = 0; bit < FACT_COUNT; bit++) {
		if (!(facts >> bit & 1))
			continue;
		buf_printf(out, "%s%s", separator, profile_fact_name(bit));
		separator = ", ";
	}
}

const char *block_type_name(unsigned type)
{
	static const char *const names[BLOCK_TYPE_COUNT] = {
		[BLOCK_RUN] = "run",
		[BLOCK_MODULES] = "modules",
		[BLOCK_THREADS] = "threads",
		[BLOCK_FRAMES] = "frames",
		[BLOCK_NODES] = "nodes",
		[BLOCK_SITES] = "sites",
		[BLOCK_SNAPSHOTS] = "snapshots",
		[BLOCK_MARKS] = "marks",
		[BLOCK_DROPS] = "drops",
		[BLOCK_PEAK] = "peak",
		[BLOCK_SYMBOLS] = "symbols",
		[BLOCK_END] = "end",
		[BLOCK_SOURCE] = "source",
		[BLOCK_TAILS] = "tail calls",
	};
	return type < BLOCK_TYPE_COUNT && names[type] ? names[type] : "unknown";
}
