noinst_LTLIBRARIES += src/exchange/libexchange.la
neap_libs += src/exchange/libexchange.la

src_exchange_libexchange_la_SOURCES = \
	src/exchange/dhat.c \
	src/exchange/exchange.c \
	src/exchange/exchange.h \
	src/exchange/exchange_priv.h \
	src/exchange/formats.def \
	src/exchange/heaptrack.c \
	src/exchange/import.c \
	src/exchange/import_accounts.c \
	src/exchange/import_blocks.c \
	src/exchange/import.h \
	src/exchange/import_names.c \
	src/exchange/import_priv.h \
	src/exchange/import_write.c \
	src/exchange/input.c \
	src/exchange/input.h \
	src/exchange/input_priv.h \
	src/exchange/json_in.c \
	src/exchange/json_in.h \
	src/exchange/massif.c \
	src/exchange/unwrap.c \
	src/exchange/valgrind.c \
	src/exchange/valgrind.h
src_exchange_libexchange_la_CPPFLAGS = $(AM_CPPFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS) $(LZMA_CFLAGS) \
	$(YAJL_CFLAGS)
src_exchange_libexchange_la_LIBADD = $(ZLIB_LIBS) $(ZSTD_LIBS) $(LZMA_LIBS) $(BZ2_LIBS) $(YAJL_LIBS) -lm

# Readers of sampled and other formats.
src_exchange_libexchange_la_SOURCES += \
	src/exchange/ctf.c \
	src/exchange/ctf.h \
	src/exchange/folded.c \
	src/exchange/gperftools.c \
	src/exchange/heapprofile.c \
	src/exchange/heaptext.c \
	src/exchange/heaptext.h \
	src/exchange/jemalloc.c \
	src/exchange/lsan.c \
	src/exchange/memtrace.c \
	src/exchange/pprof_fields.c \
	src/exchange/pprof_in.c \
	src/exchange/pprof_in.h \
	src/exchange/pprof_wire.h \
	src/exchange/speedscope.c \
	src/exchange/stackrows.c \
	src/exchange/stackrows.h
src_exchange_libexchange_la_LIBADD += -lm

# pprof's messages as C.
exchange_made = \
	src/exchange/profile.pb-c.c \
	src/exchange/profile.pb-c.h
nodist_src_exchange_libexchange_la_SOURCES = $(exchange_made)
BUILT_SOURCES += $(exchange_made)
CLEANFILES += $(exchange_made)
EXTRA_DIST += src/exchange/profile.proto
src_exchange_libexchange_la_CPPFLAGS += $(PROTOBUF_C_CFLAGS)
src_exchange_libexchange_la_LIBADD += $(PROTOBUF_C_LIBS)
src/exchange/profile.pb-c.c: src/exchange/profile.proto
	$(AM_V_GEN)$(MKDIR_P) src/exchange && \
		$(PROTOC_C) --proto_path=$(srcdir)/src/exchange --c_out=src/exchange \
		$(srcdir)/src/exchange/profile.proto && touch $@
# Targets other than all and check, whose programs need this library, do not make BUILT_SOURCES.
$(src_exchange_libexchange_la_OBJECTS): src/exchange/profile.pb-c.h
src/exchange/profile.pb-c.h: src/exchange/profile.pb-c.c
	@test -f $@ || { rm -f src/exchange/profile.pb-c.c; $(MAKE) $(AM_MAKEFLAGS) src/exchange/profile.pb-c.c; }

# What is made of other files, for tests/fuzz/fuzz.sh.
exchange-made: $(exchange_made) src/exchange/assets.c
.PHONY: exchange-made
