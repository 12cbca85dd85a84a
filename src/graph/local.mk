noinst_LTLIBRARIES += src/graph/libgraph.la
neap_libs += src/graph/libgraph.la

src_graph_libgraph_la_SOURCES = \
	src/graph/build.c \
	src/graph/columns.c \
	src/graph/entries.c \
	src/graph/graph.h \
	src/graph/graph_priv.h \
	src/graph/pop.c \
	src/graph/types.c
