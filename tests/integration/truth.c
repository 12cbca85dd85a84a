/*
 * truth - compare a profile with what is known about the program.
 *
 *   truth [CHECKS] FILE.neap
 *
 * Prints one line per check, "ok - ..." or "not ok - ..." with what was expected
 * and found; exits 0 if all were ok, 1 if one was not, 2 if it could not check.
 *
 *   --source FILE       every line in FILE (a source, or what a program printed) with
 *                       "TRUTH func=..." (as --expect) or "INCLUSIVE func=..." (as --inclusive)
 *   --expect LINE       one more such line: 'func=F allocs=N bytes=B live_blocks=L live_bytes=M'
 *                       F may be [total]: the whole program
 *   --inclusive LINE    the same with F anywhere in the stack
 *   --callers F=A,B     every stack through F has the callers A, B, ... right above it
 *   --file F=NAME       every frame of F lies in a source file called NAME, with a line
 *   --peak F=BYTES      F's bytes at the peak
 *   --peak-total LO..HI bytes of the peak
 *   --peak-time LO..HI  seconds since the start
 *   --end KIND          exited:N, signaled:N or exec
 *   --forked 0|1        whether it is the profile of a forked child
 *   --undropped         nothing was dropped, no stack was cut
 *   --consistent        what profile_check finds wrong: nothing
 *   --totals            print the totals, in the words of rawsum
 *   --functions         print the numbers of every function
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "tests/integration/truth_sum.h"

struct checks {
	struct truth truth;
	int failed_count, check_count;
};

static void result(struct checks *s, bool is_ok, const char *what)
{
	s->check_count++;
	s->failed_count += !is_ok;
	printf("%s - %s\n", is_ok ? "ok" : "not ok", what);
}

static void usage(const char *why, const char *arg)
{
	fprintf(stderr, "truth: %s: %s\n", why, arg);
	exit(2);
}

/* ---- TRUTH lines --------------------------------------------------------------- */

/* The number of a named value, to compare with one in a TRUTH line. */
static bool sum_value(const struct truth_sum *s, const char *key, uint64_t *out)
{
	const struct {
		const char *key;
		uint64_t value;
	} all[] = {
		{"allocs", s->alloc_count},     {"bytes", s->alloc_bytes},
		{"live_blocks", s->live_count}, {"live_bytes", s->live_bytes},
		{"peak_bytes", s->peak_bytes},  {"temporary", s->temporary_count},
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		if (!strcmp(all[i].key, key)) {
			*out = all[i].value;
			return true;
		}
	}
	return false;
}

static struct truth_sum find_sum(const struct truth *t, const char *func, bool is_inclusive)
{
	if (!strcmp(func, "[total]"))
		return t->total;
	uint32_t id = strtab_find(&t->names, func, strlen(func));
	if (id == UINT32_MAX)
		return (struct truth_sum){0};
	return is_inclusive ? t->inclusive[id] : t->leaf[id];
}

static void check_line(struct checks *s, const char *line, bool is_inclusive)
{
	char *copy = mem_strdup(line), *save = NULL;
	struct truth_sum sum = {0};
	bool is_ok = true, has_func = false;
	struct buf diff = {0}, title = {0};
	for (char *w = strtok_r(copy, " \t\r\n", &save); w; w = strtok_r(NULL, " \t\r\n", &save)) {
		char *value = strchr(w, '=');
		if (!value)
			usage("not KEY=VALUE in a TRUTH line", line);
		*value++ = '\0';
		uint64_t got;
		if (!strcmp(w, "func")) {
			sum = find_sum(&s->truth, value, is_inclusive);
			has_func = true;
			buf_clear(&title);
			buf_printf(&title, "%s%s", value, is_inclusive ? " (inclusive)" : "");
		} else if (!strcmp(w, "conv") || !strcmp(w, "note") || !strcmp(value, "any")) {
			continue;
		} else if (!has_func || !sum_value(&sum, w, &got)) {
			usage("unknown key in a TRUTH line", w);
		} else if (got != strtoull(value, NULL, 10)) {
			buf_printf(&diff, " %s expected %s got %" PRIu64 ";", w, value, got);
			is_ok = false;
		}
	}
	if (!has_func)
		usage("TRUTH line without func=", line);
	if (!is_ok)
		buf_printf(&title, ":%s", diff.data);
	if (diff.has_failed || title.has_failed)
		usage("out of memory at", line);
	result(s, is_ok, title.data);
	buf_release(&diff);
	buf_release(&title);
	mem_free(copy);
}

