/*
 * Correct queries by the grammar.  The grammar is written down here a second time, as it is
 * in the manual, so that the parser is not compared with itself.
 */
#include "config.h"

#include "tests/unit/query_gen.h"

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define PICK(g, a) buf_puts((g)->out, (a)[below((g), COUNT(a))])

struct gen {
	uint64_t state;
	unsigned depth;
	bool has_let;
	struct buf *out;
};

static unsigned below(struct gen *g, size_t n)
{
	g->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
	uint64_t z = g->state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ (z >> 31)) % n);
}

static bool chance(struct gen *g, unsigned one_in)
{
	return !below(g, one_in);
}

static const char *const words[] = {"main",
				    "json_parse",
				    "std::string::append",
				    "libc.so.6",
				    "a",
				    "_start",
				    "foo@plt",
				    "x-y",
				    "src/a.c",
				    "\xc3\xa9t\xc3\xa9",
				    "size",
				    "tree",
				    "d3",
				    "a.b",
				    "freed",
				    "::new",
				    "a+b",
				    "x#1"};
static const char *const strings[] = {"\"a b\"",       "\"std::vector<int>\"",
				      "\"q\\\"\\\\\"", "\"|\"",
				      "\"tab\\t\"",    "\"and\"",
				      "\"5\"",         "\"#\"",
				      "\"'\""};
static const char *const regexes[] = {"/^a/", "/a\\/b/i", "/(x|y)+$/", "/\\d{2}/", "/[\"#|]/"};
static const char *const sizes[] = {"0",   "1",    "64K", "1.5M", "3KiB",
				    "7MB", "2GiB", "1T",  "100B", "1.3K"};
static const char *const times[] = {"10ms", "1.5s", "3us", "90s", "2h", "7ns", "1m", "0s", "0.3us"};
static const char *const counts[] = {"0", "1", "42", "1000000"};

static void pattern(struct gen *g)
{
	switch (below(g, 3)) {
	case 0:
		PICK(g, words);
		/* A number alone would be one. */
		break;
	case 1:
		PICK(g, strings);
		break;
	default:
		PICK(g, regexes);
	}
}

static void blank(struct gen *g)
{
	static const char *const blanks[] = {" ", " ", " ", "  ", "\t"};
	PICK(g, blanks);
}

enum kind {
	NAME,
	SIZE,
	TIME,
	NUMBER
};

static void quantity(struct gen *g, enum kind kind)
{
	if (kind == SIZE)
		PICK(g, sizes);
	else if (kind == TIME)
		PICK(g, times);
	else
		PICK(g, counts);
}

static void value(struct gen *g, enum kind kind)
{
	static const char *const values[] = {"main", "std::*", "/usr/lib/*.so", "a?b", "x=y",
					     "..",   "3",      "foo#1",         "~x"};
	if (kind != NAME)
		quantity(g, kind);
	else if (chance(g, 3))
		PICK(g, strings);
	else
		buf_puts(g->out, values[below(g, COUNT(values) - 1)]);
}

static void value_list(struct gen *g, enum kind kind)
{
	buf_puts(g->out, " in (");
	for (unsigned i = 0, n = 1 + below(g, 4); i < n; i++) {
		if (i)
			buf_puts(g->out, chance(g, 2) ? "," : " , ");
		value(g, kind);
	}
	buf_puts(g->out, ")");
}

static void range(struct gen *g, enum kind kind)
{
	buf_puts(g->out, " in ");
	if (!chance(g, 4))
		quantity(g, kind);
	buf_puts(g->out, "..");
	if (!chance(g, 4))
		quantity(g, kind);
}

static void comparison(struct gen *g, enum kind kind)
{
	static const char *const for_numbers[] = {"<", "<=", ">", ">=", " < ", " >= "};
	unsigned way = below(g, 4);
	if (way == 0) {
		buf_puts(g->out, chance(g, 2) ? "=" : "!=");
		value(g, kind);
	} else if (way == 1) {
		value_list(g, kind);
	} else if (kind == NAME) {
		buf_puts(g->out, chance(g, 2) ? "~" : "!~");
		pattern(g);
	} else if (way == 2) {
		range(g, kind);
	} else {
		PICK(g, for_numbers);
		quantity(g, kind);
	}
}

