/* make_profiles DIR - write the profiles of profiles.h as DIR/NAME.neap. */
#include "config.h"

#include "tests/golden/profiles.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s DIR\n", argv[0]);
		return 2;
	}
	for (size_t i = 0; i < golden_profile_count; i++) {
		char path[1024];
		snprintf(path, sizeof path, "%s/%s.neap", argv[1], golden_profiles[i].name);
		build_close(golden_profiles[i].make(path));
	}
	return 0;
}
