# Criterion tests.  For a new one add three lines at the end, here t_buf:
#
#   unit_tests += tests/unit/t_buf
#   tests_unit_t_buf_CPPFLAGS = $(unit_cppflags)
#   tests_unit_t_buf_LDADD = $(unit_ldadd)
#
# The source is tests/unit/t_buf.c; name it in tests_unit_t_buf_SOURCES if there is more.

AM_DEFAULT_SOURCE_EXT = .c
unit_cppflags = $(AM_CPPFLAGS) $(CRITERION_CFLAGS)
unit_ldadd = $(neap_libs) $(CRITERION_LIBS)
unit_tests =

if HAVE_CRITERION
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
else
EXTRA_PROGRAMS += $(unit_tests)
TESTS += tests/unit/no_criterion.sh
endif
EXTRA_DIST += tests/unit/no_criterion.sh

unit_tests += tests/unit/t_sym
tests_unit_t_sym_CPPFLAGS = $(unit_cppflags)
tests_unit_t_sym_LDADD = $(unit_ldadd)

# The index against the nested loops of graph_ref.c, on profiles of build_profile.c.
unit_tests += tests/unit/t_graph
tests_unit_t_graph_SOURCES = tests/unit/t_graph.c $(build_profile) $(graph_ref)
tests_unit_t_graph_CPPFLAGS = $(unit_cppflags)
tests_unit_t_graph_LDADD = $(unit_ldadd)
build_profile = tests/unit/build_profile.c tests/unit/build_profile.h
random_world = tests/unit/random_world.c tests/unit/random_world.h $(build_profile)
graph_ref = tests/unit/graph_ref.c tests/unit/graph_ref.h

unit_tests += tests/unit/t_graph_property
tests_unit_t_graph_property_SOURCES = tests/unit/t_graph_property.c $(random_world) $(graph_ref)
tests_unit_t_graph_property_CPPFLAGS = $(unit_cppflags)
tests_unit_t_graph_property_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_report
tests_unit_t_report_SOURCES = tests/unit/t_report.c $(build_profile) \
	tests/golden/profiles.c tests/golden/profiles.h
tests_unit_t_report_CPPFLAGS = $(unit_cppflags)
tests_unit_t_report_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_report_name
tests_unit_t_report_name_CPPFLAGS = $(unit_cppflags)
tests_unit_t_report_name_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_report_lines
tests_unit_t_report_lines_CPPFLAGS = $(unit_cppflags)
tests_unit_t_report_lines_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_base_both
tests_unit_t_base_both_CPPFLAGS = $(unit_cppflags)
tests_unit_t_base_both_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_base_buf
tests_unit_t_base_buf_CPPFLAGS = $(unit_cppflags)
tests_unit_t_base_buf_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_base_fmt
tests_unit_t_base_fmt_CPPFLAGS = $(unit_cppflags)
tests_unit_t_base_fmt_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_base_map
tests_unit_t_base_map_CPPFLAGS = $(unit_cppflags)
tests_unit_t_base_map_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_base_narrow
tests_unit_t_base_narrow_CPPFLAGS = $(unit_cppflags)
tests_unit_t_base_narrow_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_base_parents
tests_unit_t_base_parents_CPPFLAGS = $(unit_cppflags)
tests_unit_t_base_parents_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_base_mem
tests_unit_t_base_mem_CPPFLAGS = $(unit_cppflags)
tests_unit_t_base_mem_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_profile
tests_unit_t_profile_SOURCES = tests/unit/t_profile.c tests/unit/sample_profile.c tests/unit/sample_profile.h
tests_unit_t_profile_CPPFLAGS = $(unit_cppflags)
tests_unit_t_profile_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_profile_check
tests_unit_t_profile_check_SOURCES = tests/unit/t_profile_check.c tests/unit/sample_profile.c tests/unit/sample_profile.h
tests_unit_t_profile_check_CPPFLAGS = $(unit_cppflags)
tests_unit_t_profile_check_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_profile_hostile
tests_unit_t_profile_hostile_SOURCES = tests/unit/t_profile_hostile.c tests/unit/sample_profile.c tests/unit/sample_profile.h
tests_unit_t_profile_hostile_CPPFLAGS = $(unit_cppflags) $(ZSTD_CFLAGS)
tests_unit_t_profile_hostile_LDADD = $(unit_ldadd) $(ZSTD_LIBS)

unit_tests += tests/unit/t_sym_jit
tests_unit_t_sym_jit_CPPFLAGS = $(unit_cppflags)
tests_unit_t_sym_jit_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_sym_names
tests_unit_t_sym_names_CPPFLAGS = $(unit_cppflags)
tests_unit_t_sym_names_LDADD = $(unit_ldadd)

