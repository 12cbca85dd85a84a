/* One line for each format: its name, files, and what such a file cannot know. */
#include "config.h"

#include "src/cmd/formats.h"

#include "src/base/buf.h"
#include "src/cmd/cmd.h"
#include "src/exchange/exchange.h"

#include <stdio.h>
#include <string.h>

static void widen(size_t *cols, const char *text)
{
	size_t n = strlen(text);
	*cols = n > *cols ? n : *cols;
}

static void print_line(const struct exchange_format_info *f, bool is_export, const size_t cols[3])
{
	struct buf unknown = {0};
	printf("%-*s  %-*s  %-*s", (int)cols[0], f->name, (int)cols[1], f->suffixes, (int)cols[2],
	       f->title);
	if (!is_export) {
		profile_facts_text(FACT_ALL & ~f->facts, &unknown);
		printf("  %s", unknown.count_bytes && !unknown.has_failed ? unknown.data : "-");
	}
	putchar('\n');
	buf_release(&unknown);
}

int print_formats(bool is_export)
{
	size_t cols[3] = {0};
	for (int pass = 0; pass < 2; pass++) {
		if (pass && !is_export)
			printf("%-*s  %-*s  %-*s  %s\n", (int)cols[0], "FORMAT", (int)cols[1],
			       "FILES", (int)cols[2], "FROM", "NOT KNOWN");
		else if (pass)
			printf("%-*s  %-*s  %s\n", (int)cols[0], "FORMAT", (int)cols[1], "FILES",
			       "FOR");
		for (int i = 0; i < EXCHANGE_FORMAT_COUNT; i++) {
			const struct exchange_format_info *f =
				exchange_format_info((enum exchange_format)i);
			if (!(is_export ? f->can_write : f->can_read))
				continue;
			widen(&cols[0], f->name);
			widen(&cols[1], f->suffixes);
			widen(&cols[2], f->title);
			if (pass)
				print_line(f, is_export, cols);
		}
	}
	return cmd_finish(CMD_OK);
}
