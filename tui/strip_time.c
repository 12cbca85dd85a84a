/*
 * Instants and ranges: what the query looks at, as times, and times as queries.
 *
 * A range that is being made is none of the query yet: its start is kept, its end is the instant
 * that the query looks at meanwhile.
 */
#include "config.h"

#include "tui/strip_priv.h"

#include <stdlib.h>
#include <string.h>

uint64_t strip_end_ns(const struct browser *b)
{
	uint64_t end = graph_end_time(b->model.now);
	uint64_t before = b->model.before ? graph_end_time(b->model.before) : 0;
	end = before > end ? before : end;
	return end ? end : 1;
}

unsigned strip_column(const struct browser *b, unsigned cols, uint64_t ns)
{
	unsigned col = (unsigned)((double)ns / (double)strip_end_ns(b) * cols);
	return col >= cols ? cols - 1 : col;
}

/* "61200ms", as query_time writes it, or "40%", "peak", "end", "start", "@mark". */
static bool parse_instant(const struct browser *b, const char *p, size_t bytes, uint64_t *ns_out)
{
	static const struct {
		const char *word;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
	const struct profile *profile = graph_profile(b->model.now);
	const uint64_t end = graph_end_time(b->model.now);
	char word[64];
	char *rest = word;
	if (!bytes || bytes >= sizeof word)
		return false;
	memcpy(word, p, bytes);
	word[bytes] = '\0';
	for (size_t i = 0; word[0] == '@' && i < profile->mark_count; i++) {
		*ns_out = profile->marks[i].time_ns;
		if (!strcmp(profile->marks[i].name, word + 1))
			return true;
	}
	*ns_out = !strcmp(word, "start")  ? 0
		  : !strcmp(word, "peak") ? graph_peak(b->model.now).time_ns
					  : end;
	if (!strcmp(word, "start") || !strcmp(word, "peak") || !strcmp(word, "end"))
		return true;
	double n = word[0] >= '0' && word[0] <= '9' ? strtod(word, &rest) : -1, ns = -1;
	if (n < 0)
		return false;
	if (!strcmp(rest, "%"))
		ns = n / 100 * (double)end;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (!strcmp(rest, units[i].word))
			ns = n * units[i].ns;
	}
	if (ns < 0)
		return false;
	*ns_out = ns > (double)strip_end_ns(b) ? strip_end_ns(b) : (uint64_t)(ns + 0.5);
	return true;
}

/* The text of a head after " at " or " in "; lets stand before it. */
static const char *time_of(const char *head, const char *word, size_t *bytes_out)
{
	const char *semicolon = strrchr(head, ';');
	const char *at = strstr(semicolon ? semicolon : head, word);
	if (!at)
		return NULL;
	at += strlen(word);
	*bytes_out = strcspn(at, " ");
	return at;
}

uint64_t strip_now(const struct browser *b)
{
	uint64_t ns;
	return strip_instant(b, &ns) ? ns : b->cursor.ns;
}

void strip_settle(struct browser *b)
{
	size_t bytes;
	if (time_of(model_state(&b->model)->head, " in ", &bytes))
		b->cursor.has_start = false;
}

bool strip_range(const struct browser *b, uint64_t *from_out, uint64_t *to_out)
{
	size_t bytes = 0;
	if (b->cursor.has_start) {
		uint64_t now = strip_now(b), start = b->cursor.start_ns;
		*from_out = now < start ? now : start;
		*to_out = now < start ? start : now;
		return true;
	}
	const char *text = time_of(model_state(&b->model)->head, " in ", &bytes);
	const char *dots = text ? strstr(text, "..") : NULL;
	if (!dots || dots >= text + bytes)
		return false;
	const char *second = dots + 2;
	*from_out = 0;
	*to_out = strip_end_ns(b);
	return (dots == text || parse_instant(b, text, (size_t)(dots - text), from_out)) &&
	       (second == text + bytes ||
		parse_instant(b, second, (size_t)(text + bytes - second), to_out));
}

bool strip_instant(const struct browser *b, uint64_t *ns_out)
{
	const char *head = model_state(&b->model)->head;
	size_t bytes = 0;
	const char *text = time_of(head, "live at ", &bytes);
	if (text && parse_instant(b, text, bytes, ns_out))
		return true;
	if (!strncmp(head, "diff ", 5))
		head += 5;
	switch (query_population(head)) {
	case POP_PEAK:
		*ns_out = graph_peak(b->model.now).time_ns;
		return true;
	case POP_LIVE:
	case POP_LEAKED:
		*ns_out = graph_end_time(b->model.now);
		return !strchr(head, ' ');
	default:
		return false;
	}
}

const char *strip_population(const struct browser *b)
{
	const char *head = model_state(&b->model)->head;
	if (model_state(&b->model)->is_moving && b->cursor.population)
		return b->cursor.population;
	enum graph_pop pop = query_population(!strncmp(head, "diff ", 5) ? head + 5 : head);
	switch (pop) {
	case POP_ALLOCATED:
	case POP_FREED:
	case POP_TEMPORARY:
	case POP_GROWTH:
		return graph_pop_name(pop);
	default:
		return "survivors";
	}
}

void strip_look_at(struct browser *b, uint64_t ns)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf head = {0};
	b->cursor.population = strip_population(b);
	b->cursor.ns = ns;
	buf_printf(&head, "%slive at ", b->model.path_count > 1 ? "diff " : "");
	query_time(&head, ns);
	if (!head.has_failed)
		browser_tell(b, model_move_head(&b->model, head.data, &error), &error);
	buf_release(&head);
}
