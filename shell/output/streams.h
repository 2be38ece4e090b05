/*
 * A command's standard output and standard error, taken apart again. The holder puts both into one ring,
 * a CR before each LF, and labels who wrote what (see pty/wire.h, ring/event.h); here the exact bytes come
 * out, either as they come in (streams_feed) or from a cursor, which is an offset of the ring. Bytes of the
 * terminal itself are as they are. Pure, but for looking into a ring.
 */
#pragma once

#include "ring/stream.h"
#include "ring/labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_file;

/* Sources, to be added up. */
#define STREAMS_TERMINAL (1u << EVENT_SOURCE_TERMINAL)
#define STREAMS_STDOUT (1u << EVENT_SOURCE_STDOUT)
#define STREAMS_STDERR (1u << EVENT_SOURCE_STDERR | 1u << EVENT_SOURCE_STDERR_PTY)
#define STREAMS_COMMAND (STREAMS_STDOUT | STREAMS_STDERR)
#define STREAMS_ALL (STREAMS_TERMINAL | STREAMS_COMMAND)

/* Incrementally: bytes and labels in the order in which they came. */
struct streams {
	enum event_source source; /* whose the next bytes are */
	bool cr;                  /* the last byte was a CR, which may belong to an LF to come */
};

/* data: borrowed, length > 0. */
typedef void streams_output(
	void *user, enum event_source source, const uint8_t *data, size_t length);

/* Begin; the first bytes are source's. */
void streams_init(struct streams *s, enum event_source source);

/* Bytes that come now, cut anywhere. */
void streams_feed(
	struct streams *s, const uint8_t *bytes, size_t length, streams_output *output, void *user);

/* Those that follow are source's. Also to be called (with any source) at the end. */
void streams_label(struct streams *s, enum event_source source, streams_output *output, void *user);

/* What is read, and how far. */
struct streams_range {
	const struct stream *bytes;  /* of a ring */
	const struct labels *labels; /* they know who wrote the bytes before end */
	struct output_file *file;    /* if not NULL, bytes and labels are in it */
	uint64_t end; /* the ring's head, or where a command ended: no CR is separated from its LF there */
	unsigned sources; /* which (STREAMS_...); bytes of others are passed over */
};

/* What streams_read() has found. */
struct streams_piece {
	enum event_source source; /* whose bytes these are */
	size_t length;            /* bytes of it */
	uint64_t lost; /* bytes of the ring in front of it that are gone, of whichever source */
};

/*
 * Read the next bytes of one source from *cursor on and advance *cursor behind them. dst: cap bytes (at
 * least 1), borrowed. Returns whether there was something: then length > 0; otherwise *cursor is at the
 * range's end, and only ret_piece->lost means anything. Cannot fail: what cannot be read is lost.
 */
bool streams_read(const struct streams_range *range, uint64_t *cursor, uint8_t *dst, size_t cap,
	struct streams_piece *ret_piece);
