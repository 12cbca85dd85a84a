/*
 * Filters of system calls (seccomp) that came after the recorder, or after a parent's start.
 *
 * To meet the recorder takes a socket, and a filter may kill for that.  A process that has more
 * of them than where it came from had is not recorded, rather than killed.  One that was started
 * in a container has as many as the recorder, and is recorded.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>

#define WITH_FILTER 2 /* what PR_GET_SECCOMP then answers */

/* The number after `name` at the beginning of a line; NC_FILTERS_UNKNOWN: there is no such line. */
static uint32_t number_in(const char *text, size_t bytes, const char *name)
{
	size_t name_bytes = strlen(name);
	for (size_t i = 0; i + name_bytes < bytes; i++) {
		if ((i && text[i - 1] != '\n') || memcmp(text + i, name, name_bytes) != 0)
			continue;
		uint32_t n = 0;
		for (i += name_bytes; i < bytes && (text[i] == '\t' || text[i] == ' '); i++) {
		}
		for (; i < bytes && text[i] >= '0' && text[i] <= '9'; i++)
			n = n * 10 + (uint32_t)(text[i] - '0');
		return n;
	}
	return NC_FILTERS_UNKNOWN;
}

static uint32_t count_filters(void)
{
	static char text[4096]; /* large; a process comes here once */
	long fd = nc_syscall3(SYS_open, (long)"/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	if (nc_sys_failed(fd))
		return NC_FILTERS_UNKNOWN;
	size_t have = 0;
	for (long got; have < sizeof text; have += (size_t)got) {
		got = nc_syscall3(SYS_read, fd, (long)(text + have), (long)(sizeof text - have));
		if (nc_sys_failed(got) || got == 0)
			break;
	}
	nc_syscall3(SYS_close, fd, 0, 0);
	return number_in(text, have, "Seccomp_filters:");
}

bool nc_has_more_filters(uint32_t known_count)
{
	if (known_count == NC_FILTERS_UNKNOWN ||
	    nc_syscall3(SYS_prctl, PR_GET_SECCOMP, 0, 0) != WITH_FILTER)
		return false;
	if (!known_count)
		return true;
	uint32_t count = count_filters();
	return count != NC_FILTERS_UNKNOWN && count > known_count;
}
