# One line per page:  dist_man_MANS += man/neap.1
