/* Keys of `by`, and those that a view has by itself. */
#include "config.h"

#include "query/resolve_priv.h"

enum result_type resolve_type(enum value_type type)
{
	switch (type) {
	case VALUE_NAME:
		return RESULT_TEXT;
	case VALUE_SIZE:
		return RESULT_BYTES;
	case VALUE_COUNT:
		return RESULT_COUNT;
	case VALUE_TIME:
		return RESULT_NS;
	case VALUE_INT:
		return RESULT_NUMBER;
	case VALUE_RATIO:
		return RESULT_RATIO;
	case VALUE_RATE:
		return RESULT_RATE;
	}
	return RESULT_TEXT;
}

static enum neap_err resolve_field_key(struct plan *pl, const struct ast_key *k,
				       struct plan_key *out)
{
	if (k->field >= FIELD_COUNT)
		return query_fail(pl->error, ERR_USAGE, k->span, "a key is missing");
	const struct vocab_word *word = &vocab_fields.words[k->field];
	out->word = word->word;
	out->type = resolve_type(word->type);
	out->is_frame = word->of == OF_FRAME;
	if (k->has_bucket && (out->type == RESULT_TEXT || k->bucket.value <= 0)) {
		query_fail(pl->error, ERR_USAGE, k->span, "'%s' has no slices of this width",
			   word->word);
		return query_fail_help(pl->error, "numbers have: size:4K, lifetime:10ms");
	}
	if (k->field == FIELD_LABEL) {
		out->word = plan_printf(pl, "label.%.*s", (int)k->label.bytes, k->label.s);
		if (!out->word)
			return query_no_memory(pl->error);
	}
	if (k->field == FIELD_LABEL || (k->field == FIELD_TYPE && !plan_knows_types(pl)))
		return plan_note(pl, "the profile knows no %s of allocations",
				 k->field == FIELD_TYPE ? "types" : "labels");
	pl->uses_died = pl->uses_died || k->field == FIELD_DIED;
	pl->uses_lifetime = pl->uses_lifetime || k->field == FIELD_LIFETIME;
	return NEAP_OK;
}

/* Of one frame of each stack: a property of the allocation. */
static enum neap_err resolve_frame(struct plan *pl, const struct ast_key *k, struct plan_key *out)
{
	struct buf word = {0};
	out->frame = k->quantifier;
	if (k->quantifier.of == QUANT_DEFAULT)
		return NEAP_OK;
	out->is_frame = false;
	vocab_put_quantifier(k->quantifier, &word);
	out->word = word.has_failed ? NULL : plan_printf(pl, "%s.%s", word.data, out->word);
	buf_release(&word);
	return out->word ? NEAP_OK : query_no_memory(pl->error);
}

static enum neap_err resolve_property(struct plan *pl, const struct ast_key *k,
				      struct plan_key *out)
{
	*out = (struct plan_key){.kind = k->kind, .field = FIELD_NONE};
	if (k->has_bucket) {
		out->bucket_kind = BUCKET_EVEN;
		out->bucket = k->bucket.value;
	}
	switch (k->kind) {
	case KEY_FIELD:
		out->field = k->field;
		return resolve_field_key(pl, k, out);
	case KEY_STACK:
		out->word = "stack";
		out->type = RESULT_TEXT;
		return NEAP_OK;
	case KEY_CLASS:
		out->word = "class";
		out->type = RESULT_TEXT;
		out->is_frame = true;
		return NEAP_OK;
	case KEY_TIME:
		out->word = "time";
		out->type = RESULT_NS;
		pl->uses_time = true;
		if (!k->has_bucket || k->bucket.value <= 0)
			return query_fail(pl->error, ERR_USAGE, k->span,
					  "say how wide the slices are: time:100ms");
		return NEAP_OK;
	}
	return query_fail(pl->error, ERR_USAGE, k->span, "unknown key");
}

enum neap_err resolve_key(struct plan *pl, const struct ast_key *k, struct plan_key *out)
{
	enum neap_err code = resolve_property(pl, k, out);
	return code ? code : resolve_frame(pl, k, out);
}

static bool is_same_frame(const struct plan_key *a, const struct plan_key *b)
{
	return a->frame.of == b->frame.of && a->frame.up == b->frame.up;
}

/* Does another key of the same frame say where its line, or its address, is? */
static bool has_place(const struct plan *pl, const struct plan_key *of)
{
	for (size_t i = 0; i < pl->key_count; i++) {
		const struct plan_key *k = &pl->keys[i];
		bool says = of->field == FIELD_LINE
				    ? k->field == FIELD_FILE || k->field == FIELD_FUNC
				    : k->field == FIELD_MODULE;
		if (says && k->kind == KEY_FIELD && is_same_frame(k, of))
			return true;
	}
	return false;
}

/* line and addr are shown as bare numbers where another key says of what. */
void resolve_places(struct plan *pl)
{
	pl->has_block_key = false;
	for (size_t i = 0; i < pl->key_count; i++) {
		struct plan_key *k = &pl->keys[i];
		pl->has_block_key = pl->has_block_key || !k->is_frame;
		bool is_place = k->field == FIELD_LINE || k->field == FIELD_ADDR;
		if (k->kind == KEY_FIELD && is_place && !has_place(pl, k) && !k->bucket_kind)
			k->type = RESULT_TEXT;
	}
}

enum neap_err resolve_by(struct plan *pl, const struct ast_stage *stage)
{
	if (pl->row_stages.count) {
		query_fail(pl->error, ERR_USAGE, stage->span,
			   "'by' stands after a stage that acts on rows");
		return query_fail_help(pl->error, "put 'by' before sort, top, bottom, limit, min "
						  "and conditions on columns");
	}
	pl->keys = plan_alloc(pl, stage->key_count, sizeof *pl->keys);
	if (!pl->keys)
		return query_no_memory(pl->error);
	pl->key_count = stage->key_count;
	pl->has_by = true;
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < stage->key_count; i++)
		code = resolve_key(pl, &stage->keys[i], &pl->keys[i]);
	return code;
}

enum neap_err resolve_set_keys(struct plan *pl, const enum ast_field *fields, size_t count)
{
	struct ast_key k = {.kind = KEY_FIELD};
	pl->keys = plan_alloc(pl, count, sizeof *pl->keys);
	if (!pl->keys)
		return query_no_memory(pl->error);
	pl->key_count = count;
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < count; i++) {
		k.field = fields[i];
		code = resolve_key(pl, &k, &pl->keys[i]);
	}
	return code;
}
