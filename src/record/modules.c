/*
 * Modules of a process, and their files.  A file is opened when its module is first
 * met, through /proc where that is allowed: a program or library that is deleted or
 * replaced while it runs can then still be named.  Whether it is the right file is
 * decided later by its build id.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void module_files_init(struct module_files *f)
{
	*f = (struct module_files){0};
	pthread_mutex_init(&f->lock, NULL);
}

void module_files_release(struct module_files *f)
{
	for (size_t i = 0; i < f->count; i++)
		close(f->items[i].fd);
	mem_free(f->items);
	map_release(&f->by_id);
	pthread_mutex_destroy(&f->lock);
}

/* Keep fd, or close it and return the descriptor that is kept for the same file. */
static int files_share(struct module_files *f, int fd)
{
	struct stat st;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -1;
	}
	struct module_file want = {
		.dev = st.st_dev,
		.ino = st.st_ino,
		.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
		.fd = fd,
	};
	uint64_t mix =
		(want.dev * 0x9e3779b97f4a7c15ull) ^ want.ino ^ (uint64_t)want.mtime_ns << 20;
	pthread_mutex_lock(&f->lock);
	uint32_t i = map_find(&f->by_id, mix);
	bool is_same = i != MAP_ABSENT && f->items[i].dev == want.dev &&
		       f->items[i].ino == want.ino && f->items[i].mtime_ns == want.mtime_ns;
	int kept = -1;
	if (is_same) {
		kept = f->items[i].fd;
	} else if (vec_reserve((void **)&f->items, &f->cap, f->count + 1, sizeof f->items[0])) {
		map_put(&f->by_id, mix, (uint32_t)f->count);
		f->items[f->count++] = want;
		kept = fd;
	}
	pthread_mutex_unlock(&f->lock);
	if (kept != fd)
		close(fd);
	return kept;
}

static int open_quietly(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

void modules_open_exe(struct process *p)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/exe", (int)p->pid);
	int fd = open_quietly(path);
	p->exe_fd = fd < 0 ? -1 : files_share(&p->recorder->module_files, fd);
}

/* `ld.so PROG`: then the file that the kernel started is not the program's. */
static bool is_loader(int fd)
{
	char path[64], exe[4096];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(path, exe, sizeof exe - 1);
	exe[n > 0 ? n : 0] = '\0';
	const char *slash = strrchr(exe, '/');
	return slash && (!strncmp(slash, "/ld-linux", 9) || !strncmp(slash, "/ld.so", 6));
}

/* What is mapped at an address, by /proc/PID/map_files, which needs rights; -1 if that is not to be had. */
static int open_mapped(pid_t pid, uint64_t va)
{
	char path[96], line[512];
	unsigned long long start = 0, end = 0;
	bool is_found = false;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	while (maps && !is_found && fgets(line, sizeof line, maps))
		is_found = sscanf(line, "%llx-%llx ", &start, &end) == 2 && va >= start && va < end;
	if (maps)
		fclose(maps);
	snprintf(path, sizeof path, "/proc/%d/map_files/%llx-%llx", (int)pid, start, end);
	return is_found ? open_quietly(path) : -1;
}

/* Could this file have taken the place of the one that runs? */
static bool may_be_another(const struct process *p, int fd)
{
	struct stat st;
	uint64_t since_s = p->recorder->namer.start_unix_ns / NS_PER_S;
	return fstat(fd, &st) || (uint64_t)st.st_ctim.tv_sec >= since_s;
}

/* Names of descriptors, which are others here: only what is mapped will do. */
static bool is_descriptor(const char *path)
{
	return !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/fd/", 8);
}

static int open_file(struct process *p, const struct profile_module *m)
{
	if (m->flags & MODULE_VDSO)
		return -1;
	if (m->flags & MODULE_MAIN && p->exe_fd >= 0 && !is_loader(p->exe_fd))
		return p->exe_fd;
	char path[64 + NC_MODULE_PATH_BYTES];
	int fd = -1;
	if (m->path[0] == '/' && !is_descriptor(m->path)) {
		snprintf(path, sizeof path, "/proc/%d/root%s", (int)p->pid, m->path);
		fd = open_quietly(path);
		if (fd < 0)
			fd = open_quietly(m->path);
	}
	int mapped_fd = fd < 0 || may_be_another(p, fd) ? open_mapped(p->pid, m->start_va) : -1;
	if (mapped_fd >= 0 && fd >= 0)
		close(fd);
	if (mapped_fd >= 0)
		fd = mapped_fd;
	return fd < 0 ? -1 : files_share(&p->recorder->module_files, fd);
}

