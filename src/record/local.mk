noinst_LTLIBRARIES += src/record/librecord.la
neap_libs += src/record/librecord.la

src_record_librecord_la_SOURCES =
