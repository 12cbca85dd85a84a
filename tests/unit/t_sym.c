/*
 * Addresses of freshly compiled programs, looked up by neap and by addr2line -i.
 *
 * What may differ, and is checked to be no more than that:
 * - binutils names the innermost inlined function after the outermost one at some
 *   boundaries of ranges (llvm-symbolizer agrees with neap there).  Files and lines are
 *   equal even then.
 * - where there is no row in the line table, binutils prints the unit's name with line 0;
 *   neap says that the file is not known.
 * - binutils leaves the compilation directory out in units of link-time optimisation.
 * - binutils 2.40 mistakes the first file of DWARF 5 line tables, and loses inlined functions
 *   of clang's.  Since debug information does not change code, neap's answers about a
 *   program with DWARF 5 are compared with addr2line's about the same one with DWARF 4.
 */
#include "config.h"

#include "src/sym/sym.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/sym/sym_priv.h"

#define MOST_ADDRESSES 4000
#define MOST_LINES     64

static char dir[] = "/tmp/neap-t_sym-XXXXXX";

static const char c_source[] =
	"#include <stdlib.h>\n"
	"#include \"part/deep.h\"\n"
	"static int counter;\n"
	"static inline __attribute__((always_inline)) void *inner(unsigned n)\n"
	"{\n"
	"	counter += n;\n"
	"	return malloc(n + counter);\n"
	"}\n"
	"static inline __attribute__((always_inline)) void *middle(unsigned n)\n"
	"{\n"
	"	void *p = inner(n * 3);\n"
	"	return p ? p : inner(n);\n"
	"}\n"
	"static __attribute__((noinline)) int hidden(int n)\n"
	"{\n"
	"	free(middle(n)); free(deep(n));\n"
	"	return counter * n;\n"
	"}\n"
	"int global_one(int n) { return hidden(n) + 1; }\n"
	"__attribute__((cold, noinline)) static int cold_one(int n) { return hidden(n) - "
	"deep_count; }\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void)argv;\n"
	"	for (int i = 0; i < argc * 4; i++)\n"
	"		global_one(i);\n"
	"	return argc > 90 ? cold_one(argc) : hidden(argc);\n"
	"}\n";

static const char c_header[] =
	"static int deep_count;\n"
	"static inline __attribute__((always_inline)) void *deep(unsigned n)\n"
	"{\n"
	"	deep_count++;\n"
	"	return malloc(n * 2 + 1);\n"
	"}\n";

static const char cxx_source[] =
	"#include <cstdlib>\n"
	"#include <map>\n"
	"#include <string>\n"
	"#include <vector>\n"
	"namespace shop {\n"
	"struct cart {\n"
	"	std::map<int, std::string> items;\n"
	"	void add(int i) { items[i] = std::to_string(i * 7 + rand()); }\n"
	"};\n"
	"}\n"
	"template <class T> __attribute__((noinline)) T fill(std::vector<T> &v, int n)\n"
	"{\n"
	"	for (int i = 0; i < n; i++)\n"
	"		v.push_back(T(i * rand()));\n"
	"	return v.back();\n"
	"}\n"
	"int main(int argc, char **)\n"
	"{\n"
	"	std::vector<long> v;\n"
	"	shop::cart c;\n"
	"	long last = fill(v, argc * 10);\n"
	"	for (int i = 0; i < argc * 3; i++)\n"
	"		c.add(i + (int)last);\n"
	"	return (int)c.items.size();\n"
	"}\n";

