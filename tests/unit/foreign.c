/* See foreign.h. */
#include "config.h"

#include "foreign.h"

#include "src/base/mem.h"
#include "src/exchange/exchange.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell_frame(const struct profile *p, frame_id id, struct buf *out)
{
	const struct profile_frame *f = &p->frames[id - 1];
	uint32_t first = p->symbols.first_line[id - 1], end = p->symbols.first_line[id];
	for (uint32_t i = end; i-- > first;) {
		const struct profile_line *l = &p->symbols.lines[i];
		buf_puts(out, l->func ? p->symbols.funcs[l->func - 1].name : "?");
		if (l->file)
			buf_printf(out, "(%s:%u)", p->symbols.files[l->file - 1], l->line);
		buf_puts(out, i > first ? "<" : "");
	}
	if (first < end)
		return;
	if (f->module)
		buf_printf(out, "%s+", p->modules[f->module - 1].path);
	buf_printf(out, "0x%" PRIx64, f->pc);
}

static void tell_stack(const struct profile *p, node_id node, struct buf *out)
{
	node_id path[64];
	size_t count = 0;
	for (; node >= PROFILE_NODE_FIRST && count < 64; node = profile_node_parent(p, node))
		path[count++] = node;
	buf_puts(out, count ? "" : "[no stack]");
	while (count-- > 0) {
		tell_frame(p, profile_node_frame(p, path[count]), out);
		buf_puts(out, count > 0 ? ";" : "");
	}
}

/* What died of each cohort, in all snapshots. */
static void deaths(const struct profile *p, uint64_t *blocks, uint64_t *bytes)
{
	for (size_t i = 0; i < p->death_count; i++) {
		blocks[profile_death_cohort(p, i) - 1] += profile_death_blocks(p, i);
		bytes[profile_death_cohort(p, i) - 1] += profile_death_bytes(p, i);
	}
}

static struct foreign_sums sums_of(const struct profile *p)
{
	struct foreign_sums s = {.unknown = p->source.unknown,
				 .is_estimated = p->source.is_estimated,
				 .is_partial = p->source.is_partial,
				 .peak_bytes = p->has_peak ? p->peak.bytes : 0};
	for (size_t i = 0; i < p->cohort_count; i++) {
		s.born_blocks += profile_cohort_births(p, i);
		s.born_bytes += profile_cohort_born_bytes(p, i);
	}
	s.live_blocks = s.born_blocks;
	s.live_bytes = s.born_bytes;
	for (size_t i = 0; i < p->death_count; i++) {
		s.live_blocks -= profile_death_blocks(p, i);
		s.live_bytes -= profile_death_bytes(p, i);
	}
	return s;
}

void foreign_tell(const struct profile *p, struct buf *out)
{
	struct foreign_sums s = sums_of(p);
	uint64_t *blocks = mem_zarray(p->cohort_count + 1, sizeof *blocks);
	uint64_t *bytes = mem_zarray(p->cohort_count + 1, sizeof *bytes);
	cr_assert(blocks && bytes);
	deaths(p, blocks, bytes);
	buf_printf(out, "total %llu blocks %llu bytes, live %llu %llu%s%s\n", s.born_blocks,
		   s.born_bytes, s.live_blocks, s.live_bytes, s.is_estimated ? ", estimated" : "",
		   s.is_partial ? ", partial" : "");
	for (size_t i = 0; i < p->cohort_count; i++) {
		tell_stack(p, profile_site_node(p, profile_cohort_site(p, i) - 1), out);
		buf_printf(out, " %" PRIu64 " %" PRIu64 " live %" PRIu64 " %" PRIu64,
			   profile_cohort_births(p, i), profile_cohort_born_bytes(p, i),
			   profile_cohort_births(p, i) - blocks[i],
			   profile_cohort_born_bytes(p, i) - bytes[i]);
		if (!(p->source.unknown & FACT_THREADS))
			buf_printf(out, " @%u%s", p->threads[profile_cohort_thread(p, i) - 1].tid,
				   p->threads[profile_cohort_thread(p, i) - 1].name);
		buf_putc(out, '\n');
	}
	for (const char *note = p->source.notes; *note;) {
		size_t n = strcspn(note, "\n");
		buf_printf(out, "note: %.*s\n", (int)n, note);
		note += n + (note[n] == '\n');
	}
	mem_free(blocks);
	mem_free(bytes);
}

