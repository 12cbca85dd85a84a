/* Straight from query/fields.def, so that nothing can diverge. */
#include "config.h"

#include "src/cmd/vocabulary.h"

#include "query/vocab.h"

#include <stdbool.h>
#include <stdio.h>

static const char *type_word(enum value_type type)
{
	switch (type) {
	case VALUE_NAME:
		return "name";
	case VALUE_SIZE:
		return "size";
	case VALUE_COUNT:
		return "count";
	case VALUE_TIME:
		return "time";
	case VALUE_INT:
		return "number";
	case VALUE_RATIO:
		return "share";
	case VALUE_RATE:
		return "rate";
	}
	return "";
}

static void print_words(const char *title, const struct vocab *v, bool has_type)
{
	printf("%s\n", title);
	for (size_t i = 0; i < v->count; i++) {
		const struct vocab_word *w = &v->words[i];
		printf("  %-10s  %-6s  %s\n", w->word, has_type ? type_word(w->type) : "",
		       w->meaning);
	}
}

static void print_fields_of(const char *title, enum vocab_of of)
{
	printf("%s\n", title);
	for (size_t i = 0; i < vocab_fields.count; i++) {
		const struct vocab_word *w = &vocab_fields.words[i];
		if (w->of == of)
			printf("  %-10s  %-6s  %s\n", w->word, type_word(w->type), w->meaning);
	}
}

void vocabulary_fields(void)
{
	print_fields_of(
		"Fields of frames, for conditions and `by` (any, all, none, leaf, root, caller):",
		OF_FRAME);
	print_fields_of("\nFields of allocations, for conditions and `by`:", OF_BLOCK);
	print_words("\nMore keys for `by`:", &vocab_keys, true);
	print_words("\nColumns, for select, sort, top, assert and conditions on rows:",
		    &vocab_columns, true);
	printf("\nQuantifiers:\n");
	for (size_t i = 0; i < vocab_quantifiers.count; i++)
		printf("  %-10s  %s\n", vocab_quantifiers.words[i].word,
		       vocab_quantifiers.words[i].meaning);
}

void vocabulary_formats(void)
{
	for (size_t i = 0; i < vocab_formats.count; i++)
		printf("  %-10s  %s\n", vocab_formats.words[i].word,
		       vocab_formats.words[i].meaning);
}

void vocabulary_populations(void)
{
	static const char *const instants[] = {
		[INSTANTS_NONE] = "",
		[INSTANTS_AT] = "at TIME",
		[INSTANTS_IN] = "in FROM..TO",
		[INSTANTS_IN_NEEDED] = "in FROM..TO (needed)",
	};
	for (size_t i = 0; i < vocab_populations.count; i++) {
		const struct vocab_word *w = &vocab_populations.words[i];
		printf("  %-10s  %-20s  %s\n", w->word, instants[w->instants], w->meaning);
	}
}
