/*
 * Feeds bytes to the importers: by detection, and, if they begin with FORCE and a number, to the reader
 * of that format.  NEAP_FUZZ_FORMAT names the one reader that gets all of them.  What comes out must be
 * right in itself: no id may lead outside of its table (sample_wrong), and counters must agree
 * (profile_check).
 *
 * With clang: libFuzzer.  With replay.c: a program that replays files.
 */
#include "config.h"

#include "src/exchange/exchange.h"
#include "tests/unit/sample_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORCE 0xf5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The format that the environment names. */
static enum exchange_format only_format(void)
{
	const char *name = getenv("NEAP_FUZZ_FORMAT");
	if (!name)
		return EXCHANGE_ANY;
	enum exchange_format f = exchange_format_find(name);
	if (f == EXCHANGE_ANY || !exchange_format_info(f)->can_read) {
		fprintf(stderr, "NEAP_FUZZ_FORMAT: neap does not read '%s'\n", name);
		exit(1);
	}
	return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct exchange_options o = {.format = only_format()};
	struct profile *p;
	struct err e = {0};
	if (bytes > 1 && data[0] == FORCE) {
		if (o.format == EXCHANGE_ANY)
			o.format = data[1] % EXCHANGE_FORMAT_COUNT;
		data += 2;
		bytes -= 2;
	}
	if (exchange_parse(data, bytes, "fuzz", &o, &p, &e)) {
		if (p || !e.code || !*e.text)
			abort();
		return 0;
	}
	struct buf findings = {0};
	const char *wrong = sample_wrong(p);
	if (wrong || (p->has_source && profile_check(p, &findings))) {
		fprintf(stderr, "imported wrong: %s\n%s\n", wrong ? wrong : "",
			findings.count_bytes ? findings.data : "");
		abort();
	}
	buf_release(&findings);
	profile_free(p);
	return 0;
}
