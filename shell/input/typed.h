/*
 * The latest input to a session: its text, author and offset, in memory. Input that the terminal
 * did not echo is counted; its text is never kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TYPED_ENTRIES_MAX 4096u
#define TYPED_BYTES_MAX ((size_t)1 << 20) /* of memory, for all entries of a session */
#define TYPED_JOIN_MS 1000u               /* keystrokes this close together are one entry */
#define TYPED_JOIN_BYTES 256u

/* Input by one author. */
struct typed_entry {
	struct typed_entry *prev, *next;
	uint64_t offset; /* of the session's output when it was typed */
	uint64_t at_ms;  /* wall clock */
	uint64_t client; /* id of the attached client; 0: none */
	size_t bytes;
	char *text;                 /* of `bytes` bytes; NULL: not echoed */
	const char *author, *label; /* point into names; see shell/name.h */
	char names[];
};

/* The record. Zero is empty. */
struct typed {
	struct typed_entry *entries; /* list, oldest first */
	unsigned count;
	size_t size; /* bytes of memory */
};

/* Input to add; all borrowed. */
struct typed_note {
	uint64_t offset, at_ms, client;
	const char *author, *label; /* label: "" for none */
	const void *bytes;
	size_t length;
	bool shown; /* it was echoed, so its text may be kept */
};

/* Add input; the oldest entries are dropped above the limits. Does nothing if memory is short. */
void typed_add(struct typed *t, const struct typed_note *note);

/* Free all entries. */
void typed_finish(struct typed *t);
