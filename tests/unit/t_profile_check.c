/* The checker finds what is wrong, and nothing where all is right. */
#include "config.h"

#include "sample_profile.h"
#include "src/base/mem.h"

#include <criterion/criterion.h>
#include <string.h>

/* Reads the small profile, lets `spoil` change a column, and returns the findings. */
static struct buf findings(void (*spoil)(struct profile *), size_t *count_out)
{
	struct buf file = {0}, text = {0};
	struct profile *p;
	cr_assert_eq(sample_write(sample_small, NULL, &file, NULL), NEAP_OK);
	cr_assert_eq(profile_parse(file.data, file.count_bytes, "f", &p, NULL), NEAP_OK);
	if (spoil)
		spoil(p);
	*count_out = profile_check(p, &text);
	profile_free(p);
	buf_release(&file);
	return text;
}

static void expect(void (*spoil)(struct profile *), size_t count, const char *line)
{
	size_t found;
	struct buf text = findings(spoil, &found);
	cr_assert_eq(found, count, "%zu findings: %s", found, text.data);
	cr_assert_not_null(strstr(text.data, line), "%s", text.data);
	buf_release(&text);
}

Test(check, finds_nothing_in_a_right_profile)
{
	size_t count;
	struct buf text = findings(NULL, &count);
	cr_assert_eq(count, 0, "%s", text.data);
	cr_assert_eq(text.count_bytes, 0);
	buf_release(&text);
}

static void more_deaths(struct profile *p)
{
	narrow_set(&p->death_blocks, 0, 11); /* of cohort 1 */
}

Test(check, finds_more_deaths_than_births)
{
	expect(more_deaths, 1, "cohort 1: 15 deaths of 10 births\n");
}

static void set_died_bytes(struct profile *p, size_t death_row, uint64_t bytes)
{
	narrow_set(&p->mixed_died_bytes, rowset_find(&p->death_mixed, death_row), bytes);
}

static void more_bytes_freed(struct profile *p)
{
	set_died_bytes(p, 1, 778); /* of cohort 3, mixed sizes */
}

Test(check, finds_more_bytes_freed_than_allocated)
{
	expect(more_bytes_freed, 1, "cohort 3: 778 bytes freed of 777\n");
}

static void bytes_left(struct profile *p)
{
	set_died_bytes(p, 1, 776);
	p->peak.bytes++; /* one byte more is live at the end */
	p->peak.bound_bytes = 1;
}

Test(check, finds_bytes_without_blocks)
{
	expect(bytes_left, 1, "cohort 3: all blocks freed, but not all bytes\n");
}

static void more_temporary(struct profile *p)
{
	narrow_set(&p->cohort_temporary, 3, 14); /* and so more of its bytes */
}

Test(check, finds_more_temporary_blocks_than_deaths)
{
	expect(more_temporary, 1, "cohort 4: 14 temporary blocks of 13 deaths\n");
}

static void death_before_birth(struct profile *p)
{
	narrow_set(&p->cohort_birth_snaps, 0, 2);
	p->snapshots[0].live_bytes = 0;
}

Test(check, finds_deaths_before_the_birth)
{
	size_t count;
	struct buf text = findings(death_before_birth, &count);
	cr_assert_not_null(strstr(text.data, "cohort 1: deaths in interval 1, before its birth\n"));
	buf_release(&text);
}

static void not_forked(struct profile *p)
{
	p->run.is_forked = false;
}

Test(check, finds_inherited_blocks_of_a_process_that_was_not_forked)
{
	expect(not_forked, 1, "cohort 2: inherited, but the process was not forked\n");
}

static void other_peak(struct profile *p)
{
	p->peak.bytes += 100;
}

static void other_peak_in_bound(struct profile *p)
{
	p->peak.bytes += 100;
	p->peak.bound_bytes = 100;
}

Test(check, finds_a_peak_that_its_entries_do_not_add_up_to)
{
	expect(other_peak, 1,
	       "peak: its entries add up to 1048679 bytes, not to 1048779 (exact within 0)\n");
	size_t count;
	struct buf text = findings(other_peak_in_bound, &count);
	cr_assert_eq(count, 0);
	buf_release(&text);
}

static void more_at_peak(struct profile *p)
{
	p->peak_entries[1].blocks = 3;
}

Test(check, finds_more_blocks_at_the_peak_than_were_born)
{
	expect(more_at_peak, 1, "peak: 3 live blocks of cohort 2, which has 2\n");
}

static void twice_at_peak(struct profile *p)
{
	p->peak_entries[0].cohort = 2;
	p->peak_entries[0].blocks = 2;
}

