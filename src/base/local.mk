noinst_LTLIBRARIES += src/base/libbase.la
neap_libs += src/base/libbase.la

src_base_libbase_la_SOURCES = \
	src/base/both.c \
	src/base/asan.h \
	src/base/both.h \
	src/base/buf.c \
	src/base/buf.h \
	src/base/crc32c.c \
	src/base/crc32c.h \
	src/base/err.c \
	src/base/err.h \
	src/base/fmt.c \
	src/base/fmt.h \
	src/base/json.c \
	src/base/json.h \
	src/base/limits.h \
	src/base/map.c \
	src/base/map.h \
	src/base/mem.c \
	src/base/mem.h \
	src/base/narrow.c \
	src/base/narrow.h \
	src/base/parents.c \
	src/base/parents.h \
	src/base/utf8.c \
	src/base/utf8.h \
	src/base/width.inc
