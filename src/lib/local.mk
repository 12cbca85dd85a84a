# libneap: the analysis side for other programs.  libneap(3).
#
# When the interface grows: a new node in libneap.map, and -version-info by the rules of
# libtool (code changed: revision + 1; functions added: current + 1, age + 1, revision 0).

lib_LTLIBRARIES = src/lib/libneap.la

# Of src/sym only the tables of wrappers and types: names are in the profile already, so the library needs
# neither libdwarf nor the demangler (libiberty.a is not fit for shared libraries everywhere).
src_lib_libneap_la_SOURCES = \
	src/lib/error.c \
	src/lib/lib_priv.h \
	src/lib/profile.c \
	src/lib/result.c \
	src/sym/types.c \
	src/sym/wrappers.c
src_lib_libneap_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/lib
src_lib_libneap_la_LIBADD = query/libquery.la src/graph/libgraph.la \
	src/profile/libprofile.la src/base/libbase.la
src_lib_libneap_la_LDFLAGS = -version-info 0:0:0 -no-undefined \
	-Wl,-z,relro -Wl,--version-script=$(top_srcdir)/src/lib/libneap.map
EXTRA_src_lib_libneap_la_DEPENDENCIES = $(top_srcdir)/src/lib/libneap.map

neapinclude_HEADERS += src/lib/neap/profile.h src/lib/neap/query.h
nodist_pkgconfig_DATA += libneap.pc
EXTRA_DIST += src/lib/libneap.map src/lib/libneap.pc.in
