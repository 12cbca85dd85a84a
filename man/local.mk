# One line per page:  dist_man_MANS += man/neap.1
dist_man_MANS += man/neap-collector.7
dist_man_MANS += man/neap-report.1
dist_man_MANS += man/neap-file.5
dist_man_MANS += man/neap-info.1
dist_man_MANS += man/neap-record.1
dist_man_MANS += man/neap.1
