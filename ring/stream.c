/*
 * With the double mapping an offset is masked once and the range after it is linear, across the
 * wrap as well. Memory ordering is that of a seqlock with `reserved` as its counter.
 */
#include "ring/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static int map_twice(const struct stream_storage *storage, uint8_t **ret_data)
{
	size_t size = (size_t)storage->size;
	int prot = storage->writable ? PROT_READ | PROT_WRITE : PROT_READ;
	uint8_t *base = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	for (int half = 0; half < 2; half++) {
		void *at = base + (half == 0 ? 0 : size);
		if (mmap(at, size, prot, MAP_SHARED | MAP_FIXED, storage->fd,
			    (off_t)storage->position) == MAP_FAILED) {
			int rc = -errno;
			munmap(base, 2 * size);
			return rc;
		}
	}
	*ret_data = base;
	return 0;
}

int stream_map(struct stream *s, struct stream_shared *shared, const struct stream_storage *storage)
{
	uint8_t *data = NULL;
	int rc = map_twice(storage, &data);
	if (rc < 0)
		return rc;
	*s = (struct stream){.shared = shared, .data = data, .size = (size_t)storage->size};
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
	/* `reserved` must be visible before any byte that replaces an old one. */
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

bool stream_is_intact(const struct stream *s, uint64_t offset)
{
	atomic_thread_fence(memory_order_acquire);
	return offset >= stream_oldest(s);
}

const uint8_t *stream_view(const struct stream *s, uint64_t offset, size_t *length)
{
	uint64_t head = stream_head(s), there = offset < head ? head - offset : 0;
	if (there > s->size)
		there = s->size;
	if (*length > there)
		*length = (size_t)there;
	return s->data + (offset & (s->size - 1));
}

bool stream_copy(const struct stream *s, uint64_t offset, void *dst, size_t length)
{
	size_t there = length;
	const uint8_t *at = stream_view(s, offset, &there);
	if (there < length)
		return false;
	memcpy(dst, at, length);
	return stream_is_intact(s, offset);
}

uint64_t stream_skip(const struct stream *s, uint64_t offset, uint64_t limit)
{
	uint64_t oldest = stream_oldest(s);
	return oldest > offset && oldest < limit ? oldest : limit;
}

size_t stream_read(const struct stream *s, uint64_t *offset, void *dst, size_t cap)
{
	for (;;) {
		uint64_t oldest = stream_oldest(s);
		if (*offset < oldest)
			*offset = oldest;
		uint64_t head = stream_head(s), there = *offset < head ? head - *offset : 0;
		size_t most = cap < s->size ? cap : s->size;
		size_t n = there < most ? (size_t)there : most;
		if (n == 0 || stream_copy(s, *offset, dst, n)) {
			*offset += n;
			return n;
		}
	}
}
