/*
 * The double mapping makes wrap-around the memory management unit's business: an offset is masked
 * once and the range behind it is linear. Ordering is that of a seqlock whose counter is `reserved`.
 */
#include "ring/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

int stream_map(struct stream *s, struct stream_shared *shared, int fd, bool writable)
{
	size_t size = (size_t)shared->size;
	int prot = writable ? PROT_READ | PROT_WRITE : PROT_READ;
	int rc;
	uint8_t *base = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	for (int half = 0; half < 2; half++) {
		void *at = base + (half == 0 ? 0 : size);
		if (mmap(at, size, prot, MAP_SHARED | MAP_FIXED, fd, (off_t)shared->position) ==
			MAP_FAILED) {
			rc = -errno;
			munmap(base, 2 * size);
			return rc;
		}
	}
	*s = (struct stream){.shared = shared, .data = base, .size = size};
	return 0;
}

void stream_unmap(struct stream *s)
{
	if (s->data)
		munmap(s->data, 2 * s->size);
	*s = (struct stream){0};
}

uint8_t *stream_reserve(struct stream *s, size_t n)
{
	uint64_t head = atomic_load_explicit(&s->shared->head, memory_order_relaxed);
	if (head + n > atomic_load_explicit(&s->shared->reserved, memory_order_relaxed))
		atomic_store_explicit(&s->shared->reserved, head + n, memory_order_relaxed);
	/* `reserved` must be seen before any of the bytes that replace old ones. */
	atomic_thread_fence(memory_order_release);
	return s->data + (head & (s->size - 1));
}

void stream_commit(struct stream *s, size_t n)
{
	uint64_t head = atomic_load_explicit(&s->shared->head, memory_order_relaxed);
	atomic_store_explicit(&s->shared->head, head + n, memory_order_release);
}

uint64_t stream_head(const struct stream *s)
{
	return atomic_load_explicit(&s->shared->head, memory_order_acquire);
}

uint64_t stream_oldest(const struct stream *s)
{
	uint64_t reserved = atomic_load_explicit(&s->shared->reserved, memory_order_acquire);
	return reserved > s->size ? reserved - s->size : 0;
}

const uint8_t *stream_at(const struct stream *s, uint64_t offset)
{
	return s->data + (offset & (s->size - 1));
}

bool stream_holds(const struct stream *s, uint64_t offset)
{
	atomic_thread_fence(memory_order_acquire);
	return offset >= stream_oldest(s);
}

size_t stream_read(const struct stream *s, uint64_t *offset, void *dst, size_t cap)
{
	for (;;) {
		uint64_t oldest = stream_oldest(s);
		if (*offset < oldest)
			*offset = oldest;
		uint64_t head = stream_head(s);
		if (*offset >= head)
			return 0;
		size_t n = head - *offset < cap ? (size_t)(head - *offset) : cap;
		memcpy(dst, stream_at(s, *offset), n);
		if (stream_holds(s, *offset)) {
			*offset += n;
			return n;
		}
	}
}
