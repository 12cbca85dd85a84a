/* Queries that neap-query(7) shows, and more that use what those do not. */
#ifndef NEAP_TESTS_UNIT_QUERY_EXAMPLES_H
#define NEAP_TESTS_UNIT_QUERY_EXAMPLES_H

/* Each with its canonical spelling. */
static const struct query_example {
	const char *text, *canonical;
} query_examples[] = {
	{"live | by func | top 20", "live | by func | top 20"},
	{"leaked module=libjson.so | by func,line | top 10 by total",
	 "leaked module=libjson.so | by func, line | top 10 by total"},
	{"peak json_parse | tree", "peak json_parse | tree"},
	{"peak leaf.func=hash_insert | callers", "peak leaf.func=hash_insert | callers"},
	{"allocated in 2s..5s | by func | sort count desc | limit 30",
	 "allocated in 2s..5s | by func | sort count desc | limit 30"},
	{"growth in @warmup..end | by stack | min 1% | tree",
	 "growth in @warmup..end | by stack | min 1% | tree"},
	{"survivors in @first..@second | by file,line | top 15",
	 "survivors in @first..@second | by file, line | top 15"},
	{"temporary in peak-1s..peak | by file,line | top 20 by count",
	 "temporary in peak-1s..peak | by file, line | top 20 by count"},
	{"live at 40% path main > * > json_parse | sum",
	 "live at 40% path main > * > json_parse | sum"},
	{"live path ^main >> [module=libjson.so func~/^parse_/] > xmalloc$ | stacks",
	 "live path ^main >> [module=libjson.so and func~/^parse_/] > xmalloc$ | stacks"},
	{"allocated size in 64..4K thread in (3,7) not func~/^(std::|__gnu)/ | by class | hist "
	 "size",
	 "allocated size in 64..4K and thread in (3, 7) and not func~/^(std::|__gnu)/ | by class "
	 "| hist size"},
	{"live any[func~cache file=\"src/cache.c\"] none[module~ssl] "
	 "| by func | select self,total,count,avg,share",
	 "live any[func~cache and file=\"src/cache.c\"] and none[module~ssl] "
	 "| by func | select self, total, count, avg, share"},
	{"peak | hide [module=libc.so.6] | collapse recursion | flame",
	 "peak | hide [module=libc.so.6] | collapse recursion | flame"},
	{"peak | zoom handle_request | trim /^std::/ | tree 6",
	 "peak | zoom handle_request | trim /^std::/ | tree 6"},
	{"live | timeline 60", "live | timeline 60"},
	{"allocated | by time:100ms | select time,total,count | as tsv to churn.tsv",
	 "allocated | by time:100ms | select time, total, count | as tsv to churn.tsv"},
	{"diff leaked of old.neap, leaked of new.neap | by func | sort delta desc | top 20",
	 "diff leaked of old.neap, leaked of new.neap | by func | sort delta desc | top 20"},
	{"diff peak | by module | as json", "diff peak | by module | as json"},
	{"let known = module=libfontconfig.so or func~/^_dl_/ ; "
	 "leaked not $known | assert total <= 64K \"leak budget exceeded\"",
	 "let known = module=libfontconfig.so or func~/^_dl_/; "
	 "leaked not $known | assert total <= 64K \"leak budget exceeded\""},
	{"peak | assert total < 512MiB and count < 2000000",
	 "peak | assert total < 512M and count < 2000000"},
	{"freed in 10%..20% | by func | where count > 1000 | top 5",
	 "freed in 10%..20% | by func | where count > 1000 | top 5"},
	{"live lifetime > 10s size >= 1MiB | by stack | top 5 | stacks",
	 "live lifetime > 10s and size >= 1M | by stack | top 5 | stacks"},
	{"live \"std::vector<int>::push_back\" | peek \"std::vector<int>::push_back\"",
	 "live \"std::vector<int>::push_back\" | peek \"std::vector<int>::push_back\""},
	{"allocated api=calloc | source json_parse", "allocated api=calloc | source json_parse"},
	{"leaked leaf.func=cache_put | sum | select count,total | as tsv",
	 "leaked leaf.func=cache_put | sum | select count, total | as tsv"},

	{"| by func", "| by func"},
	{"where func=main", "| where func=main"},
	{"tree | top 3", "| tree | top 3"},
	{"live\n  # a comment | top 1\n  | by func # another\n  | bottom 3",
	 "live | by func | bottom 3"},
	{"live |\n by func,\n line", "live | by func, line"},
	{"live (func=a\n or func=b) and\n line=3", "live (func=a or func=b) and line=3"},
	{"live !a !(b or c) not not d", "live not a and not (b or c) and not not d"},
	{"live a or b c or (d (e f))", "live a or b and c or d and e and f"},
	{"live func=std::*::push_? file=/usr/src/*.c",
	 "live func=std::*::push_? and file=/usr/src/*.c"},
	{"live func!=a func!~\"b c\" module~/LIB\\/x/i",
	 "live func!=a and func!~\"b c\" and module~/LIB\\/x/i"},
	{"live \"a \\\"b\\\" \\\\ \\t\"", "live \"a \\\"b\\\" \\\\ \\t\""},
	{"live at @\"after load\"+1500ms of \"my file.neap\" a",
	 "live of \"my file.neap\" at @\"after load\"+1500ms a"},
	{"allocated in ..peak+60s", "allocated in ..peak+1m"},
	{"allocated in cursor-2h.. x", "allocated in cursor-2h.. (x)"},
	{"freed in 2s.. of a.neap (peak)", "freed of a.neap in 2s.. (peak)"},
	{"live 3d-engine size in 64.. or (3d)", "live 3d-engine and size in 64.. or 3d"},
	{"allocated in 2.5s..@a-b", "allocated in 2500ms..@a-b"},
	{"live at 2.5% size in 1.5K.. depth in ..9",
	 "live at 2.5% size in 1536B.. and depth in ..9"},
	{"live size=64 size!=1KB line in (1, 2) label.request-id~x all.module=a root.line<3",
	 "live size=64 and size!=1KB and line in (1, 2) and label.request-id~x and all.module=a "
	 "and "
	 "root.line < 3"},
	{"live path a>>**>[xy]>\"b c\">/d/ | sum",
	 "live path a >> ** > [xy] > \"b c\" > /d/ | sum"},
	{"allocated | by label.user, size:4K, thread | where label.user=me and delta < -1M and "
	 "class=64",
	 "allocated | by label.user, size:4K, thread | where label.user=me and delta < -1M and "
	 "class=64"},
	{"live | collapse [func~x] | percent selection | flame inverted | callers [line=3] | "
	 "callees",
	 "live | collapse [func~x] | percent selection | flame inverted | callers [line=3] | "
	 "callees"},
	{"live | assert (total < 3 \"x\") \"message\" | percent all | table",
	 "live | assert total < 3 and \"x\" \"message\" | percent all | table"},
	{"live | min 64K | min 5 | min 2.5% | sort label.x asc, func",
	 "live | min 64K | min 5 | min 2.5% | sort label.x asc, func"},
	{"let a = x; let b = $a or any[$a]; live $b | where $a total > 3",
	 "let a = x; let b = $a or any[$a]; live $b | where $a and total > 3"},
	{"live \xe6\x97\xa5\xe6\x9c\xac", "live \xe6\x97\xa5\xe6\x9c\xac"},
};
#define QUERY_EXAMPLE_COUNT (sizeof query_examples / sizeof query_examples[0])

#endif
