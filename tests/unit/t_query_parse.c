/* Parsing, messages, canonical spelling, limits. */
#include "config.h"

#include "query/parse.h"
#include "src/base/limits.h"
#include "tests/unit/query_dump.h"
#include "tests/unit/query_examples.h"
#include "tests/unit/query_gen.h"
#include "tests/unit/query_mistakes.h"

#include <criterion/criterion.h>
#include <string.h>

static struct ast_script *parse(const char *text)
{
	struct ast_script *s;
	struct query_error e;
	enum neap_err rc = query_parse(text, strlen(text), &s, &e);
	cr_assert_eq(rc, NEAP_OK, "%s: %s", text, e.text);
	cr_assert_eq(e.code, NEAP_OK);
	return s;
}

static void assert_error(const char *text, const char *want)
{
	struct ast_script *s;
	struct query_error e;
	struct buf out = {0};
	cr_assert_neq(query_parse(text, strlen(text), &s, &e), NEAP_OK, "accepted: %s", text);
	cr_assert_null(s);
	query_error_print(&e, "query", text, strlen(text), &out);
	cr_assert_str_eq(out.data, want, "got:\n%s\nwant:\n%s", out.data, want);
	buf_release(&out);
}

/* The canonical spelling of the last query; it must parse to the same tree. */
static void canonical(const char *text, size_t bytes, struct buf *out)
{
	struct ast_script *s, *again;
	struct query_error e;
	struct buf tree = {0}, tree_again = {0};
	cr_assert_eq(query_parse(text, bytes, &s, &e), NEAP_OK, "%s: %s", text, e.text);
	query_canonical(query_last(s), out);
	query_dump(query_last(s), &tree);
	cr_assert_eq(query_parse(out->data, out->count_bytes, &again, &e), NEAP_OK, "%s\n%s: %s",
		     text, out->data, e.text);
	query_dump(query_last(again), &tree_again);
	cr_assert_str_eq(tree.data, tree_again.data, "%s\n%s", text, out->data);
	query_script_free(s);
	query_script_free(again);
	buf_release(&tree);
	buf_release(&tree_again);
}

/* ---- what is right ----------------------------------------------------------------- */

Test(canonical, of_every_example_is_as_written_down)
{
	for (size_t i = 0; i < QUERY_EXAMPLE_COUNT; i++) {
		struct buf out = {0};
		canonical(query_examples[i].text, strlen(query_examples[i].text), &out);
		cr_assert_str_eq(out.data, query_examples[i].canonical, "%s", out.data);
		buf_release(&out);
	}
}

Test(canonical, of_generated_queries_parses_to_the_same_tree)
{
	size_t bytes = 0;
	for (uint64_t seed = 0; seed < 10000; seed++) {
		struct buf text = {0}, out = {0}, twice = {0};
		query_gen(seed, &text);
		bytes += text.count_bytes;
		canonical(text.data, text.count_bytes, &out);
		canonical(out.data, out.count_bytes, &twice);
		cr_assert_str_eq(out.data, twice.data);
		buf_release(&text);
		buf_release(&out);
		buf_release(&twice);
	}
	cr_assert_gt(bytes, 10000 * 40);
}

static const struct ast_query *first(const struct ast_script *s)
{
	return &s->statements[0].query;
}

Test(parser, binds_not_before_and_before_or)
{
	struct ast_script *s = parse("live a or not b c and (d or e)");
	const struct ast_expr *e = first(s)->filter;
	cr_assert_eq(e->kind, EXPR_OR);
	cr_assert_eq(e->item_count, 2);
	cr_assert_eq(e->items[0]->kind, EXPR_STEP);
	const struct ast_expr *and = e->items[1];
	cr_assert_eq(and->kind, EXPR_AND);
	cr_assert_eq(and->item_count, 3);
	cr_assert_eq(and->items[0]->kind, EXPR_NOT);
	cr_assert_eq(and->items[0]->items[0]->kind, EXPR_STEP);
	cr_assert_eq(and->items[2]->kind, EXPR_OR);
	query_script_free(s);
}

