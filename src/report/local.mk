noinst_LTLIBRARIES += src/report/libreport.la
neap_libs += src/report/libreport.la

src_report_libreport_la_SOURCES =
