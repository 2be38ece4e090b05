/*
 * The journal of a session: what has happened besides output, with its place in it, for those who follow the
 * session's events. Bounded: the oldest entries go, and a reader sees that by their numbers. Sizes and the end are
 * in the history (ring/history.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_MAX 512u                   /* entries of a session */
#define JOURNAL_TEXT_MAX ((size_t)4 << 10) /* bytes of a text */
#define JOURNAL_BELL_MS 100u               /* bells that are closer than that are one */

enum journal_type {
	JOURNAL_BLOCK_STARTED,
	JOURNAL_BLOCK_ENDED,
	JOURNAL_TITLE,
	JOURNAL_CWD,
	JOURNAL_BELL,
	JOURNAL_NOTIFICATION,
};

struct journal_entry {
	enum journal_type type;
	uint64_t offset; /* in the output */
	uint64_t at_ms;  /* wall clock */
	uint64_t block;  /* start of the block */
	char *text;      /* the title, directory or notification; NULL: none */
	char *detail;    /* the title of a notification, or NULL */
};

/* Someone who follows the session; the memory is the follower's. No callback may take another one away. */
struct journal_watcher {
	struct journal_watcher *prev, *next;
	void (*more)(void *user); /* there is another entry, more output, or it is over */
	void (*gone)(void *user); /* the session is no more; the watcher has been taken away */
	void *user;
	bool aside; /* nobody looks at the session for it: see journal_is_watched() */
};

struct journal {
	struct journal_entry *entries; /* room of them; once that is JOURNAL_MAX a circle */
	unsigned room;
	uint64_t count; /* ever */
	uint64_t since; /* the offset from which on it is complete */
	struct journal_watcher *watchers;
};

/* Begin; since: where output goes on. */
void journal_open(struct journal *j, uint64_t since);

/* The session is over: all watchers lose it. */
void journal_close(struct journal *j);

/* Add an entry; texts are copied, and cut when they are too long. What there is no memory for is left out. */
void journal_add(struct journal *j, const struct journal_entry *entry);

/* The number of the oldest entry that is still there. */
uint64_t journal_oldest(const struct journal *j);

/* An entry that is there, borrowed until the next one is added; NULL when there is none of that number yet. */
const struct journal_entry *journal_get(const struct journal *j, uint64_t number);

/* Tell all watchers. */
void journal_tell(struct journal *j);

void journal_watch(struct journal *j, struct journal_watcher *w);
void journal_unwatch(struct journal *j, struct journal_watcher *w);

/* Whether somebody looks at the session, and wants to be told soon: not one who only keeps an eye on all. */
bool journal_is_watched(const struct journal *j);
