/*
 * Code address -> module record.
 *
 * Uses _dl_find_object, which takes no lock and may be called from anywhere.  (A
 * lock of the loader could be held by a thread that waits for this one.)  Modules
 * are entered when their code is first seen on a stack, so nobody has to look into
 * /proc/PID/maps of the target.
 *
 * A pc is unique only together with its module: after dlclose another library may
 * lie at the same addresses.  Then the old record is closed, its rules are dropped,
 * and every thread forgets its remembered stack.  If the same file comes back to
 * the same place, it gets its old record, and the tree does not grow.
 *
 * Between the unmapping inside dlclose and that moment another thread may load and
 * run a library at the same addresses, even with the same link map.  So while any
 * dlclose is under way (nc.unloading) no cache is trusted, and afterwards every module
 * that could have been replaced is in doubt: it is known again once its build id in
 * memory proved to be the recorded one.  Only a thread that runs code of a module looks
 * there, since nobody else can be sure that it stays mapped.
 *
 * What was loaded at the start is never unloaded and never in doubt.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>

struct known {
	uint64_t start_va, end_va;
	const struct link_map *link_map;
	const void *eh_frame_hdr;
	bool is_gone;
	bool is_permanent; /* loaded at the start */
	bool is_in_doubt;  /* another file may have taken its place */
};

#define PERMANENT_MAX 512u
/* Link maps of the modules loaded at the start.  Filled while the process has one thread. */
static const struct link_map *permanent[PERMANENT_MAX];
static uint32_t permanent_count;

/*
 * Indexed like the records; entry 0 unused.  Appended under the lock, read without.  Most
 * programs need the first chunk only; the others go from NULL to their value once.
 */
#define KNOWN_CHUNK_LG 6
static struct known first_known[1u << KNOWN_CHUNK_LG];
static struct known *known_chunks[NC_CHUNKS(NC_MODULES_MAX, KNOWN_CHUNK_LG)];
static uint32_t known_count = 1; /* atomic */
/* Thread id of the holder, 0 if free.  A signal handler of the holder does not wait for it. */
static uint32_t lock_owner;

static bool lock(void)
{
	uint32_t me = nc_gettid();
	for (;;) {
		uint32_t expected = 0;
		if (__atomic_compare_exchange_n(&lock_owner, &expected, me, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
		if (expected == me)
			return false;
		nc_syscall3(SYS_sched_yield, 0, 0, 0);
	}
}

static void unlock(void)
{
	__atomic_store_n(&lock_owner, 0, __ATOMIC_RELEASE);
}

static struct known *known_at(uint32_t id)
{
	struct known *chunk = known_chunks[id >> KNOWN_CHUNK_LG];
	return &(chunk ? chunk : first_known)[id & ((1u << KNOWN_CHUNK_LG) - 1)];
}

/* Make room for a number; false if memory is refused.  Under the lock. */
static bool known_reserve(uint32_t id)
{
	struct known **chunk = &known_chunks[id >> KNOWN_CHUNK_LG];
	if (id >> KNOWN_CHUNK_LG && !*chunk)
		*chunk = nc_map(sizeof **chunk << KNOWN_CHUNK_LG);
	return !(id >> KNOWN_CHUNK_LG) || *chunk;
}

uint32_t nc_modules_count(void)
{
	return __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);
}

void nc_modules_abandon(void)
{
	if (__atomic_load_n(&lock_owner, __ATOMIC_RELAXED) == nc_gettid())
		unlock();
}

void nc_modules_forked(void)
{
	lock_owner = 0;
}

/* ---- what the loaded file says about itself ------------------------------------- */

struct build_id {
	uint8_t data[sizeof(((struct nc_module *)0)->build_id)];
	uint32_t bytes; /* 0: none */
};

static void find_note(struct build_id *out, const uint8_t *note, uint64_t bytes)
{
	while (bytes >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		memcpy(&head, note, sizeof head);
		uint64_t name_bytes = ((uint64_t)head.n_namesz + 3) & ~3ull;
		uint64_t desc_bytes = ((uint64_t)head.n_descsz + 3) & ~3ull;
		uint64_t total = sizeof head + name_bytes + desc_bytes;
		if (total > bytes)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    head.n_descsz <= sizeof out->data && !memcmp(note + sizeof head, "GNU", 4)) {
			memcpy(out->data, note + sizeof head + name_bytes, head.n_descsz);
			out->bytes = head.n_descsz;
			return;
		}
		note += total;
		bytes -= total;
	}
}

