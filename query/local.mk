noinst_LTLIBRARIES += query/libquery.la
neap_libs += query/libquery.la

query_libquery_la_SOURCES = \
	query/ast.h \
	query/complete.c \
	query/fields.def \
	query/lex.c \
	query/lex.h \
	query/lex_number.c \
	query/near.c \
	query/parse.c \
	query/parse.h \
	query/parse_core.c \
	query/parse_error.c \
	query/parse_expr.c \
	query/parse_priv.h \
	query/parse_stage.c \
	query/parse_value.c \
	query/print.c \
	query/query.h \
	query/result.h \
	query/vocab.c \
	query/vocab.h
