/*
 * What was typed into a session, by whom and where: the latest of it, in memory. What was typed while the
 * terminal did not show it is counted, and its text never kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TYPED_ENTRIES_MAX 4096u
#define TYPED_BYTES_MAX ((size_t)1 << 20) /* of memory, all of a session's entries together */
#define TYPED_JOIN_MS 1000u               /* keystrokes that follow each other are one entry */
#define TYPED_JOIN_BYTES 256u

struct typed_entry {
	struct typed_entry *prev, *next;
	uint64_t offset; /* of the session's output, where it was typed */
	uint64_t at_ms;  /* wall clock */
	uint64_t client; /* id of the attached client; 0: none */
	size_t bytes;
	char *text;                 /* that many bytes, or NULL: they were not shown */
	const char *author, *label; /* in names; shell/name.h */
	char names[];
};

/* Zero is an empty one. */
struct typed {
	struct typed_entry *entries; /* list, oldest first */
	unsigned count;
	size_t size; /* bytes of memory */
};

/* Something that was typed; all borrowed. */
struct typed_note {
	uint64_t offset, at_ms, client;
	const char *author, *label; /* label: "" for none */
	const void *bytes;
	size_t length;
	bool shown; /* whether its text may be kept */
};

/* Add it; the oldest go when there is no room. Silently nothing when memory is short. */
void typed_add(struct typed *t, const struct typed_note *note);

void typed_finish(struct typed *t);
