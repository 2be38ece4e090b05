/*
 * Feeding output to the patterns of waits. Small amounts of work are done on the loop. The rest is
 * done by a worker in slices of time: for the owners' patterns and those of each link in turn, so
 * that no link delays another. Within a slice the pattern that is furthest behind comes first.
 */
#include "shell/wait/internal.h"

#include <stddef.h>
#include <string.h>
#include <utlist.h>

#define PIECE_MAX ((size_t)16 << 10) /* bytes that are fed at once */
#define PIECE_MIN ((size_t)64)
#define PIECE_WORK (UINT64_C(1) << 20) /* largest work for a piece, see pattern_find() */
#define SLICE_NS UINT64_C(4000000)

/* Whether the last line is incomplete and still to be matched. */
static bool is_unsettled(const struct waits *h, const struct awaited *c)
{
	return c->is.needs_line_end && finder_offset(c->finder) == wait_head(h) &&
		finder_has_unsearched(c->finder);
}

bool wait_is_behind(const struct waits *h, const struct awaited *c)
{
	return c->finder &&
		(c->lent ||
			(!c->finder->found &&
				(finder_offset(c->finder) < wait_head(h) || is_unsettled(h, c))));
}

uint64_t wait_settles_at(const struct waits *h, const struct awaited *c)
{
	if (c->lent || c->finder->found || !is_unsettled(h, c))
		return WAIT_NEVER;
	return h->pane->life.exited ? 0 : h->pane->output_ms + WAIT_SETTLE_MS;
}

/* Whether it can be fed, or its last line matched, now. */
static bool is_due(const struct waits *h, const struct awaited *c)
{
	if (!c->finder || c->lent || c->finder->found)
		return false;
	return finder_offset(c->finder) < wait_head(h) || h->now >= wait_settles_at(h, c);
}

static void prepare(const struct waits *h, struct awaited *c)
{
	c->settles = h->now >= wait_settles_at(h, c);
}

static bool is_wanted(const struct awaited *c, uint64_t to)
{
	return !c->finder->found && (finder_offset(c->finder) < to || c->settles);
}

/* Bytes to feed at once: fewer for an expensive pattern. */
static size_t piece_length(const struct finder *f, uint64_t left)
{
	size_t length = left < PIECE_MAX ? (size_t)left : PIECE_MAX;
	while (length > PIECE_MIN && finder_max_work(f, length) > PIECE_WORK)
		length /= 2;
	return length;
}

/* Feed a piece to a condition that is_wanted(), or match its last line. */
static void feed_piece(struct awaited *c, const struct stream *bytes, uint64_t to)
{
	struct finder *f = c->finder;
	uint8_t piece[PIECE_MAX];
	uint64_t at = finder_offset(f);
	if (at >= to) {
		finder_flush(f);
		c->settles = false;
		return;
	}
	size_t length = piece_length(f, to - at);
	if (stream_copy(bytes, at, piece, length)) {
		finder_consume(f, piece, length);
		if (finder_offset(f) == to)
			finder_search_line(f);
	} else {
		uint64_t next = stream_skip(bytes, at, to);
		c->lost += next - at;
		finder_skip(f, next);
	}
}

/* Feed c on the loop, if that takes at most *left work, and lower *left. False: not done. */
static bool feed_here(struct waits *h, struct awaited *c, uint64_t *left)
{
	uint64_t at = finder_offset(c->finder), to = wait_head(h);
	uint64_t most = finder_max_work(c->finder, to > at ? (size_t)(to - at) : 0);
	if (most > *left)
		return false;
	*left -= most;
	/* Twice, if the last line is to be matched after that. */
	while (is_due(h, c)) {
		prepare(h, c);
		while (is_wanted(c, to))
			feed_piece(c, &h->pane->held.link.ring.bytes, to);
	}
	return true;
}

/* Feed on the loop, owners' patterns first. Returns whether work remains. */
static bool feed_little(struct waits *h)
{
	uint64_t left = WAIT_WORK_HERE;
	bool more = false;
	struct wait *w;
	for (int links = 0; links < 2; links++)
		DL_FOREACH (h->all, w)
			for (unsigned i = 0;
				i < w->count && !w->over && wait_is_by_link(w) == links; i++)
				if (is_due(h, &w->conditions[i]))
					more = !feed_here(h, &w->conditions[i], &left) || more;
	return more;
}

