noinst_LTLIBRARIES += src/sym/libsym.la
neap_libs += src/sym/libsym.la

src_sym_libsym_la_SOURCES = \
	src/sym/cache.c \
	src/sym/cache.h \
	src/sym/callsites.c \
	src/sym/debugfile.c \
	src/sym/debuginfo.c \
	src/sym/debuginfod.c \
	src/sym/debuginfod.h \
	src/sym/debuginfo_priv.h \
	src/sym/demangle.c \
	src/sym/demangle_ocaml.c \
	src/sym/dwarf.c \
	src/sym/dwarf.h \
	src/sym/dwarf_file.c \
	src/sym/dwarf_priv.h \
	src/sym/elf.c \
	src/sym/elfsyms.c \
	src/sym/globals.c \
	src/sym/image.c \
	src/sym/inflate.c \
	src/sym/isolate.c \
	src/sym/isolate.h \
	src/sym/jitmap.c \
	src/sym/jitmap.h \
	src/sym/job.c \
	src/sym/job.h \
	src/sym/keep.c \
	src/sym/keep.h \
	src/sym/module.c \
	src/sym/openmodule.c \
	src/sym/openmodule.h \
	src/sym/readunit.c \
	src/sym/rustname.c \
	src/sym/spans.c \
	src/sym/split.c \
	src/sym/standin.c \
	src/sym/standin.h \
	src/sym/sym.h \
	src/sym/sym_priv.h \
	src/sym/symbolise.c \
	src/sym/symbolise.h \
	src/sym/tail.c \
	src/sym/tail.h \
	src/sym/tailgraph.c \
	src/sym/types.c \
	src/sym/types.def \
	src/sym/types.h \
	src/sym/unitindex.c \
	src/sym/units.c \
	src/sym/wrappers.c \
	src/sym/wrappers.def
src_sym_libsym_la_CPPFLAGS = $(AM_CPPFLAGS) $(ELF_CFLAGS)
src_sym_libsym_la_CFLAGS = $(AM_CFLAGS) -pthread
src_sym_libsym_la_LIBADD = $(DWARF_LIBS) $(DEFLATE_LIBS) $(ZLIB_LIBS) $(LZMA_LIBS) \
	$(ZSTD_LIBS) $(ELF_LIBS) $(IBERTY_LIBS) -lpthread
