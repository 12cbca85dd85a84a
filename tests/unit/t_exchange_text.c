/* Importers of text: folded stacks, gperftools and Go, jemalloc, LeakSanitizer. */
#include "config.h"

#include "foreign.h"

#include "src/base/mem.h"
#include "src/exchange/heaptext.h"
#include "src/profile/profile.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void expect_text(const char *text, const char *want)
{
	expect_import(text, strlen(text), want);
}

static void expect_text_refusal(const char *text, enum neap_err code, const char *words)
{
	expect_refusal(text, strlen(text), code, words);
}

#define BYTES_NOTE \
	"note: the numbers are taken for bytes; folded stacks do not say what they count\n"

/* ---- folded ------------------------------------------------------------------------------- */

Test(folded, adds_up_equal_stacks)
{
	expect_text("a;b;c 1\na;b 5\n\na;b;c 3\n", "total 9 blocks 9 bytes, live 9 9\n"
						   "a;b;c 4 4 live 4 4\n"
						   "a;b 5 5 live 5 5\n" BYTES_NOTE);
}

Test(folded, takes_the_last_word_for_the_number)
{
	expect_text("operator new(unsigned long);f 3 7\r\na b  2\n;x 1\n",
		    "total 10 blocks 10 bytes, live 10 10\n"
		    "operator new(unsigned long);f 3 7 7 live 7 7\n"
		    "a b 2 2 live 2 2\n"
		    "[no name];x 1 1 live 1 1\n" BYTES_NOTE);
}

Test(folded, rounds_fractions)
{
	expect_text("a 1.4\nb 1.5\nc 2.\n", "total 5 blocks 5 bytes, live 5 5\n"
					    "a 1 1 live 1 1\n"
					    "b 2 2 live 2 2\n"
					    "c 2 2 live 2 2\n" BYTES_NOTE);
}

Test(folded, tells_bad_lines_by_number)
{
	expect_text("# made by hand\na;b 5\nno number\nb 3x\na 99999999999999999999\nc 1\nd 1\n",
		    "total 7 blocks 7 bytes, live 7 7\n"
		    "a;b 5 5 live 5 5\n"
		    "c 1 1 live 1 1\n"
		    "d 1 1 live 1 1\n"
		    "note: line 1: expected FRAME;FRAME;... NUMBER\n"
		    "note: line 3: expected FRAME;FRAME;... NUMBER\n"
		    "note: line 4: expected FRAME;FRAME;... NUMBER\n"
		    "note: line 5: expected FRAME;FRAME;... NUMBER\n" BYTES_NOTE);
}

Test(folded, reads_utf_16)
{
	static const char text[] = "\xff\xfe"
				   "a\0;\0b\0 \0"
				   "7\0\n\0";
	expect_import(text, sizeof text - 1,
		      "total 7 blocks 7 bytes, live 7 7\na;b 7 7 live 7 7\n" BYTES_NOTE);
}

Test(folded, refuses_differences_and_prose)
{
	expect_text_refusal("a;b 1 2\na;c 3 4\n", ERR_UNSUPPORTED,
			    "the difference of two profiles");
	expect_text_refusal("Nothing to see\nin this file\n", ERR_FORMAT,
			    "no profile that neap can read");
}

/* ---- gperftools and Go ------------------------------------------------------------------------ */

#define MAPS                                                             \
	"\nMAPPED_LIBRARIES:\n"                                          \
	"00400000-00401000 r-xp 00000000 08:01 7 /bin/fixed\n"           \
	"7f0000000000-7f0000001000 r--p 00000000 08:01 8 /lib/libx.so\n" \
	"7f0000001000-7f0000002000 r-xp 00001000 08:01 8 /lib/libx.so\n" \
	"7ffd00000000-7ffd00001000 rw-p 00000000 00:00 0 [stack]\n"

Test(gperftools, books_what_lived_and_what_died)
{
	expect_text("heap profile:   3:  300 [  5:  700] @ heapprofile\n"
		    "     2:      200 [    4:      600] @ 0x7f0000001100 0x400200\n"
		    "     1:      100 [    1:      100] @ 0x999 0x400200\n" MAPS,
		    "total 5 blocks 700 bytes, live 3 300\n"
		    "/bin/fixed+0x400200;/lib/libx.so+0x1100 4 600 live 2 200\n"
		    "/bin/fixed+0x400200;0x999 1 100 live 1 100\n");
}

Test(gperftools, knows_a_call_at_the_end_of_a_module)
{
	expect_text(
		"heap profile: 1: 8 [1: 8] @ heapprofile\n"
		"1: 8 [1: 8] @ 0x7f0000002000 0x7f0000002001 0x401000 0x400000\n" MAPS,
		"total 1 blocks 8 bytes, live 1 8\n"
		"0x400000;/bin/fixed+0x401000;0x7f0000002001;/lib/libx.so+0x2000 1 8 live 1 8\n");
}

