/* Two halves of some work at the same time. */
#ifndef NEAP_BASE_BOTH_H
#define NEAP_BASE_BOTH_H

/*
 * both_run - work(a) in this thread and work(b) in another; returns when both are done.
 *
 * The other thread takes no signals of the program.  If none can be made, b follows a.
 */
void both_run(void (*work)(void *half), void *a, void *b);

#endif
