/* Records are padded to 8 bytes so that headers stay aligned, also across the wrap. */
#include "ring/event.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

_Static_assert(sizeof(struct event_header) == 32, "the record header is frozen");

size_t event_size(size_t length)
{
	return (sizeof(struct event_header) + length + 7) & ~(size_t)7;
}

void event_append(struct stream *log, const struct event_header *header, const void *payload)
{
	assert(header->length <= EVENT_PAYLOAD_MAX);
	size_t size = event_size(header->length);
	uint8_t *at = stream_reserve(log, size);
	memcpy(at, header, sizeof *header);
	if (header->length > 0)
		memcpy(at + sizeof *header, payload, header->length);
	memset(at + sizeof *header + header->length, 0, size - sizeof *header - header->length);
	stream_commit(log, size);
}

int event_read(const struct stream *log, uint64_t *offset, struct event *ret_event)
{
	uint64_t head = stream_head(log);
	struct event_header header;
	if (*offset >= head)
		return 0;
	if (head - *offset < sizeof header)
		goto damaged;
	if (!stream_copy(log, *offset, &header, sizeof header)) {
		*offset = head;
		return -ENODATA;
	}
	if (header.length > EVENT_PAYLOAD_MAX || event_size(header.length) > head - *offset)
		goto damaged;
	if (!stream_copy(log, *offset + sizeof header, ret_event->payload, header.length) ||
		!stream_is_intact(log, *offset)) {
		*offset = head;
		return -ENODATA;
	}
	ret_event->header = header;
	*offset += event_size(header.length);
	return 1;
damaged:
	*offset = head;
	return -EBADMSG;
}

size_t event_log_max(const struct stream *log)
{
	return log->size / sizeof(struct event_header) + 1;
}
