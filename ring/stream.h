/*
 * A byte stream in shared memory: one writer, any number of readers in other processes.
 *
 * The stream keeps its newest `size` bytes. Every byte has an absolute offset, counted from the
 * stream's birth and never reset. The storage is mapped twice in a row, so that any range of at
 * most `size` bytes is one linear piece of memory.
 *
 * Readers never block the writer. Before the writer touches old bytes it publishes `reserved`, so
 * a reader that has copied a range asks afterwards whether the range was whole: stream_copy() does.
 *
 * The writer is the session's holder, and is trusted. What a reader takes is still limited to what is mapped.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part that lives in the shared header. Layout is frozen with RING_VERSION. */
struct stream_shared {
	_Atomic uint64_t head;     /* bytes written since birth */
	_Atomic uint64_t reserved; /* bytes that the writer may be overwriting end here; >= head */
	uint64_t size;             /* bytes kept, a power of two and a multiple of the page size */
	uint64_t position;         /* where the storage begins in the file */
};

struct stream {
	struct stream_shared *shared; /* in the mapped header; not ours */
	uint8_t *data;                /* 2 * size bytes; read-only unless mapped writable */
	size_t size;                  /* bytes kept, copied from shared when mapped */
};

/* The storage, as it was checked against the file. */
struct stream_storage {
	uint64_t size, position; /* see struct stream_shared */
	int fd;                  /* borrowed */
	bool writable;           /* the writer's */
};

/*
 * Map the storage twice in a row.
 * shared: in memory that outlives the stream; only its head and its reserved are read.
 * Returns 0 or -errno.
 */
int stream_map(struct stream *s, struct stream_shared *shared, const struct stream_storage *storage);

/* Undo stream_map. Cannot fail. */
void stream_unmap(struct stream *s);

/*
 * Announce that up to n bytes after the head will be written, and return where they go: n bytes of
 * linear memory. n must be at most the stream's size. Writer only.
 */
uint8_t *stream_reserve(struct stream *s, size_t n);

/* Publish n of the reserved bytes. Writer only. */
void stream_commit(struct stream *s, size_t n);

/* Offset just behind the newest byte. */
uint64_t stream_head(const struct stream *s);

/* Offset of the oldest byte that is certainly still there: at most the head, and at most `size` before it. */
uint64_t stream_oldest(const struct stream *s);

/* Whether what was read from offset on, up to now, was not being overwritten meanwhile. */
bool stream_holds(const struct stream *s, uint64_t offset);

/*
 * Copy length bytes that begin at offset. Returns false when they are not all there, or were being overwritten
 * meanwhile: then dst is undefined, and reading goes on at stream_skip().
 */
bool stream_copy(const struct stream *s, uint64_t offset, void *dst, size_t length);

/* Where one goes on who could not copy what is at offset and is to read up to limit: behind offset, at most at limit. */
uint64_t stream_skip(const struct stream *s, uint64_t offset, uint64_t limit);

/*
 * The bytes at offset in place, for the kernel, which does not mind if they change. *length: as many as are wanted;
 * becomes how many there are, 0 if none. Ask stream_holds() afterwards.
 */
const uint8_t *stream_lend(const struct stream *s, uint64_t offset, size_t *length);

/*
 * Copy bytes at *offset into dst and advance *offset.
 * offset: absolute; if older than stream_oldest() it is moved there first (bytes were lost).
 * dst: cap bytes, borrowed. Returns bytes copied, 0 when there is nothing newer. Cannot fail.
 */
size_t stream_read(const struct stream *s, uint64_t *offset, void *dst, size_t cap);
