/* Errors as values: filling in, and adding context in front. */
#include "config.h"

#include "src/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A message is one line: control characters of names that came from outside become '?'. */
static void keep_one_line(char *text)
{
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
}

static void fill(struct err *e, enum neap_err code, const char *fmt, va_list ap)
{
	e->code = code;
	e->check_file = NULL;
	e->check_line = 0;
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	keep_one_line(e->text);
}

enum neap_err err_set(struct err *e, enum neap_err code, const char *fmt, ...)
{
	if (!e)
		return code;
	va_list ap;
	va_start(ap, fmt);
	fill(e, code, fmt, ap);
	va_end(ap);
	return code;
}

enum neap_err err_sys(struct err *e, int errnum, const char *doing, const char *path)
{
	enum neap_err code = errnum == ENOMEM ? ERR_NOMEM : ERR_IO;
	if (!path)
		return err_set(e, code, "cannot %s: %s", doing, strerror(errnum));
	return err_set(e, code, "cannot %s '%s': %s", doing, path, strerror(errnum));
}

enum neap_err err_context(struct err *e, const char *fmt, ...)
{
	if (!e)
		return NEAP_OK;
	char text[ERR_TEXT_BYTES];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	size_t used = n > 0 ? strlen(text) : 0;
	for (const char *from = ": "; *from && used < sizeof text - 1; from++)
		text[used++] = *from;
	for (const char *from = e->text; *from && used < sizeof text - 1; from++)
		text[used++] = *from;
	text[used] = '\0';
	memcpy(e->text, text, used + 1);
	keep_one_line(e->text);
	return e->code;
}

enum neap_err err_nomem(struct err *e, const char *what)
{
	return err_set(e, ERR_NOMEM, "out of memory: %s", what);
}

enum neap_err err_corrupt_at(struct err *e, const char *file, int line, const char *fmt, ...)
{
	if (!e)
		return ERR_FORMAT;
	va_list ap;
	va_start(ap, fmt);
	fill(e, ERR_FORMAT, fmt, ap);
	va_end(ap);
	e->check_file = file;
	e->check_line = line;
	return ERR_FORMAT;
}
