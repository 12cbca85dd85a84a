noinst_LTLIBRARIES += src/profile/libprofile.la
neap_libs += src/profile/libprofile.la

src_profile_libprofile_la_SOURCES = \
	src/profile/profile.h
src_profile_libprofile_la_CPPFLAGS = $(AM_CPPFLAGS) $(ZSTD_CFLAGS)
src_profile_libprofile_la_LIBADD = $(ZSTD_LIBS)
