/*
 * Shortening of names.  A demangled C++ name is a sequence of components
 *
 *   unsigned long ns::Table<K, std::allocator<K> >::find<int>(int const&) const
 *   '-- return --'    '------ arguments -------'       '-arguments--------'
 *
 * in which brackets nest.  Each step reads one text and writes a shorter one; a name
 * whose brackets do not match (it is not C++, or it is broken) passes unchanged.
 */
#include "config.h"

#include "src/report/name.h"

#include "query/names.h"
#include "src/base/fmt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void shortener_release(struct shortener *nm)
{
	buf_release(&nm->work);
	buf_release(&nm->next);
	buf_release(&nm->name);
	buf_release(&nm->place);
}

/* ---- brackets ------------------------------------------------------------------- */

static bool is_balanced(const char *s)
{
	struct brackets b = {0};
	for (size_t i = 0; s[i];) {
		i = brackets_step(s, i, &b);
		if (b.depth < 0)
			return false;
	}
	return b.depth == 0;
}

/* Index after the bracket that closes the one at s[i]; s is balanced. */
static size_t after_bracket(const char *s, size_t i)
{
	struct brackets b = {0};
	do
		i = brackets_step(s, i, &b);
	while (b.depth > 0 && s[i]);
	return i;
}

/* ---- steps of shortening ------------------------------------------------------------ */

