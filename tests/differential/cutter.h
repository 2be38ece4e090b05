/*
 * What a stream is cut into for the comparison: the shortest pieces between which a terminal is in the middle of
 * nothing. Text is taken together, as far as the caller wants it.
 */
#pragma once

#include "ring/screen/parser.h"

enum piece_kind {
	PIECE_TEXT,      /* printable ASCII */
	PIECE_CHARACTER, /* another character: code */
	PIECE_CONTROL,   /* code */
	PIECE_ESCAPE,    /* id */
	PIECE_CSI,       /* id, params */
	PIECE_STRING,    /* OSC, DCS, APC, PM or SOS */
	PIECE_NOTHING,   /* bytes that mean nothing */
	PIECE_MIXED, /* controls within a sequence, one sequence cut off by another, or no UTF-8 */
};

struct piece {
	enum piece_kind kind;
	const uint8_t *bytes; /* borrowed from the stream */
	size_t length;
	uint32_t code;
	uint32_t id;
	struct params params;
};

/* Cuts a stream. */
struct cutter {
	struct parser parser;
	struct piece piece; /* what the bytes so far come to */
	unsigned actions;   /* of them */
};

void cutter_init(struct cutter *c);
void cutter_finish(struct cutter *c);

/*
 * The next piece of some bytes. text_max: of it at most so many characters of text, at least 1. Returns false when the bytes end
 * before it does: those that are left are to come again, with what follows them.
 */
bool cutter_next(struct cutter *c, const uint8_t *bytes, size_t length, size_t text_max,
	struct piece *ret_piece);
