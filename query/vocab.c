/* The words of the language, expanded from query/fields.def. */
#include "config.h"

#include "query/vocab.h"

#include <string.h>

#define VOCAB(name) const struct vocab vocab_##name = {(name), sizeof(name) / sizeof((name)[0])}

static const struct vocab_word fields[] = {
#define FIELD(i, w, o, t, m) \
	{.word = (w), .meaning = (m), .id = FIELD_##i, .type = VALUE_##t, .of = OF_##o},
#include "query/fields.def"
};
VOCAB(fields);

static const struct vocab_word columns[] = {
#define COLUMN(i, w, t, m) {.word = (w), .meaning = (m), .id = COL_##i, .type = VALUE_##t},
#include "query/fields.def"
};
VOCAB(columns);

static const struct vocab_word populations[] = {
#define POPULATION(i, w, n, m) {.word = (w), .meaning = (m), .id = (i), .instants = INSTANTS_##n},
#include "query/fields.def"
};
VOCAB(populations);

static const struct vocab_word formats[] = {
#define FORMAT(i, w, v, m) {.word = (w), .meaning = (m), .id = FORMAT_##i},
#include "query/fields.def"
};
VOCAB(formats);

static const struct vocab_word stages[] = {
#define STAGE(i, w, m) {.word = (w), .meaning = (m), .id = STAGE_##i},
#include "query/fields.def"
};
VOCAB(stages);

static const struct vocab_word views[] = {
#define VIEW(i, w, m) {.word = (w), .meaning = (m), .id = VIEW_##i},
#include "query/fields.def"
};
VOCAB(views);

static const struct vocab_word quantifiers[] = {
#define QUANTIFIER(i, w, m) {.word = (w), .meaning = (m), .id = QUANT_##i},
#include "query/fields.def"
};
VOCAB(quantifiers);

static const struct vocab_word keys[] = {
#define KEY(i, w, t, m) {.word = (w), .meaning = (m), .id = KEY_##i, .type = VALUE_##t},
#include "query/fields.def"
};
VOCAB(keys);

const struct vocab_unit vocab_units[] = {
#define UNIT(w, u, f, o) {.word = (w), .unit = UNIT_##u, .factor = (f), .of = VALUE_##o},
#include "query/fields.def"
};
const size_t vocab_unit_count = sizeof vocab_units / sizeof vocab_units[0];

const struct vocab_word *vocab_find(const struct vocab *v, const char *word, size_t bytes)
{
	for (size_t i = 0; i < v->count; i++) {
		const char *w = v->words[i].word;
		if (strlen(w) == bytes && !memcmp(w, word, bytes))
			return &v->words[i];
	}
	return NULL;
}
