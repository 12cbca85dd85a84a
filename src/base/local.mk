noinst_LTLIBRARIES += src/base/libbase.la
neap_libs += src/base/libbase.la

src_base_libbase_la_SOURCES = \
	src/base/buf.h \
	src/base/err.h \
	src/base/fmt.h \
	src/base/limits.h \
	src/base/map.h \
	src/base/mem.h
