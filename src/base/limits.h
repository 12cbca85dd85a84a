/* Limits on input, in one place.  Reaching one is ERR_LIMIT with its name in the message. */
#ifndef NEAP_BASE_LIMITS_H
#define NEAP_BASE_LIMITS_H

#define LIMIT_BLOCK_BYTES (256u << 20)  /* one block of a profile, uncompressed */
#define LIMIT_NAME_BYTES (1u << 20)     /* one symbol or file name */
#define LIMIT_STACK_FRAMES 16384u       /* frames of a recorded stack */
#define LIMIT_IDS 0xfffffff0u           /* ids of any table */
#define LIMIT_INLINE_DEPTH 512u         /* inlined functions at one address */

#endif