/* ---- help ------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	cr_assert_not_null(f, "%s", path);
	fputs(text, f);
	fclose(f);
}

static int try_shell(const char *command)
{
	char line[1024];
	snprintf(line, sizeof line, "cd '%s' && { %s; }", dir, command);
	return system(line);
}

static void shell(const char *command)
{
	cr_assert_eq(try_shell(command), 0, "failed: %s", command);
}

static void set_up(void)
{
	cr_assert_not_null(mkdtemp(dir));
	shell("mkdir -p src/part lib");
	write_file("src/a.c", c_source);
	write_file("src/part/deep.h", c_header);
	write_file("src/b.cpp", cxx_source);
}

static void tear_down(void)
{
	char line[256];
	snprintf(line, sizeof line, "rm -rf '%s'", dir);
	cr_expect_eq(system(line), 0);
}

static bool has_command(const char *name)
{
	char line[128];
	snprintf(line, sizeof line, "command -v %s >/dev/null 2>&1", name);
	return system(line) == 0;
}

static const char *path_in_dir(const char *name)
{
	static char path[64][256];
	static unsigned next;
	char *p = path[next++ % 64];
	snprintf(p, sizeof path[0], "%s/%s", dir, name);
	return p;
}

static struct sym_module *open_module(const char *name, const char *const *debug_dirs)
{
	struct sym_request req = {
		.path = path_in_dir(name), .fd = -1, .search = {.debug_dirs = debug_dirs}};
	struct sym_module *m = NULL;
	struct err e = {0};
	cr_assert_eq(sym_module_open(&req, &m, &e), NEAP_OK, "%s", e.text);
	return m;
}

/* Every address of every function of the program itself, the runtime's excepted. */
static size_t addresses_of(const char *name, uint64_t *out)
{
	char line[1024];
	snprintf(line, sizeof line,
		 "nm -S --defined-only '%s' | awk '$3 ~ /^[tTW]$/ && $4 !~ /^_(start|init|fini)/'",
		 path_in_dir(name));
	FILE *f = popen(line, "r");
	cr_assert_not_null(f);
	unsigned long va, bytes;
	size_t count = 0;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "%lx %lx", &va, &bytes) == 2)
			for (unsigned long i = 0; i < bytes && count < MOST_ADDRESSES; i++)
				out[count++] = va + i;
	cr_assert_eq(pclose(f), 0);
	return count;
}

/* ---- addr2line -------------------------------------------------------------------- */

struct oracle_line {
	char func[512], file[512];
	unsigned line;
};

struct oracle {
	FILE *out;
	char next[1024]; /* a line that was read but not used yet */
};

static void oracle_start(struct oracle *o, const char *name, const uint64_t *vas, size_t count)
{
	FILE *in = fopen(path_in_dir("addresses"), "w");
	cr_assert_not_null(in);
	for (size_t i = 0; i < count; i++)
		fprintf(in, "0x%lx\n", (unsigned long)vas[i]);
	fclose(in);
	char line[1024];
	snprintf(line, sizeof line, "addr2line -a -i -f -e '%s' < '%s'", path_in_dir(name),
		 path_in_dir("addresses"));
	o->out = popen(line, "r");
	cr_assert_not_null(o->out);
	cr_assert_not_null(fgets(o->next, sizeof o->next, o->out));
}

/* "file:12 (discriminator 3)" or "??:?", the file with its dots taken out. */
static void parse_place(const char *text, struct oracle_line *out)
{
	const char *colon = strstr(text, " (disc");
	size_t bytes = colon ? (size_t)(colon - text) : strcspn(text, "\n");
	while (bytes && text[bytes - 1] != ':')
		bytes--;
	out->line = (unsigned)strtoul(text + bytes, NULL, 10);
	char raw[512];
	snprintf(raw, sizeof raw, "%.*s", (int)(bytes ? bytes - 1 : 0), text);
	struct buf clean = {0};
	path_join_clean(&clean, NULL, NULL, raw);
	snprintf(out->file, sizeof out->file, "%s", clean.count_bytes ? clean.data : "");
	buf_release(&clean);
}

static size_t oracle_next(struct oracle *o, struct oracle_line *out)
{
	size_t count = 0;
	cr_assert_eq(strncmp(o->next, "0x", 2), 0, "%s", o->next);
	while (fgets(o->next, sizeof o->next, o->out) && strncmp(o->next, "0x", 2) != 0) {
		struct oracle_line *l = &out[count++];
		cr_assert(count < MOST_LINES);
		snprintf(l->func, sizeof l->func, "%.*s", (int)strcspn(o->next, "\n"), o->next);
		char place[1024];
		cr_assert_not_null(fgets(place, sizeof place, o->out));
		parse_place(place, l);
	}
	return count;
}