static void check_source(struct checks *s, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[2048];
	int found = 0;
	if (!f)
		usage("cannot read", path);
	while (fgets(line, sizeof line, f)) {
		const char *at = strstr(line, "TRUTH func="), *in = strstr(line, "INCLUSIVE func=");
		if (at)
			check_line(s, at + strlen("TRUTH "), false);
		else if (in)
			check_line(s, in + strlen("INCLUSIVE "), true);
		found += at || in;
	}
	fclose(f);
	if (!found)
		usage("no TRUTH line in", path);
}

/* ---- stacks, files, peak --------------------------------------------------------- */

/* Splits "F=REST"; exits if there is no '='. */
static const char *split(const char *arg, char *func, size_t cap)
{
	const char *eq = strchr(arg, '=');
	if (!eq || (size_t)(eq - arg) >= cap)
		usage("expected FUNC=VALUE", arg);
	memcpy(func, arg, (size_t)(eq - arg));
	func[eq - arg] = '\0';
	return eq + 1;
}

static const char *name_at(const struct truth *t, const uint32_t *stack, size_t n, size_t i)
{
	if (i >= n)
		return "[end of stack]";
	return stack[i] == UINT32_MAX ? "[no name]" : strtab_get(&t->names, stack[i]);
}

/* Whether the frames above position i are the comma-separated callers; else says what is there. */
static bool callers_match(const struct truth *t, const uint32_t *stack, size_t n, size_t i,
			  const char *callers, char *seen, size_t cap)
{
	for (const char *c = callers; *c; i++) {
		size_t bytes = strcspn(c, ",");
		const char *name = name_at(t, stack, n, i + 1);
		if (strlen(name) != bytes || memcmp(name, c, bytes)) {
			snprintf(seen, cap, "expected caller %.*s got %s", (int)bytes, c, name);
			return false;
		}
		c += bytes + (c[bytes] == ',');
	}
	return true;
}

static void check_callers(struct checks *s, const char *arg)
{
	enum {
		CAP = 4096
	};
	const struct profile *p = s->truth.profile;
	char func[256], seen[512] = "no such function", title[1024];
	const char *callers = split(arg, func, sizeof func);
	uint32_t id = strtab_find(&s->truth.names, func, strlen(func));
	uint32_t *stack = mem_array(CAP, sizeof stack[0]);
	size_t found = 0;
	bool is_ok = true;
	for (size_t i = 0; id != UINT32_MAX && i < p->site_count && is_ok; i++) {
		size_t n = truth_stack(&s->truth, profile_site_node(p, i), stack, CAP);
		for (size_t k = 0; k < n && is_ok; k++) {
			if (stack[k] != id)
				continue;
			found++;
			is_ok = callers_match(&s->truth, stack, n, k, callers, seen, sizeof seen);
		}
	}
	is_ok = is_ok && found;
	snprintf(title, sizeof title, "callers of %s are %s%s%s", func, callers, is_ok ? "" : ": ",
		 is_ok ? "" : seen);
	result(s, is_ok, title);
	mem_free(stack);
}

