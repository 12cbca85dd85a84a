noinst_LTLIBRARIES += query/libquery.la
neap_libs += query/libquery.la

query_libquery_la_SOURCES = \
	query/ast.h \
	query/complete.c \
	query/exec.c \
	query/exec.h \
	query/exec_cells.c \
	query/exec_column.c \
	query/exec_frames.c \
	query/exec_group.c \
	query/exec_hist.c \
	query/exec_invert.c \
	query/exec_lifetimes.c \
	query/exec_match.c \
	query/exec_names.c \
	query/exec_path.c \
	query/exec_plain.c \
	query/exec_result.c \
	query/exec_rows.c \
	query/exec_samples.c \
	query/exec_space.c \
	query/exec_sums.c \
	query/exec_time.c \
	query/exec_tree.c \
	query/exec_tuple.c \
	query/exec_where.c \
	query/explain.c \
	query/fields.def \
	query/known.c \
	query/lex.c \
	query/lex.h \
	query/lex_number.c \
	query/names.c \
	query/names.h \
	query/near.c \
	query/opened.c \
	query/opened.h \
	query/opened_facts.c \
	query/opened_priv.h \
	query/opened_series.c \
	query/parse.c \
	query/parse.h \
	query/parse_compare.c \
	query/parse_core.c \
	query/parse_error.c \
	query/parse_expr.c \
	query/parse_priv.h \
	query/parse_stage.c \
	query/parse_value.c \
	query/plan.c \
	query/plan.h \
	query/print.c \
	query/query.h \
	query/regex.c \
	query/regex.h \
	query/resolve.c \
	query/resolve_columns.c \
	query/resolve_expr.c \
	query/resolve_format.c \
	query/resolve_keys.c \
	query/resolve_priv.h \
	query/resolve_time.c \
	query/resolve_view.c \
	query/result.c \
	query/result.h \
	query/session.c \
	query/stacks.c \
	query/stacks.h \
	query/transform.c \
	query/vocab.c \
	query/vocab.h \
	query/walk.h \
	query/wrappers.c \
	query/wrappers.h
query_libquery_la_CPPFLAGS = $(AM_CPPFLAGS) $(PCRE2_CFLAGS)
query_libquery_la_LIBADD = $(PCRE2_LIBS)
