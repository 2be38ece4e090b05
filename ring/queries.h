/*
 * Queries: the ranges of a session's output that ask the terminal something, newest last. What
 * clients get has NULs in their place, so that no replay can make a terminal answer into the shell;
 * each live query is shown to one client, once.
 */
#pragma once

#include "ring/scan.h"

#include <stddef.h>
#include <stdint.h>

/* Ranges kept; beyond that the oldest are forgotten and the output before them is not replayed. */
#define QUERIES_MAX 65536u

/* For queries_apply: show no query to this client. */
#define QUERIES_NEVER UINT64_MAX

struct query {
	uint64_t start;  /* absolute offset */
	uint32_t length; /* bytes */
	bool string;     /* C0 controls inside do not act */
	bool muted;      /* shown to nobody, be it that it is too long or that it has been shown */
	bool ends;       /* its introducer ends something unfinished, so ST takes its place */
};

struct queries {
	struct query *items; /* circular, `capacity` of them */
	size_t first;        /* index of the oldest */
	size_t count;        /* ranges held */
	size_t capacity;     /* a power of two, or 0 */
	uint64_t floor;      /* output before this offset has forgotten ranges: do not replay it */
};

void queries_init(struct queries *q);
void queries_finish(struct queries *q);

/*
 * Remember a range that scan reported. It replaces ranges that begin inside it.
 * muted: nobody shall be shown it. When memory or QUERIES_MAX is exhausted, floor rises.
 */
void queries_add(struct queries *q, const struct scan_query *range, bool muted);

/* Where the range that offset lies inside of begins; offset itself when there is none. */
uint64_t queries_start(const struct queries *q, uint64_t offset);

/* Forget ranges that end at or before offset. */
void queries_trim(struct queries *q, uint64_t offset);

/*
 * Put NULs in place of queries (ST first, where the query has ended an unfinished sequence: that one must
 * not go on with what follows) in length bytes of output that begin at offset.
 * live_from: unmuted queries from this offset on are left in place, and muted from now on.
 * Returns how many of the bytes may be used: fewer than length when a query would be cut in two.
 */
size_t queries_apply(
	struct queries *q, uint64_t offset, uint8_t *bytes, size_t length, uint64_t live_from);
