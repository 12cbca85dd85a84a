/*
 * example PROFILE [QUERY...] - use libneap as any program would.
 *
 * Prints facts about the profile, then the answer of each query: its rows, with the stack of
 * each row that has one.  Built by installed.sh against an installed copy.
 */
#include <neap/profile.h>
#include <neap/query.h>

#include <inttypes.h>
#include <stdio.h>

static void print_facts(const struct neap_profile *p)
{
	struct neap_run run;
	struct neap_peak peak;
	struct neap_ending ending;
	struct neap_amount leaked = neap_profile_amount(p, NEAP_LEAKED);
	neap_profile_run(p, &run);
	neap_profile_peak(p, &peak);
	neap_profile_ending(p, &ending);
	printf("command:");
	for (size_t i = 0; i < run.argv_count; i++)
		printf(" %s", run.argv[i]);
	printf("\nexact: %s\n", neap_profile_is_exact(p) ? "yes" : "no");
	printf("peak: %" PRId64 " bytes, %s\n", peak.bytes, peak.is_exact ? "exact" : "estimated");
	printf("leaked: %" PRId64 " blocks, %" PRId64 " bytes\n", leaked.blocks, leaked.bytes);
	if (ending.kind == NEAP_END_EXITED && ending.has_status)
		printf("exit status: %d\n", ending.status);
}

static void print_lists(const struct neap_profile *p)
{
	struct neap_module module;
	struct neap_thread thread;
	struct neap_snapshot snapshot;
	struct neap_instant mark;
	struct neap_drop drop;
	uint64_t last_ns = 0;
	for (size_t i = 0; neap_profile_module(p, i, &module); i++) {
		if (module.is_main)
			printf("program: %s\n", module.path);
	}
	for (size_t i = 0; neap_profile_thread(p, i, &thread); i++)
		printf("thread: %s\n", thread.name);
	for (size_t i = 0; neap_profile_snapshot(p, i, &snapshot); i++) {
		if (snapshot.time_ns < last_ns)
			printf("snapshot %zu goes back in time\n", i + 1);
		last_ns = snapshot.time_ns;
	}
	for (size_t i = 0; neap_profile_mark(p, i, &mark); i++)
		printf("mark: %s\n", mark.name);
	for (size_t i = 0; neap_profile_drop(p, i, &drop); i++) {
		if (drop.count)
			printf("%s: %" PRIu64 "\n", drop.meaning, drop.count);
	}
}

static void print_cell(const struct neap_cell *cell, enum neap_type type)
{
	if (cell->is_unknown)
		printf("[unknown]");
	else if (type == NEAP_TYPE_TEXT)
		printf("%s", cell->text);
	else if (type == NEAP_TYPE_RATIO || type == NEAP_TYPE_RATE)
		printf("%.3f", cell->number);
	else
		printf("%" PRId64, cell->integer);
}

static void print_stack(const struct neap_result *r, size_t row_idx)
{
	struct neap_frame f;
	for (size_t i = 0; neap_result_frame(r, row_idx, i, &f); i++) {
		printf("    %s", f.kind == NEAP_FRAME_FUNCTION ? f.function : "-");
		if (f.file)
			printf(" at %s:%" PRIu32, f.file, f.line);
		else if (f.module)
			printf(" in %s", f.module);
		printf("%s%s\n", f.is_inlined ? ", inlined" : "", f.is_wrapper ? ", wrapper" : "");
	}
}

static void print_result(const struct neap_result *r)
{
	struct neap_answer answer;
	struct neap_column column;
	struct neap_row row;
	struct neap_cell cell;
	neap_result_answer(r, &answer);
	printf("query: %s\n", answer.query);
	for (size_t c = 0; neap_result_column(r, c, &column); c++)
		printf("%s%s", c ? "\t" : "", column.name);
	putchar('\n');
	for (size_t i = 0; neap_result_row(r, i, &row); i++) {
		printf("%s", row.other_count ? "(others) " : "");
		for (size_t c = 0; neap_result_column(r, c, &column); c++) {
			neap_result_cell(r, i, c, &cell);
			if (c)
				putchar('\t');
			print_cell(&cell, column.type);
		}
		putchar('\n');
		print_stack(r, i);
	}
	if (answer.assertion)
		printf("failed: %s\n", answer.assertion);
}

static int ask(struct neap_profile *p, const char *query)
{
	struct neap_result *result;
	struct neap_error *error;
	if (neap_query(p, NULL, query, NULL, &result, &error)) {
		struct neap_place place;
		printf("%s", neap_error_report(error));
		if (neap_error_place(error, &place))
			printf("column %zu: %s\n", place.column, neap_error_message(error));
		neap_error_free(error);
		return 1;
	}
	print_result(result);
	neap_result_free(result);
	return 0;
}

int main(int argc, char **argv)
{
	struct neap_profile *p;
	struct neap_error *error;
	int failed_count = 0;
	if (argc < 2) {
		fprintf(stderr, "usage: %s PROFILE [QUERY...]\n", argv[0]);
		return 2;
	}
	if (neap_profile_open(argv[1], &p, &error)) {
		fprintf(stderr, "%s\n", neap_error_message(error));
		neap_error_free(error);
		return 3;
	}
	print_facts(p);
	print_lists(p);
	for (int i = 2; i < argc; i++)
		failed_count += ask(p, argv[i]);
	neap_profile_free(p);
	return failed_count > 0;
}
