noinst_LTLIBRARIES += src/graph/libgraph.la
neap_libs += src/graph/libgraph.la

src_graph_libgraph_la_SOURCES =