/* ---- comparing ---------------------------------------------------------------------- */

struct tally {
	size_t count, inlined_count,
		slip_count; /* addresses; with inlined functions; binutils' slips */
};

static bool is_same_place(const struct sym_line *ours, const struct oracle_line *theirs)
{
	if (!ours->line && !theirs->line)
		return true; /* no row */
	if (ours->line != theirs->line)
		return false;
	size_t our_bytes = strlen(ours->file), their_bytes = strlen(theirs->file);
	if (theirs->file[0] == '/' || our_bytes < their_bytes + 1)
		return !strcmp(ours->file, theirs->file);
	const char *end = ours->file + our_bytes - their_bytes;
	return !strcmp(end, theirs->file) && end[-1] == '/';
}

static void compare_chain(uint64_t va, const struct sym_line *ours, size_t count,
			  const struct oracle_line *theirs, size_t their_count, struct tally *t)
{
	cr_assert_eq(count, their_count, "at %lx: %zu functions (%s), addr2line has %zu (%s)",
		     (unsigned long)va, count, count ? ours[0].linkage : "", their_count,
		     their_count ? theirs[0].func : "");
	bool is_slip = false;
	for (size_t i = 0; i < count; i++) {
		cr_assert(is_same_place(&ours[i], &theirs[i]), "at %lx: %s:%u, addr2line has %s:%u",
			  (unsigned long)va, ours[i].file, ours[i].line, theirs[i].file,
			  theirs[i].line);
		cr_assert_eq(ours[i].is_inlined, i + 1 < count);
		if (!strcmp(ours[i].linkage, theirs[i].func))
			continue;
		is_slip = i == 0 && count > 1 &&
			  !strcmp(theirs[0].func, theirs[their_count - 1].func);
		cr_assert(is_slip, "at %lx: %s, addr2line has %s", (unsigned long)va,
			  ours[i].linkage, theirs[i].func);
	}
	t->slip_count += is_slip;
	t->inlined_count += count > 1;
	t->count++;
}

/* What addr2line says of `oracle` is what neap says of `name`. */
static void compare_all(const char *name, const char *oracle, const char *const *debug_dirs)
{
	static uint64_t vas[MOST_ADDRESSES];
	static struct oracle_line theirs[MOST_LINES];
	struct sym_line ours[MOST_LINES];
	struct tally t = {0};
	struct sym_module *m = open_module(name, debug_dirs);
	cr_assert_str_eq(sym_module_source(m), "DWARF");
	size_t count = addresses_of(oracle, vas);
	cr_assert(count >= 100, "only %zu addresses", count);
	struct oracle o;
	oracle_start(&o, oracle, vas, count);
	for (size_t i = 0; i < count; i++) {
		size_t their_count = oracle_next(&o, theirs);
		size_t our_count = sym_lookup(m, vas[i], ours, MOST_LINES);
		compare_chain(vas[i], ours, our_count, theirs, their_count, &t);
	}
	pclose(o.out);
	sym_module_free(m);
	cr_expect(t.slip_count * 20 <= t.count, "%zu of %zu names differ", t.slip_count, t.count);
	cr_expect(t.inlined_count >= 10, "%zu inlined", t.inlined_count);
}

/* `command` compiles to prog and is given the version of DWARF. */
static void compile_and_compare(const char *command)
{
	for (int version = 2; version <= 5; version++) {
		char line[512];
		snprintf(line, sizeof line, "%s -gdwarf-%d", command, version);
		shell(line);
		if (version < 5) {
			compare_all("prog", "prog", NULL);
			shell("mv prog before");
			continue;
		}
		shell("for f in prog before; do objcopy -O binary -j .text $f $f.text; done && "
		      "cmp prog.text before.text");
		compare_all("prog", "before", NULL);
	}
}

TestSuite(sym, .init = set_up, .fini = tear_down, .timeout = 300);