static void read_build_id(struct build_id *out, uint64_t start_va, uint64_t end_va, uint64_t bias)
{
	const Elf64_Ehdr *elf = (const void *)start_va;
	if (end_va - start_va < NC_PAGE_BYTES || memcmp(elf->e_ident, ELFMAG, SELFMAG) ||
	    elf->e_phoff > NC_PAGE_BYTES ||
	    elf->e_phoff + (uint64_t)elf->e_phnum * sizeof(Elf64_Phdr) > NC_PAGE_BYTES)
		return;
	const Elf64_Phdr *phdr = (const void *)(start_va + elf->e_phoff);
	for (uint32_t i = 0; i < elf->e_phnum && !out->bytes; i++) {
		uint64_t va = bias + phdr[i].p_vaddr;
		if (phdr[i].p_type == PT_NOTE && va >= start_va && va < end_va &&
		    phdr[i].p_memsz <= end_va - va)
			find_note(out, (const void *)va, phdr[i].p_memsz);
	}
}

/* Append to a NUL-terminated path; what does not fit is cut. */
static void path_append(struct nc_module *m, const char *text)
{
	size_t have = strlen(m->path);
	size_t more = strlen(text);
	if (more > NC_MODULE_PATH_BYTES - 1 - have)
		more = NC_MODULE_PATH_BYTES - 1 - have;
	memcpy(m->path + have, text, more);
	m->path[have + more] = 0;
}

static void put_absolute(struct nc_module *m, const char *name)
{
	m->path[0] = 0;
	if (name[0] != '/') {
		long n = nc_syscall3(SYS_getcwd, (long)m->path, NC_MODULE_PATH_BYTES - 1, 0);
		if (nc_sys_failed(n) || m->path[0] != '/')
			m->path[0] = 0;
		path_append(m, "/");
	}
	path_append(m, name);
}

static bool is_loader(const char *path)
{
	const char *base = path;
	for (const char *p = path; *p; p++)
		if (*p == '/')
			base = p + 1;
	return !strncmp(base, "ld-linux", 8) || !strncmp(base, "ld.so", 5);
}

/* Names that say another file to everybody else, and to this process later. */
static bool is_descriptor(const char *name)
{
	return !strncmp(name, "/proc/", 6) || !strncmp(name, "/dev/fd/", 8);
}

static bool put_mapped(const struct nc_mapped *mapped, void *module)
{
	struct nc_module *m = module;
	if (m->start_va < mapped->range.start || m->start_va >= mapped->range.end)
		return true;
	if (mapped->path && mapped->path_bytes < sizeof m->path) {
		memcpy(m->path, mapped->path, mapped->path_bytes);
		m->path[mapped->path_bytes] = 0;
	}
	return false;
}

static void read_mapped(struct nc_ctx *t, struct nc_module *m)
{
	nc_maps_each(t->scratch->text, sizeof t->scratch->text, put_mapped, m);
}

extern void *__libc_stack_end; /* ld.so: where argc and argv are */

/*
 * `ld.so PROG`: what the kernel started is the loader, which made PROG the first word, or what
 * --argv0 says.
 */
static void read_started(struct nc_ctx *t, struct nc_module *m)
{
	const char *const *argv = (const char *const *)__libc_stack_end + 1;
	if (argv[0])
		put_absolute(m, argv[0]);
	read_mapped(t, m);
}

static void read_path(struct nc_ctx *t, struct nc_module *m, const struct link_map *lm)
{
	m->path[0] = 0;
	if (!lm->l_name || !lm->l_name[0]) {
		m->flags |= NC_MODULE_MAIN;
		long n = nc_syscall3(SYS_readlink, (long)"/proc/self/exe", (long)m->path,
				     NC_MODULE_PATH_BYTES - 1);
		m->path[nc_sys_failed(n) ? 0 : n] = 0;
		if (!m->path[0]) /* no /proc here any more: a chroot since the start */
			path_append(m, nc.header->exe_path);
		if (is_loader(m->path))
			read_started(t, m);
		return;
	}
	if (!strncmp(lm->l_name, "linux-vdso", 10) || !strncmp(lm->l_name, "linux-gate", 10)) {
		m->flags |= NC_MODULE_VDSO;
		path_append(m, "[vdso]");
		return;
	}
	put_absolute(m, lm->l_name);
	if (is_descriptor(m->path))
		read_mapped(t, m);
}

