/* How many filters of system calls (seccomp) a process has. */
#include "config.h"

#include "src/record/record_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BYTES 8192

uint32_t filters_of(pid_t pid)
{
	char path[64], text[STATUS_BYTES];
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *mode = strstr(text, "\nSeccomp:"), *count = strstr(text, "\nSeccomp_filters:");
	if (mode && strtoul(mode + strlen("\nSeccomp:"), NULL, 10) == 0)
		return 0;
	if (!mode || !count) /* unreadable, or Linux before 5.9 */
		return NC_FILTERS_UNKNOWN;
	return (uint32_t)strtoul(count + strlen("\nSeccomp_filters:"), NULL, 10);
}