static struct profile *import(const void *data, size_t bytes, struct err *e)
{
	struct profile *p;
	enum neap_err err = exchange_parse(data, bytes, "file", NULL, &p, e);
	cr_assert_eq(err == NEAP_OK, p != NULL);
	if (!err) {
		struct buf findings = {0};
		cr_assert_eq(profile_check(p, &findings), 0, "%s", findings.data);
		buf_release(&findings);
		cr_assert(p->has_source);
	}
	return p;
}

void expect_import(const void *data, size_t bytes, const char *want)
{
	struct err e = {0};
	struct buf out = {0};
	struct profile *p = import(data, bytes, &e);
	cr_assert(p, "%s", e.text);
	foreign_tell(p, &out);
	cr_expect(!strcmp(out.data, want), "got\n%swant\n%s", out.data, want);
	buf_release(&out);
	profile_free(p);
}

void expect_refusal(const void *data, size_t bytes, enum neap_err code, const char *words)
{
	struct err e = {0};
	struct profile *p = import(data, bytes, &e);
	cr_expect(!p, "not refused; want: %s", words);
	cr_expect_eq(e.code, code, "%d: %s", (int)e.code, e.text);
	cr_expect(strstr(e.text, words), "got: %s\nwant: %s", e.text, words);
	profile_free(p);
}

struct foreign_sums foreign_import(const void *data, size_t bytes)
{
	struct err e = {0};
	struct profile *p = import(data, bytes, &e);
	cr_assert(p, "%s", e.text);
	struct foreign_sums s = sums_of(p);
	profile_free(p);
	return s;
}

void expect_fair_cuts(const void *data, size_t bytes, size_t step)
{
	struct foreign_sums whole = foreign_import(data, bytes);
	for (size_t n = 0; n < bytes; n += step) {
		struct err e = {0};
		char *copy = mem_alloc(n + 1); /* of its size, so that reading on is seen */
		cr_assert(copy);
		memcpy(copy, data, n);
		struct profile *p = import(copy, n, &e);
		if (p) {
			struct foreign_sums s = sums_of(p);
			cr_assert(s.live_bytes <= whole.live_bytes,
				  "%zu bytes: %llu live, whole %llu", n, s.live_bytes,
				  whole.live_bytes);
		} else {
			cr_assert(strlen(e.text) > 10, "%zu bytes: '%s'", n, e.text);
		}
		profile_free(p);
		mem_free(copy);
	}
}

void expect_fair_lack_of_memory(const void *data, size_t bytes)
{
	struct err e = {0};
	uint64_t before = mem_count();
	struct profile *p = import(data, bytes, &e);
	uint64_t count = mem_count() - before;
	profile_free(p);
	for (uint64_t n = 1; n <= count; n++) {
		e = (struct err){0};
		mem_fail_at(n);
		enum neap_err err = exchange_parse(data, bytes, "file", NULL, &p, &e);
		mem_fail_at(0);
		cr_assert(err == NEAP_OK || err == ERR_NOMEM, "allocation %" PRIu64 ": %s", n,
			  e.text);
		profile_free(p);
	}
}

struct buf foreign_file(const char *name, bool in_shared)
{
	struct buf out = {0};
	char path[1024];
	const char *shared = getenv("NEAP_SHARED"), *source = getenv("srcdir_abs");
	if (in_shared && !shared)
		return out;
	snprintf(path, sizeof path, "%s/%s/%s",
		 in_shared ? shared
		 : source  ? source
			   : ".",
		 in_shared ? "data" : "tests/exchange", name);
	struct err e = {0};
	profile_read_file(path, &out, &e);
	return out;
}