static void read_flags(struct nc_module *m)
{
	if (is_loader(m->path))
		m->flags |= NC_MODULE_LOADER;
	uint64_t here = (uint64_t)&read_flags;
	if (here >= m->start_va && here < m->end_va)
		m->flags |= NC_MODULE_COLLECTOR;
}

/* ---- records ---------------------------------------------------------------------- */

/* The bytes that identify a module: everything but flags and intervals. */
static bool is_same_file(const struct nc_module *a, const struct nc_module *b)
{
	return a->start_va == b->start_va && a->end_va == b->end_va && a->bias == b->bias &&
	       a->build_id_bytes == b->build_id_bytes && a->build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, a->build_id_bytes) && !strcmp(a->path, b->path);
}

static void mark_gone(uint32_t id)
{
	known_at(id)->is_gone = true;
	nc_module(id)->last_interval = __atomic_load_n(&nc.header->interval, __ATOMIC_RELAXED);
}

static void close_record(uint32_t id)
{
	mark_gone(id);
	nc_rules_purge(known_at(id)->start_va, known_at(id)->end_va);
	__atomic_fetch_add(&nc.unload_count, 1, __ATOMIC_RELEASE);
}

/* A closed record of the same file at the same place, or 0. */
static uint32_t find_earlier(const struct nc_module *m, uint32_t count)
{
	for (uint32_t id = 1; id < count; id++)
		if (known_at(id)->is_gone && is_same_file(nc_module(id), m))
			return id;
	return 0;
}

/* Is what is mapped there the file of this record?  Reads its notes. */
static bool is_same_build(uint32_t id, const struct dl_find_object *found)
{
	const struct nc_module *m = nc_module(id);
	struct build_id now = {0};
	read_build_id(&now, (uint64_t)found->dlfo_map_start, (uint64_t)found->dlfo_map_end,
		      found->dlfo_link_map->l_addr);
	return now.bytes == m->build_id_bytes && !memcmp(now.data, m->build_id, now.bytes);
}

/* Is the record with this start and link map still that of what is mapped there? */
static bool is_still(uint32_t id, const struct dl_find_object *found)
{
	struct known *k = known_at(id);
	if (k->is_permanent ||
	    (!k->is_in_doubt && !__atomic_load_n(&nc.unloading, __ATOMIC_ACQUIRE)))
		return true;
	if (!is_same_build(id, found))
		return false;
	if (!__atomic_load_n(&nc.unloading, __ATOMIC_ACQUIRE))
		k->is_in_doubt = false;
	return true;
}

static uint32_t find_known(const struct dl_find_object *found)
{
	uint32_t count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);
	for (uint32_t id = 1; id < count; id++) {
		const struct known *k = known_at(id);
		if (k->start_va == (uint64_t)found->dlfo_map_start && !k->is_gone &&
		    k->link_map == found->dlfo_link_map)
			return is_still(id, found) ? id : 0;
	}
	return 0;
}

static bool is_permanent(const struct link_map *lm)
{
	for (uint32_t i = 0; i < permanent_count; i++)
		if (permanent[i] == lm)
			return true;
	return false;
}

void nc_modules_init(void)
{
	struct dl_find_object self;
	if (permanent_count || _dl_find_object((void *)&nc_modules_init, &self) != 0)
		return;
	const struct link_map *lm = self.dlfo_link_map;
	while (lm->l_prev)
		lm = lm->l_prev;
	for (; lm && permanent_count < PERMANENT_MAX; lm = lm->l_next)
		permanent[permanent_count++] = lm;
}

