// The headers in C++: nothing in them is a word of C++ or converts by itself in C only.
#include <neap/neap.h>
#include <neap/profile.h>
#include <neap/query.h>

#include <cstdio>
#include <memory>

int main(int argc, char **argv)
{
	neap_profile *opened = nullptr;
	neap_error *error = nullptr;
	if (neap_profile_open(argc > 1 ? argv[1] : "", &opened, &error) != NEAP_STATUS_OK) {
		std::unique_ptr<neap_error, void (*)(neap_error *)> owned(error, neap_error_free);
		std::printf("%d %s\n", neap_error_status(owned.get()), neap_error_message(owned.get()));
		return 1;
	}
	std::unique_ptr<neap_profile, void (*)(neap_profile *)> p(opened, neap_profile_free);
	neap_query_options options = {};
	options.is_cancelled = [](void *) { return true; };
	neap_result *result = nullptr;
	neap_status status = neap_query(p.get(), nullptr, "live | sum", &options, &result, nullptr);
	std::printf("version %s, cancelled %d\n", neap_version(), status == NEAP_STATUS_CANCELLED);
	return result != nullptr;
}
