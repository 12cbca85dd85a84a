/* What is known about a profile as a whole, for people and for programs. */
#ifndef NEAP_PROFILE_INFO_H
#define NEAP_PROFILE_INFO_H

#include "src/base/buf.h"
#include "src/profile/profile.h"

/* profile_info_text - one fact per line, then the modules. */
void profile_info_text(const struct profile *p, bool is_utf8, struct buf *out);
/* profile_info_json - one object; its keys stay the same, new ones may come. */
void profile_info_json(const struct profile *p, struct buf *out);

#endif
