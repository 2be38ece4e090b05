/*
 * The ring: a session's history in one sealed memfd: a versioned header, the stream of output and
 * the log of events. The holder creates and writes it; all other processes map it read-only.
 * Untouched pages take no memory.
 */
#pragma once

#include "ring/event.h"
#include "ring/stream.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_MAGIC UINT64_C(0x31474e4952534b52) /* "RKSRING1", little endian */
#define RING_VERSION 2u

#define RING_SIZE_MIN ((size_t)64 << 10)
#define RING_SIZE_MAX ((size_t)1 << 30)
#define RING_SIZE_DEFAULT ((size_t)4 << 20)
#define RING_EVENTS_SIZE ((size_t)256 << 10)
#define RING_EVENTS_SIZE_MAX ((size_t)4 << 20) /* larger logs are rejected */
#define RING_SIDE_MAX 1000u                    /* rows and columns: 1 to RING_SIDE_MAX */

/* First page of the memfd. Frozen: fields are only appended. */
struct ring_header {
	uint64_t magic;              /* RING_MAGIC */
	uint32_t version;            /* RING_VERSION of the writer */
	uint32_t header_size;        /* sizeof(struct ring_header) of the writer */
	uint64_t epoch;              /* random; distinguishes sessions with the same id */
	uint64_t created_ns;         /* CLOCK_REALTIME at birth */
	int32_t holder_pid;          /* the writer */
	_Atomic int32_t shell_pid;   /* the current shell, see EVENT_SHELL */
	uint16_t rows, cols;         /* geometry at offset 0 */
	_Atomic uint32_t geometry;   /* rows << 16 | cols now */
	struct stream_shared bytes;  /* the PTY's output */
	struct stream_shared events; /* struct event_header records */
	_Atomic uint32_t blocked;    /* 1: the writer waits for the tail to advance */
	_Atomic uint32_t exited;     /* 1: the exit_ fields below are final */
	int32_t exit_status;         /* wait(2) status of the shell */
	uint32_t reserved;           /* 0 */
	uint64_t exit_offset;        /* the last byte of the session is before this offset */
	uint64_t exit_time_ns;       /* CLOCK_REALTIME */
	uint64_t exit_boot_ns;       /* CLOCK_BOOTTIME; 0: written before this field existed */
};

/* A mapped ring. */
struct ring {
	struct ring_header *header; /* first page; readers use the functions below */
	struct stream bytes;
	struct stream events;
	unsigned rows, cols; /* geometry at offset 0 */
};

/* How the session ended. */
struct ring_exit {
	int status;       /* wait(2) status */
	uint64_t offset;  /* at most the head */
	uint64_t time_ms; /* wall clock */
	uint64_t boot_ms; /* since boot; 0: not known */
};

/* Options of ring_create(). */
struct ring_options {
	size_t size;         /* bytes of output kept, see ring_round_size() */
	unsigned rows, cols; /* geometry at birth */
};

/* Round size up to a power of two from RING_SIZE_MIN to RING_SIZE_MAX. */
size_t ring_round_size(size_t size);

/*
 * Create a ring and map it writable. The file is sealed against shrinking, growing and other
 * writers. *ret_fd is owned by the caller (O_CLOEXEC); closing it keeps the mapping. Returns 0 or
 * -errno; then nothing is left.
 */
int ring_create(struct ring *r, const struct ring_options *options, int *ret_fd);

/*
 * Map another process's ring read-only. fd stays the caller's. Returns 0, -errno, or -EPROTO if the
 * file is not a ring of this version.
 */
int ring_open(struct ring *r, int fd);

/* Returns whether the session has ended, and how. */
bool ring_exited(const struct ring *r, struct ring_exit *ret_exit);

/* The terminal's current size. */
void ring_geometry(const struct ring *r, unsigned *ret_rows, unsigned *ret_cols);

/* Whether the writer waits for its consumer. */
bool ring_is_blocked(const struct ring *r);

/* Clamp a number of rows or columns to 1..RING_SIDE_MAX. */
unsigned ring_clamp_side(unsigned n);

/* Unmap. Cannot fail. */
void ring_close(struct ring *r);
