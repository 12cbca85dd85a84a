/* Tables whose rows are things of the run: below them stands what is known of the selected one. */
#ifndef NEAP_TUI_FACTS_H
#define NEAP_TUI_FACTS_H

#include "tui/browser.h"

struct facts {
	void *table;                  /* value of view_table; NULL before the first load */
	struct module_names *modules; /* view_modules.c */
};
/* What the rows are. */
struct facts_kind {
	const char *word; /* the key of the table: "thread" */
	/* Append what is known of a row with this key, */
	void (*say)(struct facts *f, struct browser *b, const char *key, struct buf *out);
	/* and the condition that only it fulfils. */
	void (*put_condition)(const struct browser *b, const char *key, struct buf *out);
};

enum neap_err facts_load(struct facts *f, struct browser *b, struct query_error *error);
void facts_release(struct facts *f);
/* facts_draw - the table, and below it where there is room what is said of the row's key. */
void facts_draw(struct facts *f, struct browser *b, const struct area *a,
		const struct facts_kind *kind);
/* facts_act - Enter keeps the row and shows who holds it, in the tree. */
bool facts_act(struct facts *f, struct browser *b, enum action action,
	       const struct facts_kind *kind);

/* The rest of a view is the table's. */
bool facts_mouse(void *self, struct browser *b, const struct mouse *m);
void facts_place(const void *self, struct buf *out);
bool facts_frame(const void *self, struct graph_frame *out);
void facts_row_text(const void *self, struct browser *b, struct buf *out);
bool facts_find(void *self, struct browser *b, const char *text, bool is_back, bool is_here);
void facts_save_spot(const void *self, struct buf *out);
void facts_take_spot(void *self, const char *text);

#endif