static void check_file(struct checks *s, const char *arg)
{
	const struct profile_symbols *y = &s->truth.profile->symbols;
	char func[256], title[1024], seen[512] = "no line of this function";
	const char *want = split(arg, func, sizeof func);
	uint32_t id = strtab_find(&s->truth.names, func, strlen(func));
	size_t found = 0;
	bool is_ok = true;
	for (size_t i = 0; id != UINT32_MAX && i < y->line_count; i++) {
		const struct profile_line *l = &y->lines[i];
		if (s->truth.func_name[l->func - 1] != id)
			continue;
		found++;
		const char *path = l->file ? y->files[l->file - 1] : "";
		const char *slash = strrchr(path, '/');
		if (l->line && !strcmp(slash ? slash + 1 : path, want))
			continue;
		is_ok = false;
		snprintf(seen, sizeof seen, "got '%s' line %u", path, l->line);
	}
	is_ok = is_ok && found;
	snprintf(title, sizeof title, "%s lies in %s%s%s", func, want, is_ok ? "" : ": ",
		 is_ok ? "" : seen);
	result(s, is_ok, title);
}

static void check_peak(struct checks *s, const char *arg)
{
	char func[256], title[512];
	uint64_t want = strtoull(split(arg, func, sizeof func), NULL, 10);
	uint64_t got = find_sum(&s->truth, func, false).peak_bytes;
	snprintf(title, sizeof title, "%s at the peak: expected %" PRIu64 " got %" PRIu64, func,
		 want, got);
	result(s, got == want, title);
}

/* Compares with "LO..HI"; what and unit only for the message. */
static void check_range(struct checks *s, const char *arg, double got, const char *what)
{
	char title[256];
	const char *dots = strstr(arg, "..");
	if (!dots)
		usage("expected LO..HI", arg);
	char *low = mem_strndup(arg, (size_t)(dots - arg));
	double lo = strtod(low ? low : "", NULL), hi = strtod(dots + 2, NULL);
	mem_free(low);
	snprintf(title, sizeof title, "%s: expected %s got %.10g", what, arg, got);
	result(s, s->truth.profile->has_peak && got >= lo && got <= hi, title);
}

static void check_end(struct checks *s, const char *want)
{
	static const char *const kinds[] = {"unknown", "exited", "signaled", "exec", "stopped"};
	const struct profile_end *end = &s->truth.profile->end;
	char got[64], title[256];
	snprintf(got, sizeof got, "%s", kinds[end->kind]);
	if (strchr(want, ':') && end->has_status)
		snprintf(got, sizeof got, "%s:%d", kinds[end->kind], end->status);
	snprintf(title, sizeof title, "end of the process: expected %s got %s", want, got);
	result(s, !strcmp(got, want), title);
}

static void check_undropped(struct checks *s)
{
	char title[512] = "nothing was dropped";
	bool is_ok = true;
	for (int d = 0; d < DROP_COUNT; d++) {
		uint64_t n = s->truth.profile->drops[d];
		if (!n || d == DROP_FOREIGN)
			continue;
		size_t used = strlen(title);
		snprintf(title + used, sizeof title - used, "%s %s %" PRIu64, is_ok ? ": but" : ",",
			 profile_drop_name((enum profile_drop)d), n);
		is_ok = false;
	}
	result(s, is_ok, title);
}

static void check_consistent(struct checks *s)
{
	struct buf findings = {0};
	size_t count = profile_check(s->truth.profile, &findings);
	if (count)
		printf("not ok - counters agree with each other: %zu findings\n%s", count,
		       findings.data);
	else
		printf("ok - counters agree with each other\n");
	s->failed_count += count != 0;
	buf_release(&findings);
}

/* ---- output ------------------------------------------------------------------------ */

