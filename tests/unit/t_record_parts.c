/* Parts of the recorder: names of files, checks before the start, sorting. */
#include "config.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/record/record_priv.h"

static char dir[] = "/tmp/neap-t_parts-XXXXXX";

static void start(void)
{
	cr_assert(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
}

static void stop(void)
{
	char command[PATH_MAX];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	if (chdir("/") || system(command))
		fprintf(stderr, "cannot remove %s\n", dir);
}

TestSuite(record_files, .init = start, .fini = stop);
TestSuite(record_check, .init = start, .fini = stop);

/* ---- names -------------------------------------------------------------------------- */

static void expect_name(struct namer *n, const char *program, bool is_extra, const char *want)
{
	struct output o;
	struct err e;
	cr_assert_eq(namer_open(n, program, 42, is_extra, &o, &e), NEAP_OK, "%s", e.text);
	cr_expect_str_eq(o.path, want);
	output_release(&o);
}

static void init_namer(struct namer *n, const char *pattern, bool wants_overwrite)
{
	struct record_options o = {.output = pattern, .wants_overwrite = wants_overwrite};
	struct err e;
	cr_assert_eq(namer_init(n, &o, &e), NEAP_OK, "%s", e.text);
}

Test(record_files, have_names_that_fit_however_long_the_program_s_is)
{
	struct namer n;
	char program[300], want[128] = "";
	memset(program, 'x', 99);
	for (int i = 99; i < 299; i += 2)
		memcpy(program + i, "\xc3\xa9", 2); /* a letter of two bytes */
	program[299] = '\0';
	memset(want, 'x', 99);
	snprintf(want + 99, sizeof want - 99, ".42.neap");
	init_namer(&n, NULL, false);
	expect_name(&n, program, false, want);
	namer_release(&n);
}

Test(record_files, are_named_by_program_and_pid)
{
	struct namer n;
	init_namer(&n, NULL, false);
	expect_name(&n, "prog", false, "prog.42.neap");
	expect_name(&n, "prog", true, "prog.42.1.neap");
	namer_release(&n);
}

Test(record_files, follow_a_pattern)
{
	struct namer n;
	init_namer(&n, "%n-%p-100%%.x", false);
	expect_name(&n, "a/b", false, "a_b-42-100%.x");
	namer_release(&n);
}

Test(record_files, of_children_get_the_pid_if_the_pattern_has_none)
{
	struct namer n;
	init_namer(&n, "out.neap", false);
	expect_name(&n, "prog", false, "out.neap");
	expect_name(&n, "prog", true, "out.42.neap");
	expect_name(&n, "prog", true, "out.42.1.neap");
	namer_release(&n);
}

Test(record_files, go_into_a_directory)
{
	struct namer n;
	cr_assert_eq(mkdir("profiles", 0777), 0);
	init_namer(&n, "profiles", false);
	expect_name(&n, "prog", false, "profiles/prog.42.neap");
	namer_release(&n);
}

Test(record_files, are_never_written_over_unless_asked)
{
	struct namer n;
	struct stat st;
	int fd = open("out.neap", O_CREAT | O_WRONLY, 0666);
	cr_assert(fd >= 0 && write(fd, "old", 3) == 3 && close(fd) == 0);
	init_namer(&n, "out.neap", false);
	expect_name(&n, "prog", false, "out.1.neap");
	namer_release(&n);
	init_namer(&n, "out.neap", true);
	expect_name(&n, "prog", false, "out.neap");
	cr_expect(stat("out.neap", &st) == 0 && st.st_size == 0);
	/* Its own file it does not replace. */
	expect_name(&n, "prog", false, "out.1.neap");
	namer_release(&n);
}

Test(record_files, with_an_unknown_letter_are_refused)
{
	struct namer n;
	struct record_options o = {.output = "%q.neap"};
	struct err e;
	cr_expect_eq(namer_init(&n, &o, &e), ERR_USAGE);
	namer_release(&n);
}

Test(record_files, that_are_discarded_leave_nothing)
{
	struct namer n;
	struct output o;
	struct err e;
	init_namer(&n, "out.neap", false);
	cr_assert_eq(namer_open(&n, "prog", 42, false, &o, &e), NEAP_OK);
	output_discard(&o);
	cr_expect_eq(access("out.neap", F_OK), -1);
	namer_release(&n);
}

/* ---- checks ---------------------------------------------------------------------------- */

/* A small ELF file: a loader's name, one needed library. */
struct image {
	Elf64_Ehdr head;
	Elf64_Phdr segments[3];
	Elf64_Dyn dynamic[4];
	char strings[64];
	char loader[64];
};

static struct image make_image(const char *library)
{
	struct image m = {.head = {.e_type = ET_DYN,
				   .e_machine = EM_X86_64,
				   .e_version = 1,
				   .e_phoff = offsetof(struct image, segments),
				   .e_ehsize = sizeof(Elf64_Ehdr),
				   .e_phentsize = sizeof(Elf64_Phdr),
				   .e_phnum = 3,
				   .e_shentsize = sizeof(Elf64_Shdr)}};
	memcpy(m.head.e_ident, ELFMAG, SELFMAG);
	m.head.e_ident[EI_CLASS] = ELFCLASS64;
	m.head.e_ident[EI_DATA] = ELFDATA2LSB;
	m.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = sizeof m};
	m.segments[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
				     .p_offset = offsetof(struct image, dynamic),
				     .p_filesz = sizeof m.dynamic};
	m.segments[2] = (Elf64_Phdr){.p_type = PT_INTERP,
				     .p_offset = offsetof(struct image, loader),
				     .p_filesz = sizeof m.loader};
	m.dynamic[0] =
		(Elf64_Dyn){.d_tag = DT_STRTAB, .d_un.d_val = offsetof(struct image, strings)};
	m.dynamic[1] = (Elf64_Dyn){.d_tag = DT_STRSZ, .d_un.d_val = sizeof m.strings};
	m.dynamic[2] = (Elf64_Dyn){.d_tag = DT_NEEDED, .d_un.d_val = 1};
	snprintf(m.strings + 1, sizeof m.strings - 1, "%s", library);
	snprintf(m.loader, sizeof m.loader, "/lib64/ld-linux-x86-64.so.2");
	return m;
}

