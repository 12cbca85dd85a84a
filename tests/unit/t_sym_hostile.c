/* Damaged ELF files: nothing crashes, and what is left is used. */
#include "config.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/sym/sym.h"
#include "src/sym/sym_priv.h"
#include "src/sym/symbolise.h"

static char dir[] = "/tmp/neap-t_sym_hostile-XXXXXX";

static struct {
	unsigned char *data;
	size_t bytes;
} file;

static void load_file(const char *name)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "rb");
	cr_assert_not_null(f);
	fseek(f, 0, SEEK_END);
	file.bytes = (size_t)ftell(f);
	rewind(f);
	file.data = mem_alloc(file.bytes);
	cr_assert_eq(fread(file.data, 1, file.bytes, f), file.bytes);
	fclose(f);
}

static void build(const char *command)
{
	char line[1024];
	snprintf(line, sizeof line, "cd '%s' && { %s; }", dir, command);
	cr_assert_eq(system(line), 0, "%s", command);
}

static void set_up(void)
{
	char path[256];
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a.c", dir);
	FILE *f = fopen(path, "w");
	cr_assert_not_null(f);
	fputs("#include <stdlib.h>\n"
	      "static inline void *in(int n) { return malloc(n * 2); }\n"
	      "void *out(int n) { void *p = in(n); return p ? p : in(n + 1); }\n"
	      "void other(void *p) { free(p); }\n",
	      f);
	fclose(f);
	build("gcc -O2 -g -shared -fPIC -nostartfiles -Wl,--build-id a.c -o a.so && "
	      "objcopy --add-gnu-debuglink=a.c a.so");
	load_file("a.so");
}

static void tear_down(void)
{
	char line[256];
	snprintf(line, sizeof line, "rm -rf '%s'", dir);
	cr_expect_eq(system(line), 0);
	mem_free(file.data);
}

static int in_memory(const void *data, size_t bytes)
{
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, data, bytes), (ssize_t)bytes);
	return fd;
}

/* Opens the symbols and looks addresses up; true if there was at least one name. */
static bool exercise(const void *data, size_t bytes, enum neap_err *rc_out)
{
	int fd = in_memory(data, bytes);
	struct sym_request req = {.path = "damaged", .fd = fd};
	struct sym_module *m;
	struct err e = {0};
	struct sym_line found[8];
	bool has_name = false;
	*rc_out = sym_module_open_symbols(&req, &m, &e);
	if (*rc_out)
		cr_assert(e.text[0], "an error without words");
	for (uint64_t va = 0xf00; !*rc_out && va < 0x1400; va += 3) {
		size_t count = sym_lookup(m, va, found, 8);
		for (size_t i = 0; i < count; i++)
			has_name |= strlen(found[i].linkage) + strlen(found[i].name) > 0;
	}
	sym_module_free(m);
	close(fd);
	return has_name;
}

TestSuite(hostile, .init = set_up, .fini = tear_down, .timeout = 1500);

Test(hostile, whole_file_has_names)
{
	enum neap_err rc;
	cr_expect(exercise(file.data, file.bytes, &rc));
	cr_expect_eq(rc, NEAP_OK);
}

Test(hostile, every_truncation_is_survived)
{
	enum neap_err rc;
	for (size_t bytes = 0; bytes < file.bytes; bytes += bytes < 0x2000 ? 7 : 61) {
		exercise(file.data, bytes, &rc);
		cr_assert(rc == NEAP_OK || rc == ERR_FORMAT, "%zu bytes: %d", bytes, (int)rc);
	}
}

Test(hostile, flipped_bits_are_survived)
{
	uint32_t seed = 1;
	unsigned char *copy = mem_alloc(file.bytes);
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)file.data;
	size_t named_count = 0;
	for (int round = 0; round < 4000; round++) {
		memcpy(copy, file.data, file.bytes);
		for (int i = 0; i < 1 + round % 6; i++) {
			seed = seed * 1664525 + 1013904223;
			size_t span = file.bytes, from = 0;
			if (round % 3 == 0) { /* where it hurts: the headers of sections */
				from = h->e_shoff;
				span = file.bytes - from;
			} else if (round % 3 == 1) {
				span = 0x1000; /* headers, dynamic symbols and notes */
			}
			size_t at = from + (seed >> 4) % span;
			seed = seed * 1664525 + 1013904223;
			copy[at] = (unsigned char)(seed & 1 ? seed >> 24
							    : copy[at] ^ 1u << (seed >> 29));
		}
		enum neap_err rc;
		named_count += exercise(copy, file.bytes, &rc);
	}
	cr_expect_gt(named_count, 500, "damage elsewhere does no harm");
	mem_free(copy);
}

