/*
 * Asking libdebuginfod, which is opened at run time: its functions are declared here as
 * debuginfod_find_debuginfo(3) has them.
 */
#include "config.h"

#include "src/sym/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/sym/sym_priv.h"

#define LIBRARY     "libdebuginfod.so.1"
#define PATIENCE_MS 20000u

struct client; /* the library's */
typedef int progress_fn(struct client *, long, long);
typedef int find_fn(struct client *, const unsigned char *, int, char **);

struct debuginfod {
	struct debuginfod_options options;
	void *library;
	struct client *client;
	struct client *(*begin)(void);
	void (*end)(struct client *);
	find_fn *find_debuginfo, *find_executable;
	int (*find_source)(struct client *, const unsigned char *, int, const char *, char **);
	void (*set_progress)(struct client *, progress_fn *);
	void (*set_user_data)(struct client *, void *);
	void *(*get_user_data)(struct client *);

	pthread_mutex_t lock; /* guards what follows, and the client */
	const char *what;     /* is being fetched */
	long done_bytes;      /* at the last call */
	int64_t moved_ms;     /* when they last grew */
	/* The library says ENOENT for what note_progress ended. */
	bool was_stopped;  /* by whoever wanted it: no trouble */
	bool was_given_up; /* after patience_ms */
	char trouble[160];
};

/* note_progress gets only the client, and finds the rest by its user data. */
static void *(*user_data_of)(struct client *);

bool debuginfod_is_set_up(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	return urls && urls[strspn(urls, " \t")];
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Called by the library about once a second; not 0 stops what it does. */
static int note_progress(struct client *c, long done_bytes, long all_bytes)
{
	struct debuginfod *d = user_data_of(c);
	int64_t now = now_ms();
	/* Before a server answers, the library counts its own calls where the bytes are later. */
	if (done_bytes > d->done_bytes + (all_bytes <= 0))
		d->moved_ms = now;
	d->done_bytes = done_bytes;
	if (d->options.progress)
		d->options.progress(d->options.context, d->what,
				    done_bytes > 0 ? (uint64_t)done_bytes : 0,
				    all_bytes > 0 ? (uint64_t)all_bytes : 0);
	d->was_stopped = d->options.is_stopped && d->options.is_stopped(d->options.context);
	d->was_given_up = now - d->moved_ms > (int64_t)d->options.patience_ms;
	return d->was_stopped || d->was_given_up;
}

static void *symbol(struct debuginfod *d, const char *name, bool *is_ok)
{
	void *p = dlsym(d->library, name);
	*is_ok = *is_ok && p;
	return p;
}

static bool find_symbols(struct debuginfod *d)
{
	bool is_ok = true;
	*(void **)&d->begin = symbol(d, "debuginfod_begin", &is_ok);
	*(void **)&d->end = symbol(d, "debuginfod_end", &is_ok);
	*(void **)&d->find_debuginfo = symbol(d, "debuginfod_find_debuginfo", &is_ok);
	*(void **)&d->find_executable = symbol(d, "debuginfod_find_executable", &is_ok);
	*(void **)&d->find_source = symbol(d, "debuginfod_find_source", &is_ok);
	*(void **)&d->set_progress = symbol(d, "debuginfod_set_progressfn", &is_ok);
	*(void **)&d->set_user_data = symbol(d, "debuginfod_set_user_data", &is_ok);
	*(void **)&d->get_user_data = symbol(d, "debuginfod_get_user_data", &is_ok);
	return is_ok;
}

static enum neap_err connect_library(struct debuginfod *d, struct err *e)
{
	d->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!d->library || !find_symbols(d))
		return err_set(e, ERR_UNSUPPORTED,
			       "debuginfod needs " LIBRARY
			       ", which is not here (Debian: libdebuginfod1)");
	user_data_of = d->get_user_data;
	d->client = d->begin();
	if (!d->client)
		return err_nomem(e, "debuginfod");
	d->set_user_data(d->client, d);
	d->set_progress(d->client, note_progress);
	return NEAP_OK;
}

