/*
 * The journal of a session: events besides output, each with its offset in the output, for watchers
 * of the session. Bounded: the oldest entries are overwritten, which a reader detects by their
 * numbers. Sizes and the exit are in the history (ring/history.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_MAX 512u                   /* entries of a session */
#define JOURNAL_TEXT_MAX ((size_t)4 << 10) /* bytes of a text */
#define JOURNAL_BELL_MS 100u               /* bells closer than this count as one */

/* The kind of an entry. */
enum journal_type {
	JOURNAL_BLOCK_STARTED,
	JOURNAL_BLOCK_ENDED,
	JOURNAL_TITLE,
	JOURNAL_CWD,
	JOURNAL_BELL,
	JOURNAL_NOTIFICATION,
};

/* One event. */
struct journal_entry {
	enum journal_type type;
	uint64_t offset; /* in the output */
	uint64_t at_ms;  /* wall clock */
	uint64_t block;  /* start of the block */
	char *text;      /* the title, directory or notification; NULL: none */
	char *detail;    /* the title of a notification, or NULL */
};

/*
 * A watcher of the session; the memory is the caller's. A callback must not remove another watcher.
 */
struct journal_watcher {
	struct journal_watcher *prev, *next;
	void (*more)(void *user); /* there is a new entry, more output, or the session has exited */
	void (*gone)(void *user); /* the session was destroyed; the watcher has been removed */
	void *user;
	bool aside; /* it does not count for journal_is_watched() */
};

/* A journal; open it with journal_open(). */
struct journal {
	struct journal_entry *entries; /* array of `capacity`; a ring once that is JOURNAL_MAX */
	unsigned capacity;
	uint64_t count; /* entries ever added */
	uint64_t since; /* offset of the output from which the journal is complete */
	struct journal_watcher *watchers;
};

/* Begin. since: the current offset of the output. */
void journal_open(struct journal *j, uint64_t since);

/* Remove all watchers, calling gone(), and free all entries. */
void journal_close(struct journal *j);

/* Add an entry; texts are copied, and cut at JOURNAL_TEXT_MAX. Without memory it is dropped. */
void journal_add(struct journal *j, const struct journal_entry *entry);

/* The number of the oldest entry that is kept. */
uint64_t journal_oldest(const struct journal *j);

/* An entry by number, borrowed until the next journal_add(); NULL: there is none. */
const struct journal_entry *journal_get(const struct journal *j, uint64_t number);

/* Call more() of all watchers. */
void journal_notify(struct journal *j);

/* Add a watcher. */
void journal_watch(struct journal *j, struct journal_watcher *w);

/* Remove a watcher; gone() is not called. */
void journal_unwatch(struct journal *j, struct journal_watcher *w);

/* Whether the session has a watcher that needs changes soon: one without `aside`. */
bool journal_is_watched(const struct journal *j);
