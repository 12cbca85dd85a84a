/* See profiles.h. */
#include "config.h"

#include "tests/golden/profiles.h"

#include <stdio.h>
#include <string.h>

#define SRC    "/home/user/demo/src/"
#define STL    "/usr/include/c++/12/bits/"
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

/* ---- json: names as long as they are in real programs ---------------------------------- */

struct json {
	struct build *b;
	mod_id exe, libstdcxx;
	node_id main, parse, member, object, array, intern, cache, log, report, exit_hook, worker;
};

static node_id call_of(struct json *j, node_id parent, const char *name, const char *file,
		       uint32_t line)
{
	return build_call(j->b, parent, name, file, line);
}

/* std::vector growth as the compiler leaves it: everything inlined into push_back's caller. */
static node_id vector_growth(struct json *j, node_id caller)
{
	static const struct build_line lines[] = {
		{"__gnu_cxx::new_allocator<json::value>::allocate(unsigned long, void const*)",
		 "/usr/include/c++/12/ext/new_allocator.h", 137},
		{"std::allocator_traits<std::allocator<json::value> >::allocate("
		 "std::allocator<json::value>&, unsigned long)",
		 STL "alloc_traits.h", 464},
		{"void std::vector<json::value, std::allocator<json::value> >::"
		 "_M_realloc_insert<json::value>(__gnu_cxx::__normal_iterator<json::value*, "
		 "std::vector<json::value, std::allocator<json::value> > >, json::value&&)",
		 STL "vector.tcc", 440},
	};
	frame_id f = build_frame(j->b, j->exe, 0, lines, 3);
	node_id growth = build_node(j->b, caller, f, 0);
	struct build_line op_new = {"operator new(unsigned long)", "", 0};
	return build_node(j->b, growth, build_frame(j->b, j->libstdcxx, 0, &op_new, 1), 0);
}

static node_id new_below(struct json *j, node_id caller)
{
	struct build_line op_new = {"operator new(unsigned long)", "", 0};
	return build_node(j->b, caller, build_frame(j->b, j->libstdcxx, 0, &op_new, 1), 0);
}

