/*
 * Marks: OSC 133 sequences (semantic prompts) that the session's own shell prints, recognized by
 * their nonce. A streaming parser: the result does not depend on how the output is split. All other
 * output is passed on as text. Pure.
 */
#pragma once

#include "shell/output/record.h"

#include <stddef.h>
#include <stdint.h>

#define MARK_MAX 192u /* bytes of a mark; a longer sequence is text */

/* The kind of a mark, with its code in OSC 133. */
enum mark_kind {
	MARK_PROMPT,       /* A: start of the prompt */
	MARK_INPUT,        /* B: end of the prompt, a line can be typed */
	MARK_CONTINUATION, /* P;k=s: start of a continuation prompt */
	MARK_START,        /* C: start of a command's output */
	MARK_END,          /* D: the command has ended */
	MARK_CONTINUED,    /* P;k=e: end of a continuation prompt */
};

/* A mark that was found. */
struct mark {
	enum mark_kind kind;
	uint64_t start, end;            /* offsets of its first byte and behind its last */
	char id[RECORD_ID_MAX + 1];     /* C, D: of the exec, or "" */
	char seal[RECORD_SEAL_MAX + 1]; /* D: of the exec, or "" */
	int status;                     /* D: 0 to 255; -1: none */
	uint64_t time_us;               /* C: wall clock; 0: none */
};

/* Parser state; starts zeroed. */
struct marks {
	char text[MARK_MAX + 1]; /* a possible mark, from its ESC */
	size_t length;
	uint64_t start; /* offset of the ESC */
};

/* Where the results go. */
struct marks_callbacks {
	void (*text)(void *user, uint64_t offset, const void *bytes, size_t length);
	void (*mark)(void *user, const struct mark *mark);
	void *user;
};

/* Parse output; offset: of the first byte. A possible mark is held back until it is complete. */
void marks_feed(struct marks *m, const char *nonce, uint64_t offset, const void *bytes,
	size_t length, const struct marks_callbacks *callbacks);

/* Parse bash's EPOCHREALTIME with any decimal point. Returns us, or 0 if it is invalid. */
uint64_t marks_time(const char *text);
