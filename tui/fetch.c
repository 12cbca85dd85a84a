/* Sources from servers. */
#include "config.h"

#include "tui/fetch.h"

#include <stdio.h>
#include <string.h>

#include "query/names.h"
#include "src/base/fmt.h"
#include "src/sym/debuginfod.h"
#include "tui/term.h"

#define PATIENCE_MS 5000u

static bool is_stopped(void *context)
{
	struct fetch *f = context;
	if (!f->stop_key)
		f->stop_key = term_stop_key();
	return f->stop_key;
}

static struct debuginfod *open_servers(struct fetch *f)
{
	const struct debuginfod_options options = {
		.is_stopped = is_stopped, .context = f, .patience_ms = PATIENCE_MS};
	struct err e = {0};
	if (!f->has_tried && debuginfod_new(&options, &f->debuginfod, &e) && f->b)
		browser_say(f->b, ROLE_WARNING, "%.400s", e.text);
	f->has_tried = true;
	return f->debuginfod;
}

/* Why the file is not here, if it is not that no server has it. */
static void say_trouble(struct fetch *f, const char *name)
{
	const char *trouble = debuginfod_trouble(f->debuginfod);
	if (f->b && f->stop_key == CODE_CANCEL)
		f->b->was_cancelled = true;
	if (f->b && f->stop_key)
		browser_say(f->b, ROLE_WARNING, "stopped: %.200s was not fetched", name);
	else if (f->b && *trouble)
		browser_say(f->b, ROLE_WARNING, "%.400s", trouble);
}

/* Other modules have code from it too, but are not asked for it after Esc. */
static bool is_given_up(struct fetch *f, const char *path)
{
	if (f->stop_key && f->given_up.count_bytes && !strcmp(f->given_up.data, path))
		return true;
	buf_clear(&f->given_up);
	buf_puts(&f->given_up, path);
	f->stop_key = 0;
	return false;
}

int fetch_source(void *context, const uint8_t *build_id, size_t build_id_bytes, const char *path)
{
	struct fetch *f = context;
	char name[256], what[300];
	const char *last = path_last(path);
	if (!open_servers(f) || *debuginfod_trouble(f->debuginfod) || is_given_up(f, path))
		return -1;
	fmt_safe(name, sizeof name, last, strlen(last), !f->b || grid_is_utf8(&f->b->grid));
	snprintf(what, sizeof what, "asking debuginfod for %s", name);
	term_busy(what, false);
	int fd = debuginfod_fetch_source(f->debuginfod, build_id, build_id_bytes, path);
	term_busy("working", false);
	if (fd < 0)
		say_trouble(f, name);
	return fd;
}

void fetch_release(struct fetch *f)
{
	debuginfod_free(f->debuginfod);
	buf_release(&f->given_up);
}