enum place {
	FRAME,
	BLOCK,
	ROW
};
static const struct {
	const char *word;
	enum kind kind;
	enum place place;
} fields[] = {
	{"func", NAME, FRAME},   {"file", NAME, FRAME},     {"line", NUMBER, FRAME},
	{"module", NAME, FRAME}, {"addr", NUMBER, FRAME},   {"size", SIZE, BLOCK},
	{"thread", NAME, BLOCK}, {"tid", NUMBER, BLOCK},    {"type", NAME, BLOCK},
	{"api", NAME, BLOCK},    {"lifetime", TIME, BLOCK}, {"born", TIME, BLOCK},
	{"died", TIME, BLOCK},   {"depth", NUMBER, BLOCK},  {"label.a-b", NAME, BLOCK},
	{"total", SIZE, ROW},    {"count", NUMBER, ROW},    {"p99", TIME, ROW},
	{"time", TIME, ROW},
};

static void field(struct gen *g, enum place place)
{
	size_t i;
	do {
		i = below(g, COUNT(fields));
	} while (fields[i].place > place);
	buf_puts(g->out, fields[i].word);
	comparison(g, fields[i].kind);
}

static void expr(struct gen *g, enum place place);

static void step(struct gen *g)
{
	if (g->depth < 4 && chance(g, 4)) {
		buf_putc(g->out, '[');
		expr(g, FRAME);
		buf_putc(g->out, ']');
	} else {
		pattern(g);
	}
}

static void path(struct gen *g)
{
	buf_puts(g->out, chance(g, 3) ? "path ^" : "path ");
	for (unsigned i = 0, n = 1 + below(g, 4); i < n; i++) {
		if (i)
			buf_puts(g->out, chance(g, 3) ? " >> " : " > ");
		if (chance(g, 4))
			buf_puts(g->out, chance(g, 2) ? "*" : "**");
		else
			step(g);
	}
	buf_puts(g->out, chance(g, 3) ? "$ " : " ");
}

static void quantified(struct gen *g)
{
	static const char *const quantifiers[] = {"any",  "all",    "none",    "leaf",
						  "root", "caller", "caller1", "caller12"};
	PICK(g, quantifiers);
	if (chance(g, 2)) {
		buf_putc(g->out, '.');
		field(g, FRAME);
	} else {
		buf_putc(g->out, '[');
		expr(g, FRAME);
		buf_putc(g->out, ']');
	}
}

static void primary(struct gen *g, enum place place)
{
	switch (below(g, place == FRAME ? 5 : 8)) {
	case 0:
		if (g->depth > 4) {
			field(g, place);
			break;
		}
		buf_putc(g->out, '(');
		expr(g, place);
		buf_putc(g->out, ')');
		break;
	case 1:
		pattern(g);
		break;
	case 5:
		quantified(g);
		break;
	case 6:
		path(g);
		break;
	case 7:
		if (g->has_let) {
			buf_puts(g->out, "$known");
			break;
		}
		/* fallthrough */
	default:
		field(g, place);
	}
}

static void expr(struct gen *g, enum place place)
{
	static const char *const joints[] = {" ", " and ", " or ", "\t"};
	static const char *const nots[] = {"not ", "!", "not not "};
	g->depth++;
	for (unsigned i = 0, n = 1 + below(g, 3); i < n; i++) {
		if (i)
			PICK(g, joints);
		if (chance(g, 5))
			PICK(g, nots);
		primary(g, place);
	}
	g->depth--;
}

static void instant(struct gen *g)
{
	static const char *const instants[] = {"start",    "end",      "peak", "cursor",
					       "@warm-up", "@\"a b\"", "@x.1", "40%",
					       "2.5%",     "3s",       "10ms"};
	PICK(g, instants);
	if (chance(g, 3)) {
		buf_puts(g->out, chance(g, 2) ? "+" : "-");
		quantity(g, TIME);
	}
}

static void window(struct gen *g)
{
	buf_puts(g->out, " in ");
	if (!chance(g, 4))
		instant(g);
	buf_puts(g->out, "..");
	if (!chance(g, 4))
		instant(g);
}