Test(parser, keeps_where_each_node_stands)
{
	const char *text = "live  func=abc  size > 64K | top 3";
	struct ast_script *s = parse(text);
	const struct ast_expr *e = first(s)->filter;
	cr_assert_eq(e->span.start, 6);
	cr_assert_eq(e->span.bytes, 20);
	cr_assert_eq(e->items[1]->span.start, 16);
	cr_assert_eq(e->items[1]->span.bytes, 10);
	cr_assert_eq(e->items[0]->compare.values[0].text.span.start, 11);
	cr_assert_eq(e->items[1]->compare.low.span.start, 23);
	cr_assert_eq(first(s)->stages[0].span.start, 29);
	cr_assert_eq(first(s)->stages[0].span.bytes, 5);
	query_script_free(s);
}

Test(parser, fills_numbers_of_every_comparison)
{
	struct ast_script *s = parse("live size=4K size in 1K..2K lifetime<1s thread=3");
	struct ast_expr **e = first(s)->filter->items;
	cr_assert(e[0]->compare.has_low);
	cr_assert_eq(e[0]->compare.low.value, 4096);
	cr_assert_eq(e[0]->compare.values[0].quantity.value, 4096);
	cr_assert_eq(e[1]->compare.high.value, 2048);
	cr_assert_eq(e[2]->compare.low.unit, UNIT_NS);
	cr_assert(e[3]->compare.values[0].is_quantity);
	cr_assert_not(e[3]->compare.has_low);
	query_script_free(s);
}

Test(parser, resolves_escapes_in_strings_but_not_in_expressions)
{
	struct ast_script *s = parse("live \"a\\\"\\\\\\n\\tb\" /a\\/\\d/i");
	struct ast_expr **e = first(s)->filter->items;
	cr_assert_str_eq(e[0]->steps[0].pattern.text.s, "a\"\\\n\tb");
	cr_assert_str_eq(e[1]->steps[0].pattern.text.s, "a\\/\\d");
	cr_assert(e[1]->steps[0].pattern.ignores_case);
	query_script_free(s);
}

Test(parser, separates_statements)
{
	struct ast_script *s = parse("\n;let a = x\n\nlive $a; peak # last\n | top 3;;\n");
	cr_assert_eq(s->statement_count, 3);
	cr_assert(s->statements[0].is_let);
	cr_assert_eq(s->statements[1].query.filter->let_expr, s->statements[0].let.expr);
	cr_assert_eq(s->statements[2].query.stage_count, 1);
	query_script_free(s);
}

Test(parser, warns_of_words_that_look_like_something_else)
{
	static const char *const odd[] = {"live size",      "live by",    "live tree",
					  "live leaked",    "live total", "live func=/^a/",
					  "live func!=/a/i"};
	static const char *const fine[] = {"live \"size\"", "live sizes", "live file=/usr/lib/a.so",
					   "live /size/", "live func=/"};
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
		struct ast_script *s = parse(odd[i]);
		cr_assert_not_null(first(s)->filter->warning, "%s", odd[i]);
		query_script_free(s);
	}
	for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
		struct ast_script *s = parse(fine[i]);
		cr_assert_null(first(s)->filter->warning, "%s", fine[i]);
		query_script_free(s);
	}
}

/* ---- what is wrong --------------------------------------------------------------------- */

Test(messages, are_as_written_down)
{
	for (size_t i = 0; i < QUERY_MISTAKE_COUNT; i++)
		assert_error(query_mistakes[i].text, query_mistakes[i].message);
}

