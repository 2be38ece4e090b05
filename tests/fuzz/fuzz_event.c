/*
 * The event log of a ring with a malicious writer. Input: the log's size, the offset to read from, head and reserved,
 * then the memory's content, repeated.
 */
#include "tests/fuzz/event_log.h"

#include <errno.h>

#define READS_MAX 512u

static void check_event(
	const struct stream *log, const struct event *e, uint64_t before, uint64_t after)
{
	const uint8_t *at = log->data + (before & (log->size - 1));
	FUZZ_CHECK(e->header.length <= EVENT_PAYLOAD_MAX);
	FUZZ_CHECK(after - before == event_size(e->header.length));
	/* There is no concurrent writer, so this is what is in memory. */
	FUZZ_CHECK(memcmp(&e->header, at, sizeof e->header) == 0);
	FUZZ_CHECK(memcmp(e->payload, at + sizeof e->header, e->header.length) == 0);
}

static void read_all(const struct stream *log, uint64_t offset)
{
	uint64_t head = stream_head(log);
	struct event e;
	for (unsigned i = 0; i < READS_MAX; i++) {
		uint64_t before = offset;
		int rc = event_read(log, &offset, &e);
		if (rc == 1) {
			FUZZ_CHECK(offset > before && offset <= head);
			check_event(log, &e, before, offset);
		} else if (rc == 0) {
			FUZZ_CHECK(offset == before && offset >= head);
			return;
		} else {
			FUZZ_CHECK(rc == -ENODATA || rc == -EBADMSG);
			FUZZ_CHECK(offset == head && head > before);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	/* The sizes that ring_open() accepts. */
	size_t log_size = (size_t)8192 << fuzz_byte(&in) % 3;
	uint64_t offset = event_log_number(&in) & ~UINT64_C(7), head = event_log_number(&in);
	struct stream_shared shared = {.size = log_size};
	struct stream log = {.shared = &shared, .size = log_size, .data = fuzz_alloc(2 * log_size)};
	/* A head near the offset finds more than a random one. */
	atomic_store(&shared.head, head & 1 ? offset + (head >> 1 & 0xffff) : head);
	atomic_store(&shared.reserved, event_log_number(&in));
	if (atomic_load(&shared.reserved) & 1)
		atomic_store(&shared.reserved, atomic_load(&shared.head));
	event_log_fill(&log, &in);
	read_all(&log, offset);
	free(log.data);
	return 0;
}