Test(sym, agrees_with_addr2line_on_c)
{
	compile_and_compare("gcc -O2 -g src/../src/./a.c -o prog");
}

Test(sym, agrees_with_addr2line_on_cxx)
{
	compile_and_compare("g++ -O2 -g src/b.cpp -o prog");
	compile_and_compare("g++ -O2 -g -fdebug-types-section src/b.cpp -o prog");
}

Test(sym, agrees_with_addr2line_on_link_time_optimised_programs)
{
	compile_and_compare("g++ -O2 -g -flto src/b.cpp -o prog");
}

Test(sym, agrees_with_addr2line_on_code_of_clang)
{
	if (!has_command("clang"))
		cr_skip_test("clang is not installed");
	compile_and_compare("clang -O2 -g src/a.c -o prog");
	compile_and_compare("clang++ -O2 -g src/b.cpp -o prog");
	compile_and_compare(
		"clang++ -O2 -g -ffunction-sections -Wl,--gc-sections src/b.cpp -o prog");
}

Test(sym, agrees_with_addr2line_on_strict_dwarf_with_scattered_functions)
{
	/* DWARF 2 has no ranges: a unit in pieces is found through .debug_aranges */
	shell("gcc -O2 -g -gdwarf-2 -gstrict-dwarf -ffunction-sections "
	      "-fno-reorder-blocks-and-partition src/a.c -o prog");
	compare_all("prog", "prog", NULL);
	/* and without those, its functions have to be asked */
	shell("objcopy -R .debug_aranges prog bare");
	compare_all("bare", "prog", NULL);
}

Test(sym, reads_compressed_sections)
{
	shell("gcc -O2 -g src/a.c -o plain");
	shell("objcopy --compress-debug-sections=zlib plain prog");
	compare_all("prog", "plain", NULL);
	shell("objcopy --compress-debug-sections=zlib-gnu plain prog");
	compare_all("prog", "plain", NULL);
}

/* ---- separate debug files ------------------------------------------------------------ */

static const char split[] = "gcc -O2 -g %s src/a.c -o plain && "
			    "objcopy --only-keep-debug plain prog.debug && "
			    "objcopy --strip-all --add-gnu-debuglink=prog.debug plain prog";

static void make_split(const char *flags)
{
	char line[512];
	snprintf(line, sizeof line, split, flags);
	shell(line);
}

Test(sym, follows_a_debug_link_beside_the_file)
{
	make_split("-Wl,--build-id");
	compare_all("prog", "plain", NULL);
	shell("mkdir .debug && mv prog.debug .debug/");
	compare_all("prog", "plain", NULL);
}

Test(sym, checks_the_crc_of_a_debug_link_without_build_id)
{
	make_split("-Wl,--build-id=none");
	compare_all("prog", "plain", NULL);
	shell("printf x >> prog.debug"); /* still a fine ELF file, but not the one that was meant */
	struct sym_module *m = open_module("prog", NULL);
	cr_expect_str_neq(sym_module_source(m), "DWARF");
	sym_module_free(m);
}

Test(sym, refuses_a_debug_file_of_another_build)
{
	make_split("-Wl,--build-id");
	shell("gcc -O1 -g -Wl,--build-id src/a.c -o other && objcopy --only-keep-debug other "
	      "prog.debug");
	struct sym_module *m = open_module("prog", NULL);
	cr_expect_str_neq(sym_module_source(m), "DWARF");
	sym_module_free(m);
}

Test(sym, finds_debug_files_in_directories_that_were_given)
{
	make_split("-Wl,--build-id=0x0123456789abcdef");
	shell("mkdir -p store/.build-id/01 && mv prog.debug "
	      "store/.build-id/01/23456789abcdef.debug");
	const char *const dirs[] = {"/nonexistent", path_in_dir("store"), NULL};
	compare_all("prog", "plain", dirs);
	shell("rm -rf store/.build-id && objcopy --only-keep-debug plain prog.debug && "
	      "mkdir -p store$PWD && mv prog.debug store$PWD/prog.debug");
	compare_all("prog", "plain", dirs);
}

