/*
 * The words of query/fields.def as arrays, for whoever walks them: the parser's expected sets,
 * completion, `neap query --fields`.
 */
#ifndef NEAP_QUERY_VOCAB_H
#define NEAP_QUERY_VOCAB_H

#include "query/ast.h"
#include "src/base/buf.h"

/* What a field or column holds, and so which comparisons and units fit it. */
enum value_type {
	VALUE_NAME,
	VALUE_SIZE,
	VALUE_COUNT,
	VALUE_TIME,
	VALUE_INT,
	VALUE_RATIO,
	VALUE_RATE,
};

enum vocab_of {
	OF_FRAME,
	OF_BLOCK
};

/* How a population takes its instants. */
enum vocab_instants {
	INSTANTS_NONE,
	INSTANTS_AT,
	INSTANTS_IN,
	INSTANTS_IN_NEEDED
};

struct vocab_word {
	const char *word, *meaning;
	int id;                       /* FIELD_..., COL_..., ... of its list */
	enum value_type type;         /* fields, columns, keys */
	enum vocab_of of;             /* fields */
	enum vocab_instants instants; /* populations */
};

struct vocab {
	const struct vocab_word *words; /* [id] */
	size_t count;
};

extern const struct vocab vocab_fields, vocab_columns, vocab_populations, vocab_formats,
	vocab_stages /* without views */, vocab_views, vocab_quantifiers /* [id - 1] */,
	vocab_keys /* KEY_... that are not fields, [id - 1] */;

/* vocab_find - the entry of a word, or NULL. */
const struct vocab_word *vocab_find(const struct vocab *v, const char *word, size_t bytes);

/* vocab_quantifier - the same for quantifiers; caller2, caller3, ... are `caller` too.
 *   out  of: QUANT_DEFAULT if it is none */
const struct vocab_word *vocab_quantifier(const char *word, size_t bytes, struct ast_quant *out);
/* quant_is_one_frame - leaf, root, caller: fields of that frame are keys, too. */
static inline bool quant_is_one_frame(struct ast_quant q)
{
	return q.of == QUANT_LEAF || q.of == QUANT_ROOT || q.of == QUANT_CALLER;
}
/* key_field - the field of a key: `func` of `caller.func`, all of any other word.  Borrowed. */
const char *key_field(const char *key);
/* vocab_put_quantifier - as written in a query; nothing for QUANT_DEFAULT. */
void vocab_put_quantifier(struct ast_quant q, struct buf *out);

struct vocab_unit {
	const char *word;
	enum ast_unit unit;
	int64_t factor;
	enum value_type of;
};
extern const struct vocab_unit vocab_units[];
extern const size_t vocab_unit_count;

#endif
