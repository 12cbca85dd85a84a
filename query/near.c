/*
 * The nearest word, for "did you mean": optimal string alignment distance (insert, drop,
 * change, swap neighbours), without regard to the case of ASCII letters.
 *
 * Only the diagonal band of distance 2 is computed, so that long names cost little and
 * nothing is allocated.
 */
#include "config.h"

#include "query/parse.h"

#include <string.h>

#define MOST_EDITS  2
#define BAND        (2 * MOST_EDITS + 1)
#define TOO_FAR     (MOST_EDITS + 1)
#define SHORT_BYTES 3 /* words up to here differ by one edit at most */

static unsigned char fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Cell k of a row stands for column i + k - MOST_EDITS. */
static unsigned distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	unsigned rows[3][BAND]; /* the row before the last, the last, this one */
	memset(rows, TOO_FAR, sizeof rows);
	for (size_t i = 0; i <= a_bytes; i++) {
		unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		unsigned smallest = TOO_FAR;
		for (size_t k = 0; k < BAND; k++) {
			now[k] = TOO_FAR;
			if (i + k < MOST_EDITS || i + k - MOST_EDITS > b_bytes)
				continue;
			size_t j = i + k - MOST_EDITS;
			if (!i || !j) {
				now[k] = least((unsigned)(i + j), TOO_FAR);
			} else {
				bool is_same = fold(a[i - 1]) == fold(b[j - 1]);
				now[k] = least(now[k], last[k] + !is_same);
				if (k)
					now[k] = least(now[k], now[k - 1] + 1);
				if (k + 1 < BAND)
					now[k] = least(now[k], last[k + 1] + 1);
				if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
				    fold(a[i - 2]) == fold(b[j - 1]))
					now[k] = least(now[k], before[k] + 1);
			}
			smallest = least(smallest, now[k]);
		}
		if (smallest >= TOO_FAR)
			return TOO_FAR;
	}
	return rows[a_bytes % 3][b_bytes + MOST_EDITS - a_bytes];
}

const char *query_near(const char *word, size_t bytes, const char *const *words, size_t count)
{
	unsigned best = bytes <= SHORT_BYTES ? 2 : MOST_EDITS + 1;
	const char *found = NULL;
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(words[i]);
		if ((n > bytes ? n - bytes : bytes - n) > MOST_EDITS)
			continue;
		unsigned d = distance(word, bytes, words[i], n);
		if (d < best && d < n) {
			best = d;
			found = words[i];
		}
	}
	return found;
}
