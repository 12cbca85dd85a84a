# Each allocation and each call of neap fails once: `make check-faults` tries every one,
# `make check` a few of each program.
TESTS += tests/faults/faults.sh
EXTRA_DIST += tests/faults/faults.sh tests/faults/record-judge.sh

faults_sources = hooks.c judge.c serve.c faults.h
check_DATA += tests/faults/faults.so
CLEANFILES += tests/faults/faults.so
EXTRA_DIST += $(faults_sources:%=tests/faults/%)

tests/faults/faults.so: $(faults_sources:%=$(top_srcdir)/tests/faults/%)
	$(AM_V_CC)$(MKDIR_P) tests/faults && $(CC) -g -O2 -Wall -Wextra -fPIC -shared -fno-builtin \
		-fvisibility=hidden -I$(top_srcdir) -o $@ \
		$(top_srcdir)/tests/faults/hooks.c $(top_srcdir)/tests/faults/judge.c \
		$(top_srcdir)/tests/faults/serve.c

check-faults: all-am tests/faults/faults.so tests/golden/make_profiles
	$(AM_TESTS_ENVIRONMENT) $(BASH_PROG) $(top_srcdir)/tests/faults/faults.sh all
.PHONY: check-faults
