/*
 * Marks: the OSC 133 sequences (semantic prompts) that the session's own shell puts into its output, told from
 * all others by their nonce. A streaming finder: however the output is cut, the same marks are found, and
 * everything else comes out as text. Pure.
 */
#pragma once

#include "shell/output/record.h"

#include <stddef.h>
#include <stdint.h>

#define MARK_MAX 192u /* bytes of a mark; a longer one is none of ours */

enum mark_kind {
	MARK_PROMPT,       /* A: the prompt begins */
	MARK_INPUT,        /* B: it has ended, a line can be typed */
	MARK_CONTINUATION, /* P;k=s: the same for a line that goes on */
	MARK_START,        /* C: a command's output begins */
	MARK_END,          /* D: it has ended */
	MARK_CONTINUED,    /* P;k=e: a continuation prompt has ended */
};

struct mark {
	enum mark_kind kind;
	uint64_t start, end;            /* offsets of its first byte and behind its last */
	char id[RECORD_ID_MAX + 1];     /* C, D: of the exec, or "" */
	char seal[RECORD_SEAL_MAX + 1]; /* D: of the exec, or "" */
	int status;                     /* D: 0 to 255; -1 when it has none */
	uint64_t time_us;               /* C: wall clock; 0 when it has none */
};

struct marks {
	char text[MARK_MAX + 1]; /* what may become a mark, from its ESC */
	size_t length;
	uint64_t start; /* offset of the ESC */
};

struct marks_callbacks {
	void (*text)(void *user, uint64_t offset, const void *bytes, size_t length);
	void (*mark)(void *user, const struct mark *mark);
	void *user;
};

/* Take bytes of the terminal; offset is that of the first. What may become a mark is held back. */
void marks_feed(struct marks *m, const char *nonce, uint64_t offset, const void *bytes,
	size_t length, const struct marks_callbacks *callbacks);

/* EPOCHREALTIME of bash, as us: seconds and six digits, with whatever the locale has between them; 0 when it is none. */
uint64_t marks_time(const char *text);
