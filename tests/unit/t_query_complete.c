/* Completion. */
#include "config.h"

#include "query/parse.h"
#include "src/base/limits.h"
#include "tests/unit/query_examples.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const functions[] = {
	"main", "json_parse", "json_free", "std::vector<int>::push_back",
	"size", "say \"hi\"", "bad\nname"};

static void list_names(void *arg, enum ast_field field, const char *prefix, size_t bytes,
		       void (*emit)(void *emit_arg, const char *name), void *emit_arg)
{
	enum ast_field *asked = arg;
	*asked = field;
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		if (!strncmp(functions[i], prefix, bytes))
			emit(emit_arg, functions[i]);
	}
}

static enum ast_field asked;
static const struct query_names names = {list_names, &asked};

/* What may follow, as "word word ..."; each must say how many bytes it replaces. */
static void assert_words(const char *text, size_t replaced, const char *want)
{
	struct buf out = {0}, words = {0};
	asked = FIELD_NONE;
	cr_assert_eq(query_complete(text, strlen(text), &names, &out, NULL), NEAP_OK);
	for (const char *line = out.data; line && *line;) {
		const char *end = strchr(line, '\n'), *tab = strchr(line, '\t');
		const char *second = memchr(tab + 1, '\t', (size_t)(end - tab - 1));
		char bytes[24];
		snprintf(bytes, sizeof bytes, "%zu", replaced);
		cr_assert_not_null(second, "%s: no meaning in '%s'", text, line);
		cr_assert_not_null(end);
		cr_assert(!strncmp(line, bytes, strlen(bytes)) && line[strlen(bytes)] == '\t',
			  "%s: replaces other than %zu in '%s'", text, replaced, line);
		if (words.count_bytes)
			buf_putc(&words, ' ');
		buf_put(&words, tab + 1, (size_t)(second - tab - 1));
		line = end + 1;
	}
	cr_assert_str_eq(words.data ? words.data : "", want, "%s: '%s'", text,
			 words.data ? words.data : "");
	buf_release(&out);
	buf_release(&words);
}

Test(completion, offers_the_words_of_the_grammar)
{
	assert_words("li", 2, "live limit");
	assert_words("le", 2, "let leaked");
	assert_words("live | so", 2, "sort source");
	assert_words("live | top 3 b", 1, "by");
	assert_words("live | by func, mo", 2, "module");
	assert_words("live | sort total d", 1, "desc");
	assert_words("live | select to", 2, "total");
	assert_words("live | as t", 1, "table tsv");
	assert_words("live | as tsv ", 0, "to |");
	assert_words("live | percent ", 0, "all selection");
	assert_words("live | flame ", 0, "inverted |");
	assert_words("live a", 1, "at addr api any all");
	assert_words("allocated in pe", 2, "peak");
	assert_words("allocated in peak", 4, "peak");
	assert_words("allocated in 2s", 2, "");
	assert_words("allocated in 2s.. e", 1, "end");
	assert_words("diff live, le", 2, "leaked");
	assert_words("live a; pe", 2, "peak percent peek");
}

Test(completion, knows_what_fits_the_place)
{
	assert_words("live leaf.", 0, "func file line module addr");
	assert_words("live any[siz", 3, "\"size\"");
	assert_words("live any[modu", 4, "module");
	assert_words("live tot", 3, "");
	assert_words("live | where tot", 3, "total");
	assert_words("live func", 4, "func");
	assert_words("live | by func:", 0, "");
	assert_words(
		"peak ", 0,
		"of func file line module addr size thread tid type api lifetime born died "
		"depth label any all none leaf root caller path ( not | main json_parse json_free "
		"\"std::vector<int>::push_back\" \"size\" \"say \\\"hi\\\"\"");
	assert_words("live leaf.line ", 0, "= != < <= > >= in");
	assert_words("live | by cal", 3, "caller");
	assert_words("live | by caller2.", 0, "func file line module addr class");
	assert_words("live | by func | sort leaf.mo", 2, "module");
}

