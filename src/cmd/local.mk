# The program: main.c and one small file per subcommand.
if HAVE_MAIN
bin_PROGRAMS += neap
endif

neap_SOURCES = \
	src/main.c
neap_LDADD = $(neap_libs)
