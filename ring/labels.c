/* A circle of marks, one where another writer begins; without memory the oldest go, and what is before the floor is not known. */
#include "ring/labels.h"

#include <errno.h>
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

/* The first mark becomes what is known of the floor. */
static void drop_first(struct labels *l)
{
	l->before = mark_source(l, 0);
	l->start = (l->start + 1) % l->capacity;
	l->count--;
}

/* Room for one more, in place of the oldest when there are too many or memory is short. */
static bool make_room(struct labels *l)
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
	unsigned low = 0, high = l->count; /* the first mark behind offset is in [low, high] */
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
	uint64_t text = offset << SOURCE_BITS | ((uint64_t)source & SOURCE_MASK);
	if (l->count > 0 && mark_offset(l, l->count - 1) >= offset) {
		l->marks[(l->start + l->count - 1) % l->capacity] = text;
		return;
	}
	if (l->count == 0 && offset <= l->floor) {
		l->before = source;
		return;
	}
	if (!make_room(l)) {
		l->floor = offset;
		l->before = source;
		return;
	}
	l->marks[(l->start + l->count++) % l->capacity] = text;
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

int labels_take(struct labels *l, uint64_t *marks, unsigned count)
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

/* Whether records from `at` on lead exactly to tail. */
static bool leads_to(const struct stream *log, uint64_t at, uint64_t tail)
{
	uint64_t last = 0;
	while (at < tail) {
		struct event_header h;
		if (tail - at < sizeof h)
			return false;
		memcpy(&h, stream_at(log, at), sizeof h);
		if (h.length > EVENT_PAYLOAD_MAX || h.type < EVENT_RESIZE || h.type > EVENT_SHELL ||
			h.offset < last || event_size(h.length) > tail - at)
			return false;
		last = h.offset;
		at += event_size(h.length);
	}
	return at == tail;
}

uint64_t labels_log_start(const struct stream *log, uint64_t tail)
{
	uint64_t oldest = stream_oldest(log);
	if (tail > stream_head(log))
		tail = stream_head(log); /* nobody but a confused server has said so */
	if (oldest == 0)
		return 0;
	/* No log holds more than its size, whatever its header says. */
	for (uint64_t at = (oldest + 7) & ~UINT64_C(7); at < tail && tail - at <= log->size; at += 8)
		if (leads_to(log, at, tail) && stream_holds(log, at))
			return at;
	return tail;
}