enum neap_err debuginfod_new(const struct debuginfod_options *o, struct debuginfod **out,
			     struct err *e)
{
	*out = NULL;
	if (!debuginfod_is_set_up())
		return err_set(e, ERR_ABSENT,
			       "no debuginfod server is named: set DEBUGINFOD_URLS, for example to "
			       "https://debuginfod.debian.net");
	struct debuginfod *d = mem_zalloc(sizeof *d);
	if (!d)
		return err_nomem(e, "debuginfod");
	d->options = *o;
	if (!d->options.patience_ms)
		d->options.patience_ms = PATIENCE_MS;
	pthread_mutex_init(&d->lock, NULL);
	enum neap_err code = connect_library(d, e);
	if (code)
		debuginfod_free(d);
	else
		*out = d;
	return code;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	if (d->library)
		dlclose(d->library);
	pthread_mutex_destroy(&d->lock);
	mem_free(d);
}

/* A server that has not got a file says so; anything else is the network's or the server's fault. */
static void note_failure(struct debuginfod *d, int error)
{
	bool is_absent = error == ENOENT && !d->was_given_up;
	if (d->was_stopped || is_absent || error == ENOMEM || error == EINVAL)
		return;
	if (d->was_given_up || error == EINTR || error == ECANCELED || error == ETIMEDOUT ||
	    error == ETIME)
		snprintf(d->trouble, sizeof d->trouble,
			 "debuginfod sent nothing for %u s; it is not asked any more",
			 d->options.patience_ms / 1000);
	else
		snprintf(d->trouble, sizeof d->trouble,
			 "debuginfod cannot be asked (%s); check DEBUGINFOD_URLS", strerror(error));
}

static bool begin_fetch(struct debuginfod *d, const char *what, size_t build_id_bytes)
{
	if (d->trouble[0] || !build_id_bytes || build_id_bytes > SYM_BUILD_ID_BYTES)
		return false;
	d->what = what;
	d->done_bytes = 0;
	d->was_stopped = d->was_given_up = false;
	d->moved_ms = now_ms();
	return true;
}

/* The library gives a descriptor and the path in its cache, or -errno. */
static int end_fetch(struct debuginfod *d, int fd, char *path)
{
	free(path); /* libc free: the library allocated it */
	if (fd < 0) {
		note_failure(d, -fd);
		return -1;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	lseek(fd, 0, SEEK_SET); /* it was just written, perhaps */
	return fd;
}

int debuginfod_fetch(void *context, enum sym_file_kind kind, const uint8_t *build_id,
		     size_t build_id_bytes)
{
	struct debuginfod *d = context;
	char what[2 * SYM_BUILD_ID_BYTES + 1], *path = NULL;
	int fd = -1;
	find_fn *find = kind == SYM_FILE_PROGRAM ? d->find_executable : d->find_debuginfo;
	fmt_hex(what, sizeof what, build_id, build_id_bytes);
	pthread_mutex_lock(&d->lock);
	if (begin_fetch(d, what, build_id_bytes))
		fd = end_fetch(d, find(d->client, build_id, (int)build_id_bytes, &path), path);
	pthread_mutex_unlock(&d->lock);
	return fd;
}

int debuginfod_fetch_source(struct debuginfod *d, const uint8_t *build_id, size_t build_id_bytes,
			    const char *path)
{
	char *found = NULL;
	int fd = -1;
	pthread_mutex_lock(&d->lock);
	if (begin_fetch(d, path, build_id_bytes))
		fd = end_fetch(
			d, d->find_source(d->client, build_id, (int)build_id_bytes, path, &found),
			found);
	pthread_mutex_unlock(&d->lock);
	return fd;
}

const char *debuginfod_trouble(const struct debuginfod *d)
{
	return d->trouble;
}