/* Hands out one file whatever is asked for. */
struct shelf {
	const char *path;
	size_t asked_count;
	uint8_t id[64];
	size_t id_bytes;
};

static int fetch_from(void *context, enum sym_file_kind kind, const uint8_t *build_id,
		      size_t build_id_bytes)
{
	struct shelf *s = context;
	cr_expect_eq(kind, SYM_FILE_DEBUG);
	cr_assert(build_id_bytes <= sizeof s->id);
	memcpy(s->id, build_id, build_id_bytes);
	s->id_bytes = build_id_bytes;
	s->asked_count++;
	return open(s->path, O_RDONLY | O_CLOEXEC);
}

static void expect_fetched(struct shelf *shelf, const char *program, const char *source)
{
	struct sym_request req = {.path = path_in_dir(program),
				  .fd = -1,
				  .search = {.fetch = fetch_from, .fetch_context = shelf}};
	struct sym_module *m = NULL;
	cr_assert_eq(sym_module_open(&req, &m, NULL), NEAP_OK);
	cr_expect_str_eq(sym_module_source(m), source);
	sym_module_free(m);
}

Test(sym, fetches_debug_files_by_build_id_and_checks_them)
{
	make_split("-Wl,--build-id=0x0123456789abcdef");
	shell("mv prog.debug elsewhere && gcc -O1 -g -Wl,--build-id src/a.c -o other");
	struct shelf shelf = {.path = path_in_dir("elsewhere")};
	expect_fetched(&shelf, "prog", "DWARF");
	cr_expect_eq(shelf.asked_count, 1);
	cr_expect(shelf.id_bytes == 8 && shelf.id[0] == 0x01 && shelf.id[7] == 0xef);
	expect_fetched(&shelf, "plain", "DWARF");
	cr_expect_eq(shelf.asked_count, 1, "it has everything itself");
	shelf.path = path_in_dir("other");
	expect_fetched(&shelf, "prog", "none");
	shelf.path = path_in_dir("nonexistent");
	expect_fetched(&shelf, "prog", "none");
	cr_expect_eq(shelf.asked_count, 3);
}

Test(sym, knows_the_code_of_its_own_kernel)
{
	struct sym_request req = {.path = "[vdso]", .fd = -1};
	struct sym_module *m = NULL;
	if (!getauxval(AT_SYSINFO_EHDR))
		cr_skip_test("this process was given no vdso (valgrind hides it)");
	cr_assert_eq(sym_module_open(&req, &m, NULL), NEAP_OK);
	size_t count = 0;
	struct sym_line lines[MOST_LINES];
	for (uint64_t va = 0; va < 0x4000; va += 16)
		count += sym_lookup(m, va, lines, MOST_LINES) &&
			 strstr(lines[0].linkage, "clock_gettime");
	cr_expect_gt(count, 0);
	sym_module_free(m);
	const uint8_t other[] = {1, 2, 3};
	req.build_id = other;
	req.build_id_bytes = sizeof other;
	cr_expect_eq(sym_module_open(&req, &m, NULL), ERR_ABSENT);
}

/* ---- identity ------------------------------------------------------------------------ */

Test(sym, refuses_a_file_whose_build_id_is_not_the_mapped_one)
{
	shell("gcc -g -Wl,--build-id=0xaabb src/a.c -o prog && gcc -Wl,--build-id=none src/a.c -o "
	      "bare");
	const uint8_t right[] = {0xaa, 0xbb}, wrong[] = {0xaa, 0xbc, 0xdd};
	struct sym_request req = {
		.path = path_in_dir("prog"), .fd = -1, .build_id = right, .build_id_bytes = 2};
	struct sym_module *m = NULL;
	struct err e = {0};
	cr_expect_eq(sym_module_open(&req, &m, &e), NEAP_OK, "%s", e.text);
	sym_module_free(m);
	req.build_id = wrong;
	req.build_id_bytes = 3;
	cr_expect_eq(sym_module_open(&req, &m, &e), ERR_ABSENT);
	cr_expect_null(m);
	cr_expect(strstr(e.text, "aabcdd") && strstr(e.text, "is aabb"), "%s", e.text);
	req.path = path_in_dir("bare");
	cr_expect_eq(sym_module_open(&req, &m, &e), ERR_ABSENT);
	cr_expect(strstr(e.text, "none"), "%s", e.text);
}

