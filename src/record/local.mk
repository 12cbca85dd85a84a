noinst_LTLIBRARIES += src/record/librecord.la
neap_libs += src/record/librecord.la

src_record_librecord_la_SOURCES = \
	src/record/chunks.c \
	src/record/chunks.h \
	src/record/elfcheck.c \
	src/record/family.c \
	src/record/files.c \
	src/record/filters.c \
	src/record/locate.c \
	src/record/loop.c \
	src/record/marks.c \
	src/record/meet.c \
	src/record/modules.c \
	src/record/naming.c \
	src/record/peak.c \
	src/record/process.c \
	src/record/queue.c \
	src/record/record.h \
	src/record/record_priv.h \
	src/record/recycle.c \
	src/record/region.c \
	src/record/region.h \
	src/record/scan.c \
	src/record/signals.c \
	src/record/sort.c \
	src/record/spawn.c \
	src/record/steady.c \
	src/record/threads.c \
	src/record/tree.c \
	src/record/unseen.c
src_record_librecord_la_LIBADD = -lpthread
