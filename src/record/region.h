/*
 * The recorder's side of a shared region: making it, mapping it whole, and
 * reading its indexes with the distrust that memory of a foreign program needs.
 */
#ifndef NEAP_RECORD_REGION_H
#define NEAP_RECORD_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/format.h"
#include "src/base/err.h"

struct region {
	int fd; /* memfd; -1 once closed */
	uint8_t *base;
	size_t bytes;
	struct nc_header *header;
	/* Sections; read with the orders that format.h asks for. */
	const struct nc_node *nodes;
	const struct nc_cohort *cohorts;
	uint8_t *dirty;
	struct nc_thread *threads;
	const struct nc_module *modules;
	uint32_t max_count[NC_SEC_COUNT];
};

/*
 * region_init - a sparse memfd with room for the maxima of format.h, or for less where
 * limits on address space or file size do not allow that; header filled in.
 * Fails: ERR_IO.  r can be released in any case.
 */
enum neap_err region_init(struct region *r, struct err *e);
void region_release(struct region *r);
void region_close_fd(struct region *r); /* after it was sent */

/* Entries handed out so far, never more than there is room for. */
uint32_t region_used(const struct region *r, enum nc_section_id section);

/* Sums of the two halves of the collector's totals. */
int64_t region_live_bytes(const struct region *r);
uint64_t region_peak_epoch(const struct region *r);

#endif
