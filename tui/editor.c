/* Words of $VISUAL and $EDITOR without a shell, so that no name of a file is ever code. */
#include "config.h"

#include "tui/editor.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/report/lines.h"
#include "tui/browser.h"

#define WORDS_MOST 64u

void editor_release(struct editor_command *c)
{
	for (size_t i = 0; i < c->count; i++)
		mem_free(c->args[i]);
	mem_free(c->args);
	*c = (struct editor_command){.count = 0};
}

/* ---- words ----------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* One word from *at on, which moves behind it.  False: a quote is open at the end. */
static bool take_word(const char **at, struct buf *out)
{
	char quote = 0;
	const char *p = *at;
	for (; *p && (quote || !is_blank(*p)); p++) {
		if (quote && *p == quote) {
			quote = 0;
		} else if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else {
			if (*p == '\\' && quote != '\'' && p[1])
				p++;
			buf_putc(out, *p);
		}
	}
	*at = p;
	return !quote;
}

static bool add(struct editor_command *c, const char *text)
{
	char *copy = mem_strdup(text);
	if (copy)
		c->args[c->count++] = copy;
	return copy;
}

static enum neap_err split(const char *words, struct editor_command *c, struct err *e)
{
	struct buf word = {0};
	enum neap_err code = NEAP_OK;
	for (words += strspn(words, " \t\n"); !code && *words; words += strspn(words, " \t\n")) {
		buf_clear(&word);
		if (!take_word(&words, &word))
			code = err_set(e, ERR_USAGE,
				       "a quote is not closed in the command of the editor");
		else if (c->count >= WORDS_MOST)
			code = err_set(e, ERR_USAGE, "the command of the editor is too long");
		else if (word.has_failed || !add(c, word.count_bytes ? word.data : ""))
			code = err_nomem(e, "the command of the editor");
	}
	buf_release(&word);
	if (!code && (!c->count || !*c->args[0]))
		code = err_set(e, ERR_USAGE, "the command of the editor is empty");
	return code;
}

/* ---- the file at the line -------------------------------------------------------------------- */

enum style {
	STYLE_FILE,
	STYLE_PLUS, /* +LINE FILE */
	STYLE_GOTO, /* -g FILE:LINE */
};

static enum style style_of(const char *command)
{
	static const char *const plus[] = {"vi",    "vim",  "nvim",        "view", "gvim", "nano",
					   "emacs", "pico", "emacsclient", "mg",   "joe",  "micro",
					   "kak",   "jed",  "ex",          "ne",   "less"};
	static const char *const go_to[] = {"code", "codium", "code-insiders", "cursor"};
	const char *slash = strrchr(command, '/');
	const char *name = slash ? slash + 1 : command;
	for (size_t i = 0; i < sizeof plus / sizeof plus[0]; i++) {
		if (!strcmp(name, plus[i]))
			return STYLE_PLUS;
	}
	for (size_t i = 0; i < sizeof go_to / sizeof go_to[0]; i++) {
		if (!strcmp(name, go_to[i]))
			return STYLE_GOTO;
	}
	return STYLE_FILE;
}

static bool add_file(struct editor_command *c, const char *path, uint32_t line)
{
	enum style style = line ? style_of(c->args[0]) : STYLE_FILE;
	struct buf file = {0}, place = {0};
	/* A file is never an option. */
	buf_printf(&file, "%s%s", *path == '-' || *path == '+' ? "./" : "", path);
	if (style == STYLE_PLUS)
		buf_printf(&place, "+%u", line);
	if (style == STYLE_GOTO)
		buf_printf(&file, ":%u", line);
	bool is_good = !file.has_failed && !place.has_failed;
	if (is_good && style == STYLE_PLUS)
		is_good = add(c, place.data);
	if (is_good && style == STYLE_GOTO)
		is_good = add(c, "-g");
	is_good = is_good && add(c, file.data);
	buf_release(&file);
	buf_release(&place);
	return is_good;
}

enum neap_err editor_split(const char *words, const char *path, uint32_t line,
			   struct editor_command *out, struct err *e)
{
	*out = (struct editor_command){.args = mem_zarray(WORDS_MOST + 4, sizeof *out->args)};
	if (!out->args)
		return err_nomem(e, "the command of the editor");
	enum neap_err code = split(words, out, e);
	if (!code && !add_file(out, path, line))
		code = err_nomem(e, "the command of the editor");
	if (code)
		editor_release(out);
	return code;
}

/* ---- from the browser --------------------------------------------------------------------------- */

static const char *command_of_user(void)
{
	const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
	if (visual && *visual)
		return visual;
	return editor && *editor ? editor : NULL;
}

static void prepare(struct browser *b, const char *words, const char *path, uint32_t line)
{
	struct lines text = {.count = 0};
	struct err e = {0};
	bool has_failed = false;
	if (lines_find(&text, path, &graph_profile(b->model.now)->run, &b->search, &has_failed)) {
		if (editor_split(words, text.path.data, line, &b->editor, &e))
			browser_say(b, ROLE_ERROR, "%.400s", e.text);
	} else if (has_failed) {
		browser_say(b, ROLE_ERROR, "out of memory");
	} else {
		browser_say(b, ROLE_WARNING, "%.400s is not here", name_path(&b->names, path, 300));
	}
	lines_release(&text);
}

void editor_open(struct browser *b, const char *path, uint32_t line)
{
	const char *words = command_of_user();
	editor_release(&b->editor);
	if (!words)
		browser_say(b, ROLE_WARNING,
			    "no editor is set: set VISUAL or EDITOR, for example EDITOR=vi");
	else
		prepare(b, words, path, line);
}

void editor_ask(struct browser *b)
{
	const struct view *v = view_of(model_state(&b->model)->screen);
	struct graph_frame f = {.name = NULL};
	if (b->failure.code || !v->frame || !browser_self(b) || !v->frame(browser_self(b), &f) ||
	    !f.file_path || !*f.file_path)
		browser_say(b, ROLE_DIM, "no source is known for this row");
	else
		editor_open(b, f.file_path, f.line);
}
