# Everything that `make check` runs.  A test is a program, or a script ending in .sh
# that exits 0 (passed), 77 (skipped, with the reason on its last line) or anything
# else (failed).  Scripts find their way by the variables exported here.

TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(BASH_PROG)

AM_TESTS_ENVIRONMENT = \
	LC_ALL=C; TZ=UTC; NEAP_CONFIG=; export LC_ALL TZ NEAP_CONFIG; unset DEBUGINFOD_URLS; \
	srcdir_abs='$(abs_top_srcdir)'; builddir_abs='$(abs_top_builddir)'; \
	NEAP='$(abs_top_builddir)/neap'; \
	NEAP_COLLECTOR='$(abs_top_builddir)/collector/.libs/libneap-collector.so'; \
	CLANG_FORMAT='$(CLANG_FORMAT)'; CC='$(CC)'; CXX='$(CXX)'; \
	export srcdir_abs builddir_abs NEAP NEAP_COLLECTOR CLANG_FORMAT CC CXX;

# Scripts that compare what neap prints with what stands beside them; NEAP_GOLDEN_WRITE=1
# makes them write it anew (`make golden`):  golden_tests += tests/golden/NAME.sh
golden_tests =
TESTS += $(golden_tests)
EXTRA_DIST += $(golden_tests)

include tests/unit/local.mk
include tests/targets/local.mk
include tests/golden/local.mk
include tests/tui/local.mk
include tests/integration/local.mk
include tests/oracle/local.mk
include tests/stress/local.mk
include tests/faults/local.mk
include tests/lib/local.mk
include tests/fuzz/local.mk
include tests/bench/local.mk
include tests/lint/local.mk

# What `./bootstrap demo` records: built as a user would, whatever CFLAGS say here.
tests/targets/demo: $(top_srcdir)/tests/targets/demo.cpp
	$(AM_V_CXX)$(MKDIR_P) tests/targets && $(CXX) -g -O2 -o $@ $(top_srcdir)/tests/targets/demo.cpp
EXTRA_DIST += tests/targets/demo.cpp
check_DATA += tests/targets/demo
CLEANFILES += tests/targets/demo