static void source(struct gen *g)
{
	static const char *const plain[] = {"peak", "leaked", "live"};
	static const char *const windowed[] = {"allocated", "freed", "temporary", "growth",
					       "survivors"};
	static const char *const files[] = {" of a.neap", " of \"my file\"", " of ../x/y=1.neap"};
	switch (below(g, 3)) {
	case 0:
		PICK(g, plain);
		break;
	case 1:
		buf_puts(g->out, "live at ");
		instant(g);
		break;
	default:
		PICK(g, windowed);
		window(g);
	}
	if (chance(g, 4))
		PICK(g, files);
}

static void column(struct gen *g)
{
	static const char *const columns[] = {
		"self",    "total", "count", "delta",  "share",     "func",         "time",
		"label.k", "class", "stack", "thread", "leaf.func", "caller3.class"};
	PICK(g, columns);
}

static void columns(struct gen *g, bool has_order)
{
	static const char *const orders[] = {"", " asc", " desc"};
	for (unsigned i = 0, n = 1 + below(g, 3); i < n; i++) {
		buf_puts(g->out, i ? ", " : " ");
		column(g);
		if (has_order)
			PICK(g, orders);
	}
}

static void keys(struct gen *g)
{
	static const char *const keys[] = {
		"func",        "file",        "line",          "module",   "thread",    "class",
		"stack",       "time:100ms",  "size:4K",       "label.k",  "born:1.5s", "depth:10",
		"leaf.line:5", "caller.func", "caller2.class", "root.addr"};
	for (unsigned i = 0, n = 1 + below(g, 3); i < n; i++) {
		buf_puts(g->out, i ? "," : " ");
		PICK(g, keys);
	}
}

static void view(struct gen *g)
{
	static const char *const views[] = {"table",        "tree",
					    "tree 6",       "callers",
					    "callers /x/",  "callees [line=3]",
					    "peek \"a b\"", "stacks",
					    "flame",        "flame inverted",
					    "timeline",     "timeline 60",
					    "hist",         "hist size",
					    "hist total",   "sum",
					    "source main"};
	PICK(g, views);
}

static void simple_stage(struct gen *g)
{
	static const char *const stages[] = {"top 20",
					     "top 3 by total",
					     "bottom 1 by func",
					     "limit 1000",
					     "min 1%",
					     "min 2.5%",
					     "min 64K",
					     "min 3",
					     "percent all",
					     "percent selection",
					     "as tsv",
					     "as json to \"a b.json\"",
					     "as folded to x.txt",
					     "collapse recursion"};
	PICK(g, stages);
}

static void stage(struct gen *g)
{
	static const char *const framed[] = {"hide ", "zoom ", "trim ", "collapse "};
	static const char *const messages[] = {"", " \"too much\"", " \"\""};
	switch (below(g, 8)) {
	case 0:
		buf_puts(g->out, "where ");
		expr(g, ROW);
		break;
	case 1:
		buf_puts(g->out, "by");
		keys(g);
		break;
	case 2:
		buf_puts(g->out, "sort");
		columns(g, true);
		break;
	case 3:
		buf_puts(g->out, "select");
		columns(g, false);
		break;
	case 4:
		PICK(g, framed);
		step(g);
		break;
	case 5:
		buf_puts(g->out, "assert ");
		field(g, ROW);
		PICK(g, messages);
		break;
	case 6:
		view(g);
		break;
	default:
		simple_stage(g);
	}
}

static void head(struct gen *g)
{
	unsigned way = below(g, 8);
	if (way == 0) {
		buf_puts(g->out, chance(g, 2) ? "| " : "");
		stage(g);
		return;
	}
	if (way < 3)
		buf_puts(g->out, "diff ");
	source(g);
	if (way == 2) {
		buf_puts(g->out, ", ");
		source(g);
	}
	if (!chance(g, 3)) {
		buf_putc(g->out, ' ');
		expr(g, BLOCK);
	}
}

void query_gen(uint64_t seed, struct buf *out)
{
	struct gen g = {.state = seed, .out = out};
	if (chance(&g, 4)) {
		buf_puts(out, "let known =");
		blank(&g);
		expr(&g, FRAME);
		buf_puts(out, chance(&g, 2) ? "; " : ";\n");
		g.has_let = true;
	}
	head(&g);
	for (unsigned i = 0, n = below(&g, 4); i < n; i++) {
		buf_puts(out, chance(&g, 4) ? "\n|" : " | ");
		stage(&g);
	}
}