Test(completion, offers_names_of_the_profile)
{
	assert_words("live func=js", 2, "json_parse json_free");
	cr_assert_eq(asked, FIELD_FUNC);
	assert_words("live func=std", 3, "\"std::vector<int>::push_back\"");
	assert_words("live \"std::v", 7, "\"std::vector<int>::push_back\"");
	assert_words("live say", 3, "\"say \\\"hi\\\"\"");
	assert_words("live | peek json_p", 6, "json_parse");
	assert_words("live module~ma", 2, "main");
	cr_assert_eq(asked, FIELD_MODULE);
	assert_words("live thread in (1, ma", 2, "main");
	cr_assert_eq(asked, FIELD_THREAD);
	assert_words("live path main > json_f", 6, "json_free");
	assert_words("live size=", 0, "");
	cr_assert_eq(asked, FIELD_NONE);
	assert_words("live func=bad", 3, "");
}

Test(completion, offers_own_names)
{
	assert_words("let known = a; let kin = b; live $k", 2, "$known $kin");
	assert_words("let known = $k", 2, "");
}

Test(completion, is_silent_after_a_mistake_and_in_comments)
{
	assert_words("live size >> b", 0, "");
	assert_words("live | bogus | so", 0, "");
	assert_words("live # so", 0, "");
	assert_words("live func~/js", 0, "");
	assert_words("live func~/js/", 0, "");
	assert_words("live | top 3 # b", 0, "");
}

Test(completion, every_word_offered_is_accepted)
{
	/* Cut every example everywhere: a word offered must not be an error where it stands. */
	for (size_t i = 0; i < QUERY_EXAMPLE_COUNT; i++) {
		const char *text = query_examples[i].text;
		for (size_t cut = 0; cut <= strlen(text); cut++) {
			struct buf out = {0};
			cr_assert_eq(query_complete(text, cut, NULL, &out, NULL), NEAP_OK);
			for (const char *line = out.data; line && *line;
			     line = strchr(line, '\n') + 1) {
				const char *tab = strchr(line, '\t');
				const char *second = strchr(tab + 1, '\t');
				size_t replaced = 0;
				cr_assert_eq(sscanf(line, "%zu", &replaced), 1);
				cr_assert_leq(replaced, cut);
				struct buf q = {0};
				struct ast_script *s;
				struct query_error e;
				buf_put(&q, text, cut - replaced);
				buf_put(&q, tab + 1, (size_t)(second - tab - 1));
				enum neap_err rc = query_parse(q.data, q.count_bytes, &s, &e);
				size_t word_start = cut - replaced;
				bool is_fault = rc && e.span.start >= word_start && e.span.bytes &&
						e.span.start < q.count_bytes &&
						!strncmp(e.text, "un", 2);
				cr_assert(!is_fault, "%s: %s", q.data, e.text);
				query_script_free(s);
				buf_release(&q);
			}
			buf_release(&out);
		}
	}
}

Test(completion, survives_every_failing_allocation)
{
	for (size_t i = 0; i < QUERY_EXAMPLE_COUNT; i++) {
		const char *text = query_examples[i].text;
		bool has_failed = true;
		for (uint64_t n = 1; has_failed; n++) {
			struct buf out = {0};
			struct err e = {0};
			uint64_t before = mem_count();
			mem_fail_at(n);
			enum neap_err rc = query_complete(text, strlen(text), &names, &out, &e);
			has_failed = mem_count() - before >= n;
			mem_fail_at(0);
			cr_assert_eq(rc, has_failed ? ERR_NOMEM : NEAP_OK);
			buf_release(&out);
		}
	}
}

Test(completion, refuses_texts_past_the_limit)
{
	struct buf text = {0}, out = {0};
	struct err e;
	buf_repeat(&text, " ", LIMIT_QUERY_BYTES + 1);
	cr_assert_eq(query_complete(text.data, text.count_bytes, NULL, &out, &e), ERR_LIMIT);
	buf_release(&text);
	buf_release(&out);
}
