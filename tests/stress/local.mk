# Programs with a plain main that ThreadSanitizer can run (Criterion cannot run under it):
#
#   stress_tests += tests/stress/NAME
#   tests_stress_NAME_SOURCES = tests/stress/NAME.c ...
stress_tests = \
	tests/stress/counters
check_PROGRAMS += $(stress_tests)
TESTS += $(stress_tests)

# The counting parts of the collector, included as sources.
tests_stress_counters_SOURCES = tests/stress/counters.c
tests_stress_counters_CFLAGS = $(AM_CFLAGS) -pthread

# Programs that are hard on a profiler and know what they allocate; recorded by
# tests/integration/stress.sh and sigkill.sh.  Built like the programs of tests/targets.
stress_targets = \
	tests/stress/coroutines \
	tests/stress/cross-free \
	tests/stress/dl-loop \
	tests/stress/fork-storm \
	tests/stress/random-walk \
	tests/stress/sigkill \
	tests/stress/signal-storm \
	tests/stress/thread-churn \
	tests/stress/threads-walk
check_DATA += $(stress_targets)
CLEANFILES += $(stress_targets)

stress_dir = $(top_srcdir)/tests/stress
stress_cc = $(AM_V_CC)$(MKDIR_P) tests/stress && $(CC) -g -O2 -w -pthread

tests/stress/coroutines: $(stress_dir)/coroutines.c
	$(stress_cc) -o $@ $(stress_dir)/coroutines.c
tests/stress/cross-free: $(stress_dir)/cross-free.c
	$(stress_cc) -o $@ $(stress_dir)/cross-free.c
tests/stress/dl-loop: $(stress_dir)/dl-loop.c
	$(stress_cc) -o $@ $(stress_dir)/dl-loop.c -ldl
tests/stress/fork-storm: $(stress_dir)/fork-storm.c
	$(stress_cc) -o $@ $(stress_dir)/fork-storm.c
tests/stress/random-walk: $(stress_dir)/random-walk.c $(stress_dir)/walk.h
	$(stress_cc) -o $@ $(stress_dir)/random-walk.c
tests/stress/sigkill: $(stress_dir)/sigkill.c $(stress_dir)/walk.h
	$(stress_cc) -o $@ $(stress_dir)/sigkill.c -lrt
tests/stress/signal-storm: $(stress_dir)/signal-storm.c
	$(stress_cc) -o $@ $(stress_dir)/signal-storm.c
tests/stress/thread-churn: $(stress_dir)/thread-churn.c
	$(stress_cc) -o $@ $(stress_dir)/thread-churn.c
tests/stress/threads-walk: $(stress_dir)/threads-walk.c $(stress_dir)/walk.h
	$(stress_cc) -o $@ $(stress_dir)/threads-walk.c

EXTRA_DIST += \
	tests/stress/coroutines.c \
	tests/stress/cross-free.c \
	tests/stress/dl-loop.c \
	tests/stress/fork-storm.c \
	tests/stress/random-walk.c \
	tests/stress/sigkill.c \
	tests/stress/signal-storm.c \
	tests/stress/thread-churn.c \
	tests/stress/threads-walk.c \
	tests/stress/walk.h
