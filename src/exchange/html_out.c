/*
 * One HTML page that loads nothing: facts, then a section for each query with its chart, flame
 * graph or table.  Everything can be read without script; with it tables sort and drawings zoom.
 *
 * It is well-formed XML too, so that any tool can read it.
 */
#include "config.h"

#include "src/exchange/export_priv.h"

#include "src/base/fmt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define INDENT_EM   1.1
#define INDENT_MOST 40u

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
	"<meta charset=\"utf-8\"/>\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n";

/* ---- head and facts --------------------------------------------------------------------- */

static void put_date(struct buf *out, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	struct tm tm;
	char text[64];
	if (unix_ns && gmtime_r(&seconds, &tm) &&
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm))
		buf_printf(out, "recorded %s", text);
}

static void put_header(const struct export_about *about, struct buf *out)
{
	char time[FMT_BYTES];
	buf_puts(out, "<header>\n<div class=\"brand\">neap <span>heap profile</span></div>\n<h1>");
	export_xml_part(out, about->title, 400);
	buf_puts(out, "</h1>\n<p>");
	put_date(out, about->start_unix_ns);
	if (about->duration_ns)
		buf_printf(out, "%s%s long", about->start_unix_ns ? ", " : "",
			   fmt_duration(time, sizeof time, about->duration_ns));
	if (about->file) {
		buf_puts(out, about->start_unix_ns || about->duration_ns ? ", from " : "from ");
		export_xml_part(out, about->file, 300);
	}
	if (about->file && about->new_file) {
		buf_puts(out, " and ");
		export_xml_part(out, about->new_file, 300);
	}
	buf_puts(out, "</p>\n</header>\n");
}

static void put_notes(const struct export_about *about, struct buf *out)
{
	if (!about->note_count && !about->is_estimated)
		return;
	buf_puts(out, "<div class=\"notes\">\n");
	if (about->is_estimated)
		buf_puts(out, "<p>The numbers are estimated from samples.</p>\n");
	for (size_t i = 0; i < about->note_count; i++) {
		buf_puts(out, "<p>");
		export_xml_part(out, about->notes[i], 600);
		buf_puts(out, "</p>\n");
	}
	buf_puts(out, "</div>\n");
}

static void put_facts(const struct export_page *p, struct buf *out)
{
	if (!p->fact_count)
		return;
	buf_puts(out, "<div class=\"facts\">\n");
	for (size_t i = 0; i < p->fact_count; i++) {
		const struct export_fact *f = &p->facts[i];
		buf_puts(out, "<div class=\"fact\"><span class=\"name\">");
		export_xml(out, f->name);
		buf_puts(out, "</span><b>");
		export_xml(out, f->value);
		buf_puts(out, "</b><span>");
		export_xml(out, f->more);
		buf_puts(out, "</span></div>\n");
	}
	buf_puts(out, "</div>\n");
}

