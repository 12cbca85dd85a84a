/* Profiles for tests: one small one with everything in it, and a judge of what a reader made. */
#ifndef NEAP_TESTS_UNIT_SAMPLE_PROFILE_H
#define NEAP_TESTS_UNIT_SAMPLE_PROFILE_H

#include "src/profile/profile.h"

/* Fills a profile; it may find that the writer failed. */
typedef void (*sample_fn)(struct profile_writer *w, void *ctx);

/* sample_write - the bytes of the file that fn writes, even if writing failed; the code of the writer's close. */
enum neap_err sample_write(sample_fn fn, void *ctx, struct buf *out, struct err *e);

/* A sample_fn: two modules, threads, a signal stack, mixed sizes, late changes, symbols. */
void sample_small(struct profile_writer *w, void *ctx);

/* sample_wrong - what a user of the columns could trip over; NULL if they are right. */
const char *sample_wrong(const struct profile *p);

#endif
