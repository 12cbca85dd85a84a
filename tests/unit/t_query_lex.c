/* Tokens, numbers and near words. */
#include "config.h"

#include "query/lex.h"
#include "query/parse.h"

#include <criterion/criterion.h>
#include <string.h>

static struct token look(const char *text, enum lex_mode mode)
{
	struct lexer l = {.text = text, .bytes = (uint32_t)strlen(text)};
	return lex_at(&l, 0, mode, false);
}

static void assert_token(const char *text, enum lex_mode mode, enum token_kind kind,
			 const char *want)
{
	struct token t = look(text, mode);
	cr_assert_eq(t.kind, kind, "%s: kind %d, not %d", text, (int)t.kind, (int)kind);
	cr_assert(t.span.bytes == strlen(want) && !memcmp(text + t.span.start, want, t.span.bytes),
		  "%s: '%.*s', not '%s'", text, (int)t.span.bytes, text + t.span.start, want);
}

Test(lexer, reads_a_slash_by_its_place)
{
	assert_token("/a b/i x", LEX_EXPR, TOK_REGEX, "/a b/i");
	assert_token("/a\\/b/ x", LEX_STEP, TOK_REGEX, "/a\\/b/");
	assert_token("/usr/lib/*.so x", LEX_VALUE, TOK_WORD, "/usr/lib/*.so");
	assert_token("/tmp/a=b.neap, x", LEX_FILE, TOK_WORD, "/tmp/a=b.neap");
	assert_token("src/a.c x", LEX_EXPR, TOK_WORD, "src/a.c");
}

Test(lexer, divides_words_where_their_mode_says)
{
	assert_token("std::a.b-c+d x", LEX_STEP, TOK_WORD, "std::a.b-c+d");
	assert_token("leaf.func=x", LEX_EXPR, TOK_WORD, "leaf");
	assert_token("label.key=x", LEX_EXPR, TOK_WORD, "label");
	assert_token("leaf.func=x", LEX_STEP, TOK_WORD, "leaf.func");
	assert_token("libc.so.6]", LEX_EXPR, TOK_WORD, "libc.so.6");
	assert_token("time:100ms", LEX_NAME, TOK_WORD, "time");
	assert_token("64..4K", LEX_NUMBER, TOK_WORD, "64");
	assert_token("2.5s..", LEX_TIME, TOK_WORD, "2.5s");
	assert_token("peak-1s", LEX_TIME, TOK_WORD, "peak");
	assert_token("warm-up-1s", LEX_MARK, TOK_WORD, "warm-up");
	assert_token("a->b", LEX_STEP, TOK_WORD, "a");
	assert_token("-5M", LEX_NUMBER, TOK_WORD, "-5M");
	assert_token("-x", LEX_NUMBER, TOK_MINUS, "-");
	assert_token("..a", LEX_EXPR, TOK_DOTDOT, "..");
	assert_token("../a", LEX_VALUE, TOK_WORD, "../a");
	assert_token("a#1 #b", LEX_EXPR, TOK_WORD, "a#1");
	assert_token("xmalloc$", LEX_EXPR, TOK_WORD, "xmalloc");
	assert_token("$", LEX_EXPR, TOK_DOLLAR, "$");
	assert_token("$a", LEX_EXPR, TOK_NAME, "$a");
	assert_token("\xe6\x97\xa5x y", LEX_EXPR, TOK_WORD, "\xe6\x97\xa5x");
}

Test(lexer, takes_the_longest_operator)
{
	static const char *const texts[] = {
		"=", "!=", "~", "!~", "<", "<=", ">", ">=", ">>", "**", "!"};
	static const enum token_kind kinds[] = {TOK_EQ,  TOK_NE,       TOK_MATCH, TOK_NOT_MATCH,
						TOK_LT,  TOK_LE,       TOK_GT,    TOK_GE,
						TOK_FAR, TOK_STARSTAR, TOK_BANG};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		assert_token(texts[i], LEX_EXPR, kinds[i], texts[i]);
}

Test(lexer, newlines_count_unless_a_pipe_follows)
{
	assert_token(" \t\r\n x", LEX_EXPR, TOK_NEWLINE, "\n");
	assert_token("\n\n # c | d\n  | x", LEX_EXPR, TOK_PIPE, "|");
	assert_token("# only a comment", LEX_EXPR, TOK_END, "");
	struct lexer l = {.text = "\n\nx", .bytes = 3};
	cr_assert_eq(lex_at(&l, 0, LEX_EXPR, true).kind, TOK_WORD);
}

Test(lexer, refuses_what_no_token_holds)
{
	static const char *const texts[] = {
		"\"abc",     "\"a\nb\"",   "\"a\\qb\"", "/abc", "/a\nb/", "//",   "/a/x",
		"'a'",       "a && b" + 2, "||",        "==",   "=~",     "\x01", "\x7f",
		"\"a\x01\"", "/\x02/",     "\"\\",      "{",    "/a\\\n/"};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct token t = look(texts[i], LEX_EXPR);
		cr_assert_eq(t.kind, TOK_BAD, "%s: kind %d", texts[i], (int)t.kind);
		cr_assert_not_null(t.problem);
	}
}

Test(lexer, completion_ends_at_the_word_being_typed)
{
	struct lexer l = {.text = "live mod", .bytes = 8, .is_completing = true};
	struct token t = lex_at(&l, 4, LEX_EXPR, false);
	cr_assert_eq(t.kind, TOK_END);
	cr_assert_eq(t.span.start, 5);
	cr_assert_eq(t.span.bytes, 3);
	l = (struct lexer){.text = "\"a b", .bytes = 4, .is_completing = true};
	t = lex_at(&l, 0, LEX_EXPR, false);
	cr_assert_eq(t.kind, TOK_END);
	cr_assert(t.is_quoted);
	l = (struct lexer){.text = "# x", .bytes = 3, .is_completing = true};
	cr_assert(lex_at(&l, 0, LEX_EXPR, false).is_dead);
}

