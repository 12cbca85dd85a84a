/*
 * Traces of OCaml's memtrace: the packets and events of versions 1 to 3, decoded
 * one event at a time.
 *
 *   packet: 66 bytes of header (68 from version 3 on), then events
 *   event:  4 bytes of header (low 25 bits: microseconds, high 7: kind), then its payload
 *
 * All integers are little-endian.  The caller reads packets from wherever they come:
 * ctf_packet_bytes says how long one is, ctf_begin takes it, ctf_next gives its events.
 * Stacks are compressed against the stack before in the same domain (OCaml 5 has many): each
 * allocation says how many of its outermost frames are the same, so that a consumer can keep
 * a tree instead of stacks.
 *
 * Format: the sources of janestreet/memtrace, as told in neap-import(1).
 */
#ifndef NEAP_EXCHANGE_CTF_H
#define NEAP_EXCHANGE_CTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"

#define CTF_MAGIC      0xc1fc1fc1u
#define CTF_HEAD_BYTES 8u /* what ctf_packet_bytes needs to see */

struct ctf_info {            /* strings live as long as the decoder */
	double rate;         /* samples per word, above 0 and at most 1 */
	uint32_t word_bytes; /* 4 or 8 */
	uint32_t version;
	uint64_t pid, start_us; /* microseconds since 1970 */
	const char *exe, *host, *params, *context;
};

struct ctf_location { /* strings live as long as the decoder */
	const char *file, *def;
	uint32_t line;
};

enum ctf_kind {
	CTF_END, /* of the packet */
	CTF_LOCATION,
	CTF_ALLOC,
	CTF_PROMOTE,
	CTF_COLLECT,
	CTF_FAILED,
};

enum ctf_source {
	CTF_MINOR,
	CTF_MAJOR,
	CTF_EXTERNAL
};

struct ctf_event {
	enum ctf_kind kind;
	uint32_t domain;
	uint64_t time_us; /* microseconds since 1970 */

	/* CTF_ALLOC, CTF_PROMOTE, CTF_COLLECT */
	uint64_t id;

	/* CTF_ALLOC */
	uint64_t length_words, sample_count;
	enum ctf_source source;
	const uint64_t *codes; /* [code_count], outermost first; until the next event */
	size_t code_count;
	size_t common_count; /* of them as in the allocation before in this domain */
	bool is_cut;         /* the trace has only the outer part of this stack */

	/* CTF_LOCATION: code, and what is inlined there, outermost first; until the next event */
	uint64_t code;
	const struct ctf_location *locations;
	size_t location_count;
};

struct ctf;
struct ctf *ctf_new(void); /* NULL: out of memory */
void ctf_free(struct ctf *c);

/*
 * ctf_packet_bytes - how long the packet is that begins with these 8 bytes, header included.
 *   at   where it lies in the file, for messages
 * Fails: ERR_FORMAT if it is not a packet.
 */
enum neap_err ctf_packet_bytes(const uint8_t head[CTF_HEAD_BYTES], uint64_t at, size_t *bytes_out,
			       struct err *e);

/*
 * ctf_begin - take a whole packet; the first one must hold the facts about the trace.
 * A packet of another process (a fork wrote into the same file) has no events; it is counted.
 *   data   borrowed until ctf_next has returned CTF_END
 * Fails: ERR_FORMAT, ERR_UNSUPPORTED (a later version), ERR_NOMEM, ERR_LIMIT.
 */
enum neap_err ctf_begin(struct ctf *c, const uint8_t *data, size_t bytes, uint64_t at,
			struct err *e);

/* ctf_next - the next event of the packet; on CTF_FAILED e says where and why, as ctf_begin. */
enum ctf_kind ctf_next(struct ctf *c, struct ctf_event *out, struct err *e);

const struct ctf_info *ctf_info(const struct ctf *c);   /* NULL before the first packet */
uint64_t ctf_packet_end_us(const struct ctf *c);        /* of the last packet begun */
uint64_t ctf_skipped_packet_count(const struct ctf *c); /* of other processes */

#endif