# A program with a known heap that writes its region itself.
check_PROGRAMS += tests/unit/fake_target
# Never with a sanitizer: a program that replaces malloc itself is not recorded.
tests_unit_fake_target_CFLAGS = -std=gnu11
tests_unit_fake_target_LDADD = -lpthread

unit_tests += tests/unit/t_record
tests_unit_t_record_CPPFLAGS = $(unit_cppflags)
tests_unit_t_record_LDADD = $(unit_ldadd)
tests_unit_t_record_DEPENDENCIES = $(neap_libs) tests/unit/fake_target

unit_tests += tests/unit/t_record_parts
tests_unit_t_record_parts_CPPFLAGS = $(unit_cppflags)
tests_unit_t_record_parts_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_record_time
tests_unit_t_record_time_CPPFLAGS = $(unit_cppflags)
tests_unit_t_record_time_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_symbolise
tests_unit_t_symbolise_CPPFLAGS = $(unit_cppflags)
tests_unit_t_symbolise_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_sym_hostile
tests_unit_t_sym_hostile_CPPFLAGS = $(unit_cppflags)
tests_unit_t_sym_hostile_LDADD = $(unit_ldadd)

# The query language; query_gen.c makes correct queries, query_dump.c compares trees.
unit_tests += tests/unit/t_query_lex
tests_unit_t_query_lex_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_lex_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_query_parse
tests_unit_t_query_parse_SOURCES = tests/unit/t_query_parse.c $(query_trees) \
	tests/unit/query_examples.h tests/unit/query_mistakes.h \
	tests/unit/query_gen.c tests/unit/query_gen.h
tests_unit_t_query_parse_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_parse_LDADD = $(unit_ldadd)
query_trees = tests/unit/query_dump.c tests/unit/query_dump.h

unit_tests += tests/unit/t_query_complete
tests_unit_t_query_complete_SOURCES = tests/unit/t_query_complete.c tests/unit/query_examples.h
tests_unit_t_query_complete_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_complete_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_report_out
tests_unit_t_report_out_SOURCES = tests/unit/t_report_out.c $(build_profile)
tests_unit_t_report_out_CPPFLAGS = $(unit_cppflags)
tests_unit_t_report_out_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_report_deep
tests_unit_t_report_deep_SOURCES = tests/unit/t_report_deep.c $(build_profile)
tests_unit_t_report_deep_CPPFLAGS = $(unit_cppflags)
tests_unit_t_report_deep_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_report_suspects
tests_unit_t_report_suspects_SOURCES = tests/unit/t_report_suspects.c $(build_profile)
tests_unit_t_report_suspects_CPPFLAGS = $(unit_cppflags)
tests_unit_t_report_suspects_LDADD = $(unit_ldadd)

# Queries against nested loops and lists of strings (query_ref.c).
unit_tests += tests/unit/t_query_property
tests_unit_t_query_property_SOURCES = tests/unit/t_query_property.c $(random_world) \
	tests/unit/query_random.c tests/unit/query_random.h \
	tests/unit/query_ref.c tests/unit/query_ref.h \
	tests/unit/query_ref_stack.c tests/unit/query_ref_stack.h
tests_unit_t_query_property_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_property_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_query_timeline
tests_unit_t_query_timeline_SOURCES = tests/unit/t_query_timeline.c $(random_world) \
	tests/unit/query_random.c tests/unit/query_random.h
tests_unit_t_query_timeline_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_timeline_LDADD = $(unit_ldadd)

# Walks through stacks, one by one.
unit_tests += tests/unit/t_query_walk
tests_unit_t_query_walk_SOURCES = tests/unit/t_query_walk.c $(random_world)
tests_unit_t_query_walk_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_walk_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_query_regex
tests_unit_t_query_regex_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_regex_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_query_large
tests_unit_t_query_large_SOURCES = tests/unit/t_query_large.c $(build_profile)
tests_unit_t_query_large_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_large_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_query_exec
tests_unit_t_query_exec_SOURCES = tests/unit/t_query_exec.c $(build_profile)
tests_unit_t_query_exec_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_exec_LDADD = $(unit_ldadd)

# Queries kept open, and the browser without a terminal.
unit_tests += tests/unit/t_query_opened
tests_unit_t_query_opened_SOURCES = tests/unit/t_query_opened.c $(build_profile) \
	tests/golden/profiles.c tests/golden/profiles.h
