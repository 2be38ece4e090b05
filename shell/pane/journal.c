/* See journal.h. A ring buffer: entry numbers only grow, and the oldest entries are overwritten. */
#include "shell/pane/journal.h"

#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define CAPACITY_MIN 8u
_Static_assert((JOURNAL_MAX & (JOURNAL_MAX - 1)) == 0,
	"the size doubles from CAPACITY_MIN to JOURNAL_MAX");

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
	for (unsigned i = 0; i < j->capacity; i++)
		clear(&j->entries[i]);
	free(j->entries);
	j->entries = NULL;
	j->capacity = 0;
	j->count = 0;
}

/* A copy of the text, cut between two characters at JOURNAL_TEXT_MAX. */
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

/* Make space for an entry. The ring grows to JOURNAL_MAX, as most sessions have few entries. */
static bool reserve(struct journal *j)
{
	if (j->count < j->capacity || j->capacity == JOURNAL_MAX)
		return true;
	unsigned capacity = j->capacity ? j->capacity * 2 : CAPACITY_MIN;
	struct journal_entry *entries = realloc(j->entries, capacity * sizeof *entries);
	if (!entries)
		return false;
	memset(entries + j->capacity, 0, (capacity - j->capacity) * sizeof *entries);
	j->entries = entries;
	j->capacity = capacity;
	return true;
}

void journal_add(struct journal *j, const struct journal_entry *entry)
{
	if (is_same_bell(j, entry) || !reserve(j))
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

void journal_notify(struct journal *j)
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
