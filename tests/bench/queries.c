/*
 * queries - how long queries take, in one process.
 *
 *   queries FILE [RUNS] <QUERIES
 *
 * Reads queries, one a line ("#" and empty lines are skipped), and prints
 *
 *   nodes N                  of the call tree
 *   raw_bytes N              the blocks of the file, uncompressed
 *   column_bytes N           what they say, as columns of numbers of fixed width, and names
 *   load_s S                 to open the file and answer the first query; a process each
 *   load_kib N               peak resident memory of that
 *   query S MEDIAN ROWS TEXT seconds to parse and run it, warm, and the rows it gave
 *   peak_kib N               peak resident memory of all queries after each other
 *
 * Times are minima of RUNS (5), wall time; BENCH_CLOCK=cpu makes it processor time.
 */
#include "config.h"

#include "query/query.h"
#include "src/graph/graph.h"
#include "src/profile/profile_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MOST    1000
#define LINE_BYTES   1024
#define WARM_SECONDS 2.0 /* a query that takes longer than that in all is run less often */

static clockid_t clock_used = CLOCK_MONOTONIC;

static double now_s(void)
{
	struct timespec t;
	clock_gettime(clock_used, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "queries: %s\n", what);
	exit(1);
}

/* Run all statements of a text that are queries; returns how many rows there were. */
static size_t run(struct query_session *s, const char *text)
{
	struct query_error error = {0};
	struct ast_script *script;
	size_t rows = 0;
	if (query_parse(text, strlen(text), &script, &error))
		die(error.text);
	for (size_t i = 0; i < script->statement_count; i++) {
		struct query_result *r;
		if (script->statements[i].is_let)
			continue;
		if (query_run(s, script, i, &r, &error)) {
			fprintf(stderr, "queries: %s: %s\n", text, error.text);
			exit(1);
		}
		rows += r->row_count;
		query_result_free(r);
	}
	query_script_free(script);
	return rows;
}

static struct query_session *open_file(const char *path)
{
	struct query_session *s;
	struct err e = {0};
	if (query_session_new(NULL, &s, &e) || query_session_open(s, path, &e))
		die(e.text);
	return s;
}

/* ---- sizes ------------------------------------------------------------------------------- */

static size_t text_bytes(const char *s)
{
	return s ? strlen(s) + 1 : 0;
}

/* The model of profile.h without what serves to find things in it. */
static size_t column_bytes(const struct profile *p)
{
	size_t bytes = p->node_count * (sizeof(node_id) + sizeof(frame_id) + sizeof(uint8_t));
	bytes += p->frame_count * sizeof *p->frames + p->site_count * sizeof(struct profile_site);
	bytes += p->cohort_count * (3 * sizeof(uint32_t) + 1 + 4 * sizeof(uint64_t));
	bytes += p->death_count * (sizeof(uint32_t) + 2 * sizeof(uint64_t));
	bytes += p->snapshot_count * sizeof *p->snapshots;
	bytes += p->peak_entry_count * sizeof *p->peak_entries;
	bytes += p->symbols.line_count * sizeof *p->symbols.lines;
	for (size_t i = 0; i < p->symbols.func_count; i++)
		bytes += text_bytes(p->symbols.funcs[i].name) +
			 text_bytes(p->symbols.funcs[i].linkage);
	for (size_t i = 0; i < p->symbols.file_count; i++)
		bytes += text_bytes(p->symbols.files[i]);
	return bytes;
}

static uint64_t raw_bytes(const char *path)
{
	struct buf file = {0};
	struct err e = {0};
	struct block b;
	size_t pos;
	uint64_t bytes;
	if (profile_read_file(path, &file, &e) ||
	    file_header_check(file.data, file.count_bytes, path, &pos, &e))
		die(e.text);
	bytes = pos;
	while (block_next((const uint8_t *)file.data, file.count_bytes, &pos, &b) == BLOCK_WHOLE)
		bytes += BLOCK_HEADER_BYTES + b.raw_bytes;
	buf_release(&file);
	return bytes;
}

/* In a process of its own, so that its memory counts for nobody else. */
static void print_sizes(const char *path)
{
	pid_t pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (!pid) {
		struct query_session *s = open_file(path);
		const struct profile *p = graph_profile(query_session_graph(s));
		printf("nodes %zu\nraw_bytes %llu\ncolumn_bytes %zu\n", p->node_count,
		       (unsigned long long)raw_bytes(path), column_bytes(p));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* ---- times -------------------------------------------------------------------------------- */

/* A new process opens the file and answers; it says how long that took. */
static double load_once(const char *path, const char *first, long *kib_out)
{
	int ends[2];
	struct rusage used;
	double took_s = -1;
	if (pipe(ends))
		die("no pipe");
	pid_t pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (!pid) {
		double start_s = now_s();
		run(open_file(path), first);
		took_s = now_s() - start_s;
		_exit(write(ends[1], &took_s, sizeof took_s) != sizeof took_s);
	}
	close(ends[1]);
	if (read(ends[0], &took_s, sizeof took_s) != sizeof took_s)
		die("the first query failed");
	close(ends[0]);
	wait4(pid, NULL, 0, &used);
	*kib_out = used.ru_maxrss;
	return took_s;
}

static void print_load(const char *path, const char *first, int runs)
{
	double least_s = 1e9;
	long most_kib = 0;
	for (int i = 0; i < runs; i++) {
		long kib;
		double took_s = load_once(path, first, &kib);
		least_s = took_s < least_s ? took_s : least_s;
		most_kib = kib > most_kib ? kib : most_kib;
	}
	printf("load_s %.4f\nload_kib %ld\n", least_s, most_kib);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print_query(struct query_session *s, const char *text, int runs)
{
	double took_s[RUNS_MOST], all_s = 0;
	size_t rows = run(s, text);
	int count = 0;
	while (count < runs && (count < 3 || all_s < WARM_SECONDS)) {
		double start_s = now_s();
		run(s, text);
		took_s[count] = now_s() - start_s;
		all_s += took_s[count++];
	}
	qsort(took_s, (size_t)count, sizeof *took_s, compare_doubles);
	printf("query %.5f %.5f %zu %s\n", took_s[0], took_s[count / 2], rows, text);
	fflush(stdout);
}

static char *next_query(char *line)
{
	while (fgets(line, LINE_BYTES, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && *line != '#')
			return line;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char line[LINE_BYTES], *end = "";
	const char *clock_name = getenv("BENCH_CLOCK");
	long runs = argc > 2 ? strtol(argv[2], &end, 10) : 5;
	if (argc < 2 || *end || runs < 1 || runs > RUNS_MOST || !next_query(line)) {
		fprintf(stderr, "usage: queries FILE [RUNS] <QUERIES\n");
		return 2;
	}
	if (clock_name && !strcmp(clock_name, "cpu"))
		clock_used = CLOCK_PROCESS_CPUTIME_ID;
	print_sizes(argv[1]);
	print_load(argv[1], line, (int)runs);
	fflush(stdout);
	struct query_session *s = open_file(argv[1]);
	do
		print_query(s, line, (int)runs);
	while (next_query(line));
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	printf("peak_kib %ld\n", used.ru_maxrss);
	query_session_free(s);
	return 0;
}