static void publish(uint32_t id, const struct dl_find_object *found)
{
	*known_at(id) = (struct known){
		.start_va = (uint64_t)found->dlfo_map_start,
		.end_va = (uint64_t)found->dlfo_map_end,
		.link_map = found->dlfo_link_map,
		.eh_frame_hdr = found->dlfo_eh_frame,
		.is_permanent = is_permanent(found->dlfo_link_map),
	};
	if (id >= known_count)
		__atomic_store_n(&known_count, id + 1, __ATOMIC_RELEASE);
}

/* Make the record of a module seen for the first time.  Under the lock. */
static uint32_t enter(struct nc_ctx *t, const struct dl_find_object *found)
{
	uint32_t count = known_count;
	for (uint32_t id = 1; id < count; id++) {
		const struct known *k = known_at(id);
		if (!k->is_gone && k->start_va < (uint64_t)found->dlfo_map_end &&
		    k->end_va > (uint64_t)found->dlfo_map_start)
			close_record(id); /* unloaded behind our back */
	}
	/* Filled in place: the record is not in use until its flag says so. */
	if (count >= nc_region_max(NC_SEC_MODULES) || !known_reserve(count) ||
	    !nc_region_map(NC_SEC_MODULES, count)) {
		nc_drop(NC_DROP_MODULES);
		return 0;
	}
	struct nc_module *m = nc_module(count);
	memset(m, 0, offsetof(struct nc_module, path));
	m->start_va = (uint64_t)found->dlfo_map_start;
	m->end_va = (uint64_t)found->dlfo_map_end;
	m->bias = found->dlfo_link_map->l_addr;
	m->first_interval = __atomic_load_n(&nc.header->interval, __ATOMIC_RELAXED);
	read_path(t, m, found->dlfo_link_map);
	struct build_id build = {0};
	read_build_id(&build, m->start_va, m->end_va, m->bias);
	memcpy(m->build_id, build.data, build.bytes);
	m->build_id_bytes = build.bytes;
	read_flags(m);
	nc_rules_purge_strange(m->start_va, m->end_va);
	uint32_t earlier = find_earlier(m, count);
	if (earlier) {
		nc_module(earlier)->last_interval = 0;
		publish(earlier, found);
		return earlier;
	}
	__atomic_store_n(&nc.header->used_count[NC_SEC_MODULES], count + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&m->flags, m->flags | NC_MODULE_USED, __ATOMIC_RELEASE);
	publish(count, found);
	return count;
}

uint32_t nc_module_at(struct nc_ctx *t, uint64_t va, const void **eh_frame_hdr_out)
{
	struct dl_find_object found;
	*eh_frame_hdr_out = NULL;
	if (_dl_find_object((void *)va, &found) != 0)
		return 0;
	*eh_frame_hdr_out = found.dlfo_eh_frame;
	uint32_t id = find_known(&found);
	if (id || !lock())
		return id;
	id = find_known(&found);
	if (!id)
		id = enter(t, &found);
	unlock();
	return id;
}

void nc_modules_unload_begin(void)
{
	__atomic_fetch_add(&nc.unloading, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&nc.unload_count, 1, __ATOMIC_SEQ_CST);
}

static bool is_kept(uint32_t id)
{
	return !id || known_at(id)->is_permanent;
}

/*
 * What is not mapped any more is closed, what else could have been replaced is in doubt.  Rules of both
 * go in one pass: programs that unload a hundred plugins at their end have a hundred in doubt each time.
 */
static void recheck(void)
{
	uint32_t count = known_count;
	bool has_late = false;
	for (uint32_t id = 1; id < count; id++) {
		struct known *k = known_at(id);
		struct dl_find_object found;
		if (k->is_gone || k->is_permanent)
			continue;
		has_late = true;
		if (_dl_find_object((void *)k->start_va, &found) != 0 ||
		    found.dlfo_link_map != k->link_map ||
		    (uint64_t)found.dlfo_map_start != k->start_va)
			mark_gone(id);
		else
			k->is_in_doubt = true;
	}
	if (!has_late)
		return;
	nc_rules_purge_modules(is_kept);
	__atomic_fetch_add(&nc.unload_count, 1, __ATOMIC_RELEASE);
}

void nc_modules_unload_end(void)
{
	if (lock()) {
		recheck();
		unlock();
	}
	__atomic_fetch_sub(&nc.unloading, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&nc.unload_count, 1, __ATOMIC_SEQ_CST);
}
