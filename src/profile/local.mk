noinst_LTLIBRARIES += src/profile/libprofile.la
neap_libs += src/profile/libprofile.la

src_profile_libprofile_la_SOURCES = \
	src/profile/block.c \
	src/profile/check.c \
	src/profile/dump.c \
	src/profile/info.c \
	src/profile/info.h \
	src/profile/names.c \
	src/profile/predict.c \
	src/profile/preorder.c \
	src/profile/profile.h \
	src/profile/profile_priv.h \
	src/profile/read_lanes.c \
	src/profile/read_snap.c \
	src/profile/read_symbols.c \
	src/profile/read_tables.c \
	src/profile/read_tree.c \
	src/profile/reader.c \
	src/profile/reader_priv.h \
	src/profile/resymbol.c \
	src/profile/tails.c \
	src/profile/write_snap.c \
	src/profile/write_symbols.c \
	src/profile/write_tables.c \
	src/profile/writer.c \
	src/profile/writer_priv.h
src_profile_libprofile_la_CPPFLAGS = $(AM_CPPFLAGS) $(ZSTD_CFLAGS)
src_profile_libprofile_la_LIBADD = $(ZSTD_LIBS)
