# The program: main.c and one small file per subcommand.
bin_PROGRAMS += neap

neap_SOURCES = \
	src/main.c \
	src/cmd/ask.c \
	src/cmd/ask.h \
	src/cmd/cmd.h \
	src/cmd/cmd_browse.c \
	src/cmd/cmd_diff.c \
	src/cmd/cmd_export.c \
	src/cmd/cmd_import.c \
	src/cmd/cmd_info.c \
	src/cmd/cmd_query.c \
	src/cmd/cmd_record.c \
	src/cmd/cmd_report.c \
	src/cmd/cmd_symbolize.c \
	src/cmd/find.c \
	src/cmd/find.h \
	src/cmd/formats.c \
	src/cmd/formats.h \
	src/cmd/options.c \
	src/cmd/options.h \
	src/cmd/record_ui.c \
	src/cmd/record_ui.h \
	src/cmd/save.c \
	src/cmd/save.h \
	src/cmd/screen.c \
	src/cmd/screen.h \
	src/cmd/setting.c \
	src/cmd/setting.h \
	src/cmd/vocabulary.c \
	src/cmd/vocabulary.h
neap_LDADD = $(neap_libs)
