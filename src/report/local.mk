noinst_LTLIBRARIES += src/report/libreport.la
neap_libs += src/report/libreport.la

src_report_libreport_la_SOURCES = \
	src/report/callers.c \
	src/report/callers.h \
	src/report/chart.c \
	src/report/chart.h \
	src/report/head.c \
	src/report/head.h \
	src/report/name.c \
	src/report/name.h \
	src/report/paths.c \
	src/report/paths.h \
	src/report/report.c \
	src/report/report.h \
	src/report/rows.c \
	src/report/rows.h \
	src/report/section.c \
	src/report/section.h \
	src/report/stack.c \
	src/report/stack.h \
	src/report/text.c \
	src/report/text.h
