/*
 * A byte stream in shared memory: one writer, any number of readers in other processes.
 *
 * The stream keeps its newest `size` bytes. Each byte has an absolute offset, counted from the
 * stream's birth and never reset. The storage is mapped twice in a row, so that any range of at
 * most `size` bytes is linear.
 *
 * Readers never block the writer. The writer publishes `reserved` before it overwrites old bytes,
 * so a reader copies a range and then checks that it was whole: stream_copy() does both.
 *
 * The writer is the session's holder and is trusted, but reads are still limited to the mapping.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part in the shared header. The layout is frozen with RING_VERSION. */
struct stream_shared {
	_Atomic uint64_t head;     /* bytes written since birth */
	_Atomic uint64_t reserved; /* end of the bytes that the writer may be writing; >= head */
	uint64_t size;             /* bytes kept, a power of two and a multiple of the page size */
	uint64_t position;         /* where the storage begins in the file */
};

/* A mapped stream. */
struct stream {
	struct stream_shared *shared; /* borrowed; in the mapped header */
	uint8_t *data;                /* 2 * size bytes; read-only unless mapped writable */
	size_t size;                  /* bytes kept; a checked copy of shared->size */
};

/* The storage, checked against the file. */
struct stream_storage {
	uint64_t size, position; /* see struct stream_shared */
	int fd;                  /* borrowed */
	bool writable;           /* map it for the writer */
};

/*
 * Map the storage twice in a row. shared: must outlive the stream; only head and reserved are read.
 * Returns 0 or -errno.
 */
int stream_map(struct stream *s, struct stream_shared *shared, const struct stream_storage *storage);

/* Unmap. Cannot fail. */
void stream_unmap(struct stream *s);

/*
 * Announce that up to n bytes after the head will be written, and return their place: n bytes of
 * linear memory. n: at most the stream's size. Writer only.
 */
uint8_t *stream_reserve(struct stream *s, size_t n);

/* Publish n of the reserved bytes. Writer only. */
void stream_commit(struct stream *s, size_t n);

/* Offset after the newest byte. */
uint64_t stream_head(const struct stream *s);

/* Offset of the oldest intact byte: at most the head, and at most `size` before it. */
uint64_t stream_oldest(const struct stream *s);

/* Whether bytes read from offset on, until now, were intact. */
bool stream_is_intact(const struct stream *s, uint64_t offset);

/*
 * Copy length bytes that begin at offset. Returns false if they are not all there or were
 * overwritten meanwhile; dst is undefined then, and reading continues at stream_skip().
 */
bool stream_copy(const struct stream *s, uint64_t offset, void *dst, size_t length);

/* Next offset to try after stream_copy() failed: > offset and <= limit. */
uint64_t stream_skip(const struct stream *s, uint64_t offset, uint64_t limit);

/*
 * The bytes at offset in place, for system calls, which tolerate that they change. *length: bytes
 * wanted; set to the number available. Check stream_is_intact() afterwards.
 */
const uint8_t *stream_view(const struct stream *s, uint64_t offset, size_t *length);

/*
 * Copy bytes at *offset to dst and advance *offset. If *offset is older than stream_oldest(), it is
 * moved there first. dst: cap bytes. Returns the bytes copied, 0 if there is nothing newer. Cannot
 * fail.
 */
size_t stream_read(const struct stream *s, uint64_t *offset, void *dst, size_t cap);
