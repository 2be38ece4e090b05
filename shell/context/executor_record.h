/*
 * Frames between server and executor, on a descriptor of their own. A frame is a header (the letters "rs", a type, the
 * version '1', the body's length in 4 bytes, big endian) and a body: JSON, except for source. User code can write to the
 * descriptor, so frames are untrusted; an invalid one ends the stream. Pure.
 *
 * To the executor:
 * 'B' source: its own, read first; some languages have a second one.
 * 'X' {run, code}: run code.
 * 'A' (empty): a result was received, so that output before and after it stays in order.
 * 'I' {run}: that run is interrupted; sent before SIGINT, which may arrive before the code has begun.
 *
 * From the executor:
 * 'H' {version}: ready.
 * 'R' {run, FORMAT, metadata}: a result to display.
 * 'D' {run, count, error?}: the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXECUTOR_RECORD_HEADER 8u
#define EXECUTOR_RECORD_MAX ((size_t)8 << 20) /* bytes of a body */

/* Types of frames. */
enum executor_record_type {
	EXECUTOR_SOURCE = 'B',
	EXECUTOR_EXECUTE = 'X',
	EXECUTOR_ACKNOWLEDGE = 'A',
	EXECUTOR_INTERRUPT = 'I',
	EXECUTOR_HELLO = 'H',
	EXECUTOR_RESULT = 'R',
	EXECUTOR_DONE = 'D'
};

/* A parser of frames from an executor; zero is its initial state. */
struct executor_records {
	uint8_t header[EXECUTOR_RECORD_HEADER];
	size_t header_length;
	uint8_t *body; /* owned; grows with the received bytes, not with the announced length */
	size_t length, capacity, expected;
	bool broken;
};

/* Called with a frame; body is NUL-terminated and borrowed for the call. Returns whether to go on. */
typedef bool (*executor_record_visit)(
	void *user, enum executor_record_type type, const char *body, size_t length);

/*
 * Parse received bytes, and call visit for each complete frame. Returns 0; -EPROTO if a frame is invalid, then and ever
 * after; -ENOMEM; or -ECANCELED if visit() returned false: it may have freed everything.
 */
int executor_records_feed(struct executor_records *r, const void *bytes, size_t length,
	executor_record_visit visit, void *user);

/* Free the parser's memory. */
void executor_records_finish(struct executor_records *r);

/* Write the header of a frame. length: at most UINT32_MAX. */
void executor_record_header(
	enum executor_record_type type, size_t length, uint8_t ret_header[EXECUTOR_RECORD_HEADER]);
