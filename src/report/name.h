/*
 * Names of functions, files and modules for a terminal.  Names are hostile and, in
 * C++, often hundreds of columns long: what is shown keeps the function's own name.
 */
#ifndef NEAP_REPORT_NAME_H
#define NEAP_REPORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/buf.h"
#include "src/graph/graph.h"

/* How much of a function's name is shown where there is room for it. */
enum name_detail {
	NAME_FITTING, /* as much as fits, without parameters and return type */
	NAME_SHORT,   /* no template arguments either */
	NAME_FULL,    /* all of it */
	NAME_DETAIL_COUNT,
};

/* Scratch memory for names.  Zero-initialised plus is_utf8 and cwd is ready. */
struct shortener {
	bool is_utf8;
	enum name_detail detail;
	const char *cwd; /* files below it are shown relative to it; may be NULL */
	struct buf work, next, name, place;
	bool has_failed; /* memory ran out: what was returned since is cut */
};
void shortener_release(struct shortener *nm);

/*
 * name_function - a demangled name in at most width columns.
 *
 * Parameters and return type go always, and so do std::allocator and its like where they
 * are default arguments.  While the name is too wide: arguments of inner, then of outer
 * templates become "<...>", then vanish; then outer namespaces go; then the middle is cut.
 * That is NAME_FITTING; NAME_SHORT drops the arguments of templates always, NAME_FULL only
 * cuts the middle.
 * The result is valid until the next call with the same names.
 */
const char *name_function(struct shortener *nm, const char *demangled, size_t width_cols);

/* name_text - any other untrusted text, made safe and cut in the middle. */
const char *name_text(struct shortener *nm, const char *s, size_t width_cols);

/* name_path - a source file, with or without ":line", as name_place shows it. */
const char *name_path(struct shortener *nm, const char *path, size_t width_cols);
/* name_module - the last part of a module's path. */
const char *name_module(struct shortener *nm, const char *path, size_t width_cols);

/* name_frame - what to call a frame: its function, module+0xoffset, or a bracketed word. */
const char *name_frame(struct shortener *nm, const struct graph_frame *f, size_t width_cols);
/*
 * name_place - "src/file.c:12" of a frame, or its module if the file is unknown; "" if the
 * name of the frame says it already.  Brief, or if it is too wide: without directories.
 * Valid until the next name_place.
 */
const char *name_place(struct shortener *nm, const struct graph_frame *f, size_t width_cols,
		       bool is_brief);

/* name_compare - order of frames by name, file, line, module, address; 0 only if all are equal. */
int name_compare(const struct graph_frame *a, const struct graph_frame *b);

#endif