static bool has_due(const struct waits *h, const struct wait *w)
{
	for (unsigned i = 0; i < w->count && !w->over; i++)
		if (is_due(h, &w->conditions[i]))
			return true;
	return false;
}

static bool owners_have_due(const struct waits *h)
{
	const struct wait *w;
	DL_FOREACH (h->all, w)
		if (!wait_is_by_link(w) && has_due(h, w))
			return true;
	return false;
}

/* The link whose turn is next, in the cyclic order of names. NULL: no link has due patterns. */
static const char *next_link(const struct waits *h)
{
	const char *first = NULL, *next = NULL;
	const struct wait *w;
	DL_FOREACH (h->all, w) {
		if (!wait_is_by_link(w) || !has_due(h, w))
			continue;
		if (!first || strcmp(w->link, first) < 0)
			first = w->link;
		if (strcmp(w->link, h->fed) > 0 && (!next || strcmp(w->link, next) < 0))
			next = w->link;
	}
	return next ? next : first;
}

/* Choose the next turn: a link, or "" for the owners. */
static void choose_turn(struct waits *h, char ret_link[WAIT_LINK_MAX + 1])
{
	const char *link = next_link(h);
	bool owners = (!link || !h->owners_had) && owners_have_due(h);
	h->owners_had = owners;
	ret_link[0] = '\0';
	if (owners || !link)
		return;
	memcpy(h->fed, link, strlen(link) + 1);
	memcpy(ret_link, link, strlen(link) + 1);
}

/* List the due conditions of a link, of the owners (""), or of all (NULL). */
static void list_due(struct waits *h, const char *link)
{
	struct wait *w;
	h->feeding_count = 0;
	h->feed_to = wait_head(h);
	DL_FOREACH (h->all, w)
		for (unsigned i = 0; i < w->count && !w->over; i++) {
			struct awaited *c = &w->conditions[i];
			if ((link && strcmp(w->link, link) != 0) || !is_due(h, c))
				continue;
			prepare(h, c);
			h->feeding[h->feeding_count++] = c;
		}
}

static struct awaited *furthest_behind(const struct waits *h)
{
	struct awaited *found = NULL;
	for (unsigned i = 0; i < h->feeding_count; i++) {
		struct awaited *c = h->feeding[i];
		if (is_wanted(c, h->feed_to) &&
			(!found || finder_offset(c->finder) < finder_offset(found->finder)))
			found = c;
	}
	return found;
}

/* Feed the listed conditions for a slice of time. */
static void feed_slice(struct waits *h)
{
	uint64_t until = uv_hrtime() + SLICE_NS;
	struct awaited *c;
	while ((c = furthest_behind(h))) {
		feed_piece(c, &h->pane->held.link.ring.bytes, h->feed_to);
		if (uv_hrtime() >= until)
			return;
	}
}

static struct waits *waits_of(struct work_item *work_item)
{
	return (struct waits *)((uintptr_t)work_item - offsetof(struct waits, work_item));
}

static void on_work(struct work_item *work_item)
{
	feed_slice(waits_of(work_item));
}

static void on_back(struct work_item *work_item)
{
	struct waits *h = waits_of(work_item);
	h->lent = false;
	for (unsigned i = 0; i < h->feeding_count; i++)
		h->feeding[i]->lent = false;
	waits_on_worker_back(h);
}

static void lend_conditions(struct waits *h, struct workers *workers)
{
	char link[WAIT_LINK_MAX + 1];
	choose_turn(h, link);
	list_due(h, link);
	h->lent = true;
	for (unsigned i = 0; i < h->feeding_count; i++)
		h->feeding[i]->lent = true;
	h->work_item.work = on_work;
	h->work_item.back = on_back;
	h->work_item.patient = link[0] != '\0';
	workers_queue(workers, &h->work_item);
}

bool wait_feed(struct waits *h)
{
	struct workers *workers = h->pane->screening.workers;
	if (h->lent) {
		if (workers && h->work_item.patient && owners_have_due(h))
			workers_prioritize(workers, &h->work_item);
		return true;
	}
	if (!feed_little(h))
		return false;
	if (workers) {
		lend_conditions(h, workers);
	} else {
		list_due(h, NULL);
		feed_slice(h);
	}
	return true;
}
