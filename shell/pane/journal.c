/* See journal.h. A circle: entries are numbered for ever, and the oldest are overwritten. */
#include "shell/pane/journal.h"

#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define ROOM_MIN 8u
_Static_assert((JOURNAL_MAX & (JOURNAL_MAX - 1)) == 0, "twice ROOM_MIN, and so on, comes to it");

void journal_open(struct journal *j, uint64_t since)
{
	*j = (struct journal){.since = since};
}

static void clear(struct journal_entry *entry)
{
	free(entry->text);
	free(entry->detail);
	*entry = (struct journal_entry){0};
}

void journal_close(struct journal *j)
{
	while (j->watchers) {
		struct journal_watcher *w = j->watchers;
		DL_DELETE(j->watchers, w);
		w->gone(w->user);
	}
	for (unsigned i = 0; i < j->room; i++)
		clear(&j->entries[i]);
	free(j->entries);
	j->entries = NULL;
	j->room = 0;
	j->count = 0;
}

/* As much of a text as is kept, cut between two characters. */
static char *copy(const char *text)
{
	if (!text)
		return NULL;
	size_t length = strnlen(text, JOURNAL_TEXT_MAX + 1);
	return strndup(text, utf8_cut(text, length, JOURNAL_TEXT_MAX));
}

static bool is_same_bell(const struct journal *j, const struct journal_entry *entry)
{
	const struct journal_entry *last = j->count ? journal_get(j, j->count - 1) : NULL;
	return entry->type == JOURNAL_BELL && last && last->type == JOURNAL_BELL &&
		entry->at_ms < last->at_ms + JOURNAL_BELL_MS;
}

/* See to it that there is a place for one more: most sessions have few, so that the circle grows until it is one. */
static bool make_room(struct journal *j)
{
	if (j->count < j->room || j->room == JOURNAL_MAX)
		return true;
	unsigned room = j->room ? j->room * 2 : ROOM_MIN;
	struct journal_entry *entries = realloc(j->entries, room * sizeof *entries);
	if (!entries)
		return false;
	memset(entries + j->room, 0, (room - j->room) * sizeof *entries);
	j->entries = entries;
	j->room = room;
	return true;
}

void journal_add(struct journal *j, const struct journal_entry *entry)
{
	if (is_same_bell(j, entry) || !make_room(j))
		return;
	struct journal_entry *place = &j->entries[j->count % JOURNAL_MAX];
	clear(place);
	*place = *entry;
	place->text = copy(entry->text);
	place->detail = copy(entry->detail);
	j->count++;
}

uint64_t journal_oldest(const struct journal *j)
{
	return j->count > JOURNAL_MAX ? j->count - JOURNAL_MAX : 0;
}

const struct journal_entry *journal_get(const struct journal *j, uint64_t number)
{
	return number < j->count && number >= journal_oldest(j) ? &j->entries[number % JOURNAL_MAX]
								: NULL;
}

void journal_tell(struct journal *j)
{
	struct journal_watcher *w, *next;
	DL_FOREACH_SAFE (j->watchers, w, next)
		w->more(w->user);
}

void journal_watch(struct journal *j, struct journal_watcher *w)
{
	DL_APPEND(j->watchers, w);
}

void journal_unwatch(struct journal *j, struct journal_watcher *w)
{
	DL_DELETE(j->watchers, w);
}

bool journal_is_watched(const struct journal *j)
{
	const struct journal_watcher *w;
	DL_FOREACH (j->watchers, w)
		if (!w->aside)
			return true;
	return false;
}
