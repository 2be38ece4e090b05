/*
 * The outline of a session's output: its ring's bytes and events read in order, sorted into text (by who wrote
 * it, as it was written), marks of the shell and records of the sentinel FIFO. A cursor into the ring without
 * a queue: it can be read as it grows, again later, and by many at their own pace.
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

/*
 * A place where one can go on reading: whatever lies before it has been told. With a nonce it is an outline.
 */
struct outline_place {
	uint64_t offset, position;
	enum event_source source;
};

struct outline_callbacks {
	/*
	 * What somebody has written; from the FIFOs and the second terminal without the CRs that were added.
	 * offset: of its first byte in the ring; of the others only about.
	 */
	void (*text)(void *user, enum event_source source, uint64_t offset, const void *bytes,
		size_t length);
	void (*mark)(void *user, const struct mark *mark);
	/* event: its offset and time; position: where it begins in the log of events. */
	void (*record)(void *user, const struct record *record, const struct event_header *event,
		uint64_t position);
	/* The shell has ended, and the holder has started another; may be NULL. */
	void (*shell)(void *user, const struct event_shell *shell, const struct event_header *event);
	/* Bytes that the ring did not have any more. */
	void (*lost)(void *user, uint64_t bytes);
};

/* Where a reader is. */
struct outline {
	const char *nonce;      /* borrowed */
	uint64_t offset;        /* of the next byte */
	uint64_t position;      /* of the next event in its log */
	struct streams streams; /* whose the bytes are, and a CR that may have been added */
	struct marks marks;
	struct record_reader records;
	uint64_t events_lost; /* times that the log had been overwritten: sources are unsure then */
};

/* Begin at these places; position: where a record of the log begins. source: who writes there. */
void outline_init(struct outline *o, const char *nonce, uint64_t offset, uint64_t position,
	enum event_source source);

/* Where o is, unless that is in the middle of something. */
bool outline_place(const struct outline *o, struct outline_place *ret_place);

/*
 * Read on up to the offset limit, and at most budget bytes. Returns whether there is more before limit.
 * What the callbacks get is borrowed for the call.
 */
bool outline_read(struct outline *o, const struct ring *ring, uint64_t limit, size_t budget,
	const struct outline_callbacks *callbacks, void *user);
