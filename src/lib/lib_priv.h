/* What the files of libneap share. */
#ifndef NEAP_LIB_LIB_PRIV_H
#define NEAP_LIB_LIB_PRIV_H

#include "query/query.h"
#include "src/graph/graph.h"
#include "src/lib/neap/profile.h"

#define PROFILE_AMOUNTS 5u

struct neap_profile {
	struct query_session *session; /* of this one file; queries borrow it from here */
	const struct graph *g;
	const struct profile *p;
	struct graph_sum amounts[PROFILE_AMOUNTS];
};

/* error_from_err, error_from_query - a new error in *out unless out is NULL; return its status. */
enum neap_status error_from_err(const struct err *e, struct neap_error **out);
/* text is where the query came from; status replaces the error's own unless it is OK. */
enum neap_status error_from_query(const struct query_error *error, const char *text,
				  enum neap_status status, struct neap_error **out);

#endif
