/* Correct queries by the grammar, from a seed. */
#ifndef NEAP_TESTS_UNIT_QUERY_GEN_H
#define NEAP_TESTS_UNIT_QUERY_GEN_H

#include "src/base/buf.h"

/* query_gen - one script with a query at its end; the same seed gives the same. */
void query_gen(uint64_t seed, struct buf *out);

#endif
