/*
 * Events: what happened at an offset of a session's output. They are records in a stream beside the
 * output; only the holder writes them.
 */
#pragma once

#include "ring/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frozen: values are never reused, and readers skip unknown types. */
enum event_type {
	EVENT_RESIZE = 1, /* payload: struct event_resize */
	EVENT_FIFO = 2,   /* payload: bytes as one read(2) of the sentinel FIFO gave them */
	EVENT_SOURCE = 3, /* payload: uint32_t, enum event_source of the bytes from here on */
	EVENT_EXIT = 4,   /* payload: int32_t wait(2) status of the shell */
	EVENT_SHELL = 5,  /* payload: struct event_shell */
};

/* Where output bytes come from. */
enum event_source {
	EVENT_SOURCE_TERMINAL = 0,   /* the session's own PTY */
	EVENT_SOURCE_STDOUT = 1,     /* the FIFO for a command's standard output */
	EVENT_SOURCE_STDERR = 2,     /* the FIFO for a command's standard error */
	EVENT_SOURCE_STDERR_PTY = 3, /* a second PTY for a command's standard error */
};

/* Longest payload: one atomic write to a FIFO (PIPE_BUF). */
#define EVENT_PAYLOAD_MAX 4096u

/* Header before each payload in the stream. The whole record is padded to a multiple of 8 bytes. */
struct event_header {
	uint64_t offset;  /* output bytes before the event */
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint64_t boot_ns; /* CLOCK_BOOTTIME, to compute ages: CLOCK_REALTIME may be set */
	uint32_t type;    /* enum event_type */
	uint32_t length;  /* payload bytes, at most EVENT_PAYLOAD_MAX */
};

/* EVENT_RESIZE: the terminal's size from the event's offset on. */
struct event_resize {
	uint16_t rows;
	uint16_t cols;
};

/* EVENT_SHELL: the shell was replaced. Its output ends at the event's offset. */
struct event_shell {
	int32_t status; /* wait(2) status of the old one */
	int32_t pid;    /* of the new one */
};

/* An event as returned by event_read(). */
struct event {
	struct event_header header;
	uint8_t payload[EVENT_PAYLOAD_MAX];
};

/* Size of a record in the stream for a payload of length bytes. */
size_t event_size(size_t length);

/*
 * Append a record to log and publish it whole. length: at most EVENT_PAYLOAD_MAX. The caller makes
 * sure that no reader still needs the bytes that it overwrites.
 */
void event_append(struct stream *log, const struct event_header *header, const void *payload);

/*
 * Read the record at *offset and advance *offset behind it. Returns 1 and fills *ret_event; 0 if
 * there is no record yet; -ENODATA if the record has been overwritten; -EBADMSG if it is malformed.
 * After both errors *offset is at the head. A hostile writer can append forever: read at most
 * event_log_max() records in one go.
 */
int event_read(const struct stream *log, uint64_t *offset, struct event *ret_event);

/* Upper limit of the number of records in a log. */
size_t event_log_max(const struct stream *log);
