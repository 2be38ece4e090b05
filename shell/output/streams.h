/*
 * Separates a command's standard output and standard error. The holder writes both into one ring,
 * adds a CR before each LF, and labels the source of the bytes (see pty/wire.h, ring/event.h).
 * These functions return the exact bytes of each source, as they arrive (streams_feed) or from an
 * offset of the ring (streams_read). Bytes of the terminal itself are unchanged. Pure otherwise.
 */
#pragma once

#include "ring/stream.h"
#include "ring/labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_file;

/* Sets of sources. */
#define STREAMS_TERMINAL (1u << EVENT_SOURCE_TERMINAL)
#define STREAMS_STDOUT (1u << EVENT_SOURCE_STDOUT)
#define STREAMS_STDERR (1u << EVENT_SOURCE_STDERR | 1u << EVENT_SOURCE_STDERR_PTY)
#define STREAMS_COMMAND (STREAMS_STDOUT | STREAMS_STDERR)
#define STREAMS_ALL (STREAMS_TERMINAL | STREAMS_COMMAND)

/* State of a parser for bytes and labels in the order in which they arrive. */
struct streams {
	enum event_source source; /* of the next bytes */
	bool cr;                  /* the last byte was a CR; an LF may follow */
};

/* data: borrowed, length > 0. */
typedef void streams_output(
	void *user, enum event_source source, const uint8_t *data, size_t length);

/* Initialize. source: of the first bytes. */
void streams_init(struct streams *s, enum event_source source);

/* Parse bytes of the current source, split anywhere. */
void streams_feed(
	struct streams *s, const uint8_t *bytes, size_t length, streams_output *output, void *user);

/* Set the source of the next bytes. Must also be called, with any source, at the end. */
void streams_label(struct streams *s, enum event_source source, streams_output *output, void *user);

/* What streams_read() reads; all borrowed. */
struct streams_range {
	const struct stream *bytes;  /* of a ring */
	const struct labels *labels; /* with the source of all bytes before end */
	struct output_file *file;    /* if not NULL, it is read instead of bytes and labels */
	uint64_t end; /* the ring's head or a command's end; never between an added CR and its LF */
	unsigned sources; /* STREAMS_...; bytes of other sources are skipped */
};

/* The result of streams_read(). */
struct streams_piece {
	enum event_source source; /* of the bytes */
	size_t length;            /* bytes in dst */
	uint64_t lost;            /* bytes before it that are gone from the ring, of any source */
};

/*
 * Read the next bytes of one source from *cursor and advance *cursor behind them. dst: borrowed,
 * cap bytes (at least 1). Returns false at the range's end, and only ret_piece->lost is valid then.
 * Cannot fail: what cannot be read counts as lost.
 */
bool streams_read(const struct streams_range *range, uint64_t *cursor, uint8_t *dst, size_t cap,
	struct streams_piece *ret_piece);
