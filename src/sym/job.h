/* One module of a profile and the frames that lie in it.  Private to symbolise.c and job.c. */
#ifndef NEAP_SYM_JOB_H
#define NEAP_SYM_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/profile/profile.h"
#include "src/sym/sym.h"

struct job_frame {
	uint64_t va;
	uint32_t frame_idx;
	uint32_t first_line, line_count; /* in the job's lines */
	uint32_t callee; /* what is called there: its id in the job's callees + 1; 0: unknown */
};

struct job {
	const struct profile_module *module;
	int fd;
	struct job_frame
		*frames; /* [frame_count], sorted by va; a piece of one array for all jobs */
	size_t frame_count;

	/* results; owner: the thread that runs the job, then the caller */
	struct strtab linkages, files;
	struct strtab callees; /* linkage names */
	const char **names;    /* [linkages.count] in arena: demangled, or NULL if the same */
	size_t names_cap;
	struct arena arena;
	struct profile_line *lines; /* ids count from 0 and are the job's own */
	size_t line_count, line_cap;
	enum neap_err result;
	bool has_crashed; /* the reader of debug information did: names are from symbols only */
	struct err error; /* why there are no names */
};

typedef void job_counter(void *context, size_t done_count); /* of all frames so far */

/* job_look_up - names of all frames.  False: out of memory. */
bool job_look_up(struct job *job, struct sym_module *m, job_counter *count, void *context);
/* job_name_frame - give frame i one function that is known by its name only.  False: out of memory. */
bool job_name_frame(struct job *job, size_t i, const char *name);
/*
 * job_copy_frame - give a frame of a job the names that a frame of another job has; the ids
 * become those of the first.  False: out of memory.
 */
bool job_copy_frame(struct job *to, struct job_frame *frame, const struct job *from,
		    const struct job_frame *source);
/* job_encode, job_decode - results as bytes; decode fails on anything encode does not write. */
void job_encode(const struct job *job, struct buf *out);
bool job_decode(struct job *job, const void *data, size_t bytes);
/* job_clear - forgets the results. */
void job_clear(struct job *job);

#endif