static Elf64_Shdr *section(unsigned char *data, uint32_t type)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)data;
	Elf64_Shdr *s = (Elf64_Shdr *)(data + h->e_shoff);
	for (int i = 0; i < h->e_shnum; i++)
		if (s[i].sh_type == type)
			return &s[i];
	cr_assert_fail("no section of type %u", type);
	return NULL;
}

Test(hostile, impossible_numbers_are_refused)
{
	enum neap_err rc;
	Elf64_Ehdr *h = (Elf64_Ehdr *)file.data;
	Elf64_Ehdr header = *h;
	Elf64_Shdr *s = section(file.data, SHT_SYMTAB), whole = *s;

	s->sh_offset = UINT64_MAX - 8;
	exercise(file.data, file.bytes, &rc);
	cr_expect_eq(rc, NEAP_OK, ".dynsym is still there");
	*s = whole;
	s->sh_size = UINT64_MAX;
	exercise(file.data, file.bytes, &rc);
	*s = whole;
	s->sh_link = UINT32_MAX;
	exercise(file.data, file.bytes, &rc);
	*s = whole;
	s->sh_entsize = 1;
	exercise(file.data, file.bytes, &rc);
	*s = whole;

	h->e_shoff = UINT64_MAX - 1;
	exercise(file.data, file.bytes, &rc);
	*h = header;
	h->e_shnum = 0; /* the number is in section 0, which says: too many */
	((Elf64_Shdr *)(file.data + h->e_shoff))->sh_size = UINT64_MAX / 2;
	exercise(file.data, file.bytes, &rc);
	cr_expect_eq(rc, ERR_FORMAT);
	*h = header;
	h->e_shstrndx = SHN_XINDEX;
	exercise(file.data, file.bytes, &rc);
	*h = header;
	h->e_shoff = 0; /* no sections: segments still have the build id */
	h->e_phoff = UINT64_MAX - 32;
	exercise(file.data, file.bytes, &rc);
	cr_expect_eq(rc, NEAP_OK);
	*h = header;
	h->e_ident[EI_CLASS] = ELFCLASS32;
	exercise(file.data, file.bytes, &rc);
	cr_expect_eq(rc, ERR_UNSUPPORTED);
}

/* The reader of debug information may crash in its own process; names of symbols remain. */
Test(hostile, damaged_debug_information_never_ends_symbolising)
{
	static struct profile_frame frames[200];
	struct profile_module module = {.path = "damaged"};
	for (size_t i = 0; i < 200; i++)
		frames[i] = (struct profile_frame){.module = 1, .pc = 0x1000 + i};
	uint32_t seed = 7;
	const Elf64_Shdr *text =
		section(file.data, SHT_SYMTAB); /* what is before it is debug info */
	size_t from = 0x3000 < text->sh_offset ? 0x3000 : text->sh_offset / 2;
	unsigned char *copy = mem_alloc(file.bytes);
	size_t named_count = 0;
	for (int round = 0; round < 300; round++) {
		memcpy(copy, file.data, file.bytes);
		for (int i = 0; i < 1 + round % 8; i++) {
			seed = seed * 1664525 + 1013904223;
			copy[from + (seed >> 4) % (text->sh_offset - from)] =
				(unsigned char)seed >> 3;
		}
		int fd = in_memory(copy, file.bytes);
		struct symbolise_request req = {.modules = &module,
						.module_count = 1,
						.frames = frames,
						.frame_count = 200,
						.module_fds = &fd};
		struct symbolise_result r;
		cr_assert_eq(symbolise_frames(&req, &r, NULL), NEAP_OK);
		named_count += r.named_count > 0;
		symbolise_release(&r);
		close(fd);
	}
	cr_expect_eq(named_count, 300);
	mem_free(copy);
}
