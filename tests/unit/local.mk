# Criterion tests.  For a new one add three lines at the end, here t_buf:
#
#   unit_tests += tests/unit/t_buf
#   tests_unit_t_buf_CPPFLAGS = $(unit_cppflags)
#   tests_unit_t_buf_LDADD = $(unit_ldadd)
#
# The source is tests/unit/t_buf.c; name it in tests_unit_t_buf_SOURCES if there is more.

AM_DEFAULT_SOURCE_EXT = .c
unit_cppflags = $(AM_CPPFLAGS) $(CRITERION_CFLAGS)
unit_ldadd = $(neap_libs) $(CRITERION_LIBS)
unit_tests =

if HAVE_CRITERION
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
else
EXTRA_PROGRAMS += $(unit_tests)
TESTS += tests/unit/no_criterion.sh
endif
EXTRA_DIST += tests/unit/no_criterion.sh

unit_tests += tests/unit/t_sym
tests_unit_t_sym_CPPFLAGS = $(unit_cppflags)
tests_unit_t_sym_LDADD = $(unit_ldadd)
