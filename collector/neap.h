/*
 * neap.h - what a program may tell the heap profiler neap.
 *
 * Nothing has to be linked: the functions exist only while `neap record` runs the
 * program, and without it each call is one test of a weak symbol.
 *
 * This header may be copied into any program without conditions.
 */
#ifndef NEAP_NEAP_H
#define NEAP_NEAP_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * neap_mark - name this instant, for example "warm" or "after request 17".
 *
 * The recorder takes a snapshot before the call returns (it waits for it 100 ms at
 * most).  Marks are instants of the query language: `growth in @warm..end`.  Names are
 * cut at 63 bytes.  May be called from any thread.
 */
extern void neap_mark(const char *name) __attribute__((weak));

static inline void neap_mark_if_recording(const char *name)
{
	if (neap_mark)
		neap_mark(name);
}
/* Calls go through the test: a program with marks runs unchanged without neap. */
#ifndef NEAP_NO_WRAPPERS
#define neap_mark(name) neap_mark_if_recording(name)
#endif

#ifdef __cplusplus
}
#endif

#endif
