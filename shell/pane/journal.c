/* See journal.h. A circle: entries are numbered for ever, and the oldest are overwritten. */
#include "shell/pane/journal.h"

#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

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
	for (unsigned i = 0; j->entries && i < JOURNAL_MAX; i++)
		clear(&j->entries[i]);
	free(j->entries);
	j->entries = NULL;
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

void journal_add(struct journal *j, const struct journal_entry *entry)
{
	if (!j->entries)
		j->entries = calloc(JOURNAL_MAX, sizeof *j->entries);
	if (!j->entries || is_same_bell(j, entry))
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
