/*
 * What a profile says about each function, added up from its raw columns.
 *
 * The tests compare this with what is known about a program.  It shares no code
 * with src/graph, so that an error there cannot hide itself.
 */
#ifndef NEAP_TESTS_TRUTH_SUM_H
#define NEAP_TESTS_TRUTH_SUM_H

#include <stdint.h>

#include "src/base/err.h"
#include "src/base/map.h"
#include "src/profile/profile.h"

struct truth_sum {
	uint64_t alloc_count,
		alloc_bytes; /* allocations of this process: inherited blocks not among them */
	uint64_t live_count, live_bytes; /* at the end */
	uint64_t peak_count, peak_bytes; /* live at the peak */
	uint64_t temporary_count, temporary_bytes;
};

/* Functions by name, without parameters and clone suffixes. */
struct truth {
	const struct profile *profile; /* borrowed */
	struct strtab names;
	struct truth_sum *leaf; /* [names.count]: blocks whose innermost frame outside the
				      * allocation wrappers is this function */
	struct truth_sum
		*inclusive; /* [names.count]: blocks with the function anywhere in the stack */
	struct truth_sum total;
	struct truth_sum *cohorts; /* [profile->cohort_count] */
	uint32_t *func_name;       /* [symbols.func_count]: name of each func_id - 1 */
};

/* truth_load - add up everything.  Fails: ERR_NOMEM. */
enum neap_err truth_load(const struct profile *p, struct truth *out, struct err *e);
void truth_release(struct truth *t);

/* truth_stack - names of the functions of a node's stack, innermost first, wrappers included;
 * frames without a name give UINT32_MAX.  Returns how many there are; writes at most cap. */
size_t truth_stack(const struct truth *t, node_id node, uint32_t *names_out, size_t cap);

#endif
