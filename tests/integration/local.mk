# Scripts that run the real program:  integration_tests += tests/integration/NAME.sh
# By hand, from the build directory:  bash SOURCE/tests/integration/targets.sh 12 26
integration_tests = \
	tests/integration/any-format.sh \
	tests/integration/query-ci.sh \
	tests/integration/query-examples.sh \
	tests/integration/export.sh \
	tests/integration/export-browser.sh \
	tests/integration/import.sh \
	tests/integration/import-others.sh \
	tests/integration/import-truth.sh \
	tests/integration/import-unknown.sh \
	tests/integration/info-cli.sh \
	tests/integration/mistakes.sh \
	tests/integration/loading.sh \
	tests/integration/odd-worlds.sh \
	tests/integration/real-programs.sh \
	tests/integration/record-cli.sh \
	tests/integration/report-queries.sh \
	tests/integration/settings.sh \
	tests/integration/sigkill.sh \
	tests/integration/stress.sh \
	tests/integration/symbolize.sh \
	tests/integration/sym-jit.sh \
	tests/integration/sym-matrix.sh \
	tests/integration/sym-rust.sh \
	tests/integration/sym-tail.sh \
	tests/integration/targets.sh \
	tests/integration/time.sh \
	tests/integration/unseen.sh
TESTS += $(integration_tests)
EXTRA_DIST += $(integration_tests) tests/integration/lib.sh tests/integration/real-suites.sh \
	tests/integration/screenshots.sh \
	tests/integration/query-examples.txt

# Sums of a profile by function, from its raw columns.
check_PROGRAMS += tests/integration/truth
tests_integration_truth_SOURCES = \
	tests/integration/truth.c \
	tests/integration/truth_sum.c \
	tests/integration/truth_sum.h
tests_integration_truth_LDADD = $(neap_libs)

EXTRA_DIST += \
	tests/integration/sym/boxes.rs \
	tests/integration/sym/compare.py \
	tests/integration/sym/jit.c \
	tests/integration/sym/lib.cpp \
	tests/integration/sym/main.cpp \
	tests/integration/sym/part.c \
	tests/integration/sym/rust.s \
	tests/integration/sym/shape.h \
	tests/integration/sym/tail.c \
	tests/integration/sym/tail_cxx.cpp \
	tests/integration/sym/tail_lib.c

# Addresses of a module, as addr2line has them.
check_PROGRAMS += tests/integration/symlook
tests_integration_symlook_SOURCES = tests/integration/symlook.c
tests_integration_symlook_LDADD = $(neap_libs)

# Random queries in every format.
check_PROGRAMS += tests/integration/any-format
tests_integration_any_format_SOURCES = tests/integration/any-format.c $(random_world) \
	tests/unit/query_random.c tests/unit/query_random.h
tests_integration_any_format_LDADD = $(neap_libs)

# The independent counter, and a program to count.
check_PROGRAMS += tests/integration/rawsum tests/integration/same-env
tests_integration_rawsum_SOURCES = tests/integration/rawsum.c tests/integration/rawlog.h
tests_integration_same_env_SOURCES = tests/integration/same-env.c

integration_data = tests/integration/fixed-time.so tests/integration/rawlog.so
if HAVE_CXX
integration_data += tests/integration/words
endif
check_DATA += $(integration_data)
CLEANFILES += tests/integration/fixed-time.so tests/integration/rawlog.so tests/integration/words
EXTRA_DIST += tests/integration/fixed-time.c tests/integration/known.c tests/integration/rawlog.c tests/integration/words.cpp

tests/integration/rawlog.so: $(top_srcdir)/tests/integration/rawlog.c $(top_srcdir)/tests/integration/rawlog.h
	$(AM_V_CC)$(MKDIR_P) tests/integration && $(CC) -g -O2 -fPIC -shared -fno-builtin \
		-o $@ $(top_srcdir)/tests/integration/rawlog.c
tests/integration/fixed-time.so: $(top_srcdir)/tests/integration/fixed-time.c
	$(AM_V_CC)$(MKDIR_P) tests/integration && $(CC) -g -O2 -fPIC -shared \
		-o $@ $(top_srcdir)/tests/integration/fixed-time.c
tests/integration/words: $(top_srcdir)/tests/integration/words.cpp
	$(AM_V_GEN)$(MKDIR_P) tests/integration && $(CXX) -g -O2 -w -o $@ \
		$(top_srcdir)/tests/integration/words.cpp

# All ten real programs; make check takes a few.  200 moments of death; make check takes 25.
integration_ready = all $(check_PROGRAMS) $(check_DATA)
check-real: $(integration_ready)
	$(AM_TESTS_ENVIRONMENT) VERBOSE=1 $(BASH_PROG) $(top_srcdir)/tests/integration/real-programs.sh all
check-long: $(integration_ready)
	$(AM_TESTS_ENVIRONMENT) $(BASH_PROG) $(top_srcdir)/tests/integration/sigkill.sh 200
.PHONY: check-real check-long
