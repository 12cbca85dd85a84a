/* Regular expressions: matches, places of errors, limits. */
#include "config.h"

#include "query/regex.h"

#include "src/base/mem.h"

#include <criterion/criterion.h>
#include <string.h>

static struct regex *make(const char *pattern, bool ignores_case)
{
	struct regex *r;
	size_t offset;
	struct err e = {0};
	enum neap_err code = regex_compile(pattern, strlen(pattern), ignores_case, &r, &offset, &e);
	cr_assert_eq(code, NEAP_OK, "%s: %s", pattern, e.text);
	return r;
}

static bool finds(const char *pattern, bool ignores_case, const char *text)
{
	struct regex *r = make(pattern, ignores_case);
	struct err e = {0};
	bool found;
	cr_assert_eq(regex_search(r, text, strlen(text), &found, &e), NEAP_OK, "%s", e.text);
	regex_free(r);
	return found;
}

Test(query_regex, searches_anywhere_in_the_text)
{
	cr_assert(finds("parse_", false, "json_parse_value"));
	cr_assert(finds("^json", false, "json_parse"));
	cr_assert_not(finds("^parse", false, "json_parse"));
	cr_assert(finds("^(std::|__gnu)", false, "std::vector<int>::push_back(int const&)"));
	cr_assert(finds("(a)\\1", false, "xaay"));
}

Test(query_regex, tells_cases_apart_unless_told)
{
	cr_assert_not(finds("cache", false, "CacheMap"));
	cr_assert(finds("cache", true, "CacheMap"));
}

Test(query_regex, takes_bytes_that_are_no_utf8)
{
	cr_assert(finds("a.b", false,
			"a\xff"
			"b"));
	cr_assert(finds("", false, ""));
}

Test(query_regex, says_where_a_pattern_is_wrong)
{
	struct regex *r;
	size_t offset;
	struct err e = {0};
	cr_assert_eq(regex_compile("ab(c", 4, false, &r, &offset, &e), ERR_USAGE);
	cr_assert_null(r);
	cr_assert_eq(offset, 4);
	cr_assert(strstr(e.text, "parenthesis"), "%s", e.text);
	cr_assert_eq(regex_compile("a[z-a]", 6, false, &r, &offset, &e), ERR_USAGE);
	cr_assert_eq(offset, 4);
}

Test(query_regex, gives_up_with_an_error_on_patterns_that_work_too_hard)
{
	struct regex *r = make("^(\\w+\\s?)*$", false);
	char text[4096];
	struct err e = {0};
	bool found = true;
	memset(text, 'a', sizeof text - 2);
	text[sizeof text - 2] = '!';
	cr_assert_eq(regex_search(r, text, sizeof text - 1, &found, &e), ERR_LIMIT);
	cr_assert_not(found);
	cr_assert(strstr(e.text, "too many steps"), "%s", e.text);
	/* The next text is none the worse for it. */
	cr_assert_eq(regex_search(r, "ab cd", 5, &found, &e), NEAP_OK);
	cr_assert(found);
	regex_free(r);
}

Test(query_regex, refuses_deep_nesting)
{
	char pattern[2001];
	struct regex *r;
	size_t offset;
	memset(pattern, '(', 1000);
	memset(pattern + 1000, ')', 1000);
	cr_assert_eq(regex_compile(pattern, 2000, false, &r, &offset, NULL), ERR_USAGE);
}

Test(query_regex, survives_running_out_of_memory_anywhere)
{
	enum neap_err code = ERR_NOMEM;
	uint64_t n;
	for (n = 1; code == ERR_NOMEM && n < 100; n++) {
		struct regex *r;
		size_t offset;
		bool found;
		mem_fail_at(n);
		code = regex_compile("a+(b|c)*d", 9, true, &r, &offset, NULL);
		if (!code)
			code = regex_search(r, "xaabcd", 6, &found, NULL);
		mem_fail_at(0);
		regex_free(r);
	}
	cr_assert_eq(code, NEAP_OK);
	cr_assert_gt(n, 4);
}
