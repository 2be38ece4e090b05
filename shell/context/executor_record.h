/*
 * What an executor and the server tell each other: frames on a descriptor of their own, each of a header (the letters "rs",
 * a type, the version '1', the body's length as four bytes, the highest first) and a body, which is JSON but for the
 * executor's own source. User code can write there as well; what is no frame ends the stream. Pure.
 *
 * To the executor: 'B' its source, the first thing it reads, for some languages a second one; 'X' {run, code}; 'A', empty,
 * for each 'R' that was taken: what is written before that comes before it, and what is written behind it after; 'I' {run}: that is
 * interrupted; sent before SIGINT, which may arrive before the code has begun.
 * From it: 'H' {version} it is ready; 'R' {run, FORMAT, metadata} something to be shown; 'D' {run, count, error?} the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXECUTOR_RECORD_HEADER 8u
#define EXECUTOR_RECORD_MAX ((size_t)8 << 20) /* bytes of a body */

enum executor_record_type {
	EXECUTOR_SOURCE = 'B',
	EXECUTOR_EXECUTE = 'X',
	EXECUTOR_TAKEN = 'A',
	EXECUTOR_INTERRUPT = 'I',
	EXECUTOR_HELLO = 'H',
	EXECUTOR_RESULT = 'R',
	EXECUTOR_DONE = 'D'
};

/* A stream of frames from an executor; zero is one that begins. */
struct executor_records {
	uint8_t header[EXECUTOR_RECORD_HEADER];
	size_t header_length;
	uint8_t *body; /* owned; as large as what has come, not as what is announced */
	size_t length, capacity, expected;
	bool broken;
};

/* One frame; body is NUL-terminated and borrowed for the call. Returns whether to go on. */
typedef bool (*executor_record_visit)(
	void *user, enum executor_record_type type, const char *body, size_t length);

/*
 * Take bytes as they come, and call visit for each frame that is complete. Returns 0, -EPROTO when this is no stream of
 * frames, from then on always, or -ENOMEM; -ECANCELED when visit did not want to go on: then all may be gone.
 */
int executor_records_feed(struct executor_records *r, const void *bytes, size_t length,
	executor_record_visit visit, void *user);
void executor_records_finish(struct executor_records *r);

/* The header of a frame. length: at most UINT32_MAX. */
void executor_record_header(
	enum executor_record_type type, size_t length, uint8_t ret_header[EXECUTOR_RECORD_HEADER]);