static void put_links(const struct export_page *p, struct buf *out)
{
	if (p->section_count < 2)
		return;
	buf_puts(out, "<nav>\n");
	for (size_t i = 0; i < p->section_count; i++) {
		buf_printf(out, "<a href=\"#s%zu\">", i + 1);
		export_xml(out, p->sections[i].title);
		buf_puts(out, "</a>\n");
	}
	buf_puts(out, "</nav>\n");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_bar(double share, struct buf *out)
{
	double pct = share < 0 ? -share : share;
	buf_printf(out, " style=\"background-size: %.1f%% 72%%\"", pct > 1 ? 100 : 100 * pct);
}

static void put_cell(const struct export_table *t, size_t column, const struct export_cell *cell,
		     uint32_t depth, struct buf *out)
{
	const struct export_column *c = &t->columns[column];
	bool has_bar = column == t->bar_column;
	if (c->is_text) {
		buf_printf(out, "<td%s", c->is_code ? " class=\"code\"" : "");
		if (depth)
			buf_printf(out, " style=\"padding-left: %.1fem\"",
				   1 + INDENT_EM * (depth > INDENT_MOST ? INDENT_MOST : depth));
	} else {
		buf_printf(out, "<td class=\"number%s%s\" data-n=\"%.17g\"", has_bar ? " bar" : "",
			   cell->text[0] == '+'                    ? " more"
			   : cell->text[0] == '-' && cell->text[1] ? " less"
								   : "",
			   cell->number);
		if (has_bar)
			put_bar(cell->number, out);
	}
	if (cell->title) {
		buf_puts(out, " title=\"");
		export_xml_part(out, cell->title, EXPORT_TITLE_BYTES);
		buf_putc(out, '"');
	}
	buf_putc(out, '>');
	export_xml(out, cell->text);
	buf_puts(out, "</td>");
}

static void put_row(const struct export_table *t, const struct export_cell *cells, uint32_t depth,
		    const char *class, struct buf *out)
{
	bool is_indented = false;
	buf_printf(out, "<tr%s>", class);
	for (size_t i = 0; i < t->column_count; i++) {
		bool takes_indent = t->columns[i].is_text && !is_indented;
		put_cell(t, i, &cells[i], takes_indent ? depth : 0, out);
		is_indented = is_indented || t->columns[i].is_text;
	}
	buf_puts(out, "</tr>\n");
}

static void put_table(const struct export_table *t, struct buf *out)
{
	buf_printf(out, "<div class=\"scroll\"><table%s>\n<thead><tr>",
		   t->depths ? "" : " class=\"sorts\"");
	for (size_t i = 0; i < t->column_count; i++) {
		buf_printf(out, "<th%s>", t->columns[i].is_text ? "" : " class=\"number\"");
		export_xml(out, t->columns[i].word);
		buf_puts(out, "</th>");
	}
	buf_puts(out, "</tr></thead>\n<tbody>\n");
	for (size_t row = 0; row < t->row_count; row++)
		put_row(t, &t->cells[row * t->column_count], t->depths ? t->depths[row] : 0, "",
			out);
	if (t->others)
		put_row(t, t->others, 0, " class=\"other\"", out);
	buf_puts(out, "</tbody>\n");
	if (t->totals) {
		buf_puts(out, "<tfoot>\n");
		put_row(t, t->totals, 0, "", out);
		buf_puts(out, "</tfoot>\n");
	}
	buf_puts(out, "</table></div>\n");
}

/* ---- sections --------------------------------------------------------------------------------- */

/* For a shell: between single quotes, which themselves are '\''. */
static void put_quoted(struct buf *out, const char *s)
{
	buf_puts(out, "&#39;");
	for (; *s; s += strcspn(s, "'")) {
		struct buf part = {0};
		if (*s == '\'') {
			buf_puts(out, "&#39;\\&#39;&#39;");
			s++;
		}
		buf_put(&part, s, strcspn(s, "'"));
		if (part.count_bytes)
			export_xml(out, part.data);
		out->has_failed = out->has_failed || part.has_failed;
		buf_release(&part);
	}
	buf_puts(out, "&#39;");
}

static void put_about(const struct export_about *about, const struct export_section *s,
		      struct buf *out)
{
	buf_puts(out, "<p class=\"about\">");
	if (s->population && *s->population) {
		export_xml(out, s->population);
		buf_puts(out, "<br/>");
	}
	if (s->query && *s->query) {
		buf_puts(out, "<code>neap query ");
		if (about->file) {
			put_quoted(out, about->file);
			buf_putc(out, ' ');
		}
		if (about->new_file) {
			put_quoted(out, about->new_file);
			buf_putc(out, ' ');
		}
		put_quoted(out, s->query);
		buf_puts(out, "</code>");
	}
	buf_puts(out, "</p>\n");
}

static enum neap_err put_flame(const struct export_about *about, const struct export_tree *t,
			       struct buf *out, struct err *e)
{
	buf_puts(out, "<div class=\"flame-box\">\n<div class=\"flame-bar\">"
		      "<input class=\"flame-search\" type=\"search\" placeholder=\"search "
		      "functions (/)\" "
		      "aria-label=\"search functions\"/>"
		      "<button class=\"flame-reset hidden\" type=\"button\">reset zoom</button>"
		      "<span class=\"flame-match\"> </span></div>\n<div class=\"scroll\">\n");
	enum neap_err code = flame_draw(about, t, false, out, e);
	buf_puts(out, "</div>\n<p class=\"flame-details code\"> </p>\n</div>\n");
	return code;
}

static enum neap_err put_section(const struct export_about *about, const struct export_section *s,
				 size_t number, struct buf *out, struct err *e)
{
	enum neap_err code = NEAP_OK;
	buf_printf(out, "<section id=\"s%zu\">\n<h2>", number);
	export_xml(out, s->title);
	buf_puts(out, "</h2>\n");
	put_about(about, s, out);
	if (s->series)
		chart_draw(about, s->series, false, out);
	if (s->tree)
		code = put_flame(about, s->tree, out, e);
	if (s->table)
		put_table(s->table, out);
	if (!s->series && !s->tree && !s->table) {
		buf_puts(out, "<p class=\"empty\">");
		export_xml(out, s->empty ? s->empty : "nothing");
		buf_puts(out, "</p>\n");
	}
	buf_puts(out, "</section>\n");
	return code;
}

enum neap_err export_html(const struct export_about *about, const struct export_page *p,
			  struct buf *out, struct err *e)
{
	enum neap_err code = NEAP_OK;
	buf_puts(out, head);
	buf_puts(out, "<title>");
	export_xml_part(out, about->title, 100);
	buf_puts(out, " - heap profile</title>\n");
	export_cdata(out, "style", export_page_css);
	export_cdata(out, "style", export_flame_css);
	export_cdata(out, "style", export_chart_css);
	buf_puts(out, "</head>\n<body>\n");
	put_header(about, out);
	put_notes(about, out);
	put_facts(p, out);
	put_links(p, out);
	buf_puts(out, "<main>\n");
	for (size_t i = 0; !code && i < p->section_count; i++)
		code = put_section(about, &p->sections[i], i + 1, out, e);
	buf_puts(out, "</main>\n<footer>Written by ");
	export_xml(out, about->tool);
	buf_puts(out, ".  Sizes are what the program asked for; KiB, MiB and GiB are powers of "
		      "1024.  Each section names the query that gives the same "
		      "numbers.</footer>\n");
	export_cdata(out, "script", export_flame_js);
	export_cdata(out, "script", export_chart_js);
	export_cdata(out, "script", export_page_js);
	buf_puts(out, "</body>\n</html>\n");
	if (!code && out->has_failed)
		code = err_nomem(e, "the page");
	return code;
}
