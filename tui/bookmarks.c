/* Bookmarks. */
#include "config.h"

#include "tui/bookmarks.h"

#include <string.h>

#include "src/base/mem.h"

static bool is_letter(uint32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void bookmarks_release(struct browser *b)
{
	for (size_t i = 0; i < b->bookmark_count; i++)
		saved_release(&b->bookmarks[i].state);
	mem_free(b->bookmarks);
	b->bookmarks = NULL;
	b->bookmark_count = b->bookmark_cap = 0;
}

static struct bookmark *find(const struct browser *b, uint32_t letter)
{
	for (size_t i = 0; i < b->bookmark_count; i++) {
		if ((unsigned char)b->bookmarks[i].letter == letter)
			return &b->bookmarks[i];
	}
	return NULL;
}

const struct saved_state *bookmarks_find(const struct browser *b, uint32_t letter)
{
	const struct bookmark *mark = find(b, letter);
	return mark ? &mark->state : NULL;
}

/* In the order of letters. */
bool bookmarks_set(struct browser *b, uint32_t letter, struct saved_state *s)
{
	struct bookmark *old = find(b, letter);
	size_t at = 0;
	if (old) {
		saved_release(&old->state);
		old->state = *s;
		return true;
	}
	if (!is_letter(letter) || !vec_reserve((void **)&b->bookmarks, &b->bookmark_cap,
					       b->bookmark_count + 1, sizeof *b->bookmarks)) {
		saved_release(s);
		return false;
	}
	while (at < b->bookmark_count && (unsigned char)b->bookmarks[at].letter < letter)
		at++;
	memmove(&b->bookmarks[at + 1], &b->bookmarks[at],
		(b->bookmark_count - at) * sizeof *b->bookmarks);
	b->bookmarks[at] = (struct bookmark){.letter = (char)letter, .state = *s};
	b->bookmark_count++;
	return true;
}

/* ---- keys ------------------------------------------------------------------------------ */

static void put_letters(const struct browser *b, char *dst, size_t cap)
{
	size_t at = 0;
	for (size_t i = 0; i < b->bookmark_count && at + 3 < cap; i++) {
		dst[at++] = ' ';
		dst[at++] = b->bookmarks[i].letter;
	}
	dst[at] = '\0';
}

void bookmarks_ask(struct browser *b, enum action action)
{
	char letters[2 * BOOKMARKS_MOST + 4];
	put_letters(b, letters, sizeof letters);
	if (action == ACTION_GO_BOOKMARK && !b->bookmark_count) {
		browser_say(b, ROLE_DIM, "there are no bookmarks yet: m and a letter set one");
		return;
	}
	b->awaits_letter = action;
	if (action == ACTION_GO_BOOKMARK)
		browser_say(b, ROLE_STRONG, "go to which bookmark?%s", letters);
	else
		browser_say(b, ROLE_STRONG, "a letter for this view%s%s",
			    letters[0] ? "; there are" : "", letters);
}

static void set(struct browser *b, uint32_t letter)
{
	struct saved_state s;
	if (!is_letter(letter))
		browser_say(b, ROLE_DIM, "bookmarks are letters and digits; nothing was set");
	else if (!model_save(&b->model, &s) || !bookmarks_set(b, letter, &s))
		browser_say(b, ROLE_ERROR, "out of memory");
	else
		browser_say(b, ROLE_DIM, "bookmark %c is this view; '%c goes to it", (char)letter,
			    (char)letter);
}

static void go(struct browser *b, uint32_t letter)
{
	struct query_error error = {.code = NEAP_OK};
	const struct saved_state *s = bookmarks_find(b, letter);
	char letters[2 * BOOKMARKS_MOST + 4];
	put_letters(b, letters, sizeof letters);
	if (s)
		browser_tell(b, model_go_saved(&b->model, s, &error), &error);
	else
		browser_say(b, ROLE_WARNING, "that is no bookmark; there are%s", letters);
}

bool bookmarks_input(struct browser *b, const struct input *in)
{
	enum action action = b->awaits_letter;
	if (action == ACTION_NONE)
		return false;
	if (in->key >= SPECIAL_RESIZE)
		return false; /* not a key: the question stands */
	b->awaits_letter = ACTION_NONE;
	if (in->key == CODE_ESCAPE || in->key == 'c' - 0x60u)
		return true;
	if (action == ACTION_BOOKMARK)
		set(b, in->key);
	else
		go(b, in->key);
	return true;
}
