/*
 * Line reader: turns output into lines of text without a screen. Escape sequences are dropped, tabs
 * and moves to the right become blanks, a backspace removes a character, and a line also ends when
 * the cursor moves elsewhere. The caller stores the line. Pure.
 */
#pragma once

#include "ring/screen/parser.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Callbacks; none may be NULL. start and end are offsets of the bytes of a character. */
struct line_reader_ops {
	/* Printable ASCII that begins at start. */
	void (*text)(void *user, const uint8_t *ascii, size_t length, uint64_t start);
	/* Any other character. */
	void (*character)(void *user, uint32_t code, uint64_t start, uint64_t end);
	/* Blanks from one tab or cursor movement. */
	void (*blanks)(void *user, unsigned count, uint64_t start, uint64_t end);
	void (*back)(void *user);             /* remove the last character, if any */
	void (*end)(void *user);              /* the line ends */
	unsigned (*column)(const void *user); /* column of the next character */
	bool (*is_begun)(const void *user);   /* whether the line has text */
};

/* A line reader. */
struct line_reader {
	struct parser parser; /* parser.offset: offset of the next byte */
	const struct line_reader_ops *ops;
	void *user;
};

/* Start at offset, which should be between two sequences. ops and user are borrowed. */
void line_reader_init(
	struct line_reader *r, const struct line_reader_ops *ops, void *user, uint64_t offset);

/* Free the parser. */
void line_reader_finish(struct line_reader *r);

/* Consume bytes until *pause is set. pause may be NULL. */
void line_reader_feed(struct line_reader *r, const uint8_t *bytes, size_t length, const bool *pause);

/* Bytes were lost: continue at offset in the ground state. */
void line_reader_skip(struct line_reader *r, uint64_t offset);
