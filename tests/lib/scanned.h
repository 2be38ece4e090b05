/*
 * The result of ring/scan in a form that does not depend on the pieces: ranges that later ones have not replaced, with
 * adjacent muted ranges joined. Checks on the way what must hold at all times. Unit tests and fuzz targets share it, so
 * failures abort.
 */
#pragma once

#include "ring/queries.h"
#include "ring/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCANNED_CHECK(condition)                                                                  \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

struct scanned {
	struct scan scan;
	struct scan_query *ranges;
	size_t count, capacity;
	uint64_t shown; /* settled before the current piece */
	uint64_t last;  /* start of the newest range */
};

static inline void scanned_init(struct scanned *s, uint64_t offset)
{
	*s = (struct scanned){.shown = offset, .last = offset};
	scan_init(&s->scan, offset);
}

static inline void scanned_finish(struct scanned *s)
{
	free(s->ranges);
	s->ranges = NULL;
}

static inline void scanned_on_query(void *user, const struct scan_query *query)
{
	struct scanned *s = user;
	struct scan_query *last = s->count > 0 ? &s->ranges[s->count - 1] : NULL;
	SCANNED_CHECK(query->length > 0);
	SCANNED_CHECK(query->length <= SCAN_STRING_MAX);
	SCANNED_CHECK(query->start >= s->shown);
	/* Not beyond what has been fed, including the current byte. */
	SCANNED_CHECK(query->start + query->length <= s->scan.offset + 1);
	/* Ascending, or around the last one. */
	SCANNED_CHECK(query->start >= s->last ||
		query->start + query->length >= last->start + last->length);
	s->last = query->start;
	while (s->count > 0 && s->ranges[s->count - 1].start >= query->start)
		s->count--;
	last = s->count > 0 ? &s->ranges[s->count - 1] : NULL;
	SCANNED_CHECK(!last || last->start + last->length <= query->start);
	if (last && last->muted && query->muted && last->string == query->string &&
		last->start + last->length == query->start) {
		last->length += query->length;
		return;
	}
	if (s->count == s->capacity) {
		s->capacity = s->capacity ? s->capacity * 2 : 16;
		s->ranges = realloc(s->ranges, s->capacity * sizeof *s->ranges);
		SCANNED_CHECK(s->ranges != NULL);
	}
	s->ranges[s->count++] = *query;
}

static inline void scanned_feed(struct scanned *s, const void *bytes, size_t length)
{
	uint64_t offset = s->scan.offset, ground = s->scan.ground;
	/* A copy of its own, so that ASan finds reads beyond the end. */
	uint8_t *copy = malloc(length ? length : 1);
	SCANNED_CHECK(copy != NULL);
	memcpy(copy, bytes, length);
	s->shown = s->scan.settled;
	scan_feed(&s->scan, copy, length, scanned_on_query, s);
	free(copy);
	SCANNED_CHECK(s->scan.offset == offset + length);
	SCANNED_CHECK(s->scan.settled <= s->scan.offset);
	SCANNED_CHECK(s->scan.settled >= s->shown);
	SCANNED_CHECK(s->scan.ground <= s->scan.settled);
	SCANNED_CHECK(s->scan.ground >= ground);
	if (s->count > 0) {
		/* A query is settled as a whole, unless it is too long to be judged. */
		const struct scan_query *last = &s->ranges[s->count - 1];
		SCANNED_CHECK(last->muted || last->start + last->length <= s->scan.settled ||
			last->start >= s->scan.settled);
	}
}

static inline void scanned_on_hidden(void *user, const struct scan_query *query)
{
	queries_add(user, query);
}

/* Initialise the queries that the server hides in these bytes. */
static inline void scanned_queries(struct queries *q, const uint8_t *bytes, size_t length)
{
	struct scan scan;
	queries_init(q);
	scan_init(&scan, 0);
	scan_feed(&scan, bytes, length, scanned_on_hidden, q);
}

/* For bytes whose queries are hidden. A string that is too long to be judged is no query yet. */
static inline void scanned_refuse_query(void *user, const struct scan_query *query)
{
	(void)user;
	SCANNED_CHECK(query->muted && "no query is left");
}

static inline void scanned_expect_same(const struct scanned *a, const struct scanned *b)
{
	SCANNED_CHECK(a->scan.offset == b->scan.offset);
	SCANNED_CHECK(a->scan.settled == b->scan.settled);
	SCANNED_CHECK(a->scan.ground == b->scan.ground);
	SCANNED_CHECK(a->scan.tokenizer.state == b->scan.tokenizer.state);
	SCANNED_CHECK(a->count == b->count);
	for (size_t i = 0; i < a->count; i++) {
		SCANNED_CHECK(a->ranges[i].start == b->ranges[i].start);
		SCANNED_CHECK(a->ranges[i].length == b->ranges[i].length);
		SCANNED_CHECK(a->ranges[i].string == b->ranges[i].string);
		SCANNED_CHECK(a->ranges[i].muted == b->ranges[i].muted);
		SCANNED_CHECK(a->ranges[i].ends == b->ranges[i].ends);
	}
}
