/* Between dwarf.c and dwarf_file.c, the two files that know libdwarf. */
#ifndef NEAP_SYM_DWARF_PRIV_H
#define NEAP_SYM_DWARF_PRIV_H

#include <stdbool.h>

#include "src/sym/dwarf.h"

struct Dwarf_Debug_s;
struct Dwarf_Error_s;
struct dw_object; /* a file's sections as libdwarf asks for them */

struct dw {
	struct Dwarf_Debug_s *dbg;
	struct dw_object *object;
	struct dw_options options;
	bool has_code_at_start; /* code at address 0 is code, not something thrown away */
};

/* dw_section - the bytes of a section; NULL: there is none, or it is damaged. */
const uint8_t *dw_section(const struct dw *d, const char *name, size_t *bytes_out);
/* dw_is_ok - is it DW_DLV_OK?  Frees the error if there is one, and sets it to NULL. */
bool dw_is_ok(struct dw *d, int result, struct Dwarf_Error_s **err);

#endif
