/*
 * The state by which writer and reader expect the same next snapshot.
 *
 * A program in a steady state allocates at the same places in every interval, and
 * there in fixed proportions: so a snapshot stores how many blocks were born in all,
 * and for each place only how far it is from its share.  The share is a smoothed mean.
 */
#include "config.h"

#include "src/profile/profile_priv.h"

#define SCALE_LG 32

void snap_state_release(struct snap_state *s)
{
	mem_free(s->known);
	mem_free(s->next);
	mem_free(s->survivor_cohort);
	mem_free(s->survivor_live);
	*s = (struct snap_state){0};
}

bool snap_survivor_add(struct snap_state *s, cohort_id cohort, uint64_t live)
{
	size_t n = s->survivor_count;
	if (!vec_reserve((void **)&s->survivor_cohort, &s->survivor_cohort_cap, n + 1,
			 sizeof *s->survivor_cohort) ||
	    !vec_reserve((void **)&s->survivor_live, &s->survivor_live_cap, n + 1,
			 sizeof *s->survivor_live))
		return false;
	s->survivor_cohort[n] = cohort;
	s->survivor_live[n] = live;
	s->survivor_count = n + 1;
	return true;
}

size_t snap_survivor_find(const struct snap_state *s, cohort_id cohort)
{
	size_t low = 0, high = s->survivor_count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (s->survivor_cohort[mid] < cohort)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->survivor_count && s->survivor_cohort[low] == cohort ? low : SIZE_MAX;
}

/* ---- pairs ------------------------------------------------------------------------ */

bool snap_next_reserve(struct snap_state *s, size_t extra)
{
	s->next_count = 0;
	return vec_reserve((void **)&s->next, &s->next_cap, s->known_count + extra,
			   sizeof *s->next);
}

static uint64_t smoothed(uint64_t mean, uint64_t value)
{
	return mean - (mean >> KNOWN_SMOOTH_LG) + ((value * KNOWN_ONE) >> KNOWN_SMOOTH_LG);
}

void snap_next_idle(struct snap_state *s, const struct known *k)
{
	/* The more often it was seen, the longer it is expected to come again. */
	if (k->idle_count >= k->seen_count)
		return;
	struct known *next = &s->next[s->next_count++];
	*next = *k;
	next->mean = smoothed(k->mean, 0);
	next->temporary_mean = smoothed(k->temporary_mean, 0);
	next->idle_count++;
}

void snap_next_taken(struct snap_state *s, const struct known *k, uint64_t births,
		     uint64_t temporary)
{
	s->next[s->next_count++] = (struct known){
		.site = k->site,
		.thread = k->thread,
		.seen_count = k->seen_count < KNOWN_SEEN_MOST ? (uint16_t)(k->seen_count + 1)
							      : k->seen_count,
		.mean = smoothed(k->mean, births),
		.temporary_mean = smoothed(k->temporary_mean, temporary),
	};
}

void snap_next_new(struct snap_state *s, site_id site, thread_id thread, uint64_t births,
		   uint64_t temporary)
{
	s->next[s->next_count++] = (struct known){
		.site = site,
		.thread = thread,
		.seen_count = 1,
		.mean = births * KNOWN_ONE,
		.temporary_mean = temporary * KNOWN_ONE,
	};
}

void snap_next_commit(struct snap_state *s)
{
	struct known *pairs = s->known;
	size_t cap = s->known_cap;
	s->known = s->next;
	s->known_count = s->next_count;
	s->known_cap = s->next_cap;
	s->next = pairs;
	s->next_cap = cap;
	s->next_count = 0;
}

uint64_t snap_mean_sum(const struct snap_state *s)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < s->known_count; i++)
		sum += s->known[i].mean;
	return sum;
}

uint64_t snap_scale(uint64_t births, uint64_t mean_sum)
{
	if (!mean_sum)
		return 0;
	unsigned __int128 scale = ((unsigned __int128)births << SCALE_LG) / mean_sum;
	return scale < UINT64_MAX ? (uint64_t)scale : UINT64_MAX;
}

uint64_t snap_expect(const struct known *k, uint64_t scale)
{
	/* Half of one is added: the nearest whole number. */
	unsigned __int128 product = (unsigned __int128)k->mean * scale;
	return (uint64_t)((product + (1ull << (SCALE_LG - 1))) >> SCALE_LG);
}

uint64_t snap_expect_temporary(const struct known *k, uint64_t births)
{
	if (!k->temporary_mean || !k->mean)
		return 0;
	return (uint64_t)(((unsigned __int128)k->temporary_mean * births + k->mean / 2) / k->mean);
}

/* ---- times --------------------------------------------------------------------------- */

void snap_time_commit(struct snap_state *s, uint64_t time_ns, uint64_t cpu_ns, uint64_t rss_bytes)
{
	uint64_t time_step = time_ns - s->time_ns, cpu_step = cpu_ns - s->cpu_ns;
	s->time_step_ns = s->time_step_ns ? (s->time_step_ns * 7 + time_step) / 8 : time_step;
	s->cpu_step_ns = s->cpu_step_ns ? (s->cpu_step_ns * 7 + cpu_step) / 8 : cpu_step;
	s->time_ns = time_ns;
	s->cpu_ns = cpu_ns;
	s->rss_bytes = rss_bytes;
}