static void write_file(const char *name, const void *data, size_t bytes)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0777);
	cr_assert(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes && close(fd) == 0);
}

static void expect_refused(const char *name, const char *word)
{
	struct err e;
	cr_expect_eq(record_check_target(name, NULL, &e), ERR_UNSUPPORTED, "%s: not refused", name);
	cr_expect(strstr(e.text, word), "'%s' does not say '%s'", e.text, word);
}

static void expect_refused_image(const struct image *m, const char *word)
{
	write_file("prog", m, sizeof *m);
	expect_refused("prog", word);
}

Test(record_check, accepts_an_ordinary_program)
{
	struct image m = make_image("libc.so.6");
	write_file("prog", &m, sizeof m);
	cr_expect_eq(record_check_target("prog", NULL, NULL), NEAP_OK);
	cr_expect_eq(record_check_target("/bin/sh", NULL, NULL), NEAP_OK);
}

Test(record_check, refuses_a_static_program)
{
	struct image m = make_image("");
	m.segments[2].p_type = PT_NULL;
	expect_refused_image(&m, "static");
}

Test(record_check, refuses_a_program_with_a_sanitizer)
{
	struct image m = make_image("libasan.so.8");
	expect_refused_image(&m, "AddressSanitizer");
	m = make_image("libtsan.so.2");
	expect_refused_image(&m, "ThreadSanitizer");
}

Test(record_check, refuses_another_machine)
{
	struct image m = make_image("libc.so.6");
	m.head.e_machine = EM_AARCH64;
	expect_refused_image(&m, "another processor");
	m.head.e_ident[EI_CLASS] = ELFCLASS32;
	expect_refused_image(&m, "32-bit");
}

Test(record_check, refuses_musl)
{
	struct image m = make_image("libc.so.6");
	snprintf(m.loader, sizeof m.loader, "/lib/ld-musl-x86_64.so.1");
	expect_refused_image(&m, "musl");
}

Test(record_check, follows_scripts_to_their_interpreter)
{
	char script[PATH_MAX];
	struct image m = make_image("");
	m.segments[2].p_type = PT_NULL;
	write_file("prog", &m, sizeof m);
	snprintf(script, sizeof script, "#! %s/prog -x\n", dir);
	write_file("script", script, strlen(script));
	expect_refused("script", "static");
	write_file("script", "#!/bin/sh\n", 10);
	cr_expect_eq(record_check_target("script", NULL, NULL), NEAP_OK);
}

Test(record_check, refuses_what_is_no_program)
{
	write_file("text", "hello\n", 6);
	expect_refused("text", "neither");
}

Test(record_check, reads_every_truncation_without_harm)
{
	struct image m = make_image("libc.so.6");
	struct err e;
	for (size_t bytes = 4; bytes < sizeof m; bytes++) {
		write_file("prog", &m, bytes);
		record_check_target("prog", NULL, &e);
	}
	/* Offsets and counts that point anywhere. */
	for (unsigned i = 0; i < 20000; i++) {
		struct image bad = m;
		uint8_t *p = (uint8_t *)&bad;
		p[6 + (i * 37u) % (sizeof bad - 6)] ^= (uint8_t)(1 + i % 255);
		p[6 + (i * 101u) % (sizeof bad - 6)] ^= 0xff;
		write_file("prog", &bad, sizeof bad);
		record_check_target("prog", NULL, &e);
	}
}

/* ---- sorting -------------------------------------------------------------------------------- */

Test(record_sort, is_stable_and_ascending_for_any_count)
{
	static struct sort_item items[3000], tmp[3000];
	uint64_t x = 88172645463325252ull;
	for (size_t count = 0; count <= 3000; count += count < 64 ? 1 : 489) {
		for (size_t i = 0; i < count; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			items[i] = (struct sort_item){(x % 97) << 40 | (x >> 32) % 5, (uint32_t)i};
		}
		sort_items(items, tmp, count);
		for (size_t i = 1; i < count; i++)
			cr_assert(
				items[i - 1].key < items[i].key ||
				(items[i - 1].key == items[i].key && items[i - 1].i < items[i].i));
	}
}
