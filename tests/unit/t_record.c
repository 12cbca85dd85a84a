/* The recorder against fake_target, a program whose heap is known. */
#include "config.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/buf.h"
#include "src/profile/profile.h"
#include "src/record/record.h"

struct truth {
	uint64_t births, born_bytes, live_blocks, live_bytes, peak_bytes;
	uint32_t slot_count; /* cohorts that the region had room for */
};

static char dir[] = "/tmp/neap-t_record-XXXXXX";
static char fake[PATH_MAX];

static void start(void)
{
	char self[PATH_MAX] = "", out[PATH_MAX];
	cr_assert(mkdtemp(dir));
	cr_assert(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	*strrchr(self, '/') = '\0';
	snprintf(fake, sizeof fake, "%.4000s/fake_target", self);
	snprintf(out, sizeof out, "%s/truth", dir);
	setenv("FAKE_OUT", out, 1);
	/* The tests are not recorded themselves. */
	unsetenv("LD_PRELOAD");
}

static void stop(void)
{
	char command[PATH_MAX];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	if (system(command))
		fprintf(stderr, "cannot remove %s\n", dir);
}

/* One timeout for all: Criterion 2.4.1 leaks when they differ. */
TestSuite(record, .init = start, .fini = stop, .timeout = 300);

struct messages {
	struct buf text;
};

static void note_message(void *context, const char *text)
{
	struct messages *m = context;
	buf_puts(&m->text, text);
	buf_putc(&m->text, '\n');
}

struct run {
	struct record_options options;
	struct record_result result;
	struct messages messages;
	struct err err;
	enum neap_err code;
};

/* Record fake_target WHAT [ARG] into DIR/%n.%p.neap. */
static void record(struct run *r, const char *what, const char *arg)
{
	static char pattern[PATH_MAX];
	char *argv[] = {fake, (char *)what, (char *)arg, NULL};
	struct record_sink sink = {.context = &r->messages, .message = note_message};
	snprintf(pattern, sizeof pattern, "%s/p.%%p.neap", dir);
	r->options.argv = argv;
	r->options.tool = "t_record";
	r->options.collector = "";
	r->options.recycle_from_count = 1;
	r->options.interval_ns = RECORD_INTERVAL_NS; /* not adaptive */
	if (!r->options.output)
		r->options.output = pattern;
	r->code = record_run(&r->options, &sink, &r->result, &r->err);
}

static void release(struct run *r)
{
	record_result_release(&r->result);
	buf_release(&r->messages.text);
}

static struct truth read_truth(void)
{
	struct truth t = {0};
	FILE *f = fopen(getenv("FAKE_OUT"), "r");
	cr_assert(f);
	cr_assert_eq(fscanf(f,
			    "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32,
			    &t.births, &t.born_bytes, &t.live_blocks, &t.live_bytes, &t.peak_bytes,
			    &t.slot_count),
		     6);
	fclose(f);
	return t;
}

static struct profile *open_profile(const char *path)
{
	struct profile *p;
	struct err e;
	struct buf findings = {0};
	cr_assert_eq(profile_open(path, &p, &e), NEAP_OK, "%s", e.text);
	cr_assert_eq(profile_check(p, &findings), 0, "%s", findings.data);
	buf_release(&findings);
	return p;
}

static struct truth add_up(const struct profile *p)
{
	struct truth t = {0};
	for (size_t i = 0; i < p->cohort_count; i++) {
		t.births += profile_cohort_births(p, i);
		t.born_bytes += profile_cohort_born_bytes(p, i);
	}
	t.live_blocks = t.births;
	t.live_bytes = t.born_bytes;
	for (size_t i = 0; i < p->death_count; i++) {
		t.live_blocks -= profile_death_blocks(p, i);
		t.live_bytes -= profile_death_bytes(p, i);
	}
	for (size_t i = 0; i < p->peak_entry_count; i++)
		t.peak_bytes += p->peak_entries[i].bytes;
	return t;
}

static void expect_truth(const struct profile *p, const struct truth *want)
{
	struct truth got = add_up(p);
	cr_expect_eq(got.births, want->births);
	cr_expect_eq(got.born_bytes, want->born_bytes);
	cr_expect_eq(got.live_blocks, want->live_blocks);
	cr_expect_eq(got.live_bytes, want->live_bytes);
	cr_expect_eq(p->peak.bytes, want->peak_bytes, "peak %" PRIu64 " for %" PRIu64,
		     p->peak.bytes, want->peak_bytes);
	cr_expect_eq(got.peak_bytes, want->peak_bytes, "entries %" PRIu64 " for %" PRIu64,
		     got.peak_bytes, want->peak_bytes);
}

/* Returns cohorts in the file for each slot that the region needed for them. */
static double expect_exact(const char *what, const char *arg, size_t least_snapshots)
{
	struct run r = {.code = NEAP_OK};
	record(&r, what, arg);
	cr_assert_eq(r.code, NEAP_OK, "%s", r.err.text);
	cr_expect_eq(r.result.exit_status, 5);
	cr_assert_eq(r.result.file_count, 1);
	cr_expect_eq(r.messages.text.count_bytes, 0, "%s", r.messages.text.data);
	struct truth want = read_truth();
	struct profile *p = open_profile(r.result.files[0].path);
	expect_truth(p, &want);
	cr_expect_geq(p->snapshot_count, least_snapshots);
	cr_expect_eq(p->end.kind, END_EXITED);
	cr_expect(p->end.has_status);
	cr_expect_eq(p->end.status, 5);
	cr_expect_eq(r.result.files[0].alloc_count, want.births);
	cr_expect_eq(r.result.files[0].live_bytes, want.live_bytes);
	double per_slot = (double)p->cohort_count / (double)want.slot_count;
	profile_free(p);
	release(&r);
	return per_slot;
}

Test(record, keeps_every_block_of_a_known_heap)
{
	expect_exact("heap", NULL, 3);
}

Test(record, keeps_bytes_of_sites_with_many_sizes)
{
	expect_exact("mixed", NULL, 3);
}

Test(record, counts_past_32_bits)
{
	expect_exact("billions", NULL, 3);
}

Test(record, counts_deaths_by_another_thread)
{
	expect_exact("remote", "700", 10);
}

/* Cohorts come back after a quarter of a second. */
Test(record, stays_exact_while_cohorts_are_recycled)
{
	double per_slot = expect_exact("churn", "3000", 50);
	cr_expect_gt(per_slot, 2, "cohorts per slot: %.1f", per_slot);
}

Test(record, starts_a_new_profile_when_the_program_replaces_itself)
{
	struct run r = {.code = NEAP_OK};
	record(&r, "exec", NULL);
	cr_assert_eq(r.code, NEAP_OK, "%s", r.err.text);
	cr_expect_eq(r.result.exit_status, 5);
	cr_assert_eq(r.result.file_count, 2);
	struct truth want = read_truth();
	size_t exec_count = 0;
	for (size_t i = 0; i < 2; i++) {
		struct profile *p = open_profile(r.result.files[i].path);
		expect_truth(p, &want);
		exec_count += p->end.kind == END_EXEC;
		cr_expect_eq(r.result.files[i].is_first, p->end.kind == END_EXEC);
		profile_free(p);
	}
	cr_expect_eq(exec_count, 1);
	release(&r);
}

Test(record, takes_a_snapshot_for_each_mark)
{
	struct run r = {.code = NEAP_OK};
	record(&r, "marks", "20");
	cr_assert_eq(r.result.file_count, 1);
	struct profile *p = open_profile(r.result.files[0].path);
	cr_assert_eq(p->mark_count, 20);
	for (size_t i = 0; i < p->mark_count; i++) {
		char name[32];
		uint64_t births = 0;
		snprintf(name, sizeof name, "mark %zu", i);
		cr_expect_str_eq(p->marks[i].name, name);
		for (size_t c = 0; c < p->cohort_count; c++) {
			if (profile_cohort_birth(p, c) <= p->marks[i].snap)
				births += profile_cohort_births(p, c);
		}
		cr_expect_eq(births, i + 1);
	}
	profile_free(p);
	release(&r);
}

Test(record, leaves_a_readable_profile_wherever_the_program_is_killed)
{
	for (unsigned i = 0; i < 200; i++) {
		struct run r = {.code = NEAP_OK};
		char us[16];
		snprintf(us, sizeof us, "%u", (i * 7919u) % 40000u);
		record(&r, "kill", us);
		cr_assert_eq(r.code, NEAP_OK, "%s", r.err.text);
		cr_assert_eq(r.result.exit_status, 128 + SIGKILL);
		cr_assert_eq(r.result.file_count, 1);
		struct profile *p = open_profile(r.result.files[0].path);
		cr_expect_eq(p->end.kind, END_SIGNALED);
		cr_expect_eq(p->end.status, SIGKILL);
		cr_expect_not(p->damage.is_cut);
		struct truth got = add_up(p);
		cr_expect_eq(got.peak_bytes, p->peak.bytes, "run %u", i);
		cr_expect_eq(p->peak.bound_bytes, 0, "run %u", i);
		profile_free(p);
		cr_expect_eq(unlink(r.result.files[0].path), 0);
		release(&r);
	}
}

Test(record, survives_a_program_that_writes_over_its_counters)
{
	struct run r = {.code = NEAP_OK};
	record(&r, "wild", NULL);
	cr_assert_eq(r.code, NEAP_OK, "%s", r.err.text);
	cr_expect_eq(r.result.exit_status, 5);
	cr_assert_eq(r.result.file_count, 1);
	struct profile *p;
	cr_assert_eq(profile_open(r.result.files[0].path, &p, &r.err), NEAP_OK, "%s", r.err.text);
	profile_free(p);
	release(&r);
}

Test(record, says_when_a_program_was_not_seen)
{
	struct run r = {.code = NEAP_OK};
	record(&r, "silent", NULL);
	cr_expect_eq(r.result.exit_status, 7);
	cr_expect_eq(r.result.file_count, 0);
	cr_assert(r.messages.text.count_bytes);
	cr_expect(strstr(r.messages.text.data, "was not seen by the collector"));
	char command[PATH_MAX];
	snprintf(command, sizeof command, "test -z \"$(ls %s)\"", dir);
	cr_expect_eq(system(command), 0, "the empty profile is still there");
	release(&r);
}

Test(record, keeps_an_existing_file_and_says_so)
{
	struct run r = {.code = NEAP_OK};
	char path[PATH_MAX], numbered[PATH_MAX];
	struct stat st;
	snprintf(path, sizeof path, "%s/x.neap", dir);
	snprintf(numbered, sizeof numbered, "%s/x.1.neap", dir);
	FILE *f = fopen(path, "w");
	cr_assert(f && fputs("mine", f) >= 0 && fclose(f) == 0);
	r.options.output = path;
	record(&r, "heap", NULL);
	cr_assert_eq(r.result.file_count, 1);
	cr_expect_str_eq(r.result.files[0].path, numbered);
	cr_assert(r.messages.text.count_bytes);
	cr_expect(strstr(r.messages.text.data, "exists and is kept"));
	cr_expect(stat(path, &st) == 0 && st.st_size == 4);
	release(&r);
}

Test(record, does_not_start_the_program_if_the_file_cannot_be_made)
{
	struct run r = {.options.output = "/nonexistent/x.neap"};
	record(&r, "heap", NULL);
	cr_expect_eq(r.code, ERR_IO);
	cr_expect_eq(r.result.exit_status, 2);
	cr_expect_not(r.result.was_started);
	cr_expect(access(getenv("FAKE_OUT"), F_OK), "the program has run");
	release(&r);
}

/* Files may have 8 KiB, which is less than this run needs. */
Test(record, stops_with_one_message_when_nothing_more_can_be_written)
{
	struct rlimit old, limit;
	struct run r = {.code = NEAP_OK};
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){8192, old.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	record(&r, "churn", "6000");
	setrlimit(RLIMIT_FSIZE, &old);
	cr_assert_eq(r.code, NEAP_OK, "%s", r.err.text);
	cr_expect_eq(r.result.exit_status, 5, "the program went on");
	cr_assert(r.messages.text.count_bytes);
	const char *first = strstr(r.messages.text.data, "recording stopped");
	cr_assert(first, "%s", r.messages.text.data);
	cr_expect_not(strstr(first + 1, "recording stopped"));
	cr_assert_eq(r.result.file_count, 1);
	cr_expect(r.result.files[0].is_incomplete);
	struct profile *p;
	cr_assert_eq(profile_open(r.result.files[0].path, &p, &r.err), NEAP_OK, "%s", r.err.text);
	cr_expect_gt(p->run.argv_count,
		     0); /* snapshots too, unless the machine is busy with others */
	cr_expect(p->damage.is_cut);
	profile_free(p);
	release(&r);
}
