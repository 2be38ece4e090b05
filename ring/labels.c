/*
 * A circular buffer of marks, one for each change of source. If memory is short the oldest are
 * dropped and the floor rises.
 */
#include "ring/labels.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16u
#define SOURCE_BITS 2u
#define SOURCE_MASK UINT64_C(3)

void labels_init(struct labels *l, uint64_t floor, enum event_source source)
{
	*l = (struct labels){.floor = floor, .before = source};
}

void labels_finish(struct labels *l)
{
	free(l->marks);
	*l = (struct labels){0};
}

static uint64_t mark(const struct labels *l, unsigned index)
{
	return l->marks[(l->start + index) % l->capacity];
}

static uint64_t mark_offset(const struct labels *l, unsigned index)
{
	return mark(l, index) >> SOURCE_BITS;
}

static enum event_source mark_source(const struct labels *l, unsigned index)
{
	return (enum event_source)(mark(l, index) & SOURCE_MASK);
}

/* Drop the first mark; its source becomes that of the floor. */
static void drop_first(struct labels *l)
{
	l->before = mark_source(l, 0);
	l->start = (l->start + 1) % l->capacity;
	l->count--;
}

/* Make space for one more mark, by dropping the oldest if there are too many or memory is short. */
static bool make_space(struct labels *l)
{
	if (l->count < l->capacity)
		return true;
	unsigned capacity = l->capacity ? 2 * l->capacity : FIRST_CAPACITY;
	uint64_t *marks = capacity <= LABELS_MAX ? malloc(capacity * sizeof *marks) : NULL;
	if (marks) {
		for (unsigned i = 0; i < l->count; i++)
			marks[i] = mark(l, i);
		free(l->marks);
		l->marks = marks;
		l->start = 0;
		l->capacity = capacity;
		return true;
	}
	if (l->capacity == 0)
		return false;
	l->floor = mark_offset(l, 0);
	drop_first(l);
	return true;
}

enum event_source labels_find(const struct labels *l, uint64_t offset, uint64_t *ret_end)
{
	unsigned low = 0, high = l->count; /* the first mark after offset is in [low, high] */
	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		if (mark_offset(l, middle) <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_end = low < l->count ? mark_offset(l, low) : UINT64_MAX;
	return low > 0 ? mark_source(l, low - 1) : l->before;
}

void labels_add(struct labels *l, uint64_t offset, enum event_source source)
{
	uint64_t packed = offset << SOURCE_BITS | ((uint64_t)source & SOURCE_MASK);
	while (l->count > 0 && mark_offset(l, l->count - 1) >= offset)
		l->count--;
	if (l->count == 0 && offset <= l->floor) {
		l->before = source;
		return;
	}
	if (!make_space(l)) {
		l->floor = offset;
		l->before = source;
		return;
	}
	l->marks[(l->start + l->count++) % l->capacity] = packed;
}

void labels_add_event(struct labels *l, const struct event *event)
{
	uint32_t source;
	if (event->header.type != EVENT_SOURCE || event->header.length < sizeof source)
		return;
	memcpy(&source, event->payload, sizeof source);
	if (source <= EVENT_SOURCE_STDERR_PTY)
		labels_add(l, event->header.offset, (enum event_source)source);
}

void labels_forget(struct labels *l, uint64_t offset)
{
	while (l->count > 0 && mark_offset(l, 0) <= offset) {
		l->floor = mark_offset(l, 0);
		drop_first(l);
	}
}

int labels_set_marks(struct labels *l, uint64_t *marks, unsigned count)
{
	uint64_t last = l->floor;
	for (unsigned i = 0; i < count; i++) {
		if (marks[i] >> SOURCE_BITS <= last)
			return -EBADMSG;
		last = marks[i] >> SOURCE_BITS;
	}
	l->marks = marks;
	l->start = 0;
	l->count = l->capacity = count;
	return 0;
}

#define LOG_UNIT 8u /* records begin at multiples of this many bytes */

/*
 * Find the first record of the chain of records that leads exactly to the end of a copy of the log,
 * with ascending offsets. Scans backwards, so each place is examined once. leads: for each place,
 * whether such a chain begins there.
 */
static size_t first_leading(const uint8_t *log, size_t length, bool *leads)
{
	size_t first = length;
	leads[length / LOG_UNIT] = true;
	for (size_t at = length; at >= LOG_UNIT;) {
		struct event_header h, next = {.offset = UINT64_MAX};
		at -= LOG_UNIT;
		leads[at / LOG_UNIT] = false;
		if (length - at < sizeof h)
			continue;
		memcpy(&h, log + at, sizeof h);
		size_t end = h.length > EVENT_PAYLOAD_MAX ? SIZE_MAX : at + event_size(h.length);
		if (end > length || !leads[end / LOG_UNIT] || h.type < EVENT_RESIZE ||
			h.type > EVENT_SHELL)
			continue;
		if (end < length)
			memcpy(&next, log + end, sizeof next);
		if (h.offset > next.offset)
			continue;
		leads[at / LOG_UNIT] = true;
		first = at;
	}
	return first;
}

/* Oldest readable place of a log, rounded up to where a record may begin. */
static uint64_t log_oldest(const struct stream *log)
{
	return (stream_oldest(log) + LOG_UNIT - 1) & ~(uint64_t)(LOG_UNIT - 1);
}

/*
 * Find the first record in [start, start + length) that leads to its end. The range may be
 * overwritten meanwhile, beginning with its oldest bytes. Returns the end if there is none.
 */
static uint64_t find_leading(const struct stream *log, uint64_t start, size_t length)
{
	uint64_t end = start + length;
	size_t there = length;
	uint8_t *copy = malloc(length);
	bool *leads = malloc(length / LOG_UNIT + 1);
	const uint8_t *bytes = stream_view(log, start, &there);
	if (copy && leads && there == length) {
		memcpy(copy, bytes, length);
		atomic_thread_fence(memory_order_acquire);
		uint64_t oldest = log_oldest(log);
		size_t gone = oldest > start ? (size_t)(oldest - start) : 0;
		start = oldest < end
			? start + gone + first_leading(copy + gone, length - gone, leads)
			: end;
	} else {
		start = end;
	}
	free(copy);
	free(leads);
	return start;
}

uint64_t labels_log_start(const struct stream *log, uint64_t tail)
{
	uint64_t head = stream_head(log), start = log_oldest(log);
	if (tail > head)
		tail = head; /* the stored tail is invalid */
	if (start == 0)
		return 0;
	/* The tail is not plausible: too far away, or not where a record can end. */
	if (start >= tail || tail - start > log->size || (tail - start) % LOG_UNIT != 0)
		return tail;
	return find_leading(log, start, (size_t)(tail - start));
}
