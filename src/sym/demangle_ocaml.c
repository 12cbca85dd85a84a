/*
 * Names of OCaml's native code, which no library here demangles.
 *
 *   caml Stdlib__Hashtbl __ replace _ 1044         up to OCaml 5.0 and from 5.2
 *   caml Stdlib__Hashtbl .  replace _ 1044         OCaml 5.1
 *   caml Lib__Module     __ f _ 3 _ 12 _code       with Flambda 2
 *
 * The name of the unit, a separator, the function's name, a number that makes it unique
 * within the unit.  What is no letter, digit or underscore is "$" and two hexadecimal digits,
 * as in camlStdlib__$5e$5e_444, which is Stdlib.^^.  Source: OCaml's asmcomp/compilenv.ml,
 * utils/compilation_unit.ml and flambda2's linkage names.
 *
 * Only "caml" before a capital letter is taken for one; the runtime's own functions, in C, are
 * called caml_alloc and the like.
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Without "_1044" at its end, if something is left of it. */
static size_t without_number(const char *s, size_t bytes)
{
	size_t n = bytes;
	while (n && is_digit(s[n - 1]))
		n--;
	return n > 1 && n < bytes && s[n - 1] == '_' ? n - 1 : bytes;
}

static size_t without_code(const char *s, size_t bytes)
{
	static const char code[] = "_code";
	size_t n = sizeof code - 1;
	if (bytes <= n || memcmp(s + bytes - n, code, n) != 0)
		return bytes;
	size_t left = without_number(s, bytes - n);
	return left < bytes - n ? without_number(s, left) : bytes;
}

/* Bytes of a separator at s with something behind it; 0: none. */
static size_t separator_bytes(const char *s, size_t bytes)
{
	if (bytes > 2 && s[0] == '_' && s[1] == '_')
		return 2;
	return bytes > 1 && s[0] == '.' ? 1 : 0;
}

/* "fun" and its number are all the name that a function without one has. */
static size_t without_stamp(const char *s, size_t bytes)
{
	static const char anonymous[] = "fun_";
	size_t n = sizeof anonymous - 1, left = without_code(s, bytes);
	if (left == bytes)
		left = without_number(s, bytes);
	bool is_anonymous = left == n - 1 && !memcmp(s, anonymous, n);
	return is_anonymous ? bytes : left;
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes read at s, with the character they stand for; 0: it is none of these. */
static size_t unescape(const char *s, size_t bytes, char *out)
{
	if (bytes < 3 || s[0] != '$')
		return 0;
	int high = hex_value(s[1]), low = hex_value(s[2]);
	if (high < 0 || low < 0)
		return 0;
	int c = high * 16 + low;
	if (c <= ' ' || c >= 0x7f)
		return 0;
	*out = (char)c;
	return 3;
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/*
 * Where the function's own name begins; 0: there is none.  Names of units begin with a capital letter,
 * also behind a separator (but for Dune__exe__Main), those of functions do not and may hold "__".
 */
static size_t own_name(const char *s, size_t bytes)
{
	size_t unit = 0, i, n = 0;
	for (i = 1; i < bytes; i++) {
		n = separator_bytes(s + i, bytes - i);
		if (n && is_capital(s[i + n]))
			unit = i + n;
	}
	for (i = unit + 1; i < bytes; i++) {
		n = separator_bytes(s + i, bytes - i);
		if (n)
			return i + n;
	}
	return 0;
}

/* Separators become dots. */
static void put_unit(const char *s, size_t bytes, struct buf *out)
{
	for (size_t i = 0; i < bytes;) {
		bool is_separator =
			s[i] == '.' || (s[i] == '_' && i + 1 < bytes && s[i + 1] == '_');
		buf_putc(out, is_separator ? '.' : s[i]);
		i += is_separator && s[i] == '_' ? 2 : 1;
	}
}

static void put_function(const char *s, size_t bytes, struct buf *out)
{
	for (size_t i = 0; i < bytes;) {
		char c = s[i];
		size_t n = unescape(s + i, bytes - i, &c);
		buf_putc(out, c);
		i += n ? n : 1;
	}
}

bool demangle_ocaml(const char *name, size_t bytes, struct buf *out)
{
	static const char prefix[] = "caml";
	size_t n = sizeof prefix - 1;
	if (bytes <= n || memcmp(name, prefix, n) != 0 || !is_capital(name[n]))
		return false;
	name += n;
	bytes -= n;
	size_t start = own_name(name, bytes);
	if (!start)
		return false;
	put_unit(name, start, out);
	put_function(name + start, without_stamp(name + start, bytes - start), out);
	return true;
}
