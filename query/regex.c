/*
 * The only file that knows PCRE2.
 *
 * Texts are bytes, so names that are no UTF-8 are matched like others.  The JIT is used
 * where it is there; the limits hold with and without it.  Its stack is our own, so that
 * deep patterns neither eat the thread's stack nor grow without bound.
 */
#include "config.h"

#include "query/regex.h"

#include "src/base/mem.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MATCH_LIMIT     1000000u /* steps of one search: some milliseconds */
#define DEPTH_LIMIT     10000u
#define HEAP_LIMIT_KIB  4096u
#define PARENS_LIMIT    100u
#define JIT_STACK_START (32u * 1024)
#define JIT_STACK_MOST  (512u * 1024)

struct regex {
	pcre2_general_context *general;
	pcre2_compile_context *compiling;
	pcre2_match_context *matching;
	pcre2_jit_stack *stack;
	pcre2_code *code;
	pcre2_match_data *match;
};

static void *allocate(PCRE2_SIZE bytes, void *arg)
{
	(void)arg;
	return mem_alloc(bytes);
}

static void release(void *p, void *arg)
{
	(void)arg;
	mem_free(p);
}

/* Everything but the code. */
static bool prepare(struct regex *r)
{
	r->general = pcre2_general_context_create(allocate, release, NULL);
	if (!r->general)
		return false;
	r->compiling = pcre2_compile_context_create(r->general);
	r->matching = pcre2_match_context_create(r->general);
	if (!r->compiling || !r->matching)
		return false;
	pcre2_set_parens_nest_limit(r->compiling, PARENS_LIMIT);
	pcre2_set_match_limit(r->matching, MATCH_LIMIT);
	pcre2_set_depth_limit(r->matching, DEPTH_LIMIT);
	pcre2_set_heap_limit(r->matching, HEAP_LIMIT_KIB);
	return true;
}

/* Without the JIT (not built in, or no executable memory) the interpreter does. */
static bool try_jit(struct regex *r)
{
	if (pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE) != 0)
		return true;
	r->stack = pcre2_jit_stack_create(JIT_STACK_START, JIT_STACK_MOST, r->general);
	if (!r->stack)
		return false;
	pcre2_jit_stack_assign(r->matching, NULL, r->stack);
	return true;
}

static enum neap_err compile(struct regex *r, PCRE2_SPTR pattern, size_t bytes, uint32_t options,
			     size_t *offset_out, struct err *e)
{
	int error = 0;
	PCRE2_SIZE offset = 0;
	r->code = pcre2_compile(pattern, bytes, options, &error, &offset, r->compiling);
	if (!r->code) {
		PCRE2_UCHAR message[200];
		if (error == PCRE2_ERROR_NOMEMORY || error == 121 /* failed to allocate */)
			return err_nomem(e, "a regular expression");
		if (pcre2_get_error_message(error, message, sizeof message) < 0)
			message[0] = 0;
		*offset_out = offset;
		return err_set(e, ERR_USAGE, "regular expression: %s", (const char *)message);
	}
	r->match = pcre2_match_data_create(1, r->general);
	if (!r->match || !try_jit(r))
		return err_nomem(e, "a regular expression");
	return NEAP_OK;
}

enum neap_err regex_compile(const char *pattern, size_t bytes, bool ignores_case,
			    struct regex **out, size_t *offset_out, struct err *e)
{
	*out = NULL;
	*offset_out = 0;
	struct regex *r = mem_zalloc(sizeof *r);
	if (!r || !prepare(r)) {
		regex_free(r);
		return err_nomem(e, "a regular expression");
	}
	uint32_t options = PCRE2_NEVER_UTF | (ignores_case ? PCRE2_CASELESS : 0);
	enum neap_err code = compile(r, (PCRE2_SPTR)pattern, bytes, options, offset_out, e);
	if (code) {
		regex_free(r);
		return code;
	}
	*out = r;
	return NEAP_OK;
}

void regex_free(struct regex *r)
{
	if (!r)
		return;
	pcre2_match_data_free(r->match);
	pcre2_code_free(r->code);
	pcre2_jit_stack_free(r->stack);
	pcre2_match_context_free(r->matching);
	pcre2_compile_context_free(r->compiling);
	pcre2_general_context_free(r->general);
	mem_free(r);
}

enum neap_err regex_search(struct regex *r, const char *text, size_t bytes, bool *found_out,
			   struct err *e)
{
	int n = pcre2_match(r->code, (PCRE2_SPTR)text, bytes, 0, 0, r->match, r->matching);
	*found_out = n >= 0;
	if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
		return NEAP_OK;
	if (n == PCRE2_ERROR_NOMEMORY)
		return err_nomem(e, "a regular expression");
	return err_set(e, ERR_LIMIT,
		       "the regular expression takes too many steps on a name of %zu bytes", bytes);
}
