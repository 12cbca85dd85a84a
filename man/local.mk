# One line per page:  dist_man_MANS += man/neap.1
dist_man_MANS += man/libneap.3
dist_man_MANS += man/neap-collector.7
dist_man_MANS += man/neap-report.1
dist_man_MANS += man/neap-query.1
dist_man_MANS += man/neap-query.7
dist_man_MANS += man/neap-diff.1
dist_man_MANS += man/neap-file.5
dist_man_MANS += man/neap-info.1
dist_man_MANS += man/neap-record.1
dist_man_MANS += man/neap.1

# The tables of neap-query(7) come from query/fields.def; tests/lint/man-tables.sh compares them.
EXTRA_DIST += man/query-tables.pl
man-tables:
	perl $(srcdir)/man/query-tables.pl $(srcdir)/query/fields.def $(srcdir)/man/neap-query.7 \
		>man-tables.tmp && cp man-tables.tmp $(srcdir)/man/neap-query.7 && rm -f man-tables.tmp
.PHONY: man-tables
