# Small programs with a known heap, recorded by tests/integration.  One block per program:
#
#   check_PROGRAMS += tests/targets/NAME
#   tests_targets_NAME_SOURCES = tests/targets/NAME.c
#   tests_targets_NAME_CFLAGS = $(target_cflags)

target_cflags = -g -O1 -fno-inline -fno-builtin -w