/* blocks / (1 - exp(-average / period)), rounded down */
static unsigned long long scaled(double value, double average, double period)
{
	return (unsigned long long)(value / (1 - exp(-average / period)));
}

Test(gperftools, scales_samples_by_the_chance_to_be_seen)
{
	char want[256];
	snprintf(want, sizeof want,
		 "total %llu blocks %llu bytes, live %llu %llu, estimated\n"
		 "0x10 %llu %llu live %llu %llu\n",
		 scaled(3, 1000, 4096), scaled(3000, 1000, 4096), scaled(3, 1000, 4096),
		 scaled(3000, 1000, 4096), scaled(3, 1000, 4096), scaled(3000, 1000, 4096),
		 scaled(3, 1000, 4096), scaled(3000, 1000, 4096));
	expect_text("heap profile: 3: 3000 [3: 3000] @ heap_v2/4096\n3: 3000 [3: 3000] @ 0x10\n",
		    want);
	/* Go's number is twice the mean distance. */
	expect_text("heap profile: 3: 3000 [3: 3000] @ heap/8192\n3: 3000 [3: 3000] @ 0x10\n",
		    want);
}

Test(gperftools, takes_128_kib_where_the_distance_is_missing)
{
	uint64_t blocks = 3, bytes = 3000;
	heap_unsample(128 << 10, &blocks, &bytes);
	static const char text[] =
		"heap profile: 3: 3000 [3: 3000] @ heap_v2\n3: 3000 [3: 3000] @ 0x10\n";
	struct foreign_sums s = foreign_import(text, sizeof text - 1);
	cr_expect_eq(s.live_bytes, bytes);
	cr_expect(s.is_estimated);
	cr_expect(s.unknown & FACT_ALLOCATED);
}

Test(gperftools, says_that_growth_is_of_the_allocator)
{
	expect_text(
		"heap profile: 2: 2097152 [2: 2097152] @ growth\n"
		"1: 1048576 [1: 1048576] @ 0x10 0x20\n1: 1048576 [1: 1048576] @ 0x30\n" MAPS,
		"total 2 blocks 2097152 bytes, live 2 2097152\n"
		"0x20;0x10 1 1048576 live 1 1048576\n"
		"0x30 1 1048576 live 1 1048576\n"
		"note: this is growth: memory that the allocator took from the system, not what "
		"the program asked for\n");
}

Test(gperftools, keeps_the_named_frames_of_go)
{
	expect_text("heap profile: 1: 64 [2: 128] @ heap/2\n"
		    "1: 64 [2: 128] @ 0x1001 0x2001 0x2011 0x3001\n"
		    "#\t0x2000\tmain.inner+0x10\t/src/main.go:5\n"
		    "#\t0x2010\tmain.(*T).outer+0x20\t/src/main.go:9\n"
		    "\n# runtime.MemStats\n# Alloc = 5\n",
		    "total 2 blocks 128 bytes, live 1 64\n"
		    "main.(*T).outer(/src/main.go:9);main.inner(/src/main.go:5) 2 128 live 1 64\n");
}

Test(gperftools, tells_bad_rows_and_goes_on)
{
	expect_text("heap profile: 2: 20 [2: 20] @ heapprofile\n"
		    "1: 10 [1: 10] @ 0x10\n"
		    "what is this\n"
		    "0: 10 [0: 10] @ 0x10\n"
		    "1: 10 [1: 10] @ here\n"
		    "1: 10 [1: 10] @ 0x20\n" MAPS,
		    "total 2 blocks 20 bytes, live 2 20\n"
		    "0x10 1 10 live 1 10\n"
		    "0x20 1 10 live 1 10\n"
		    "note: line 3: expected BLOCKS: BYTES [BLOCKS: BYTES] @ ADDRESSES\n"
		    "note: line 4: expected BLOCKS: BYTES [BLOCKS: BYTES] @ ADDRESSES\n"
		    "note: line 5: expected @ and addresses after the numbers\n");
}

Test(gperftools, marks_what_is_cut)
{
	static const char *const cut[] = {
		"heap profile: 2: 20 [2: 20] @ heapprofile\n1: 10 [1: 10] @ 0x10\n1: 10 [1: 1",
		"heap profile: 2: 20 [2: 20] @ heapprofile\n1: 10 [1: 10] @ 0x10\n",
		"heap profile: 1: 10 [1: 10] @ heapprofile\n1: 10 [1: 10] @ 0x10\n",
	};
	for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
		struct foreign_sums s = foreign_import(cut[i], strlen(cut[i]));
		cr_expect(s.is_partial, "%zu", i);
		cr_expect_eq(s.live_bytes, 10);
	}
	expect_text_refusal("heap profile: 2: 20 [2: 20] @ heapprofile\n1: 10 [1", ERR_FORMAT,
			    "before the end of its first row");
}