static uint32_t file_flags(uint32_t nc)
{
	return (nc & NC_MODULE_MAIN ? MODULE_MAIN : 0) | (nc & NC_MODULE_VDSO ? MODULE_VDSO : 0) |
	       (nc & NC_MODULE_COLLECTOR ? MODULE_COLLECTOR : 0) |
	       (nc & NC_MODULE_LOADER ? MODULE_LOADER : 0);
}

static bool read_module(struct modules *m, const struct nc_module *in, struct profile_module *out)
{
	*out = (struct profile_module){
		.flags = file_flags(__atomic_load_n(&in->flags, __ATOMIC_ACQUIRE)),
		.start_va = in->start_va,
		.end_va = in->end_va,
		.bias = in->bias,
		.first_snap = in->first_interval,
		.last_snap = __atomic_load_n(&in->last_interval, __ATOMIC_RELAXED),
		.build_id_bytes =
			in->build_id_bytes <= sizeof in->build_id ? in->build_id_bytes : 0,
	};
	memcpy(out->build_id, in->build_id, out->build_id_bytes);
	out->path = arena_strndup(&m->arena, in->path, strnlen(in->path, sizeof in->path));
	return out->path != NULL;
}

static mod_id add_module(struct process *p, const struct nc_module *in)
{
	struct modules *m = &p->modules;
	struct profile_module item;
	if (!vec_reserve((void **)&m->items, &m->cap, m->count + 1, sizeof m->items[0]) ||
	    !vec_reserve((void **)&m->fds, &m->fd_cap, m->count + 1, sizeof m->fds[0]) ||
	    !read_module(m, in, &item)) {
		p->is_starved = true;
		return 0;
	}
	mod_id id = profile_add_module(p->writer, &item);
	if (!id)
		return 0;
	m->items[m->count] = item;
	m->fds[m->count] = open_file(p, &item);
	m->count++;
	return id;
}

mod_id modules_find(struct process *p, uint32_t idx)
{
	struct modules *m = &p->modules;
	if (!idx || idx >= p->region.max_count[NC_SEC_MODULES])
		return 0;
	if (idx < m->entry_count && m->entries[idx].id)
		return m->entries[idx].id;
	const struct nc_module *in = &p->region.modules[idx];
	if (idx >= region_used(&p->region, NC_SEC_MODULES) ||
	    !(__atomic_load_n(&in->flags, __ATOMIC_ACQUIRE) & NC_MODULE_USED))
		return 0;
	if (!vec_reserve((void **)&m->entries, &m->entry_cap, idx + 1, sizeof m->entries[0])) {
		p->is_starved = true;
		return 0;
	}
	if (idx >= m->entry_count) {
		memset(m->entries + m->entry_count, 0,
		       (idx + 1 - m->entry_count) * sizeof m->entries[0]);
		m->entry_count = idx + 1;
	}
	m->entries[idx].id = add_module(p, in);
	return m->entries[idx].id;
}

void modules_refresh(struct process *p)
{
	struct modules *m = &p->modules;
	uint32_t used = region_used(&p->region, NC_SEC_MODULES);
	for (uint32_t idx = 1; idx < used; idx++) {
		mod_id id = modules_find(p, idx);
		uint32_t last =
			__atomic_load_n(&p->region.modules[idx].last_interval, __ATOMIC_RELAXED);
		if (!id || m->entries[idx].last_interval == last)
			continue;
		m->entries[idx].last_interval = last;
		m->items[id - 1].last_snap = last;
		profile_update_module(p->writer, id, &m->items[id - 1]);
	}
}

void modules_release(struct modules *m)
{
	mem_free(m->entries);
	mem_free(m->items);
	mem_free(m->fds);
	arena_release(&m->arena);
	*m = (struct modules){0};
}
