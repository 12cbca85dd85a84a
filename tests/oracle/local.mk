# Every stack compared with libunwind's: tests/oracle/stacks.sh records programs with the
# collector linked as below, whose captures go through tests/oracle/oracle.c.
if BUILD_COLLECTOR
if HAVE_LIBUNWIND
TESTS += tests/oracle/stacks.sh
check_DATA += tests/oracle/oracle.so
endif
endif
EXTRA_DIST += tests/oracle/stacks.sh tests/oracle/oracle.c
CLEANFILES += tests/oracle/oracle.so

oracle_sources = $(collector_sources) tests/oracle/oracle.c
tests/oracle/oracle.so: $(collector_sources) $(collector_headers) tests/oracle/oracle.c config.h
	$(AM_V_CC)$(MKDIR_P) tests/oracle && (cd $(top_srcdir) && \
		$(CC) $(NEAP_CFLAGS) $(COLLECTOR_CFLAGS) $(UNWIND_CFLAGS) -g -fPIC -shared -I. \
		-I$(abs_top_builddir) -DHAVE_CONFIG_H -DNC_ORACLE -Wl,-z,now \
		-Wl,--version-script=collector/collector.map \
		-o $(abs_top_builddir)/tests/oracle/oracle.so $(oracle_sources))
