/*
 * Samples of text formats whose mappings stand at the end of the file: stacks of addresses and
 * their rows are kept until it is known which module an address is in, then booked.
 *
 * Memory: 4 bytes for each address of a stack and 48 for each row, less than the text had.
 */
#ifndef NEAP_EXCHANGE_STACKROWS_H
#define NEAP_EXCHANGE_STACKROWS_H

#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/exchange/heaptext.h"
#include "src/exchange/import.h"

struct stack_row {
	uint32_t stack;   /* index + 1; 0: no stack */
	thread_id thread; /* 0: unknown */
	struct heap_row values;
};

struct stack_name {           /* one function at an address */
	uint32_t addr, stack; /* stack: how many there were; a run does not go on after the next */
	struct profile_line line;
};

/* Zero-initialised is empty. */
struct stackrows {
	struct map addr_idx;
	uint64_t *addrs; /* distinct return addresses */
	size_t addr_count, addr_cap;
	uint32_t *frames; /* indices of addrs, all stacks one after the other, innermost first */
	size_t frame_count, frame_cap;
	size_t *stacks; /* where each ends */
	size_t stack_count, stack_cap;
	struct stack_row *rows;
	size_t row_count, row_cap;
	struct stack_name *names; /* of addresses with consecutive names, innermost inlined first */
	size_t name_count, name_cap;
	struct {
		uint64_t start_va, end_va, offset_bytes;
		char *path; /* in arena */
		bool is_code;
	} * maps;
	size_t map_count, map_cap;
	struct arena arena;
	bool has_failed; /* memory ran out */
};
void stackrows_release(struct stackrows *s);

/*
 * stackrows_stack - the stack in the rest of a line: hex numbers between blanks, innermost first.
 * False if there is anything else; then nothing was added.
 */
bool stackrows_stack(struct stackrows *s, struct slice addrs);
/* stackrows_row - belongs to the stack added last, or to none if there is none. */
void stackrows_row(struct stackrows *s, thread_id thread, const struct heap_row *values);
/* stackrows_name - the file names a function at a return address; again for what it is inlined into. */
void stackrows_name(struct stackrows *s, uint64_t addr, const struct profile_line *line);
/* stackrows_keep_named - of the stack added last only the frames stay that were named since. */
void stackrows_keep_named(struct stackrows *s);
/* stackrows_map - a line of the mappings. False if it is none. */
bool stackrows_map(struct stackrows *s, struct slice line);

/*
 * stackrows_book - modules, frames, nodes and bookings for everything that was added.
 *   allocator       frames of a library of this name are left out where stacks begin in it; or NULL
 *   has_allocated   born_blocks and born_bytes mean something; else only what is live is booked
 * Where scaling made more live than was ever allocated, all of it counts as allocated; that is noted.
 * Fails: ERR_NOMEM.
 */
enum neap_err stackrows_book(struct stackrows *s, struct import *im, const char *allocator,
			     bool has_allocated, struct err *e);

/*
 * mapping_bias - what to take off a run-time address to get one in the file's own terms, from the
 * lowest mapping of the file.  Programs that are not position-independent lie at low addresses
 * and need nothing taken off.
 */
uint64_t mapping_bias(uint64_t start_va, uint64_t offset_bytes);

#endif
