/*
 * Scan: a streaming parser of the DEC/xterm escape syntax, as far as the fan-out needs it. It says
 * where output may be cut (ground offsets), how far it may already be shown (settled), and where a
 * program asks its terminal a question (query ranges). A mark of a shell (OSC 133) is shown as a whole, too, for its
 * secret is hidden (ring/history.h). APC, PM and SOS strings mean what a terminal's maker wants, and many are answered:
 * all are queries.
 *
 * It follows xterm.js, because that is what renders the bytes: it is between two sequences exactly where
 * xterm.js's VT500_TRANSITION_TABLE is in GROUND, which tests/integration/scan_dialect.test.mjs compares.
 * So C1 controls count only as UTF-8 (U+0080 to U+009F), and other characters abort escapes, control
 * sequences, headers of DCS, and SOS, PM and APC strings. An OSC or DCS takes effect at the ESC of its
 * terminator.
 *
 * Pure: bytes in, ranges out. Splitting the input anywhere changes nothing.
 */
#pragma once

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

enum scan_state {
	SCAN_GROUND,
	SCAN_ESCAPE,
	SCAN_ESCAPE_INTERMEDIATE,
	SCAN_CSI,
	SCAN_CSI_IGNORE, /* malformed: it has no effect, but it has a final byte */
	SCAN_OSC,        /* this and all that follow are strings */
	SCAN_DCS_HEADER,
	SCAN_DCS,        /* its data, or what is ignored in place of it */
	SCAN_STRING,     /* SOS, PM, APC: contents mean nothing to us */
	SCAN_STRING_END, /* ESC inside a string: perhaps of ST */
};

struct scan {
	uint64_t offset;  /* bytes fed */
	uint64_t settled; /* everything before has been judged and may be shown */
	uint64_t ground;  /* newest offset that is between two sequences and two characters */
	uint64_t start;   /* where the current sequence began */
	uint64_t lead;    /* where the current multi-byte character began */
	uint64_t esc;     /* SCAN_STRING_END: where the ESC is */
	enum scan_state state;
	uint32_t code;     /* the current character's bits so far */
	uint8_t utf8_left; /* continuation bytes still due */
	uint8_t utf8_size; /* bytes of the current character */
	bool hold;         /* the current sequence may become a query: do not show it yet */
	bool muted;        /* the current sequence has grown past its limit: hide it */
	bool asks; /* the string is a query, as far as it has come: it contains a '?' where one has it */
	bool judged;     /* the string's number is known */
	bool begun;      /* there are parameters: none of < = > ? may follow */
	bool ends;       /* the current sequence has ended an unfinished one */
	uint8_t prefix;  /* one of < = > ?, or 0 */
	uint8_t inter;   /* last intermediate byte, or 0 */
	uint8_t names;   /* what the name may be with which an OSC begins, see asks_name() */
	uint8_t named;   /* characters of it */
	uint32_t number; /* first parameter, saturating */
	uint32_t params; /* separators seen */
};

/* Begin at an absolute offset, assumed to be between two sequences. */
void scan_init(struct scan *s, uint64_t offset);

/*
 * The next bytes, up to offset, are none of the terminal's: whatever was unfinished is given up. settled: how far they may
 * be shown, which is a place between two sequences.
 */
void scan_skip(struct scan *s, uint64_t offset, uint64_t settled);

/* Whether it is between two sequences and two characters. */
bool scan_is_whole(const struct scan *s);

/* Feed the next length bytes; cb is called from within and must not touch *s. */
void scan_feed(struct scan *s, const uint8_t *data, size_t length, scan_query_cb cb, void *user);
