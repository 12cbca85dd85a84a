noinst_LTLIBRARIES += src/sym/libsym.la
neap_libs += src/sym/libsym.la

src_sym_libsym_la_SOURCES = \
	src/sym/sym.h
src_sym_libsym_la_CPPFLAGS = $(AM_CPPFLAGS) $(ELF_CFLAGS)
src_sym_libsym_la_LIBADD = $(DWARF_LIBS) $(ELF_LIBS) $(IBERTY_LIBS)