static void print_totals(const struct truth *t)
{
	const struct profile *p = t->profile;
	const char *slash = strrchr(p->run.exe, '/');
	printf("exe=%s forked=%d allocations=%" PRIu64 " bytes=%" PRIu64 " leaked_blocks=%" PRIu64
	       " leaked_bytes=%" PRIu64 " peak=%" PRIu64 " temporary=%" PRIu64
	       " temporary_bytes=%" PRIu64 "\n",
	       slash ? slash + 1 : p->run.exe, p->run.is_forked, t->total.alloc_count,
	       t->total.alloc_bytes, t->total.live_count, t->total.live_bytes, p->peak.bytes,
	       t->total.temporary_count, t->total.temporary_bytes);
}

static void print_functions(const struct truth *t)
{
	for (size_t i = 0; i < t->names.count; i++) {
		const struct truth_sum *l = &t->leaf[i], *in = &t->inclusive[i];
		if (!in->alloc_count && !in->live_count)
			continue;
		printf("func=%s allocs=%" PRIu64 " bytes=%" PRIu64 " live_blocks=%" PRIu64
		       " live_bytes=%" PRIu64 " peak_bytes=%" PRIu64 " temporary=%" PRIu64
		       " | inclusive allocs=%" PRIu64 " bytes=%" PRIu64 " live_blocks=%" PRIu64
		       " live_bytes=%" PRIu64 "\n",
		       strtab_get(&t->names, (uint32_t)i), l->alloc_count, l->alloc_bytes,
		       l->live_count, l->live_bytes, l->peak_bytes, l->temporary_count,
		       in->alloc_count, in->alloc_bytes, in->live_count, in->live_bytes);
	}
}

/* ---- main ---------------------------------------------------------------------------- */

/* Options without a value; false if name is none of them. */
static bool run_plain(struct checks *s, const char *name)
{
	if (!strcmp(name, "--undropped"))
		check_undropped(s);
	else if (!strcmp(name, "--consistent"))
		check_consistent(s);
	else if (!strcmp(name, "--totals"))
		print_totals(&s->truth);
	else if (!strcmp(name, "--functions"))
		print_functions(&s->truth);
	else
		return false;
	return true;
}

static void run_check(struct checks *s, const char *name, const char *value)
{
	const struct profile *p = s->truth.profile;
	if (!strcmp(name, "--source"))
		check_source(s, value);
	else if (!strcmp(name, "--expect"))
		check_line(s, value, false);
	else if (!strcmp(name, "--inclusive"))
		check_line(s, value, true);
	else if (!strcmp(name, "--callers"))
		check_callers(s, value);
	else if (!strcmp(name, "--file"))
		check_file(s, value);
	else if (!strcmp(name, "--peak"))
		check_peak(s, value);
	else if (!strcmp(name, "--peak-total"))
		check_range(s, value, (double)p->peak.bytes, "bytes of the peak");
	else if (!strcmp(name, "--peak-time"))
		check_range(s, value, (double)p->peak.time_ns / 1e9, "seconds until the peak");
	else if (!strcmp(name, "--end"))
		check_end(s, value);
	else if (!strcmp(name, "--forked"))
		result(s, p->run.is_forked == !strcmp(value, "1"),
		       "is a forked child's profile or not");
	else
		usage("unknown option", name);
}

int main(int argc, char **argv)
{
	struct err e = {0};
	struct profile *p = NULL;
	struct checks s = {0};
	if (argc < 2)
		usage("usage", "truth [CHECKS] FILE.neap");
	const char *path = argv[argc - 1];
	if (profile_open(path, &p, &e) != NEAP_OK || truth_load(p, &s.truth, &e) != NEAP_OK) {
		printf("not ok - %s can be read: %s\n", path, e.text);
		return 1;
	}
	if (p->damage.text[0])
		result(&s, false, p->damage.text);
	for (int i = 1; i < argc - 1; i++) {
		if (run_plain(&s, argv[i]))
			continue;
		if (i + 1 >= argc - 1)
			usage("option without a value", argv[i]);
		run_check(&s, argv[i], argv[i + 1]);
		i++;
	}
	truth_release(&s.truth);
	profile_free(p);
	return s.failed_count ? 1 : 0;
}
