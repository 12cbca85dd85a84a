# The browser: golden screens, key scripts, the table of keys.
golden_tests += tests/tui/screens.sh
tui_tests = \
	tests/tui/keys.sh \
	tests/tui/scripts.sh \
	tests/tui/undo.sh
TESTS += $(tui_tests)
EXTRA_DIST += $(tui_tests) tests/tui/screens tests/tui/scripts

# The walks: what people come for, in few keys.
golden_tests += tests/tui/walks.sh
EXTRA_DIST += tests/tui/walks
check_PROGRAMS += tests/tui/make_runs
tests_tui_make_runs_SOURCES = \
	tests/tui/make_runs.c \
	tests/unit/build_profile.c \
	tests/unit/build_profile.h
tests_tui_make_runs_LDADD = $(neap_libs)

# The real program on a terminal that libvterm plays.
if HAVE_VTERM
check_PROGRAMS += tests/tui/pty
endif
EXTRA_DIST += tests/tui/pty.c
tests_tui_pty_SOURCES = tests/tui/pty.c
tests_tui_pty_CPPFLAGS = $(AM_CPPFLAGS) $(VTERM_CFLAGS)
tests_tui_pty_LDADD = $(VTERM_LIBS) -lutil
tui_tests += tests/tui/terminal.sh
tui_tests += tests/tui/state.sh
tui_tests += tests/tui/stop.sh
tui_tests += tests/tui/fetch.sh
golden_tests += tests/tui/plays.sh
EXTRA_DIST += tests/tui/plays tests/tui/lib.sh tests/tui/source-server.pl

# A monkey at the browser; check-tui-long has it at it for longer, under AddressSanitizer.
check_PROGRAMS += tests/tui/monkey tests/tui/make_names
tests_tui_monkey_SOURCES = \
	tests/tui/invariants.c \
	tests/tui/invariants.h \
	tests/tui/monkey.c
tests_tui_monkey_LDADD = tui/libtui.la $(neap_libs)
tests_tui_make_names_SOURCES = \
	tests/tui/make_names.c \
	tests/unit/build_profile.c \
	tests/unit/build_profile.h
tests_tui_make_names_LDADD = $(neap_libs)
tui_tests += tests/tui/monkey.sh
CLEANFILES += tests/tui/monkey.keys
