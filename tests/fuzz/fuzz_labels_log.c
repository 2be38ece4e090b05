/*
 * The start of the records in an event log with a malicious writer. Input as for fuzz_event.c: the log's size, the
 * tail, head and reserved, then the memory's content, repeated. From the result on, the log must be readable up to the
 * tail.
 */
#include "ring/labels.h"
#include "tests/fuzz/event_log.h"

static void check(const struct stream *log, uint64_t tail)
{
	struct event e;
	uint64_t at = labels_log_start(log, tail), oldest = stream_oldest(log);
	if (tail > stream_head(log))
		tail = stream_head(log);
	FUZZ_CHECK(at <= tail);
	if (at == tail || oldest == 0)
		return;
	FUZZ_CHECK(at >= oldest && at % 8 == 0 && tail - at <= log->size);
	for (uint64_t last = 0; at < tail; last = e.header.offset) {
		FUZZ_CHECK(event_read(log, &at, &e) == 1 && at <= tail);
		FUZZ_CHECK(e.header.offset >= last);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	size_t log_size = (size_t)8192 << fuzz_byte(&in) % 3;
	uint64_t tail = event_log_number(&in) & ~UINT64_C(7), head = event_log_number(&in);
	struct stream_shared shared = {.size = log_size};
	struct stream log = {.shared = &shared, .size = log_size, .data = fuzz_alloc(2 * log_size)};
	/* Numbers near the tail find more than random ones. */
	atomic_store(&shared.head, head & 1 ? tail + (head >> 1 & 0xffff) : head);
	head = event_log_number(&in);
	atomic_store(&shared.reserved, head & 1 ? tail + (head >> 1 & 0xffff) : head);
	event_log_fill(&log, &in);
	check(&log, tail);
	free(log.data);
	return 0;
}
