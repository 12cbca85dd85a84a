# The program: main.c and one small file per subcommand.
bin_PROGRAMS += neap

neap_SOURCES = \
	src/main.c \
	src/cmd/cmd.h \
	src/cmd/cmd_info.c \
	src/cmd/cmd_record.c \
	src/cmd/cmd_report.c \
	src/cmd/find.c \
	src/cmd/find.h \
	src/cmd/record_ui.c \
	src/cmd/record_ui.h
neap_LDADD = $(neap_libs)
