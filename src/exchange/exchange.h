/*
 * Profiles of other tools, read into the same model as our own files.
 *
 *   file -> input (unwrapped) -> detector -> reader of the format -> import (builder) -> profile
 *
 * The formats stand in formats.def.
 */
#ifndef NEAP_EXCHANGE_EXCHANGE_H
#define NEAP_EXCHANGE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/profile/profile.h"

enum exchange_format {
#define FORMAT(id, name, suffixes, title, reader, writer, facts) EXCHANGE_##id,
#include "src/exchange/formats.def"
	EXCHANGE_FORMAT_COUNT,
	EXCHANGE_ANY = EXCHANGE_FORMAT_COUNT, /* found out by content */
};

struct exchange_format_info {
	const char *name, *suffixes, *title;
	bool can_read, can_write;
	uint64_t facts; /* enum profile_fact: what a file can know */
};
const struct exchange_format_info *exchange_format_info(enum exchange_format f);
/* exchange_format_find - by name; EXCHANGE_ANY if there is none. */
enum exchange_format exchange_format_find(const char *name);

struct exchange_options {
	enum exchange_format format; /* EXCHANGE_ANY: by content */
	/* Called now and then; may be NULL.  True: stop, with ERR_USAGE. */
	bool (*on_progress)(void *arg, uint64_t done_bytes, uint64_t all_bytes);
	/* Called near the end with what was imported; texts are borrowed.  May be NULL. */
	void (*on_source)(void *arg, const struct profile_source *s, snap_id snapshot_count,
			  uint32_t node_count);
	void *arg;
};

/*
 * exchange_import - read a foreign file and write a profile.
 *   fd, out_path  an empty, writable file (taken over), and its name for messages
 * Fails: ERR_IO, ERR_FORMAT (no format fits, or its content is not what it should be),
 *        ERR_UNSUPPORTED (known, but holds nothing to import; the message says what to do),
 *        ERR_NOMEM.  What is in fd is then worthless.
 */
enum neap_err exchange_import(const char *path, int fd, const char *out_path,
			      const struct exchange_options *o, struct err *e);

/* exchange_title - whose format a file has: "valgrind's massif"; NULL: none that neap reads, or it cannot be read. */
const char *exchange_title(const char *path);

/*
 * exchange_open - a profile from a file of neap or of any other tool; in place of profile_open.
 * A foreign file is imported into an unnamed file in memory.  *out has the name of the original.
 * Fails: as profile_open and exchange_import.
 */
enum neap_err exchange_open(const char *path, struct profile **out, struct err *e);
/* Same from memory, for tests and fuzzing. */
enum neap_err exchange_parse(const void *data, size_t bytes, const char *name,
			     const struct exchange_options *o, struct profile **out, struct err *e);

#endif