static void json_tree(struct json *j)
{
	struct build_line start_line = {"_start", "", 0};
	j->exe = build_module(j->b, "/home/user/demo/demo");
	j->libstdcxx = build_module(j->b, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30");
	node_id root = build_node(j->b, PROFILE_NODE_ROOT,
				  build_frame(j->b, j->exe, 0, &start_line, 1), 0);
	node_id libc = call_of(j, root, "__libc_start_main_impl", "../csu/libc-start.c", 360);
	j->main = call_of(j, libc, "main", SRC "main.cpp", 42);
	node_id load =
		call_of(j, j->main, "app::load_config(" STRING " const&)", SRC "config.cpp", 33);
	node_id doc = call_of(j, load,
			      "json::document json::parse_document<char const*>(char const*, "
			      "char const*)",
			      SRC "json/document.hpp", 120);
	node_id value = call_of(j, doc, "json::parser<char const*, json::utf8>::parse_value(int)",
				SRC "json/parser.hpp", 99);
	for (int depth = 0; depth < 6; depth++)
		value = call_of(j, value, "json::parser<char const*, json::utf8>::parse_value(int)",
				SRC "json/parser.hpp", 104);
	j->object = call_of(j, value, "json::parser<char const*, json::utf8>::parse_object(int)",
			    SRC "json/parser.hpp", 212);
	j->array = call_of(j, value, "json::parser<char const*, json::utf8>::parse_array(int)",
			   SRC "json/parser.hpp", 251);
	j->member =
		call_of(j, j->object,
			"std::_Hashtable<" STRING ", std::pair<" STRING " const, json::value>, "
			"std::allocator<std::pair<" STRING " const, json::value> >, "
			"std::__detail::_Select1st, std::equal_to<" STRING " >, std::hash<" STRING
			" >, std::__detail::_Mod_range_hashing>::_M_insert_unique_node(unsigned "
			"long, unsigned long, std::__detail::_Hash_node<int, true>*)",
			STL "hashtable.h", 1752);
	j->intern = call_of(j, j->object, "json::(anonymous namespace)::intern_key(" STRING "&&)",
			    SRC "json/intern.cpp", 18);
	j->cache = call_of(j, j->main, "app::cache::put(int, " STRING ")", SRC "cache.cpp", 77);
	j->log = call_of(j, j->main, "app::log_line(char const*, ...)", SRC "log.cpp", 12);
	j->report = call_of(j, j->main, "app::main_loop()::{lambda(int)#1}::operator()(int) const",
			    SRC "main.cpp", 61);
	struct build_line exit_line = {"app::registry::~registry()", SRC "registry.cpp", 9};
	j->exit_hook =
		build_node(j->b, root, build_frame(j->b, j->exe, 0, &exit_line, 1), NODE_EXITING);
	struct build_line thread_line = {"start_thread", "./nptl/pthread_create.c", 442};
	node_id thread = build_node(j->b, PROFILE_NODE_ROOT,
				    build_frame(j->b, j->exe, 0, &thread_line, 1), 0);
	j->worker = call_of(j, thread, "app::worker_main(void*)", SRC "worker.cpp", 30);
}

static void json_ramp(struct json *j)
{
	node_id grown = vector_growth(j, j->array), grown_object = vector_growth(j, j->object);
	node_id key = new_below(j, j->intern), member = new_below(j, j->member);
	node_id cached = new_below(j, j->cache), logged = new_below(j, j->log);
	thread_id worker = build_thread(j->b, "worker");
	cohort_id last_grown = 0;
	struct profile_peak_entry at_peak[200];
	size_t peak_count = 0;
	struct profile_peak peak = {.snap = 30, .time_ns = 2976 * BUILD_MS};
	for (unsigned snap = 1; snap <= 40; snap++) {
		build_snapshot(j->b, snap * 100 * BUILD_MS);
		unsigned busy = snap <= 30 ? snap : 0;
		cohort_id old_grown = last_grown;
		if (busy) {
			cohort_id c[5];
			c[0] = build_alloc(j->b, member, 96, 1, 900 * busy);
			c[1] = build_alloc(j->b, key, 32, 1, 1000 * busy);
			c[2] = build_alloc(j->b, cached, 4096, 1, busy);
			c[3] = build_alloc(j->b, busy % 2 ? grown : grown_object, 65536, 1,
					   1 + busy);
			c[4] = build_alloc(j->b, j->worker, 24, worker, 7);
			build_free(j->b, c[1], 400 * busy, 300 * busy);
			last_grown = c[3];
			const uint64_t live[5] = {900 * busy, 600 * busy, busy,
						  snap > 28 ? 1 + busy : 0, 7};
			const uint64_t size[5] = {96, 32, 4096, 65536, 24};
			for (size_t i = 0; i < 5; i++) {
				if (!live[i])
					continue;
				at_peak[peak_count++] = (struct profile_peak_entry){
					c[i], live[i], live[i] * size[i]};
				peak.bytes += live[i] * size[i];
			}
		}
		cohort_id line = build_alloc(j->b, logged, 120, 1, 5000);
		build_free(j->b, line, 5000, 5000);
		cohort_id frame = build_alloc(j->b, j->report, 640, 1, 10);
		build_free(j->b, frame, 10, 0);
		if (old_grown && busy)
			build_free(j->b, old_grown, busy, 0);
		if (snap == 40)
			build_alloc(j->b, j->exit_hook, 56, 1, 3);
		build_end_snapshot(j->b);
	}
	profile_set_peak(build_writer(j->b), &peak, at_peak, peak_count);
	profile_add_mark(build_writer(j->b), "warm", 5, 500 * BUILD_MS);
}

static struct build *make_json(const char *path)
{
	static const char *const argv[] = {"./demo", "--input", "a file.json", "-j2"};
	struct profile_run run = build_default_run;
	run.argv = argv;
	run.argv_count = 4;
	struct json j = {.b = build_new(path, &run)};
	json_tree(&j);
	json_ramp(&j);
	struct profile_end end = {
		.kind = END_EXITED, .has_status = true, .time_ns = 4012 * BUILD_MS, .reason = ""};
	build_ending(j.b, &end);
	return j.b;
}

/* ---- hostile ------------------------------------------------------------------------------- */

static void hostile_name(char *dst, size_t cap, size_t i)
{
	static const char *const names[] = {
		"\033]0;owned\007clear\033[2J",
		"tab\tand\nnewline",
		"\xff\xfe not UTF-8 \xc3",
		"right\xe2\x80\xaeto left",
		"operator<<",
		"a<b<c<d",
		"f(((",
		"x::y::",
		"\xe6\xbc\xa2\xe5\xad\x97::\xe5\xad\x97\xe6\xbc\xa2",
		"",
		"operator new[]",
		"std::function<void (int)>::operator()(int) const [clone .cold]",
	};
	size_t count = sizeof names / sizeof names[0];
	if (i < count) {
		snprintf(dst, cap, "%s", names[i]);
		return;
	}
	memset(dst, ':', cap - 1); /* very long, and every second byte starts a component */
	for (size_t at = 0; at + 1 < cap; at += 3)
		dst[at] = 'n';
	dst[cap - 1] = '\0';
}

static struct build *make_hostile(const char *path)
{
	static const char *const argv[] = {"evil\033[31m", "it's", "", "two\nlines", "$(reboot)"};
	struct profile_run run = build_default_run;
	run.argv = argv;
	run.argv_count = 5;
	run.host = "box\033[2J";
	struct build *b = build_new(path, &run);
	mod_id exe = build_module(b, "/tmp/\033[1mbad\n.so");
	mod_id lib = build_module(b, "/usr/lib/libstripped.so.1");
	node_id leaves[20];
	for (size_t i = 0; i < 13; i++) {
		char name[20000];
		hostile_name(name, sizeof name, i);
		struct build_line line = {name, i % 2 ? "/tmp/\033[7mfile\t.c" : "", (uint32_t)i};
		node_id caller =
			build_node(b, i % 3 ? PROFILE_NODE_ROOT : PROFILE_NODE_SIGNAL,
				   build_frame(b, lib, i % 2 ? FRAME_GUESSED : 0, NULL, 0), 0);
		leaves[i] = build_node(b, caller, build_frame(b, exe, 0, &line, 1), 0);
	}
	leaves[13] = build_node(b, PROFILE_NODE_TRUNCATED,
				build_frame(b, lib, FRAME_GUESSED, NULL, 0), 0);
	leaves[14] = build_node(b, PROFILE_NODE_ROOT, build_frame(b, 0, 0, NULL, 0), 0);
	leaves[15] = PROFILE_NODE_ROOT;
	leaves[16] = PROFILE_NODE_SIGNAL;
	build_snapshot(b, 1000 * BUILD_MS);
	for (size_t i = 0; i < 17; i++)
		build_alloc(b, leaves[i], 100, 1, 100 - i);
	build_alloc(b, leaves[14], 0, 1, 12);
	build_end_snapshot(b);
	const uint64_t drops[DROP_COUNT] = {[DROP_NODES] = 12345, [DROP_FOREIGN] = 1};
	profile_set_drops(build_writer(b), drops);
	struct profile_end end = {.kind = END_STOPPED,
				  .time_ns = 1000 * BUILD_MS,
				  .reason = "no space left\033[2J on device"};
	build_ending(b, &end);
	return b;
}

/* ---- small ones -------------------------------------------------------------------------------- */

static struct build *make_forked(const char *path)
{
	struct profile_run run = build_default_run;
	run.is_forked = true;
	run.pid = 4712;
	run.ppid = 4711;
	struct build *b = build_new(path, &run);
	node_id main_node = build_call(b, PROFILE_NODE_ROOT, "main", SRC "main.c", 10);
	node_id child = build_call(b, main_node, "serve", SRC "serve.c", 55);
	struct profile_site site = {.node = main_node, .size_bytes = 1000, .api = API_MALLOC};
	site_id inherited = profile_add_site(build_writer(b), &site);
	struct profile_change many = {.births = 50};
	build_snapshot(b, 10 * BUILD_MS);
	profile_add_cohort(build_writer(b), inherited, 1, 1, COHORT_INHERITED, &many);
	cohort_id c = build_alloc(b, child, 64, 1, 3);
	build_end_snapshot(b);
	build_snapshot(b, 20 * BUILD_MS);
	build_free(b, c, 3, 0);
	build_end_snapshot(b);
	const struct profile_peak_entry at_peak[] = {{1, 50, 50000}, {2, 3, 192}};
	const struct profile_peak peak = {
		.bytes = 50192, .time_ns = 4 * BUILD_MS, .bound_bytes = 65536, .snap = 1};
	profile_set_peak(build_writer(b), &peak, at_peak, 2);
	struct profile_end end = {.kind = END_SIGNALED,
				  .status = 9,
				  .has_status = true,
				  .time_ns = 25 * BUILD_MS,
				  .reason = ""};
	build_ending(b, &end);
	return b;
}

static struct build *make_nonames(const char *path)
{
	struct build *b = build_new(path, NULL);
	node_id main_node = build_call(b, PROFILE_NODE_ROOT, "main", SRC "main.c", 10);
	build_snapshot(b, 10 * BUILD_MS);
	build_alloc(b, build_call(b, main_node, "f", SRC "f.c", 1), 64, 1, 3);
	build_end_snapshot(b);
	build_symbols(b, false);
	return b;
}

static struct build *make_empty(const char *path)
{
	return build_new(path, NULL);
}

const struct golden_profile golden_profiles[] = {
	{"json", make_json},       {"hostile", make_hostile}, {"forked", make_forked},
	{"nonames", make_nonames}, {"empty", make_empty},
};
const size_t golden_profile_count = sizeof golden_profiles / sizeof golden_profiles[0];
