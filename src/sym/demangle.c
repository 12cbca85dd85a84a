/*
 * Demangling through libiberty; no other file includes its header.  What it does not know is in
 * demangle_ocaml.c.
 *
 * A short name can stand for an endless one: each substitution may double what came
 * before.  libiberty bounds its recursion but not its output, and its callbacks cannot
 * say stop, so the sink leaves with longjmp when the text gets too long.  Nothing is
 * lost by that: the C++ demangler with a callback works on its stack alone, and Rust's
 * allocates only while it decodes one identifier.
 *
 * NEEDSWORK: D has no callback, so only the length of its names is limited.
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBIBERTY_DEMANGLE_H
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

#define LIMIT_MANGLED_BYTES   (32u << 10)
#define LIMIT_MANGLED_D_BYTES (4u << 10)
#define LIMIT_TEXT_BYTES      (256u << 10)
#define STYLE                 (DMGL_PARAMS | DMGL_ANSI)

struct sink {
	struct buf text;
	jmp_buf too_long;
};

static void take_text(const char *s, size_t bytes, void *context)
{
	struct sink *sink = context;
	if (bytes > LIMIT_TEXT_BYTES - sink->text.count_bytes)
		longjmp(sink->too_long, 1);
	buf_put(&sink->text, s, bytes);
}

typedef int demangler(const char *mangled, int options, demangle_callbackref callback,
		      void *context);

/* Whether `demangle` understood the name, with its text in sink. */
static bool run(demangler *demangle, const char *name, struct sink *sink)
{
	buf_clear(&sink->text);
	if (setjmp(sink->too_long))
		return false;
	return demangle(name, STYLE, take_text, sink) && sink->text.count_bytes &&
	       !sink->text.has_failed;
}

static bool run_d(const char *name, struct sink *sink)
{
	buf_clear(&sink->text);
	char *text = strlen(name) <= LIMIT_MANGLED_D_BYTES ? dlang_demangle(name, STYLE) : NULL;
	if (text)
		buf_put(&sink->text, text, strnlen(text, LIMIT_TEXT_BYTES));
	free(text); /* libc free: libiberty allocated it */
	return text && !sink->text.has_failed;
}

static bool run_all(const char *name, struct sink *sink)
{
	bool is_v3 = !strncmp(name, "_Z", 2) || !strncmp(name, "_GLOBAL_", 8);
	/* Rust's old scheme is C++'s with a hash at the end: it has to be asked first. */
	if ((is_v3 || !strncmp(name, "_R", 2)) && run(rust_demangle_callback, name, sink))
		return true;
	if (is_v3)
		return run(cplus_demangle_v3_callback, name, sink);
	return !strncmp(name, "_D", 2) && run_d(name, sink);
}

/* LLVM adds ".llvm.NUMBER" to local names that it had to make global. */
static size_t without_llvm_suffix(const char *name, size_t bytes)
{
	size_t n = bytes;
	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	bool has_suffix = n > 6 && n < bytes && !memcmp(name + n - 6, ".llvm.", 6);
	return has_suffix ? n - 6 : bytes;
}

bool sym_demangle(const char *linkage, struct buf *out)
{
	size_t bytes = strnlen(linkage, LIMIT_MANGLED_BYTES + 1);
	if (bytes < 3 || bytes > LIMIT_MANGLED_BYTES)
		return false;
	if (linkage[0] != '_')
		return demangle_ocaml(linkage, bytes, out);
	struct buf name = {0};
	struct sink sink = {.text = {0}};
	buf_put(&name, linkage, without_llvm_suffix(linkage, bytes));
	bool is_mangled = !name.has_failed && run_all(name.data, &sink);
	if (is_mangled)
		buf_put(out, sink.text.data, sink.text.count_bytes);
	buf_release(&name);
	buf_release(&sink.text);
	return is_mangled;
}