static const struct number {
	const char *text;
	enum ast_unit unit;
	int64_t value;
	double number;
} numbers[] = {
	{"0", UNIT_NONE, 0, 0},
	{"007", UNIT_NONE, 7, 7},
	{"1.5", UNIT_NONE, 2, 1.5},
	{"-3", UNIT_NONE, -3, -3},
	{"64B", UNIT_BYTES, 64, 64},
	{"64K", UNIT_BYTES, 65536, 65536},
	{"64KiB", UNIT_BYTES, 65536, 65536},
	{"64KB", UNIT_BYTES, 64000, 64000},
	{"1.5M", UNIT_BYTES, 1572864, 1572864},
	{"2MB", UNIT_BYTES, 2000000, 2000000},
	{"3GiB", UNIT_BYTES, 3221225472, 3221225472},
	{"3GB", UNIT_BYTES, 3000000000, 3000000000},
	{"1T", UNIT_BYTES, 1099511627776, 1099511627776},
	{"-1M", UNIT_BYTES, -1048576, -1048576},
	{"0.3K", UNIT_BYTES, 307, 307.2},
	{"7ns", UNIT_NS, 7, 7},
	{"7us", UNIT_NS, 7000, 7000},
	{"0.5ms", UNIT_NS, 500000, 500000},
	{"1.25s", UNIT_NS, 1250000000, 1250000000},
	{"2m", UNIT_NS, 120000000000, 120000000000},
	{"1h", UNIT_NS, 3600000000000, 3600000000000},
	{"2.5%", UNIT_PERCENT, 3, 2.5},
	{"999999999999999999", UNIT_NONE, 999999999999999999, 999999999999999999.0},
};

Test(numbers, are_exact_in_every_unit)
{
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		const struct number *n = &numbers[i];
		struct ast_quantity q;
		size_t unit_bytes;
		cr_assert_eq(lex_number(n->text, strlen(n->text), &q, &unit_bytes), NUMBER_OK, "%s",
			     n->text);
		cr_assert_eq(q.unit, n->unit, "%s", n->text);
		cr_assert_eq(q.value, n->value, "%s: %lld", n->text, (long long)q.value);
		cr_assert_eq(q.number, n->number, "%s: %.17g", n->text, q.number);
	}
}

Test(numbers, refuse_what_they_cannot_hold)
{
	static const struct {
		const char *text;
		enum lex_number rc;
	} bad[] = {
		{"", NUMBER_NONE},
		{"K", NUMBER_NONE},
		{"-", NUMBER_NONE},
		{".5", NUMBER_NONE},
		{"1.", NUMBER_MALFORMED},
		{"1.2.3", NUMBER_MALFORMED},
		{"1k", NUMBER_UNIT},
		{"1TiB", NUMBER_UNIT},
		{"1e6", NUMBER_UNIT},
		{"0x10", NUMBER_UNIT},
		{"8388608T", NUMBER_TOO_LARGE},
		{"2562048h", NUMBER_TOO_LARGE},
		{"9999999999999999999", NUMBER_TOO_LARGE},
		{"0.0000000000000000001", NUMBER_MALFORMED},
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct ast_quantity q;
		size_t unit_bytes;
		enum lex_number rc = lex_number(bad[i].text, strlen(bad[i].text), &q, &unit_bytes);
		cr_assert_eq(rc, bad[i].rc, "%s: %d", bad[i].text, (int)rc);
	}
}

static const char *near(const char *word)
{
	static const char *const words[] = {"func", "file",     "line", "module",
					    "size", "lifetime", "by"};
	return query_near(word, strlen(word), words, sizeof words / sizeof words[0]);
}

Test(near, finds_words_within_two_edits)
{
	cr_assert_str_eq(near("siez"), "size");
	cr_assert_str_eq(near("Modul"), "module");
	cr_assert_str_eq(near("fun"), "func");
	cr_assert_str_eq(near("lfietiem"), "lifetime");
	cr_assert_str_eq(near("FUNC"), "func");
	cr_assert_str_eq(near("yb"), "by");
	cr_assert_null(near("xyz"));
	cr_assert_null(near(""));
	cr_assert_null(near("lifetimes_all"));
	cr_assert_null(near("q"));
	cr_assert_null(query_near("a", 1, NULL, 0));
}

/* The whole matrix, the obvious way. */
static unsigned slow_distance(const char *a, const char *b)
{
	unsigned d[8][8] = {0};
	size_t n = strlen(a), m = strlen(b);
	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (d[i - 1][j] + 1 < d[i][j])
				d[i][j] = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < d[i][j])
				d[i][j] = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[n][m];
}

/* Writes number x in base 3 with digits a b c; its length follows from x. */
static void make_word(unsigned x, char dst[8])
{
	size_t n = 0;
	for (; x; x = (x - 1) / 3)
		dst[n++] = (char)('a' + (x - 1) % 3);
	dst[n] = '\0';
}

Test(near, agrees_with_the_whole_matrix)
{
	char a[8], b[8];
	for (unsigned i = 0; i < 1000; i += 7) {
		make_word(i, a);
		for (unsigned j = 0; j < 1000; j++) {
			make_word(j, b);
			const char *const words[] = {b};
			unsigned most = strlen(a) <= 3 ? 1 : 2, d = slow_distance(a, b);
			bool is_near = d <= most && d < strlen(b);
			cr_assert_eq(query_near(a, strlen(a), words, 1) != NULL, is_near,
				     "'%s' '%s': %u", a, b, d);
		}
	}
}
