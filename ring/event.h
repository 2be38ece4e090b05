/*
 * Events: what happened at an offset of a session's output. They are records in a stream of their
 * own beside the bytes, written by the holder only.
 */
#pragma once

#include "ring/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frozen: numbers are never reused, unknown ones are skipped by readers. */
enum event_type {
	EVENT_RESIZE = 1, /* payload: struct event_resize */
	EVENT_FIFO = 2,   /* payload: bytes as one read(2) of the sentinel FIFO gave them */
	EVENT_SOURCE = 3, /* payload: uint32_t, enum event_source: who wrote the bytes from here on */
	EVENT_EXIT = 4,   /* payload: int32_t wait(2) status of the shell */
	EVENT_SHELL = 5, /* payload: struct event_shell */
};

/* Who wrote a run of bytes. */
enum event_source {
	EVENT_SOURCE_TERMINAL = 0,   /* the session's own PTY */
	EVENT_SOURCE_STDOUT = 1,     /* the FIFO for a command's standard output */
	EVENT_SOURCE_STDERR = 2,     /* the FIFO for a command's standard error */
	EVENT_SOURCE_STDERR_PTY = 3, /* a second PTY for a command's standard error */
};

/* Longest payload: what one atomic write to a FIFO can hold (PIPE_BUF). */
#define EVENT_PAYLOAD_MAX 4096u

/* What precedes each payload in the stream; the whole record is padded to a multiple of 8. */
struct event_header {
	uint64_t offset;  /* bytes of output that came before */
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint64_t boot_ns; /* CLOCK_BOOTTIME, for how long ago that is: the other clock may be set */
	uint32_t type;    /* enum event_type */
	uint32_t length;  /* payload bytes, at most EVENT_PAYLOAD_MAX */
};

/* The terminal has this size from the event's offset on. */
struct event_resize {
	uint16_t rows;
	uint16_t cols;
};

/* The shell has ended, all it wrote is before the event's offset, and a new one has taken its place. */
struct event_shell {
	int32_t status; /* wait(2) status of the old one */
	int32_t pid;    /* of the new one */
};

/* One event, read. */
struct event {
	struct event_header header;
	uint8_t payload[EVENT_PAYLOAD_MAX];
};

/* Bytes that a record with this many bytes of payload takes in the stream. */
size_t event_size(size_t length);

/*
 * Append a record to log and publish it whole. length: at most EVENT_PAYLOAD_MAX. The caller has made
 * sure that no reader still needs what it overwrites (the overrun rule).
 */
void event_append(struct stream *log, const struct event_header *header, const void *payload);

/*
 * Read the record at *offset and advance *offset behind it.
 * Returns 1 and fills *ret_event; 0 when there is none yet; -ENODATA when the record has been
 * overwritten, with *offset moved to the head; -EBADMSG when it makes no sense (then the log cannot
 * be read any further, *offset is moved to the head too). Whoever means harm can go on writing while it is read: one who
 * reads until there is none reads at most event_log_most() at once.
 */
int event_read(const struct stream *log, uint64_t *offset, struct event *ret_event);

/* More records than a log can hold. */
size_t event_log_most(const struct stream *log);