Test(gperftools, names_what_is_no_heap)
{
	static const char cpu[] = "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				  "\x10'\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	expect_refusal(cpu, sizeof cpu - 1, ERR_UNSUPPORTED, "this is a CPU profile of gperftools");
	expect_text_refusal("--- contentionz 1 ---\n", ERR_UNSUPPORTED, "waiting for locks");
	expect_text_refusal("goroutine profile: total 3\n", ERR_UNSUPPORTED, "goroutines");
	expect_text_refusal("heap profile: 1: 2 [1: 2] @ fragmentationz\n", ERR_UNSUPPORTED,
			    "of kind 'fragmentationz'");
}

/* ---- jemalloc ------------------------------------------------------------------------------------ */

Test(jemalloc, knows_threads_and_their_names)
{
	expect_text("heap_v2/1\n"
		    "  t*: 3: 300 [5: 500]\n"
		    "  t0: 1: 100 [1: 100]\n"
		    "  t7: 2: 200 [4: 400] work er\n"
		    "@ 0x7f0000001100 0x400200\n"
		    "  t*: 2: 200 [4: 400]\n"
		    "  t7: 2: 200 [4: 400]\n"
		    "@ 0x400300\n"
		    "  t*: 1: 100 [1: 100]\n"
		    "  t0: 1: 100 [1: 100]\n" MAPS,
		    "total 5 blocks 500 bytes, live 3 300\n"
		    "/bin/fixed+0x400200;/lib/libx.so+0x1100 4 400 live 2 200 @7work er\n"
		    "/bin/fixed+0x400300 1 100 live 1 100 @0\n");
}

Test(jemalloc, scales_each_stack_and_gives_threads_their_share)
{
	/* Together 3 blocks of 1000 on average; the threads' own averages are others. */
	unsigned long long blocks = scaled(3, 1000, 8192), bytes = scaled(3000, 1000, 8192);
	static const char text[] = "heap_v2/8192\n  t*: 3: 3000 [0: 0]\n"
				   "@ 0x10\n  t*: 3: 3000 [0: 0]\n  t1: 1: 600 [0: 0]\n"
				   "  t2: 2: 2400 [0: 0]\n" MAPS;
	struct foreign_sums s = foreign_import(text, sizeof text - 1);
	cr_expect_eq(s.live_blocks, blocks);
	cr_expect_eq(s.live_bytes, bytes);
	cr_expect(s.is_estimated);
	cr_expect(s.unknown & FACT_ALLOCATED);
	cr_expect(!(s.unknown & FACT_THREADS));
}

/* One block that died is shared by two threads: one of them gets all of its bytes. */
Test(jemalloc, no_thread_gets_bytes_without_a_block)
{
	static const char text[] = "heap_v2/1\n  t*: 0: 0 [1: 100]\n"
				   "@ 0x10\n  t*: 0: 0 [1: 100]\n  t1: 0: 0 [1: 60]\n"
				   "  t2: 0: 0 [1: 40]\n" MAPS;
	struct foreign_sums s = foreign_import(text, sizeof text - 1);
	cr_expect_eq(s.born_blocks, 1);
	cr_expect_eq(s.born_bytes, 100);
	cr_expect_eq(s.live_bytes, 0);
}

Test(jemalloc, leaves_its_own_frames_out)
{
	expect_text("heap_v2/1\n  t*: 1: 8 [0: 0]\n@ 0x7f0000001100 0x7f0000001200 0x400200\n"
		    "  t*: 1: 8 [0: 0]\n  t0: 1: 8 [0: 0]\n"
		    "\nMAPPED_LIBRARIES:\n"
		    "00400000-00401000 r-xp 00000000 08:01 7 /bin/fixed\n"
		    "7f0000000000-7f0000002000 r-xp 00000000 08:01 8 /lib/libjemalloc.so.2\n",
		    "total 1 blocks 8 bytes, live 1 8\n/bin/fixed+0x400200 1 8 live 1 8 @0\n");
}

Test(jemalloc, refuses_other_versions_and_nothing)
{
	expect_text_refusal("heap_v3/524288\n  t*: 0: 0 [0: 0]\n", ERR_UNSUPPORTED, "heap_v3");
	expect_text_refusal("heap_v2/524288\n  t*: 0: 0 [0: 0]\n", ERR_FORMAT,
			    "before the first stack");
}

/* ---- LeakSanitizer --------------------------------------------------------------------------------- */

#define LSAN    "==7==ERROR: LeakSanitizer: detected memory leaks\n\n"
#define SUMMARY "\nSUMMARY: AddressSanitizer: 9 byte(s) leaked in 1 allocation(s).\n"

