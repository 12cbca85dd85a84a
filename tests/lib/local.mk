# libneap as other programs see it.
lib_tests = tests/lib/installed.sh
TESTS += $(lib_tests)
EXTRA_DIST += $(lib_tests) tests/lib/example.c tests/lib/example.cpp

# Under ThreadSanitizer too.  It writes its profiles with the real writer, and reads them
# through the library only.
stress_tests += tests/lib/threads
tests_lib_threads_SOURCES = \
	tests/lib/threads.c \
	tests/golden/profiles.c \
	tests/golden/profiles.h \
	tests/unit/build_profile.c \
	tests/unit/build_profile.h
tests_lib_threads_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/lib
tests_lib_threads_CFLAGS = $(AM_CFLAGS) -pthread
tests_lib_threads_LDADD = src/lib/libneap.la src/profile/libprofile.la src/base/libbase.la -lpthread
