/* Limits on input, in one place.  Reaching one is ERR_LIMIT with its name in the message. */
#ifndef NEAP_BASE_LIMITS_H
#define NEAP_BASE_LIMITS_H

#define LIMIT_BLOCK_BYTES   (256u << 20) /* one block of a profile, uncompressed */
#define LIMIT_NAME_BYTES    (1u << 20)   /* one symbol or file name */
#define LIMIT_STACK_FRAMES  16384u       /* frames of a recorded stack */
#define LIMIT_IDS           0xfffffff0u  /* ids of any table */
#define LIMIT_INLINE_DEPTH  512u         /* inlined functions at one address */
#define LIMIT_ANSWER_FRAMES (1u << 28)   /* all stacks that one answer lists */
#define LIMIT_QUERY_BYTES   (64u << 10)  /* text of a script */
#define LIMIT_QUERY_DEPTH   100u         /* nested brackets, with what lets stand for */
#define LIMIT_QUERY_ITEMS   1000u        /* one list of a query: stages, conditions, steps, ... */
#define LIMIT_QUERY_NODES   (64u << 10)  /* conditions of an expression, with what lets stand for */
#define LIMIT_TIMELINE_ROWS (4u << 20)   /* classes of a timeline times its steps */

#endif
