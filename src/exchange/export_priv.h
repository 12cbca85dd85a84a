/* Inside the writers: texts as formats want them, and drawings that two of them share. */
#ifndef NEAP_EXCHANGE_EXPORT_PRIV_H
#define NEAP_EXCHANGE_EXPORT_PRIV_H

#include "src/exchange/export.h"

#define EXPORT_NUMBER_BYTES 48u
#define EXPORT_TITLE_BYTES \
	1024u /* of a name where a pointer rests: the rest is cut in the middle */

/* ---- texts (export_text.c) ------------------------------------------------------------ */

/* export_clean - append as valid UTF-8 in one line: control characters, also those that turn the
 * direction of writing, become U+FFFD; each character of `replace` becomes `by`. */
void export_clean(struct buf *out, const char *s, const char *replace, char by);
/* export_xml - the same, with <, >, &, " and ' as entities. */
void export_xml(struct buf *out, const char *s);
/* export_xml_part - at most `most` bytes of it, the middle cut out if it is longer. */
void export_xml_part(struct buf *out, const char *s, size_t most_bytes);
/* export_json - a JSON string in which no </script> and no <!-- can be. */
void export_json(struct buf *out, const char *s);
/* export_fit - what of a label fits `most` characters, for XML: the beginning and "..". */
void export_fit(struct buf *out, const char *s, size_t most_chars);
/* export_number - "12.3 MiB" or "1,234", with a plus sign if asked for; dst holds EXPORT_NUMBER_BYTES. */
const char *export_number(char *dst, enum export_unit unit, int64_t value, bool has_plus);

/* ---- trees ------------------------------------------------------------------------------- */

static inline int64_t export_total(const struct export_tree *t, size_t node, size_t value)
{
	return t->totals[node * t->value_count + value];
}
static inline int64_t export_self(const struct export_tree *t, size_t node, size_t value)
{
	return t->selfs[node * t->value_count + value];
}
static inline bool export_is_diff(const struct export_tree *t)
{
	return t->before_value != SIZE_MAX;
}

/* ---- drawings (flame_out.c, chart_out.c) --------------------------------------------------- */

#define DRAWING_WIDTH 1200.0

/* flame_draw - an <svg> element; is_alone: with its style and script, as a document of its own. */
enum neap_err flame_draw(const struct export_about *about, const struct export_tree *t,
			 bool is_alone, struct buf *out, struct err *e);
void chart_draw(const struct export_about *about, const struct export_series *s, bool is_alone,
		struct buf *out);

/* Style and scripts of drawings and pages, from the files of the same names (assets.awk). */
extern const char export_flame_css[], export_flame_js[], export_chart_css[], export_chart_js[],
	export_page_css[], export_page_js[];
/* export_cdata - a style or script, in a way that HTML and XML both understand. */
void export_cdata(struct buf *out, const char *element, const char *text);

#endif
