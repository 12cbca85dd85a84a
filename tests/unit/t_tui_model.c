/* The model: queries in parts, edits, undo, results that are kept. */
#include "config.h"

#include "tui/model.h"

#include "query/parse.h"
#include "tests/golden/profiles.h"
#include "tui/keymap.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct model m;
static char path[64];
static const char *paths[1];

static void begin(void)
{
	struct err e = {0};
	snprintf(path, sizeof path, "/tmp/neap-model-%d.neap", (int)getpid());
	build_close(golden_profiles[0].make(path));
	paths[0] = path;
	cr_assert_eq(model_open(&m, paths, 1, NULL, &e), NEAP_OK, "%s", e.text);
	unlink(path);
}

static void finish(void)
{
	model_release(&m);
}

static void is_query(const char *expected)
{
	struct buf text = {0};
	model_text(&m, &text);
	cr_assert_str_eq(text.data, expected);
	buf_release(&text);
}

static void set(const char *text)
{
	struct query_error error = {.code = NEAP_OK};
	cr_assert_eq(model_set_text(&m, text, &error), NEAP_OK, "%s: %s", text, error.text);
}

/* What the query line shows parses to itself. */
static void parses_to_itself(void)
{
	struct buf text = {0}, canonical = {0};
	struct ast_script *script = NULL;
	struct query_error error = {.code = NEAP_OK};
	model_text(&m, &text);
	cr_assert_eq(query_parse(text.data, text.count_bytes, &script, &error), NEAP_OK);
	query_canonical(&script->statements[script->statement_count - 1].query, &canonical);
	cr_assert_str_eq(canonical.data, text.data);
	query_script_free(script);
	buf_release(&text);
	buf_release(&canonical);
}

Test(model, begins_with_the_peak, .init = begin, .fini = finish)
{
	is_query("peak | min 1%");
	parses_to_itself();
}

Test(model, a_typed_query_becomes_chips, .init = begin, .fini = finish)
{
	set("live at 40% module=libc.so.6 | zoom main | by func,line | sort count | min 2% | "
	    "callers");
	const struct state *s = model_state(&m);
	cr_assert_str_eq(s->head, "live at 40%");
	cr_assert_eq(s->chip_count, 5);
	cr_assert_str_eq(s->chips[0].text, "where module=libc.so.6");
	cr_assert_str_eq(s->chips[1].text, "zoom main");
	cr_assert_eq(s->screen, SCREEN_TREE);
	cr_assert(s->is_inverted);
	set("live | by func | where count > 3 | where file=x");
	cr_assert(model_state(&m)->chips[1].is_of_rows);
}

Test(model, what_begins_with_a_bar_refines_the_view, .init = begin, .fini = finish)
{
	set("leaked size > 4K");
	set("| by thread");
	set("| hide main");
	is_query("leaked | where size > 4K | hide main | by thread");
	parses_to_itself();
}

Test(model, lets_stay_in_front, .init = begin, .fini = finish)
{
	set("let big = size > 1M; live $big | by func");
	parses_to_itself();
	cr_assert_eq(query_population(model_state(&m)->head), POP_LIVE);
	set("| min 3%");
	parses_to_itself();
}

Test(model, an_error_leaves_everything_as_it_was, .init = begin, .fini = finish)
{
	struct query_error error = {.code = NEAP_OK};
	uint64_t generation = m.generation;
	cr_assert_eq(model_set_text(&m, "live siez > 3", &error), ERR_USAGE);
	cr_assert_eq(error.span.start, 5);
	cr_assert_eq(model_add_stage(&m, STAGE_WHERE, "where (", &error), ERR_USAGE);
	cr_assert_eq(model_set_head(&m, "live in 1s..2s", &error), ERR_USAGE);
	is_query("peak | min 1%");
	cr_assert_eq(m.generation, generation);
	cr_assert_eq(m.state_count, 1);
}

Test(model, undo_and_redo_go_through_the_states, .init = begin, .fini = finish)
{
	struct query_error error = {.code = NEAP_OK};
	cr_assert_not(model_undo(&m));
	model_set_head(&m, "live", &error);
	model_add_stage(&m, STAGE_WHERE, "where main", &error);
	is_query("live | where main | min 1%");
	cr_assert(model_undo(&m));
	cr_assert(model_undo(&m));
	is_query("peak | min 1%");
	cr_assert(model_redo(&m));
	is_query("live | min 1%");
	model_set_head(&m, "leaked", &error);
	cr_assert_not(model_redo(&m));
	is_query("leaked | min 1%");
}

Test(model, the_same_again_is_no_new_state, .init = begin, .fini = finish)
{
	struct query_error error = {.code = NEAP_OK};
	model_set_head(&m, "peak", &error);
	model_set_stage(&m, STAGE_MIN, "min 1%", &error);
	cr_assert_eq(m.state_count, 1);
}

Test(model, steps_of_a_movement_are_one_state, .init = begin, .fini = finish)
{
	struct query_error error = {.code = NEAP_OK};
	model_move_head(&m, "live at 1ms", &error);
	model_move_head(&m, "live at 2ms", &error);
	model_move_head(&m, "live at 3ms", &error);
	is_query("live at 3ms | min 1%");
	cr_assert_eq(m.state_count, 2);
	model_undo(&m);
	is_query("peak | min 1%");
}

