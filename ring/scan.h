/*
 * Scan: what the fan-out has to know of output. Where it may be cut (ground), how far it may be shown (settled), and where
 * a program asks its terminal a question (query ranges). A mark of a shell (OSC 133) is shown as a whole, because its
 * secret is hidden (ring/history.h). APC, PM and SOS have no common meaning, and many terminals answer them: all are
 * queries.
 *
 * The tokens are those of ring/tokenizer.h, because xterm.js renders the bytes: output may be cut exactly where xterm.js's
 * VT500_TRANSITION_TABLE is in GROUND, which tests/integration/scan_dialect.test.mjs compares.
 *
 * Pure: bytes in, ranges out. Splitting the input anywhere changes nothing.
 */
#pragma once

#include "ring/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A control sequence that is longer than this without its final byte is hidden from clients. */
#define SCAN_SEQUENCE_MAX 1024u
/* A string that may be a query is held back for this many bytes at most, then hidden from clients. */
#define SCAN_STRING_MAX 8192u

/* Bytes that make a terminal answer, or could. */
struct scan_query {
	uint64_t start;  /* offset of the introducer */
	uint32_t length; /* bytes */
	bool string;     /* an OSC or DCS: C0 controls inside are part of it; otherwise they act */
	bool muted;      /* a piece of what is too long to be judged, and hidden for that */
	bool ends;       /* its introducer ends what came before, which was unfinished */
};

/*
 * Called for each query before `settled` passes it, in order of offsets; but a sequence may contain an
 * ENQ that was reported before it, because C0 controls act at once.
 */
typedef void (*scan_query_cb)(void *user, const struct scan_query *query);

struct scan {
	uint64_t offset;  /* bytes fed */
	uint64_t settled; /* everything before has been judged and may be shown */
	uint64_t ground;  /* newest offset that is between two sequences and two characters */
	uint64_t start;   /* where the current sequence began */
	uint64_t esc;     /* while terminating: where the ESC is */
	struct tokenizer tokenizer;
	bool terminating; /* an ESC has ended a string, which is judged with the next byte: is it its terminator's? */
	bool hold;       /* the current sequence may become a query: do not show it yet */
	bool muted;      /* the current sequence has grown past its limit: hide it */
	bool asks;       /* the string is a query as far as it has come */
	bool judged;     /* the string's number is known */
	bool ends;       /* the current sequence has ended an unfinished one */
	uint8_t names;   /* what the name that an OSC begins with may be, see asks_name() */
	uint8_t named;   /* characters of it */
	uint32_t number; /* first parameter, saturating */
	uint32_t params; /* separators seen */
};

/* Begin at an absolute offset between two sequences. */
void scan_init(struct scan *s, uint64_t offset);

/*
 * Skip bytes up to offset, which are not the terminal's, and drop an unfinished sequence. settled: how far they may be
 * shown, which is between two sequences.
 */
void scan_skip(struct scan *s, uint64_t offset, uint64_t settled);

/* Whether the scan is between two sequences and two characters. */
bool scan_is_ground(const struct scan *s);

/* Feed the next length bytes; cb is called from within and must not touch *s. */
void scan_feed(struct scan *s, const uint8_t *data, size_t length, scan_query_cb cb, void *user);
