/*
 * Errors as values: a code for programs, one message for people.
 *
 * A function that can fail returns enum neap_err and takes `struct err *e` last.
 * It fills e once, at the place that knows; callers return the code unchanged or
 * add context in front.  e may be NULL where nobody will read the message.
 */
#ifndef NEAP_BASE_ERR_H
#define NEAP_BASE_ERR_H

#include <stddef.h>

enum neap_err {
	NEAP_OK = 0,
	ERR_NOMEM,       /* out of memory */
	ERR_IO,          /* the system refused: message names call, path and reason */
	ERR_FORMAT,      /* input is not what it should be */
	ERR_LIMIT,       /* a limit of limits.h was reached */
	ERR_UNSUPPORTED, /* understood, but not possible here */
	ERR_USAGE,       /* the user's request makes no sense */
	ERR_ABSENT,      /* a named thing does not exist */
};

#define ERR_TEXT_BYTES 1024

struct err {
	enum neap_err code;
	char text[ERR_TEXT_BYTES]; /* one line, no newline at the end, no "error: " */
	const char *check_file;    /* source position of the failed check, for the debug log */
	int check_line;
};

/* err_set - fill e with a printf-style message; returns code. e may be NULL. */
enum neap_err err_set(struct err *e, enum neap_err code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* err_sys - "cannot DOING 'PATH': strerror(errnum)"; returns ERR_IO (ERR_NOMEM for ENOMEM). */
enum neap_err err_sys(struct err *e, int errnum, const char *doing, const char *path);

/* err_context - put "CONTEXT: " in front of the message; returns e->code (NEAP_OK if e is NULL). */
enum neap_err err_context(struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* err_nomem - out of memory while allocating for `what`; returns ERR_NOMEM. */
enum neap_err err_nomem(struct err *e, const char *what);

/* err_corrupt - ERR_FORMAT with the position of the failed check recorded. */
#define err_corrupt(e, ...) err_corrupt_at((e), __FILE__, __LINE__, __VA_ARGS__)
enum neap_err err_corrupt_at(struct err *e, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
