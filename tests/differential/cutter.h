/*
 * Cuts a stream into the shortest pieces after which a terminal is in its ground state. Text is kept together, up to
 * the caller's limit.
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
	PIECE_NOTHING,   /* bytes without an effect */
	PIECE_MIXED,     /* a control within a sequence, an aborted sequence, or invalid UTF-8 */
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
	struct piece piece; /* of the bytes so far */
	unsigned actions;   /* in the piece */
};

void cutter_init(struct cutter *c);
void cutter_finish(struct cutter *c);

/*
 * Get the next piece. text_max: its most characters of text, at least 1. Returns false if the bytes end before the
 * piece does: then pass the rest again, with further bytes.
 */
bool cutter_next(struct cutter *c, const uint8_t *bytes, size_t length, size_t text_max,
	struct piece *ret_piece);
