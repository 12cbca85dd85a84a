/* Foreign profiles in tests: imported from memory, told as text, cut at every byte. */
#ifndef NEAP_TESTS_FOREIGN_H
#define NEAP_TESTS_FOREIGN_H

#include <stddef.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/profile/profile.h"

/*
 * foreign_tell - what a profile holds, a line for each stack in the order of the file:
 *
 *   total 5 blocks 500 bytes, live 2 200, estimated, partial
 *   outer;inner 5 500 live 2 200 @2          allocated; live; in thread 2 (if known)
 *   note: ...
 *
 * Functions inlined into each other stand with "<", the inner one last; frames without a name as
 * module+0xADDRESS or 0xADDRESS, in the terms of the profile.
 */
void foreign_tell(const struct profile *p, struct buf *out);

/* Fail the test that is running: a profile that tells this; a refusal with these words in it. */
void expect_import(const void *data, size_t bytes, const char *want);
void expect_refusal(const void *data, size_t bytes, enum neap_err code, const char *words);
/* foreign_sums - imported, checked and told; only what is in the first line. */
struct foreign_sums {
	unsigned long long born_blocks, born_bytes, live_blocks, live_bytes, peak_bytes;
	unsigned long long unknown;
	bool is_estimated, is_partial;
};
struct foreign_sums foreign_import(const void *data, size_t bytes);

/*
 * expect_fair_cuts - of the file's beginnings, a step apart, each is refused with a message or
 * becomes a profile without findings that never has more live than the whole one.
 */
void expect_fair_cuts(const void *data, size_t bytes, size_t step);
/* expect_no_memory - with the n-th allocation failing, for all n: ERR_NOMEM or whole. */
void expect_fair_lack_of_memory(const void *data, size_t bytes);

/* A file of tests/exchange, or of $NEAP_SHARED/data if in_shared; empty if it is not there. */
struct buf foreign_file(const char *name, bool in_shared);

#endif
