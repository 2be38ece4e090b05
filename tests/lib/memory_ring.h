/* A ring in this process, which the test writes as a holder does. */
#pragma once

#include "ring/control.h"
#include "ring/ring.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline void memory_ring_make(struct ring *r, size_t size)
{
	int fd;
	cr_assert_eq(
		ring_create(r, &(struct ring_options){.size = size, .rows = 24, .cols = 80}, &fd),
		0);
	close(fd);
}

static inline void memory_ring_put(struct ring *r, const void *bytes, size_t length)
{
	memcpy(stream_reserve(&r->bytes, length), bytes, length);
	stream_commit(&r->bytes, length);
}

static inline void memory_ring_say(struct ring *r, const char *text)
{
	memory_ring_put(r, text, strlen(text));
}

static inline uint64_t memory_ring_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Append an event at the ring's head, with the current time. */
static inline void memory_ring_event(
	struct ring *r, enum event_type type, const void *payload, size_t length)
{
	struct event_header header = {.offset = stream_head(&r->bytes),
		.time_ns = memory_ring_clock(CLOCK_REALTIME),
		.boot_ns = memory_ring_clock(CLOCK_BOOTTIME),
		.type = type,
		.length = (uint32_t)length};
	event_append(&r->events, &header, payload);
}

static inline void memory_ring_resize(struct ring *r, unsigned rows, unsigned cols)
{
	struct event_resize size = {.rows = (uint16_t)rows, .cols = (uint16_t)cols};
	memory_ring_event(r, EVENT_RESIZE, &size, sizeof size);
}

/* The shell exits. */
static inline void memory_ring_exit(struct ring *r, int status)
{
	r->header->exit_status = status;
	r->header->exit_offset = stream_head(&r->bytes);
	r->header->exit_time_ns = memory_ring_clock(CLOCK_REALTIME);
	r->header->exit_boot_ns = memory_ring_clock(CLOCK_BOOTTIME);
	atomic_store(&r->header->exited, 1);
	memory_ring_event(r, EVENT_EXIT, &(int32_t){status}, sizeof(int32_t));
}
