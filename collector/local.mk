# What runs inside the profiled program.  Rules for it: HACKING.md.

collector_headers = \
	collector/cursor.h \
	collector/format.h \
	collector/nc.h \
	collector/same.h \
	collector/sys.h

collector_sources = \
	collector/bounds.c \
	collector/cfi.c \
	collector/count.c \
	collector/filters.c \
	collector/fork.c \
	collector/full.c \
	collector/hooks.c \
	collector/hooks_map.c \
	collector/hooks_new.c \
	collector/livemap.c \
	collector/lock.c \
	collector/maps.c \
	collector/mark.c \
	collector/module.c \
	collector/pages.c \
	collector/real.c \
	collector/region.c \
	collector/rules.c \
	collector/stack.c \
	collector/start.c \
	collector/thread.c \
	collector/tree.c

if BUILD_COLLECTOR
pkglib_LTLIBRARIES += collector/libneap-collector.la
endif

collector_libneap_collector_la_SOURCES = $(collector_sources) $(collector_headers)
collector_libneap_collector_la_CFLAGS = $(AM_CFLAGS) $(COLLECTOR_CFLAGS)
collector_libneap_collector_la_LDFLAGS = -module -avoid-version -no-undefined -shared \
	-Wl,-z,now -Wl,-z,relro \
	-Wl,--version-script=$(top_srcdir)/collector/collector.map
collector_libneap_collector_la_LIBADD =
EXTRA_collector_libneap_collector_la_DEPENDENCIES = $(top_srcdir)/collector/collector.map

# #include <neap/neap.h> in programs that set marks; weak, so nothing to link with.
neapincludedir = $(includedir)/neap
neapinclude_HEADERS = collector/neap.h
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = neap.pc