static const struct {
	const char *from, *to;
} spellings[] = {
	{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
	 "std::string"},
	{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>",
	 "std::string"},
	{"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
	{"std::__cxx11::", "std::"},
	{"std::__1::", "std::"},
	{"(anonymous namespace)::", "{anon}::"},
};

static const char *const default_arguments[] = {
	", std::allocator<", ", std::char_traits<", ", std::default_delete<",
	", std::less<",      ", std::hash<",        ", std::equal_to<",
};

/* Well-known long spellings, and template arguments that are hardly ever written. */
static void respell(const char *s, struct buf *out)
{
	for (size_t i = 0; s[i];) {
		size_t skip = !strncmp(s + i, "[abi:", 5) ? after_bracket(s, i) - i : 0;
		for (size_t k = 0; k < sizeof spellings / sizeof spellings[0] && !skip; k++) {
			size_t bytes = strlen(spellings[k].from);
			if (!strncmp(s + i, spellings[k].from, bytes)) {
				buf_puts(out, spellings[k].to);
				skip = bytes;
			}
		}
		for (size_t k = 0; k < sizeof default_arguments / sizeof default_arguments[0];
		     k++) {
			size_t bytes = strlen(default_arguments[k]);
			if (!skip && !strncmp(s + i, default_arguments[k], bytes)) {
				skip = after_bracket(s, i + bytes - 1) - i;
			}
		}
		if (!skip)
			buf_putc(out, s[i]);
		i += skip ? skip : 1;
		/* "<T, std::allocator<T> >" leaves "<T>", and "<std::string >" is no good either */
		if (skip && s[i] == ' ' && s[i + 1] == '>')
			i++;
	}
}

/*
 * In D: where the parameters that end before `end` were an enclosing function's, bytes of what stands
 * between them and the dot that follows.  Else SIZE_MAX; template arguments, "!(...)", and Go's
 * receivers, ".(*T)", are no parameters.
 */
static size_t d_scope_bytes(const char *s, size_t open, size_t end)
{
	static const char *const words[] = {" const",  " immutable", " inout",
					    " shared", " return",    " scope"};
	if (s[open - 1] == '!' || s[open - 1] == '.')
		return SIZE_MAX;
	for (size_t i = end, k = 0; k < sizeof words / sizeof words[0]; k++) {
		if (s[i] == '.')
			return i - end;
		if (!strncmp(s + i, words[k], strlen(words[k]))) {
			i += strlen(words[k]);
			k = SIZE_MAX; /* from the first word on */
		}
	}
	return SIZE_MAX;
}

/*
 * Parameter lists: the last one with what follows it, those of enclosing functions
 * ("f(int)::{lambda(int)#1}"), and those of lambdas.  A name in parentheses stays.
 */
static bool drop_parameters(const char *s, struct buf *out)
{
	struct brackets b = {0};
	for (size_t i = 0; s[i];) {
		bool is_lambda = i >= 6 && !strncmp(s + i - 6, "lambda", 6);
		if (s[i] == '(' && i && (b.depth == 0 || is_lambda)) {
			size_t end = after_bracket(s, i);
			if (b.depth == 0 && name_is_tail(s + end))
				return true;
			if (is_lambda || !strncmp(s + end, "::", 2)) {
				i = end;
				continue;
			}
			size_t more = d_scope_bytes(s, i, end);
			if (more != SIZE_MAX) {
				i = end + more;
				continue;
			}
		}
		size_t next = brackets_step(s, i, &b);
		buf_put(out, s + i, next - i);
		i = next;
	}
	return false;
}

/* What stands before the name: the type a function template returns. */
static void drop_return_type(const char *s, struct buf *out)
{
	size_t start = 0;
	struct brackets b = {0};
	for (size_t i = 0; s[i];) {
		if (b.depth == 0 && !strncmp(s + i, "operator", 8) && !name_is_word(s[i + 8]) &&
		    (!i || !name_is_word(s[i - 1])))
			break; /* "operator bool", "operator new[]" */
		if (b.depth == 0 && s[i] == ' ' && s[i + 1])
			start = i + 1;
		i = brackets_step(s, i, &b);
	}
	while (s[start] == '*' || s[start] == '&')
		start++;
	buf_puts(out, s + start);
}

/* "f [clone .cold]" is a part of f. */
static void drop_clone_mark(const char *s, struct buf *out)
{
	const char *mark = strstr(s, " [clone");
	buf_put(out, s, mark ? (size_t)(mark - s) : strlen(s));
}

/*
 * Template arguments nested deeper than max_depth, from s + start on, become `mark`.  A type
 * that stands for a scope of its own ("<T as Trait>::f") does not vanish altogether.
 */
static void drop_arguments(const char *s, size_t start, int max_depth, const char *mark,
			   struct buf *out)
{
	struct brackets b = {0};
	buf_put(out, s, start);
	for (size_t i = start; s[i];) {
		if (s[i] == '<' && b.depth >= max_depth) {
			bool is_scope = !i || s[i - 1] == ':' || s[i - 1] == ' ';
			buf_puts(out, *mark || !is_scope ? mark : "<>");
			i = after_bracket(s, i);
			continue;
		}
		size_t next = brackets_step(s, i, &b);
		buf_put(out, s + i, next - i);
		i = next;
	}
}

/* Where the function's own name begins: after the last separator of scopes outside of brackets. */
static size_t own_name(const char *s)
{
	size_t start = 0;
	struct brackets b = {0};
	for (size_t i = 0; s[i]; i = brackets_step(s, i, &b)) {
		size_t n = b.depth == 0 ? name_scope_bytes(s, i) : 0;
		if (n)
			start = i + n;
	}
	return start;
}

/* Leave out as few outer namespaces as will do; all of them if the name has no room even so. */
static void drop_scopes(const char *s, size_t width_cols, const char *ellipsis, struct buf *out)
{
	struct brackets b = {0};
	size_t left_cols = fmt_width(s, strlen(s)) + fmt_width(ellipsis, strlen(ellipsis));
	for (size_t i = 0, measured = 0; s[i]; i = brackets_step(s, i, &b)) {
		if (b.depth != 0 || !name_scope_bytes(s, i))
			continue;
		left_cols -= fmt_width(s + measured, i - measured);
		measured = i;
		if (i && left_cols <= width_cols) {
			buf_puts(out, ellipsis);
			buf_puts(out, s + i);
			return;
		}
	}
	buf_puts(out, s + own_name(s));
}

/* ---- putting it together --------------------------------------------------------------- */

/* The step's output becomes the next one's input. */
static void take_next(struct shortener *nm)
{
	struct buf old = nm->work;
	nm->work = nm->next;
	nm->next = old;
	buf_clear(&nm->next);
	if (nm->work.has_failed)
		nm->has_failed = true;
}

static const char *text_of(const struct buf *b)
{
	return b->count_bytes ? b->data : "";
}

static bool fits(const struct shortener *nm, size_t width_cols)
{
	return fmt_width(text_of(&nm->work), nm->work.count_bytes) <= width_cols;
}

/* One step of giving up arguments; own: those of the function itself only. */
static void give_up(struct shortener *nm, size_t width_cols, bool is_own, int max_depth,
		    const char *mark)
{
	const char *s = text_of(&nm->work);
	if (fits(nm, width_cols))
		return;
	drop_arguments(s, is_own ? own_name(s) : 0, max_depth, mark, &nm->next);
	take_next(nm);
}

static void shorten(struct shortener *nm, size_t width_cols)
{
	const char *mark = nm->is_utf8 ? "<\u2026>" : "<..>";
	if (!is_balanced(text_of(&nm->work)))
		return;
	struct part declarator = name_declarator(text_of(&nm->work));
	buf_put(&nm->next, text_of(&nm->work) + declarator.start,
		declarator.end - declarator.start);
	take_next(nm);
	respell(text_of(&nm->work), &nm->next);
	take_next(nm);
	bool has_parameters = drop_parameters(text_of(&nm->work), &nm->next);
	take_next(nm);
	if (has_parameters)
		drop_return_type(text_of(&nm->work), &nm->next);
	else
		drop_clone_mark(text_of(&nm->work), &nm->next);
	take_next(nm);
	if (nm->detail == NAME_SHORT) {
		give_up(nm, 0, true, 0, "");
		give_up(nm, 0, false, 0, "");
	}
	for (int depth = 3; depth > 0; depth--)
		give_up(nm, width_cols, false, depth, mark);
	give_up(nm, width_cols, true, 0, mark);
	give_up(nm, width_cols, false, 0, mark);
	give_up(nm, width_cols, true, 0, "");
	give_up(nm, width_cols, false, 0, "");
	if (!fits(nm, width_cols)) {
		drop_scopes(text_of(&nm->work), width_cols, nm->is_utf8 ? "\u2026" : "..",
			    &nm->next);
		take_next(nm);
	}
}

/* Make room for n bytes in b and give its memory; NULL if there is none. */
static char *room(struct shortener *nm, struct buf *b, size_t n)
{
	buf_clear(b);
	buf_repeat(b, " ", n);
	if (b->has_failed)
		nm->has_failed = true;
	return b->has_failed ? NULL : b->data;
}

/* Safe, then cut: work -> next -> dst. */
static const char *finish(struct shortener *nm, struct buf *dst, size_t width_cols)
{
	size_t bytes = nm->work.count_bytes;
	char *safe = room(nm, &nm->next, 3 * bytes + 1);
	if (!safe)
		return "?";
	fmt_safe(safe, 3 * bytes + 1, text_of(&nm->work), bytes, nm->is_utf8);
	size_t cap = 3 * bytes + 8;
	char *out = room(nm, dst, cap);
	return out ? fmt_elide(out, cap, safe, width_cols, nm->is_utf8) : "?";
}

static void load(struct shortener *nm, const char *s)
{
	buf_clear(&nm->work);
	buf_clear(&nm->next);
	buf_puts(&nm->work, s);
	if (nm->work.has_failed)
		nm->has_failed = true;
}

const char *name_function(struct shortener *nm, const char *demangled, size_t width_cols)
{
	load(nm, demangled);
	if (nm->detail != NAME_FULL)
		shorten(nm, width_cols);
	return finish(nm, &nm->name, width_cols);
}

const char *name_text(struct shortener *nm, const char *s, size_t width_cols)
{
	load(nm, s);
	return finish(nm, &nm->name, width_cols);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

const char *name_frame(struct shortener *nm, const struct graph_frame *f, size_t width_cols)
{
	char offset[FMT_BYTES];
	switch (f->kind) {
	case FRAME_NAMED:
		if (*f->name)
			return name_function(nm, f->name, width_cols);
		break;
	case FRAME_ADDRESS:
		break;
	case FRAME_SIGNAL:
		return "[signal]";
	case FRAME_TRUNCATED:
		return "[truncated]";
	case FRAME_NO_STACK:
		return "[no stack]";
	}
	snprintf(offset, sizeof offset, "%s0x%" PRIx64, f->module ? "+" : "", f->pc);
	load(nm, f->module_path ? base_name(f->module_path) : "");
	buf_puts(&nm->work, offset);
	return finish(nm, &nm->name, width_cols);
}

/* Below the working directory: relative to it.  Elsewhere the last two components will do. */
static const char *short_path(const char *path, const char *cwd)
{
	size_t cwd_bytes = cwd ? strlen(cwd) : 0;
	if (cwd_bytes > 1 && !strncmp(path, cwd, cwd_bytes) && path[cwd_bytes] == '/')
		return path + cwd_bytes + 1;
	const char *base = base_name(path), *start = base;
	while (start > path + 1 && start[-2] != '/')
		start--;
	if (start > path && start != base)
		start--;
	return *path == '/' ? start : path;
}

const char *name_path(struct shortener *nm, const char *path, size_t width_cols)
{
	return name_text(nm, short_path(path, nm->cwd), width_cols);
}

const char *name_module(struct shortener *nm, const char *path, size_t width_cols)
{
	return name_text(nm, base_name(path), width_cols);
}

const char *name_place(struct shortener *nm, const struct graph_frame *f, size_t width_cols,
		       bool is_brief)
{
	if (f->kind != FRAME_NAMED || !*f->name)
		return "";
	if (!f->file_path) {
		load(nm, f->module_path ? base_name(f->module_path) : "");
		return finish(nm, &nm->place, width_cols);
	}
	char line[FMT_BYTES] = "";
	if (f->line)
		snprintf(line, sizeof line, ":%" PRIu32, f->line);
	load(nm, short_path(f->file_path, nm->cwd));
	buf_puts(&nm->work, line);
	if (is_brief || !fits(nm, width_cols)) {
		load(nm, base_name(f->file_path));
		buf_puts(&nm->work, line);
	}
	return finish(nm, &nm->place, width_cols);
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

int name_compare(const struct graph_frame *a, const struct graph_frame *b)
{
	int order = (a->kind > b->kind) - (a->kind < b->kind);
	if (!order)
		order = compare_text(a->name, b->name);
	if (!order)
		order = compare_text(a->file_path, b->file_path);
	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	if (!order)
		order = compare_text(a->module_path, b->module_path);
	if (!order)
		order = (a->pc > b->pc) - (a->pc < b->pc);
	return order;
}
