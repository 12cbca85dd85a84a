/* The words of the language, expanded from query/fields.def. */
#include "config.h"

#include "query/vocab.h"

#include <inttypes.h>
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

/* N of callerN: 2 or more, without zeros before it; 0: it is none. */
static uint32_t calls_up(const char *digits, size_t bytes)
{
	uint32_t up = 0;
	if (!bytes || bytes > 9 || *digits == '0')
		return 0;
	for (size_t i = 0; i < bytes; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return 0;
		up = up * 10 + (uint32_t)(digits[i] - '0');
	}
	return up;
}

const struct vocab_word *vocab_quantifier(const char *word, size_t bytes, struct ast_quant *out)
{
	const struct vocab_word *caller = &quantifiers[QUANT_CALLER - 1];
	const struct vocab_word *w = vocab_find(&vocab_quantifiers, word, bytes);
	size_t head = strlen(caller->word);
	*out = (struct ast_quant){.of = w ? (enum ast_quantifier)w->id : QUANT_DEFAULT};
	out->up = w == caller;
	if (w || bytes <= head || memcmp(word, caller->word, head) != 0)
		return w;
	out->up = calls_up(word + head, bytes - head);
	if (!out->up)
		return NULL;
	out->of = QUANT_CALLER;
	return caller;
}

const char *key_field(const char *key)
{
	struct ast_quant of;
	const char *dot = strchr(key, '.');
	return dot && vocab_quantifier(key, (size_t)(dot - key), &of) ? dot + 1 : key;
}

void vocab_put_quantifier(struct ast_quant q, struct buf *out)
{
	if (q.of == QUANT_DEFAULT)
		return;
	buf_puts(out, quantifiers[q.of - 1].word);
	if (q.up > 1)
		buf_printf(out, "%" PRIu32, q.up);
}