Test(messages, cut_long_lines_around_the_caret)
{
	struct buf text = {0}, out = {0};
	struct ast_script *s;
	struct query_error e;
	buf_puts(&text, "live ");
	buf_repeat(&text, "func=a ", 100);
	buf_puts(&text, "siez=3 ");
	buf_repeat(&text, "func=a ", 100);
	cr_assert_eq(query_parse(text.data, text.count_bytes, &s, &e), ERR_USAGE);
	query_error_print(&e, "q.neapq", text.data, text.count_bytes, &out);
	const char *line = strstr(out.data, "\n | ...") + 1, *caret = strchr(line, '\n') + 1;
	cr_assert_not_null(strstr(out.data, " --> q.neapq:1:706\n"));
	cr_assert_lt(caret - line, 200);
	size_t at = strcspn(caret, "^");
	cr_assert_eq(memcmp(line + at, "siez", 4), 0);
	cr_assert_eq(memcmp(caret + at, "^~~~\n", 5), 0);
	buf_release(&text);
	buf_release(&out);
}

Test(messages, stay_inside_the_text_for_any_broken_query)
{
	/* Cut, doubled or changed anywhere, a query is right or has a message with a place. */
	static const char junk[] = "|()[]\"/=<>!~^$*.:@,;'#&\n\t\x80\x01 aK9";
	for (size_t i = 0; i < QUERY_EXAMPLE_COUNT; i++) {
		size_t n = strlen(query_examples[i].text);
		for (size_t at = 0; at < n; at++) {
			for (size_t k = 0; k < sizeof junk; k++) {
				struct buf text = {0}, out = {0};
				struct ast_script *s;
				struct query_error e;
				buf_put(&text, query_examples[i].text, at);
				if (k + 1 < sizeof junk)
					buf_putc(&text, junk[k]);
				buf_puts(&text, query_examples[i].text + at + 1);
				if (!text.data)
					continue;
				if (query_parse(text.data, text.count_bytes, &s, &e)) {
					cr_assert(e.text[0]);
					cr_assert_leq((size_t)e.span.start + e.span.bytes,
						      text.count_bytes);
					query_error_print(&e, "q", text.data, text.count_bytes,
							  &out);
					cr_assert_not_null(strchr(out.data, '^'), "%s", out.data);
				}
				query_script_free(s);
				buf_release(&text);
				buf_release(&out);
			}
		}
	}
}

/* ---- limits ------------------------------------------------------------------------------- */

static enum neap_err parse_repeated(const char *before, const char *repeated, size_t times,
				    const char *after)
{
	struct buf text = {0};
	struct ast_script *s;
	struct query_error e;
	buf_puts(&text, before);
	buf_repeat(&text, repeated, times);
	buf_puts(&text, after);
	enum neap_err rc = query_parse(text.data, text.count_bytes, &s, &e);
	cr_assert(rc == NEAP_OK || e.text[0]);
	query_script_free(s);
	buf_release(&text);
	return rc;
}

Test(limits, of_nesting)
{
	cr_assert_eq(parse_repeated("live ", "not ", LIMIT_QUERY_DEPTH - 1, "a"), NEAP_OK);
	cr_assert_eq(parse_repeated("live ", "not ", LIMIT_QUERY_DEPTH, "a"), ERR_LIMIT);
	cr_assert_eq(parse_repeated("live ", "(", 60000, ""), ERR_LIMIT);
	cr_assert_eq(parse_repeated("live ", "(!", 30000, ""), ERR_LIMIT);
	cr_assert_eq(parse_repeated("live path ", "[", 60000, ""), ERR_USAGE);
}

