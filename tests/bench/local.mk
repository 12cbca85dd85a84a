# Measurements: `make bench`.  They are not tests.  BENCH_RUNS=9 make bench takes longer.
bench_programs = tests/bench/churn tests/bench/runstat tests/bench/bigprofile tests/bench/queries \
	tests/bench/browse tests/bench/bigheaptrack
EXTRA_PROGRAMS += $(bench_programs)
tests_bench_churn_SOURCES = tests/bench/churn.c
tests_bench_churn_CFLAGS = $(AM_CFLAGS) -O2 -g -pthread
tests_bench_runstat_SOURCES = tests/bench/runstat.c
tests_bench_bigprofile_SOURCES = tests/bench/bigprofile.c
tests_bench_bigprofile_LDADD = $(neap_libs)
tests_bench_queries_SOURCES = tests/bench/queries.c
tests_bench_queries_LDADD = $(neap_libs)
tests_bench_bigheaptrack_SOURCES = tests/bench/bigheaptrack.c
tests_bench_browse_SOURCES = tests/bench/browse.c
tests_bench_browse_LDADD = -lutil

CLEANFILES += $(bench_programs) tests/bench/nop.so
EXTRA_DIST += tests/bench/bigdwarf.sh tests/bench/nop.c tests/bench/queries.txt tests/bench/run.sh

tests/bench/nop.so: $(top_srcdir)/tests/bench/nop.c
	$(AM_V_CC)$(MKDIR_P) tests/bench && $(CC) -g -O2 -fPIC -shared -fno-builtin \
		-o $@ $(top_srcdir)/tests/bench/nop.c -ldl

bench: all-am $(bench_programs) tests/integration/symlook tests/bench/nop.so
	@$(AM_TESTS_ENVIRONMENT) $(BASH_PROG) $(top_srcdir)/tests/bench/run.sh
