/*
 * The outline of a session's output: a cursor that reads the ring's bytes and events in order, and
 * sorts them into text by its source, marks of the shell and records of the sentinel FIFO. It has
 * no queue, so any number of outlines can read the same ring at their own pace.
 */
#pragma once

#include "ring/event.h"
#include "ring/ring.h"
#include "shell/output/marks.h"
#include "shell/output/record.h"
#include "shell/output/streams.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A position from which outline_init() can continue. All before it has been reported. */
struct outline_place {
	uint64_t offset, position;
	enum event_source source;
};

/* Where the results go. */
struct outline_callbacks {
	/*
	 * Text of one source, without the CRs that the holder has added. offset: of its first byte
	 * in the ring; only approximate unless the source is the terminal.
	 */
	void (*text)(void *user, enum event_source source, uint64_t offset, const void *bytes,
		size_t length);
	void (*mark)(void *user, const struct mark *mark); /* may be NULL */
	/* event: has its offset and time; position: start of the event in the event log. May be NULL. */
	void (*record)(void *user, const struct record *record, const struct event_header *event,
		uint64_t position);
	/* The shell has exited and the holder has started another one; may be NULL. */
	void (*shell)(void *user, const struct event_shell *shell, const struct event_header *event);
	/* Bytes that were already overwritten in the ring. */
	void (*lost)(void *user, uint64_t bytes);
};

/* The state of a reader. */
struct outline {
	const char *nonce;      /* borrowed */
	uint64_t offset;        /* of the next byte */
	uint64_t position;      /* of the next event in its log */
	struct streams streams; /* source of the next bytes, and a CR that may have been added */
	struct marks marks;
	struct record_reader records;
	uint64_t events_lost; /* counter: events were overwritten, so sources may be wrong */
};

/* Start at an offset. position: start of an event in the log. source: of the next bytes. */
void outline_init(struct outline *o, const char *nonce, uint64_t offset, uint64_t position,
	enum event_source source);

/* Get the current position. Returns false if it is in the middle of a mark, record or CR LF. */
bool outline_place(const struct outline *o, struct outline_place *ret_place);

/*
 * Read up to the offset limit, but at most budget bytes. Returns whether there is more before
 * limit. Arguments of callbacks are borrowed for the call.
 */
bool outline_read(struct outline *o, const struct ring *ring, uint64_t limit, size_t budget,
	const struct outline_callbacks *callbacks, void *user);