Test(sym, reads_a_deleted_file_through_its_descriptor)
{
	shell("gcc -O2 -g src/a.c -o prog && cp prog copy");
	int fd = open(path_in_dir("prog"), O_RDONLY);
	cr_assert(fd >= 0);
	shell("rm prog");
	struct sym_request req = {.path = path_in_dir("prog"), .fd = fd};
	struct sym_module *m = NULL;
	struct err e = {0};
	cr_assert_eq(sym_module_open(&req, &m, &e), NEAP_OK, "%s", e.text);
	cr_expect_str_eq(sym_module_source(m), "DWARF");
	static uint64_t vas[MOST_ADDRESSES];
	size_t count = addresses_of("copy", vas), named_count = 0;
	struct sym_line lines[MOST_LINES];
	for (size_t i = 0; i < count; i++)
		named_count += sym_lookup(m, vas[i], lines, MOST_LINES) > 0;
	cr_expect_eq(named_count, count);
	cr_expect_eq(lseek(fd, 0, SEEK_CUR), 0, "the offset of the borrowed descriptor was moved");
	sym_module_free(m);
	close(fd);
}

Test(sym, says_what_is_wrong_with_a_file)
{
	struct sym_request req = {.path = path_in_dir("nowhere"), .fd = -1};
	struct sym_module *m = NULL;
	struct err e = {0};
	cr_expect_eq(sym_module_open(&req, &m, &e), ERR_IO);
	cr_expect(strstr(e.text, "nowhere"), "%s", e.text);
	req.path = path_in_dir("src/a.c");
	cr_expect_eq(sym_module_open(&req, &m, &e), ERR_FORMAT);
	cr_expect(strstr(e.text, "not an ELF file"), "%s", e.text);
	req.path = dir;
	cr_expect_eq(sym_module_open(&req, &m, &e), ERR_FORMAT);
}

/* ---- symbol tables -------------------------------------------------------------------- */

/* Name at a symbol's address plus `more`, with the symbol's address from the unstripped file. */
static const char *name_at(struct sym_module *m, const char *whole, const char *symbol,
			   uint64_t more)
{
	char line[512];
	static struct sym_line found[MOST_LINES];
	snprintf(line, sizeof line, "nm '%s' | awk '$3 == \"%s\" { print $1 }'", path_in_dir(whole),
		 symbol);
	FILE *f = popen(line, "r");
	cr_assert_not_null(f);
	unsigned long va = 0;
	cr_assert_eq(fscanf(f, "%lx", &va), 1, "%s", symbol);
	pclose(f);
	size_t count = sym_lookup(m, va + more, found, MOST_LINES);
	return count ? found[count - 1].linkage : "";
}

static const char symbols_source[] = "	.text\n"
				     "	.globl sized, _alias, alias, weak_one\n"
				     "	.weak weak_one\n"
				     "	.type sized, @function\n"
				     "	.type _alias, @function\n"
				     "	.type alias, @function\n"
				     "	.type weak_one, @function\n"
				     "sized:	.skip 32, 0x90\n"
				     "label:	.skip 32, 0x90\n"
				     "	.size sized, . - sized\n"
				     "_alias:\n"
				     "alias:\n"
				     "weak_one: .skip 16, 0x90\n"
				     "	.size _alias, 16\n"
				     "	.size alias, 16\n"
				     "	.size weak_one, 16\n"
				     "gap:	.skip 1, 0x90\n"
				     "	.globl untyped\n"
				     "untyped: .skip 15, 0x90\n"
				     "	.globl _start\n"
				     "_start:	.skip 16, 0x90\n";

