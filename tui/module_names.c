/* Names of modules' frames, counted. */
#include "config.h"

#include "tui/module_names.h"

#include "src/base/fmt.h"

static void count_frame(const struct profile *p, size_t frame, struct module_names *m)
{
	const struct profile_symbols *s = &p->symbols;
	m->frames++;
	if (!p->has_symbols || frame >= s->frame_count)
		return;
	uint32_t first = s->first_line[frame], end = s->first_line[frame + 1];
	bool is_named = false, has_line = false;
	for (uint32_t i = first; i < end; i++) {
		is_named = is_named || s->lines[i].func;
		has_line = has_line || s->lines[i].line;
	}
	m->named += is_named;
	m->with_lines += has_line;
}

void module_names_count(const struct profile *p, struct module_names *out)
{
	for (size_t i = 0; i < p->module_count; i++)
		out[i] = (struct module_names){.has_symbols = p->has_symbols};
	for (size_t i = 0; i < p->frame_count; i++) {
		mod_id module = p->frames[i].module;
		if (module && module <= p->module_count)
			count_frame(p, i, &out[module - 1]);
	}
}

void module_names_say(const struct module_names *n, struct buf *out)
{
	char frames[FMT_BYTES], named[FMT_BYTES], lines[FMT_BYTES];
	fmt_count(frames, sizeof frames, (int64_t)n->frames);
	if (!n->frames)
		buf_puts(out, "no call comes from it");
	else if (!n->named)
		buf_printf(out, "none of its %s call sites has a name%s", frames,
			   n->has_symbols ? ": install its debug symbols"
					  : ", as nothing in this file has");
	else if (!n->with_lines)
		buf_printf(out, "names for %s of %s call sites, lines for none: no debug symbols",
			   fmt_count(named, sizeof named, (int64_t)n->named), frames);
	else
		buf_printf(out, "names for %s and lines for %s of %s call sites",
			   fmt_count(named, sizeof named, (int64_t)n->named),
			   fmt_count(lines, sizeof lines, (int64_t)n->with_lines), frames);
}
