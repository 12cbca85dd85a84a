# One line per page.
dist_man_MANS += man/neap-symbolize.1
dist_man_MANS += man/libneap.3
dist_man_MANS += man/neap-collector.7
dist_man_MANS += man/neap-report.1
dist_man_MANS += man/neap-query.1
dist_man_MANS += man/neap-query.7
dist_man_MANS += man/neap-diff.1
dist_man_MANS += man/neap-export.1
dist_man_MANS += man/neap-file.5
dist_man_MANS += man/neap-import.1
dist_man_MANS += man/neap-info.1
dist_man_MANS += man/neap-record.1
dist_man_MANS += man/neap.1

# The tables of neap-query(7) come from query/fields.def; tests/lint/man-tables.sh compares them.
# Those of formats come from src/exchange/formats.def.
EXTRA_DIST += man/query-tables.pl man/format-tables.pl
format_pages = neap-import.1
man-tables:
	perl $(srcdir)/man/query-tables.pl $(srcdir)/query/fields.def $(srcdir)/man/neap-query.7 \
		>man-tables.tmp && cp man-tables.tmp $(srcdir)/man/neap-query.7 && rm -f man-tables.tmp
	for page in $(format_pages); do \
		perl $(srcdir)/man/format-tables.pl $(srcdir)/src/exchange/formats.def $(srcdir)/man/$$page \
			>man-tables.tmp && cp man-tables.tmp $(srcdir)/man/$$page && rm -f man-tables.tmp || exit 1; \
	done
.PHONY: man-tables

# The keys of neap-browse(1) come from tui/keys.def; tests/tui/keys.sh compares them.
dist_man_MANS += man/neap-browse.1
man-keys: neap-browse
	$(builddir)/neap-browse --keys-roff >man-keys.tmp && \
		sed -i -e '/^\.\\" begin keys/,/^\.\\" end keys/{//!d}' -e '/^\.\\" begin keys/r man-keys.tmp' \
		$(srcdir)/man/neap-browse.1 && rm -f man-keys.tmp
.PHONY: man-keys