Test(model, popping_takes_conditions_before_what_is_for_rows, .init = begin, .fini = finish)
{
	set("live main | zoom parse | min 1%");
	cr_assert(model_pop_chip(&m));
	is_query("live | where main | min 1%");
	cr_assert(model_pop_chip(&m));
	is_query("live | min 1%");
	cr_assert(model_pop_chip(&m));
	is_query("live");
	cr_assert_not(model_pop_chip(&m));
}

Test(model, results_are_kept_and_bounded, .init = begin, .fini = finish)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_opened *first, *again, *other;
	const struct compose tree = {.view = "tree"}, callers = {.view = "callers"};
	cr_assert_eq(model_result(&m, &tree, &first, &error), NEAP_OK);
	cr_assert_eq(model_result(&m, &callers, &other, &error), NEAP_OK);
	cr_assert_eq(model_result(&m, &tree, &again, &error), NEAP_OK);
	cr_assert_eq(first, again);
	cr_assert_neq(first, other);
	uint64_t serial = model_serial(&m, first);
	for (unsigned i = 0; i < 2 * MODEL_RESULTS_KEPT; i++) {
		char view[16];
		snprintf(view, sizeof view, "tree %u", i + 1);
		const struct compose c = {.view = view};
		cr_assert_eq(model_result(&m, &c, &other, &error), NEAP_OK);
	}
	cr_assert_eq(model_result(&m, &tree, &again, &error), NEAP_OK);
	cr_assert_neq(model_serial(&m, again), serial);
}

Test(model, commands_are_quoted_for_the_shell, .init = begin, .fini = finish)
{
	struct buf text = {0}, query = {0};
	set("live func=\"it's\" | tree");
	model_query(&m, &query);
	model_command(&m, query.data, &text);
	buf_release(&query);
	cr_assert(strstr(text.data, "neap query '/tmp/neap-model-"));
	cr_assert(strstr(text.data, "'live | where func=\"it'\\''s\" | tree'"), "%s", text.data);
	buf_release(&text);
}

Test(model, steps_name_any_frame, .init = begin, .fini = finish)
{
	struct buf text = {0};
	struct graph_frame f = {.name = "a\"b\\c"};
	query_step(&text, &f);
	cr_assert_str_eq(text.data, "[func=\"a\\\"b\\\\c\"]");
	buf_clear(&text);
	f = (struct graph_frame){.module_path = "/lib/x.so", .pc = 4096};
	query_step(&text, &f);
	cr_assert_str_eq(text.data, "[module=\"/lib/x.so\" and addr=4096]");
	buf_clear(&text);
	f = (struct graph_frame){.kind = FRAME_NO_STACK, .module_path = "/lib/x.so"};
	query_step(&text, &f);
	cr_assert_str_eq(text.data, "[module=\"/lib/x.so\"]");
	buf_clear(&text);
	f = (struct graph_frame){.kind = FRAME_NO_STACK, .file_path = "/x.c", .line = 7};
	query_step(&text, &f);
	cr_assert_str_eq(text.data, "[file=\"/x.c\" and line=7]");
	buf_release(&text);
}

/* ---- keys ------------------------------------------------------------------------------ */

Test(keymap, names_and_keys_are_each_others)
{
	char name[16];
	for (uint32_t key = 1; key < SPECIAL_RESIZE; key = key == 0x7f ? SPECIAL_UP : key + 1) {
		uint32_t back;

		if (key == SPECIAL_F12 + 1)
			break;
		if (key == CODE_ESCAPE + 1)
			key = CODE_SPACE; /* no terminal has names for those between */
		keymap_name(name, sizeof name, key);
		cr_assert(keymap_parse(name, strlen(name), &back), "%s", name);
		cr_assert_eq(back, key, "%s", name);
	}
	uint32_t none;
	cr_assert_not(keymap_parse("F13", 3, &none));
	cr_assert_not(keymap_parse("Nope", 4, &none));
	cr_assert_not(keymap_parse("", 0, &none));
}

Test(keymap, every_key_of_the_table_does_what_it_says)
{
	size_t keys = 0;
	for (size_t i = 0; i < keymap_count; i++) {
		const struct key_binding *b = &keymap_bindings[i];
		for (const char *p = b->group ? "" : b->keys; *p; p += strspn(p, " ")) {
			uint32_t key;
			size_t bytes = strcspn(p, " ");
			cr_assert(keymap_parse(p, bytes, &key), "%s", p);
			cr_assert_eq(keymap_action(key), b->action, "%s", p);
			p += bytes;
			keys++;
		}
	}
	cr_assert_gt(keys, 60);
}

Test(model, chips_are_spelled_as_the_language_does, .init = begin, .fini = finish)
{
	struct query_error error = {.code = NEAP_OK};
	cr_assert_eq(model_add_stage(&m, STAGE_WHERE, "where main parse", &error), NEAP_OK);
	is_query("peak | where main and parse | min 1%");
	model_set_head(&m, "live at 2000ms", &error);
	is_query("live at 2s | where main and parse | min 1%");
	parses_to_itself();
}

Test(model, names_with_control_characters_can_be_asked_for, .init = begin, .fini = finish)
{
	struct buf text = {0};
	struct query_error error = {.code = NEAP_OK};
	buf_puts(&text, "where func=");
	query_quote(&text, "a\033[2J\\/(b");
	cr_assert_str_eq(text.data, "where func~/^a\\x1b\\[2J\\\\\\/\\(b\\z/");
	cr_assert_eq(model_add_stage(&m, STAGE_WHERE, text.data, &error), NEAP_OK, "%s",
		     error.text);
	parses_to_itself();
	buf_release(&text);
}
