/* Random profiles and random queries, the same for the same seed. */
#ifndef NEAP_TESTS_UNIT_QUERY_RANDOM_H
#define NEAP_TESTS_UNIT_QUERY_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"

#define RANDOM_QUERY_BYTES 1024

/* random_profile - write a file with a small random_world. */
void random_profile(const char *path, uint64_t seed);
/* The type that a function of these profiles allocates, NULL if its name does not tell; and the
 * same as query_options has it. */
const char *random_type(const char *name);
bool random_type_of(const char *name, struct buf *out);

struct random_query {
	uint64_t random; /* the seed; changed by each query */
	char text[RANDOM_QUERY_BYTES];
	size_t used;
	size_t shape_at, select_at; /* where grouping or tree, and `select`, begin in it */
};
/* random_query - the next query, into text: a source (two for a difference), conditions, changes
 * of stacks, one grouping or tree, and `select` of RANDOM_COLUMNS. */
void random_query(struct random_query *m, bool is_diff);
/* random_filter - conditions and changes of stacks alone, into text, for after any source. */
void random_filter(struct random_query *m);
#define RANDOM_COLUMNS \
	"self,total,count,allocs,frees,temp,avg,max,p50,p99,share,peak,rate,first,last"

#endif
