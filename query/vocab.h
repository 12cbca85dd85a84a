/*
 * The words of query/fields.def as arrays, for whoever walks them: the parser's expected sets,
 * completion, `neap query --fields`.
 */
#ifndef NEAP_QUERY_VOCAB_H
#define NEAP_QUERY_VOCAB_H

#include "query/ast.h"

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

struct vocab_unit {
	const char *word;
	enum ast_unit unit;
	int64_t factor;
	enum value_type of;
};
extern const struct vocab_unit vocab_units[];
extern const size_t vocab_unit_count;

#endif
