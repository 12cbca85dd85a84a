# Fuzzers.  Their saved corpora are replayed by `make check`; `make fuzz SECONDS=600`
# looks for new inputs, with clang.

check_PROGRAMS += tests/fuzz/replay_profile
tests_fuzz_replay_profile_SOURCES = tests/fuzz/fz_profile.c tests/fuzz/replay.c \
	tests/unit/sample_profile.c tests/unit/sample_profile.h
tests_fuzz_replay_profile_LDADD = src/profile/libprofile.la src/base/libbase.la

check_PROGRAMS += tests/fuzz/replay_query
tests_fuzz_replay_query_SOURCES = tests/fuzz/fz_query.c tests/fuzz/replay.c \
	tests/unit/query_dump.c tests/unit/query_dump.h
tests_fuzz_replay_query_LDADD = $(neap_libs)

check_PROGRAMS += tests/fuzz/replay_exec
tests_fuzz_replay_exec_SOURCES = tests/fuzz/fz_exec.c tests/fuzz/replay.c \
	tests/unit/build_profile.c tests/unit/build_profile.h \
	tests/unit/random_world.c tests/unit/random_world.h
tests_fuzz_replay_exec_LDADD = $(neap_libs)

check_PROGRAMS += tests/fuzz/replay_sym
tests_fuzz_replay_sym_SOURCES = tests/fuzz/fz_sym.c tests/fuzz/replay.c
tests_fuzz_replay_sym_LDADD = $(neap_libs)

check_PROGRAMS += tests/fuzz/replay_import
tests_fuzz_replay_import_SOURCES = tests/fuzz/fz_import.c tests/fuzz/replay.c \
	tests/unit/sample_profile.c tests/unit/sample_profile.h
tests_fuzz_replay_import_LDADD = $(neap_libs)

TESTS += tests/fuzz/replay.sh
EXTRA_DIST += tests/fuzz/replay.sh tests/fuzz/fuzz.sh tests/fuzz/keep.sh tests/fuzz/corpus

SECONDS = 60
fuzz: config.h
	$(AM_V_at)$(BASH_PROG) $(srcdir)/tests/fuzz/fuzz.sh '$(abs_top_srcdir)' '$(abs_top_builddir)' '$(SECONDS)'
