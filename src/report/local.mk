noinst_LTLIBRARIES += src/report/libreport.la
neap_libs += src/report/libreport.la

src_report_libreport_la_SOURCES = \
	src/report/answer.c \
	src/report/answer.h \
	src/report/browse.def \
	src/report/callers.c \
	src/report/callers.h \
	src/report/chart.c \
	src/report/chart.h \
	src/report/compose.c \
	src/report/compose.h \
	src/report/derive.c \
	src/report/derive.h \
	src/report/exported.c \
	src/report/exported.h \
	src/report/exported_table.c \
	src/report/head.c \
	src/report/head.h \
	src/report/lines.c \
	src/report/lines.h \
	src/report/missing.c \
	src/report/missing.h \
	src/report/name.c \
	src/report/name.h \
	src/report/out.c \
	src/report/out.h \
	src/report/out_cell.c \
	src/report/out_exchange.c \
	src/report/out_json.c \
	src/report/out_priv.h \
	src/report/out_sep.c \
	src/report/out_source.c \
	src/report/out_stacks.c \
	src/report/out_table.c \
	src/report/out_tree.c \
	src/report/out_timeline.c \
	src/report/out_view.c \
	src/report/paths.c \
	src/report/paths.h \
	src/report/report.c \
	src/report/report.h \
	src/report/rows.c \
	src/report/rows.h \
	src/report/section.c \
	src/report/section.h \
	src/report/settings.c \
	src/report/settings.h \
	src/report/source_ask.c \
	src/report/source_ask.h \
	src/report/stack.c \
	src/report/stack.h \
	src/report/suspects.c \
	src/report/suspects.h \
	src/report/suspects_text.c \
	src/report/text.c \
	src/report/text.h