Test(limits, of_items)
{
	cr_assert_eq(parse_repeated("live a", " a", LIMIT_QUERY_ITEMS - 1, ""), NEAP_OK);
	cr_assert_eq(parse_repeated("live a", " a", LIMIT_QUERY_ITEMS, ""), ERR_LIMIT);
	cr_assert_eq(parse_repeated("live a", "|sum", LIMIT_QUERY_ITEMS, ""), NEAP_OK);
	cr_assert_eq(parse_repeated("live a", "|sum", LIMIT_QUERY_ITEMS + 1, ""), ERR_LIMIT);
	cr_assert_eq(parse_repeated("live path a", ">a", LIMIT_QUERY_ITEMS, ""), ERR_LIMIT);
	cr_assert_eq(parse_repeated("live line in (1", ",1", LIMIT_QUERY_ITEMS, ")"), ERR_LIMIT);
	cr_assert_eq(parse_repeated("live|by func", ",func", LIMIT_QUERY_ITEMS, ""), ERR_LIMIT);
	cr_assert_eq(parse_repeated("live|select self", ",self", LIMIT_QUERY_ITEMS, ""), ERR_LIMIT);
	cr_assert_eq(parse_repeated("live", ";live", LIMIT_QUERY_ITEMS, ""), ERR_LIMIT);
}

Test(limits, of_text)
{
	cr_assert_eq(parse_repeated("live", " ", LIMIT_QUERY_BYTES - 4, ""), NEAP_OK);
	cr_assert_eq(parse_repeated("live", " ", LIMIT_QUERY_BYTES - 3, ""), ERR_LIMIT);
}

Test(limits, of_what_names_stand_for)
{
	/* Each name stands for twice the last: 2^n conditions. */
	struct buf text = {0};
	struct ast_script *s;
	struct query_error e;
	buf_puts(&text, "let a0 = x; ");
	for (int i = 1; i < 40; i++)
		buf_printf(&text, "let a%d = $a%d or $a%d; ", i, i - 1, i - 1);
	buf_puts(&text, "live $a39");
	cr_assert_eq(query_parse(text.data, text.count_bytes, &s, &e), ERR_LIMIT);
	buf_clear(&text);
	buf_puts(&text, "let a0 = x; ");
	for (unsigned i = 1; i <= LIMIT_QUERY_DEPTH; i++)
		buf_printf(&text, "let a%u = not $a%u; ", i, i - 1);
	cr_assert_eq(query_parse(text.data, text.count_bytes, &s, &e), ERR_LIMIT);
	buf_release(&text);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void fail_everywhere(const char *text, size_t bytes)
{
	bool has_failed = true;
	for (uint64_t n = 1; has_failed; n++) {
		struct ast_script *s;
		struct query_error e;
		struct buf out = {0};
		uint64_t before = mem_count();
		mem_fail_at(n);
		enum neap_err rc = query_parse(text, bytes, &s, &e);
		has_failed = mem_count() - before >= n;
		cr_assert_eq(rc, has_failed ? ERR_NOMEM : NEAP_OK, "%s", text);
		cr_assert_eq(rc, e.code);
		if (!rc) {
			query_canonical(query_last(s), &out);
			has_failed = out.has_failed;
		}
		mem_fail_at(0);
		query_script_free(s);
		buf_release(&out);
	}
}

Test(memory, failing_at_any_allocation_is_an_error)
{
	for (size_t i = 0; i < QUERY_EXAMPLE_COUNT; i++)
		fail_everywhere(query_examples[i].text, strlen(query_examples[i].text));
	struct buf text = {0};
	buf_puts(&text, "let a = x; live $a");
	for (int i = 0; i < 500; i++)
		buf_printf(&text, " (func=f%d or $a)", i);
	fail_everywhere(text.data, text.count_bytes);
	buf_release(&text);
}

Test(memory, failing_while_a_message_is_printed_is_noticed)
{
	const char *text = "live siez > 3";
	struct ast_script *s;
	struct query_error e;
	query_parse(text, strlen(text), &s, &e);
	bool has_failed = true;
	for (uint64_t n = 1; has_failed; n++) {
		struct buf out = {0};
		uint64_t before = mem_count();
		mem_fail_at(n);
		query_error_print(&e, "query", text, strlen(text), &out);
		has_failed = mem_count() - before >= n;
		mem_fail_at(0);
		cr_assert_eq(out.has_failed, has_failed);
		buf_release(&out);
	}
}