Test(lsan, reads_all_forms_of_frames)
{
	expect_text("the program's own output\n" LSAN
		    "Direct leak of 24 byte(s) in 3 object(s) allocated from:\n"
		    "    #0 0x1000 in __interceptor_calloc ../x/asan_malloc_linux.cpp:77\n"
		    "    #1 0x2000 in std::vector<int, A<int> >::push(int const&) /a b/v.h:12:3\n"
		    "    #2 0x2000 in outer src/o.c:4\n"
		    "    #3 0x3000 in main (/bin/x+0x30) (BuildId: abcd)\n"
		    "    #4 0x4000  (/lib/libc.so.6+0x40)\n"
		    "    #5 0x5000 in _start ??:0\n" SUMMARY,
		    "total 3 blocks 24 bytes, live 3 24\n"
		    "[direct leak];_start;/lib/libc.so.6+0x41;main;outer(src/o.c:4)<"
		    "std::vector<int, A<int> >::push(int const&)(/a b/v.h:12) 3 24 live 3 24\n");
}

Test(lsan, tells_direct_leaks_from_indirect_ones)
{
	expect_text(LSAN "Direct leak of 8 byte(s) in 1 object(s) allocated from:\n"
			 "    #0 0x1000 in malloc /a.c:1\n    #1 0x2000 in f /a.c:2\n\n"
			 "Indirect leak of 5 byte(s) in 2 object(s) allocated from:\n"
			 "    #0 0x1000 in operator new(unsigned long) /a.c:1\n"
			 "    #1 0x2000 in f /a.c:2\n    #2 0x2000 in f /a.c:2\n" SUMMARY,
		    "total 3 blocks 13 bytes, live 3 13\n"
		    "[direct leak];f(/a.c:2) 1 8 live 1 8\n"
		    "[indirect leak];f(/a.c:2);f(/a.c:2) 2 5 live 2 5\n");
}

Test(lsan, marks_what_is_cut)
{
	expect_text(
		LSAN "Direct leak of 8 byte(s) in 1 object(s) allocated from:\n"
		     "    #0 0x1000 in f /a.c:1\n    #1 0x20",
		"total 1 blocks 8 bytes, live 1 8, partial\n"
		"[direct leak];f(/a.c:1) 1 8 live 1 8\n"
		"note: the file ends too early: it ends in line 5, before LeakSanitizer's summary; "
		"what came before was imported\n");
}

Test(lsan, refuses_other_reports)
{
	expect_text_refusal("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x6\n",
			    ERR_UNSUPPORTED, "a sanitizer without leaks");
}

/* ---- files of the real tools ------------------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned long long born_blocks, born_bytes, live_blocks, live_bytes;
} real[] = {
	{"gperftools.heap", 341, 169820, 266, 94820},
	{"go.txt", 208, 538704, 105, 128960},
	{"lsan-gcc.log", 65, 92500, 65, 92500},
	{"lsan-clang.log", 65, 92500, 65, 92500},
};

Test(exchange, reads_what_the_real_tools_wrote)
{
	for (size_t i = 0; i < sizeof real / sizeof real[0]; i++) {
		struct buf file = foreign_file(real[i].name, false);
		cr_assert_gt(file.count_bytes, 0, "%s", real[i].name);
		struct foreign_sums s = foreign_import(file.data, file.count_bytes);
		cr_expect_eq(s.born_blocks, real[i].born_blocks, "%s", real[i].name);
		cr_expect_eq(s.born_bytes, real[i].born_bytes, "%s", real[i].name);
		cr_expect_eq(s.live_blocks, real[i].live_blocks, "%s", real[i].name);
		cr_expect_eq(s.live_bytes, real[i].live_bytes, "%s", real[i].name);
		cr_expect(!s.is_partial, "%s", real[i].name);
		buf_release(&file);
	}
}

Test(exchange, every_beginning_of_a_text_file_is_fair, .timeout = 240)
{
	static const char *const names[] = {"gperftools.heap", "go.txt", "lsan-gcc.log",
					    "lsan-clang.log", "jemalloc.heap"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct buf file = foreign_file(names[i], false);
		cr_assert_gt(file.count_bytes, 0, "%s", names[i]);
		expect_fair_cuts(file.data, file.count_bytes, 1);
		buf_release(&file);
	}
}

Test(exchange, lack_of_memory_while_reading_text_is_told)
{
	static const char *const names[] = {"gperftools.heap", "go.txt", "lsan-gcc.log",
					    "jemalloc.heap"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct buf file = foreign_file(names[i], false);
		expect_fair_lack_of_memory(file.data, file.count_bytes);
		buf_release(&file);
	}
}
