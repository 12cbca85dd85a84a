# Outputs compared byte by byte; `make golden` writes the expected ones anew.
golden_tests += tests/golden/report.sh
EXTRA_DIST += tests/golden/lib.sh tests/golden/report

# The profiles that they look at.
check_PROGRAMS += tests/golden/make_profiles
tests_golden_make_profiles_SOURCES = \
	tests/golden/make_profiles.c \
	tests/golden/profiles.c \
	tests/golden/profiles.h \
	tests/unit/build_profile.c \
	tests/unit/build_profile.h
tests_golden_make_profiles_LDADD = $(neap_libs)

# The query language: results, plans, errors.
golden_tests += tests/golden/query.sh
EXTRA_DIST += tests/golden/query