Test(check, finds_a_cohort_twice_in_the_peak)
{
	expect(twice_at_peak, 1, "peak: cohort 2 is there twice\n");
}

static void small_peak(struct profile *p)
{
	p->peak.bytes = p->peak_entries[1].bytes;
	p->peak_entry_count = 1;
	p->peak_entries[0] = p->peak_entries[1];
}

Test(check, finds_a_peak_below_what_is_live_at_the_end)
{
	expect(small_peak, 1, "peak: 96 bytes, but 1048679 are live at the end\n");
}

static void negative_live(struct profile *p)
{
	/* Born in the second interval, by the table, but its blocks died in the first. */
	narrow_set(&p->death_blocks, 0, profile_death_blocks(p, 0) + 1000000);
	narrow_set(&p->cohort_births, 0, profile_cohort_births(p, 0) + 1000000);
	narrow_set(&p->cohort_birth_snaps, 0, 3);
}

Test(check, finds_negative_live_bytes)
{
	size_t count;
	struct buf text = findings(negative_live, &count);
	cr_assert_not_null(strstr(text.data, "snapshot 1: -"), "%s", text.data);
	buf_release(&text);
}

static void other_total(struct profile *p)
{
	p->thread_count = 1;
	p->end.kind = END_EXITED;
	for (size_t i = 0; i < p->cohort_count; i++)
		narrow_set(&p->cohort_threads, i, 1);
	p->snapshots[2].live_bytes++;
}

Test(check, finds_a_running_total_that_disagrees)
{
	expect(other_total, 1,
	       "snapshot 3: its cohorts have 1048679 live bytes, the running total was 1048680\n");
}

static void odd_spans(struct profile *p)
{
	p->modules[0].first_snap = 3;
	p->modules[0].last_snap = 2;
	p->modules[1].end_va = p->modules[1].start_va;
	p->threads[1].first_snap = 3;
	p->threads[1].last_snap = 1;
	p->end.time_ns = 1;
}

Test(check, finds_lives_that_end_before_they_begin)
{
	expect(odd_spans, 4, "module 1: unloaded in interval 2, loaded in 3\n");
	expect(odd_spans, 4, "module 2: ends at 0x7f0000000000, starts at 0x7f0000000000\n");
	expect(odd_spans, 4, "thread 2: ended in interval 1, started in 3\n");
	expect(odd_spans, 4, "end: before the last snapshot\n");
}

static void write_many_wrong(struct profile_writer *w, void *ctx)
{
	(void)ctx;
	profile_add_thread(w, &(struct profile_thread){.name = "t"});
	profile_add_site(w, &(struct profile_site){PROFILE_NODE_ROOT, 8, API_MALLOC});
	profile_snapshot_begin(w, &(struct profile_snapshot){.time_ns = 1});
	for (int i = 0; i < 25; i++)
		profile_add_cohort(w, 1, 1, 1, 0,
				   &(struct profile_change){.births = 1, .deaths = 2});
	profile_snapshot_end(w, NULL);
	profile_add_end(w, &(struct profile_end){.time_ns = 2});
}

Test(check, counts_all_findings_and_shows_ten_of_a_kind)
{
	struct buf file = {0}, text = {0};
	struct profile *p;
	cr_assert_eq(sample_write(write_many_wrong, NULL, &file, NULL), NEAP_OK);
	cr_assert_eq(profile_parse(file.data, file.count_bytes, "f", &p, NULL), NEAP_OK);
	/* One more: with those deaths the live bytes are negative. */
	cr_assert_eq(profile_check(p, &text), 26);
	cr_assert_not_null(strstr(text.data, "cohort 10: 2 deaths of 1 births\n"));
	cr_assert_null(strstr(text.data, "cohort 11: "));
	cr_assert_not_null(strstr(text.data, "... and 15 more of this kind\n"));
	profile_free(p);
	buf_release(&file);
	buf_release(&text);
}

Test(check, says_so_when_memory_runs_out)
{
	struct buf file = {0};
	struct profile *p;
	cr_assert_eq(sample_write(sample_small, NULL, &file, NULL), NEAP_OK);
	cr_assert_eq(profile_parse(file.data, file.count_bytes, "f", &p, NULL), NEAP_OK);
	for (uint64_t n = 1; n <= 3; n++) {
		struct buf text = {0};
		buf_puts(&text, "room ");
		mem_fail_at(n);
		cr_assert_gt(profile_check(p, &text), 0);
		mem_fail_at(0);
		cr_assert_not_null(strstr(text.data, "out of memory"));
		buf_release(&text);
	}
	profile_free(p);
	buf_release(&file);
}
