noinst_LTLIBRARIES += src/exchange/libexchange.la
neap_libs += src/exchange/libexchange.la

src_exchange_libexchange_la_SOURCES = \
	src/exchange/exchange.c \
	src/exchange/exchange.h \
	src/exchange/exchange_priv.h \
	src/exchange/formats.def \
	src/exchange/heaptrack.c \
	src/exchange/import.c \
	src/exchange/import.h \
	src/exchange/import_names.c \
	src/exchange/import_priv.h \
	src/exchange/import_write.c \
	src/exchange/input.c \
	src/exchange/input.h \
	src/exchange/input_priv.h \
	src/exchange/json_in.c \
	src/exchange/json_in.h \
	src/exchange/unwrap.c
src_exchange_libexchange_la_CPPFLAGS = $(AM_CPPFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS) $(LZMA_CFLAGS) \
	$(YAJL_CFLAGS)
src_exchange_libexchange_la_LIBADD = $(ZLIB_LIBS) $(ZSTD_LIBS) $(LZMA_LIBS) $(BZ2_LIBS) $(YAJL_LIBS) -lm
