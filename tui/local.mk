# neap-browse: the browser.  Everything but main.c and term*.c is a library, for the tests.
pkglibexec_PROGRAMS += neap-browse
noinst_LTLIBRARIES += tui/libtui.la

tui_libtui_la_SOURCES = \
	tui/actions.c \
	tui/bookmarks.c \
	tui/bookmarks.h \
	tui/browser.c \
	tui/browser.h \
	tui/browser_priv.h \
	tui/butterfly_draw.c \
	tui/butterfly_priv.h \
	tui/chart.c \
	tui/chart.h \
	tui/chrome.c \
	tui/command.c \
	tui/details.c \
	tui/details.h \
	tui/edits.c \
	tui/editor.c \
	tui/editor.h \
	tui/empty.c \
	tui/empty.h \
	tui/export.c \
	tui/export.h \
	tui/facts.c \
	tui/facts.h \
	tui/flame_draw.c \
	tui/flame_layout.c \
	tui/flame_layout.h \
	tui/flame_priv.h \
	tui/flame_spot.c \
	tui/follow.c \
	tui/follow.h \
	tui/grid.c \
	tui/grid.h \
	tui/help.c \
	tui/help.h \
	tui/hist_rows.c \
	tui/hist_rows.h \
	tui/inputs.c \
	tui/keymap.c \
	tui/keymap.h \
	tui/keys.def \
	tui/line.c \
	tui/line.h \
	tui/list.c \
	tui/list.h \
	tui/model.c \
	tui/model.h \
	tui/model_priv.h \
	tui/module_names.c \
	tui/module_names.h \
	tui/names.c \
	tui/names.h \
	tui/only_thread.c \
	tui/only_thread.h \
	tui/paint.c \
	tui/paint.h \
	tui/prompt.c \
	tui/prompt.h \
	tui/query_text.c \
	tui/saved.c \
	tui/saved.h \
	tui/script.c \
	tui/script.h \
	tui/rows.c \
	tui/rows.h \
	tui/show.c \
	tui/show.h \
	tui/sides.c \
	tui/sizes_data.c \
	tui/sizes_data.h \
	tui/source_draw.c \
	tui/source_lines.c \
	tui/source_priv.h \
	tui/spots.c \
	tui/spots.h \
	tui/state.c \
	tui/state_text.c \
	tui/state_use.c \
	tui/strip.c \
	tui/strip_keys.c \
	tui/strip_priv.h \
	tui/strip_time.c \
	tui/table.h \
	tui/table_open.c \
	tui/through.c \
	tui/through.h \
	tui/time_chart.c \
	tui/time_chart.h \
	tui/time_draw.c \
	tui/time_plain.c \
	tui/time_query.c \
	tui/time_priv.h \
	tui/time_values.c \
	tui/tree_draw.c \
	tui/tree_lines.c \
	tui/tree_priv.h \
	tui/tree_sort.c \
	tui/view.h \
	tui/view_butterfly.c \
	tui/view_flame.c \
	tui/view_modules.c \
	tui/view_run.c \
	tui/view_sizes.c \
	tui/view_source.c \
	tui/view_table.c \
	tui/view_threads.c \
	tui/view_time.c \
	tui/view_tree.c \
	tui/views.c

neap_browse_SOURCES = tui/fetch.c tui/fetch.h tui/main.c tui/term.c tui/term.h tui/term_keys.c tui/term_priv.h tui/term_run.c \
	tui/term_signals.c
neap_browse_CPPFLAGS = $(AM_CPPFLAGS) $(NCURSESW_CFLAGS)
neap_browse_LDADD = tui/libtui.la $(neap_libs) $(NCURSESW_LIBS)
