/*
 * Line reader: output as lines of text, as far as they can be told without a screen: without escape sequences, tabs
 * and moves to the right as blanks, a character taken back by a backspace; a line also ends where the cursor goes
 * elsewhere. Who reads keeps the line. Pure.
 */
#pragma once

#include "ring/screen/parser.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* None may be NULL. Offsets are those of the bytes that have made a character. */
struct line_reader_ops {
	/* Printable ASCII, its first byte at start. */
	void (*text)(void *user, const uint8_t *ascii, size_t length, uint64_t start);
	/* Another character. */
	void (*character)(void *user, uint32_t code, uint64_t start, uint64_t end);
	/* So many blanks, all of them from one tab or move. */
	void (*blanks)(void *user, unsigned count, uint64_t start, uint64_t end);
	void (*back)(void *user); /* the last character is taken back, if there is one */
	void (*end)(void *user);  /* the line is over */
	unsigned (*column)(const void *user); /* where the next character goes */
	bool (*is_begun)(const void *user);   /* whether the line has text */
};

struct line_reader {
	struct parser parser; /* its offset is that of the next byte */
	const struct line_reader_ops *ops;
	void *user;
};

/* Begin with the byte at `offset`, which should lie between two sequences. ops and user are borrowed. */
void line_reader_init(
	struct line_reader *r, const struct line_reader_ops *ops, void *user, uint64_t offset);
void line_reader_finish(struct line_reader *r);

/* Take bytes, the next ones, until *pause is set (NULL: all of them). */
void line_reader_feed(struct line_reader *r, const uint8_t *bytes, size_t length, const bool *pause);

/* Bytes have been lost: go on at offset, with nothing under way. */
void line_reader_skip(struct line_reader *r, uint64_t offset);