Test(sym, picks_one_predictable_symbol_per_address)
{
	write_file("s.s", symbols_source);
	shell("gcc -c s.s -o s.o && ld s.o -o whole && cp whole prog");
	struct sym_module *m = open_module("prog", NULL);
	cr_expect_str_eq(sym_module_source(m), "symbol table");
	cr_expect_str_eq(name_at(m, "whole", "sized", 5), "sized");
	cr_expect_str_eq(name_at(m, "whole", "label", 5), "sized", "a label inside a function");
	cr_expect_str_eq(name_at(m, "whole", "sized", 63), "sized");
	cr_expect_str_eq(name_at(m, "whole", "_alias", 3), "alias");
	cr_expect_str_eq(name_at(m, "whole", "untyped", 3), "untyped", "no type, no size");
	cr_expect_str_eq(name_at(m, "whole", "_start", 15), "_start");
	cr_expect_str_eq(name_at(m, "whole", "_start", 16), "", "past the end of the section");
	sym_module_free(m);
}

Test(sym, uses_dynamic_symbols_of_stripped_libraries)
{
	write_file("v.c",
		   "int now(int n) { return n * 3; }\n"
		   "int old(int n) { return n * 5; }\n"
		   "__asm__(\".symver old, api@OLD_1\\n.symver now, api@@NEW_2\");\n"
		   "static __attribute__((noinline, used)) int secret(int n) { return n * 7; }\n"
		   "int shown(int n) { return secret(n) + 1; }\n");
	write_file("v.map", "OLD_1 { global: api; local: *; };\nNEW_2 { global: api; shown; };\n");
	shell("gcc -O1 -shared -fPIC v.c -Wl,--version-script=v.map -o whole && "
	      "strip -o prog whole");
	struct sym_module *m = open_module("prog", NULL);
	cr_expect_str_eq(sym_module_source(m), "symbol table");
	cr_expect_str_eq(name_at(m, "whole", "shown", 1), "shown");
	cr_expect_str_eq(name_at(m, "whole", "secret", 1), "", "not the symbol before it");
	sym_module_free(m);
	m = open_module("whole", NULL); /* its .symtab has the version in the name */
	cr_expect_str_eq(name_at(m, "whole", "api@@NEW_2", 1), "api");
	cr_expect_str_eq(name_at(m, "whole", "secret", 1), "secret");
	sym_module_free(m);
}

Test(sym, keeps_the_innermost_and_the_outermost_when_there_is_little_room)
{
	shell("g++ -O2 -g src/b.cpp -o prog");
	struct sym_module *m = open_module("prog", NULL);
	static uint64_t vas[MOST_ADDRESSES];
	size_t count = addresses_of("prog", vas), deep_count = 0;
	struct sym_line all[MOST_LINES], few[2];
	for (size_t i = 0; i < count; i++) {
		size_t n = sym_lookup(m, vas[i], all, MOST_LINES);
		if (n < 3)
			continue;
		deep_count++;
		cr_assert_eq(sym_lookup(m, vas[i], few, 2), 2);
		cr_assert_str_eq(few[0].linkage, all[0].linkage);
		cr_assert_str_eq(few[1].linkage, all[n - 1].linkage);
		cr_assert_eq(few[1].line, all[n - 1].line);
		cr_assert(few[0].is_inlined && !few[1].is_inlined);
		cr_assert_eq(sym_lookup(m, vas[i], few, 1), 1);
		cr_assert_str_eq(few[0].linkage, all[n - 1].linkage);
	}
	cr_expect(deep_count > 10, "%zu", deep_count);
	sym_module_free(m);
}

Test(sym, shows_the_public_name_of_a_function_with_private_aliases)
{
	write_file("al.c",
		   "int get(int n) __asm__(\"__PRIVATE_get\");\n"
		   "int get(int n) { return n * 3; }\n"
		   "extern __typeof(get) shown __attribute__((alias(\"__PRIVATE_get\")));\n");
	shell("gcc -O1 -g -shared -fPIC al.c -o prog");
	struct sym_module *m = open_module("prog", NULL);
	cr_expect_str_eq(name_at(m, "prog", "__PRIVATE_get", 1), "shown");
	sym_module_free(m);
}