tests_unit_t_query_opened_CPPFLAGS = $(unit_cppflags)
tests_unit_t_query_opened_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_tui_grid
tests_unit_t_tui_grid_CPPFLAGS = $(unit_cppflags)
tests_unit_t_tui_grid_LDADD = tui/libtui.la $(unit_ldadd)

unit_tests += tests/unit/t_tui_source
tests_unit_t_tui_source_CPPFLAGS = $(unit_cppflags)
tests_unit_t_tui_source_LDADD = tui/libtui.la $(unit_ldadd)
tests_unit_t_tui_source_SOURCES = tests/unit/t_tui_source.c \
	tests/unit/build_profile.c tests/unit/build_profile.h

unit_tests += tests/unit/t_tui_model
tests_unit_t_tui_model_SOURCES = tests/unit/t_tui_model.c $(build_profile) \
	tests/golden/profiles.c tests/golden/profiles.h
tests_unit_t_tui_model_CPPFLAGS = $(unit_cppflags)
tests_unit_t_tui_model_LDADD = tui/libtui.la $(unit_ldadd)

unit_tests += tests/unit/t_tui_flame
tests_unit_t_tui_flame_SOURCES = tests/unit/t_tui_flame.c $(build_profile) \
	tests/golden/profiles.c tests/golden/profiles.h
tests_unit_t_tui_flame_CPPFLAGS = $(unit_cppflags)
tests_unit_t_tui_flame_LDADD = tui/libtui.la $(unit_ldadd)

unit_tests += tests/unit/t_tui_saved
tests_unit_t_tui_saved_SOURCES = tests/unit/t_tui_saved.c $(build_profile) \
	tests/golden/profiles.c tests/golden/profiles.h
tests_unit_t_tui_saved_CPPFLAGS = $(unit_cppflags)
tests_unit_t_tui_saved_LDADD = tui/libtui.la $(unit_ldadd)

unit_tests += tests/unit/t_tui_time
tests_unit_t_tui_time_SOURCES = tests/unit/t_tui_time.c $(build_profile) \
	tests/golden/profiles.c tests/golden/profiles.h
tests_unit_t_tui_time_CPPFLAGS = $(unit_cppflags)
tests_unit_t_tui_time_LDADD = tui/libtui.la $(unit_ldadd)

unit_tests += tests/unit/t_tui_paint
tests_unit_t_tui_paint_CPPFLAGS = $(unit_cppflags)
tests_unit_t_tui_paint_LDADD = tui/libtui.la $(unit_ldadd)

unit_tests += tests/unit/t_exchange_out
tests_unit_t_exchange_out_CPPFLAGS = $(unit_cppflags)
tests_unit_t_exchange_out_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_sym_types
tests_unit_t_sym_types_CPPFLAGS = $(unit_cppflags)
tests_unit_t_sym_types_LDADD = $(unit_ldadd)

# Files of other tools: what is read of them, of all their beginnings, and without memory.
foreign = tests/unit/foreign.c tests/unit/foreign.h
EXTRA_DIST += tests/exchange

unit_tests += tests/unit/t_exchange_ctf
tests_unit_t_exchange_ctf_SOURCES = tests/unit/t_exchange_ctf.c $(foreign)
tests_unit_t_exchange_ctf_CPPFLAGS = $(unit_cppflags)
tests_unit_t_exchange_ctf_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_exchange_json
tests_unit_t_exchange_json_SOURCES = tests/unit/t_exchange_json.c $(foreign)
tests_unit_t_exchange_json_CPPFLAGS = $(unit_cppflags)
tests_unit_t_exchange_json_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_exchange_pprof
tests_unit_t_exchange_pprof_SOURCES = tests/unit/t_exchange_pprof.c $(foreign)
tests_unit_t_exchange_pprof_CPPFLAGS = $(unit_cppflags)
tests_unit_t_exchange_pprof_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_exchange_text
tests_unit_t_exchange_text_SOURCES = tests/unit/t_exchange_text.c $(foreign)
tests_unit_t_exchange_text_CPPFLAGS = $(unit_cppflags)
tests_unit_t_exchange_text_LDADD = $(unit_ldadd)

unit_tests += tests/unit/t_exchange
tests_unit_t_exchange_CPPFLAGS = $(unit_cppflags)
tests_unit_t_exchange_LDADD = $(unit_ldadd)
EXTRA_DIST += \
	tests/exchange/adhoc.dhat.json \
	tests/exchange/peak.dhat.json \
	tests/exchange/peak.heaptrack.zst \
	tests/exchange/peak.massif \
	tests/exchange/realloc.heaptrack.raw.zst \
	tests/exchange/realloc.heaptrack.zst
