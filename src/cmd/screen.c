/* COLUMNS, the size of the terminal, NO_COLOR, the locale. */
#include "config.h"

#include "src/cmd/screen.h"

#include "src/base/fmt.h"
#include "src/report/report.h"

#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_ELSEWHERE 100u
#define WIDTH_AUTO_MAX  200u
#define WIDTH_AUTO_MIN  80u

size_t parse_count(const char *text, size_t low, size_t high)
{
	char *end;
	errno = 0;
	if (*text < '0' || *text > '9')
		return 0;
	unsigned long long n = strtoull(text, &end, 10);
	return errno || *end || n < low || n > high ? 0 : (size_t)n;
}

size_t screen_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	size_t width = columns ? parse_count(columns, 1, REPORT_WIDTH_MAX_COLS) : 0;
	if (!width && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width)
		return WIDTH_ELSEWHERE;
	if (width < WIDTH_AUTO_MIN)
		return WIDTH_AUTO_MIN;
	return width > WIDTH_AUTO_MAX ? WIDTH_AUTO_MAX : width;
}

bool screen_has_colour(enum colour_when when)
{
	if (when != COLOUR_AUTO)
		return when == COLOUR_ALWAYS;
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (no_color && *no_color)
		return false;
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

bool screen_parse_colour(const char *text, enum colour_when *out)
{
	static const char *const words[] = {"auto", "always", "never"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (!strcmp(text, words[i])) {
			*out = (enum colour_when)i;
			return true;
		}
	}
	return false;
}

bool screen_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

#define SAID_BYTES 2048u

void screen_say(const char *kind, const char *text, size_t bytes)
{
	char safe[SAID_BYTES];
	fmt_safe(safe, sizeof safe, text, bytes, screen_is_utf8());
	fprintf(stderr, "neap: %s%s\n", kind, safe);
}
