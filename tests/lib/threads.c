/*
 * Threads with handles of their own ask at once and get the answers that one thread alone
 * gets.  A plain main, so that ThreadSanitizer can watch it (`make check-tsan`).
 */
#include "config.h"

#include "tests/golden/profiles.h"

#include "src/lib/neap/query.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREAD_COUNT  4
#define ROUNDS        8
#define PROFILES_MOST 16

static const char *const queries[] = {
	"peak | by func | top 3",
	"live | stacks | limit 5",
	"allocated func ~ /^j.*n/ | by thread, func | sort count desc",
	"leaked | tree",
	"freed | by lifetime | hist p99",
	"live | timeline",
	"allocated | by file, line | where total > 1KiB | as json",
	"diff leaked",
	"peak | by fnuc",
	"live [func ~ /(/]",
	"peak >> main > *",
};
#define QUERY_COUNT (sizeof queries / sizeof queries[0])

struct answers {
	uint64_t of[PROFILES_MOST][QUERY_COUNT];
};

/* Written by main before the threads start, read by all. */
static char paths[PROFILES_MOST][256];
static size_t path_count;
static struct answers expected;

static void die(const char *what)
{
	fprintf(stderr, "threads: %s\n", what);
	exit(1);
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *p = data;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

static uint64_t mix_text(uint64_t hash, const char *s)
{
	return s ? mix(hash, s, strlen(s) + 1) : mix(hash, "?", 1);
}

static uint64_t mix_row(uint64_t hash, const struct neap_result *r, size_t row_idx)
{
	struct neap_cell cell;
	struct neap_frame f;
	for (size_t c = 0; neap_result_cell(r, row_idx, c, &cell); c++) {
		hash = mix_text(hash, cell.text);
		hash = mix(hash, &cell.integer, sizeof cell.integer);
		hash = mix(hash, &cell.number, sizeof cell.number);
	}
	for (size_t i = 0; neap_result_frame(r, row_idx, i, &f); i++)
		hash = mix_text(mix_text(hash, f.function), f.file);
	return hash;
}

static uint64_t ask(struct neap_profile *p, struct neap_profile *other, const char *query)
{
	struct neap_result *r;
	struct neap_error *e;
	struct neap_row row;
	uint64_t hash = 0xcbf29ce484222325u;
	bool is_diff = !strncmp(query, "diff", 4);
	enum neap_status status = neap_query(p, is_diff ? other : NULL, query, NULL, &r, &e);
	hash = mix(hash, &status, sizeof status);
	if (status) {
		hash = mix_text(hash, neap_error_report(e));
		neap_error_free(e);
		return hash;
	}
	for (size_t i = 0; neap_result_row(r, i, &row); i++)
		hash = mix_row(hash, r, i);
	neap_result_free(r);
	return hash;
}

/* Every query on every profile, each compared with the one before. */
static void ask_all(struct answers *out)
{
	struct neap_profile *open[PROFILES_MOST];
	for (size_t i = 0; i < path_count; i++) {
		if (neap_profile_open(paths[i], &open[i], NULL))
			die(paths[i]);
	}
	for (size_t i = 0; i < path_count; i++) {
		for (size_t q = 0; q < QUERY_COUNT; q++)
			out->of[i][q] =
				ask(open[i], open[(i + path_count - 1) % path_count], queries[q]);
	}
	for (size_t i = 0; i < path_count; i++)
		neap_profile_free(open[i]);
}

static void *run(void *arg)
{
	size_t *wrong_count = arg;
	for (int round = 0; round < ROUNDS; round++) {
		struct answers got = {0};
		ask_all(&got);
		if (memcmp(&got, &expected, sizeof got) != 0)
			(*wrong_count)++;
	}
	return NULL;
}

static void make_files(const char *dir)
{
	if (golden_profile_count > PROFILES_MOST)
		die("PROFILES_MOST is too small");
	for (size_t i = 0; i < golden_profile_count; i++) {
		snprintf(paths[i], sizeof paths[i], "%s/%s.neap", dir, golden_profiles[i].name);
		build_close(golden_profiles[i].make(paths[i]));
	}
	path_count = golden_profile_count;
}

int main(void)
{
	char dir[] = "neap-threads-XXXXXX";
	pthread_t threads[THREAD_COUNT];
	size_t wrong_counts[THREAD_COUNT] = {0}, wrong_count = 0;
	if (!mkdtemp(dir))
		die("mkdtemp failed");
	make_files(dir);
	ask_all(&expected);
	for (size_t i = 0; i < THREAD_COUNT; i++) {
		if (pthread_create(&threads[i], NULL, run, &wrong_counts[i]))
			die("pthread_create failed");
	}
	for (size_t i = 0; i < THREAD_COUNT; i++) {
		pthread_join(threads[i], NULL);
		wrong_count += wrong_counts[i];
	}
	for (size_t i = 0; i < path_count; i++)
		unlink(paths[i]);
	rmdir(dir);
	if (wrong_count)
		fprintf(stderr, "threads: %zu rounds with other answers\n", wrong_count);
	return wrong_count > 0;
}
