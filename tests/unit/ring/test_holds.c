#include "ring/holds.h"

#include <criterion/criterion.h>

TestSuite(holds, .timeout = 60);

#define SIZE UINT64_C(1048576)

static struct holds all;
static uint64_t now;

/* A writer that has written up to head and waits for space. */
static struct holds_writer writer(uint64_t head)
{
	return (struct holds_writer){
		.head = head, .size = SIZE, .events_size = 65536, .blocked = true};
}

/* Let ms pass. Returns the time when h was dropped, or UINT64_MAX. */
static uint64_t pass(const struct holds_writer *w, uint64_t ms, const struct hold *h)
{
	for (uint64_t end = now + ms; now < end;) {
		now += HOLD_TICK_MS;
		holds_tick(&all, w, now);
		if (!h->held)
			return now;
	}
	return UINT64_MAX;
}

Test(holds, lowest_offset_and_position_count)
{
	struct hold a = {0}, b = {0};
	uint64_t offset = 500, position = 50;
	holds_min(&all, &offset, &position);
	cr_expect_eq(offset, 500);
	cr_assert(holds_add(&all, &a, 100, UINT64_MAX));
	cr_assert(holds_add(&all, &b, 200, 20));
	holds_min(&all, &offset, &position);
	cr_expect_eq(offset, 100);
	cr_expect_eq(position, 20);
	hold_move(&a, 300, UINT64_MAX);
	hold_move(&a, 10, UINT64_MAX); /* a hold never moves back */
	offset = 500;
	holds_min(&all, &offset, &position);
	cr_expect_eq(offset, 200);
	holds_remove(&all, &b);
	holds_remove(&all, &b);
	offset = 500;
	holds_min(&all, &offset, &position);
	cr_expect_eq(offset, 300);
	holds_remove(&all, &a);
	cr_expect_eq(all.count, 0);
	cr_expect_null(all.first);
}

Test(holds, unread_hold_is_dropped_after_the_stall_time)
{
	struct hold h = {0};
	struct holds_writer w = writer(SIZE);
	holds_add(&all, &h, 0, UINT64_MAX);
	uint64_t at = pass(&w, 10 * HOLD_STALL_MS, &h);
	cr_expect_geq(at, HOLD_STALL_MS);
	cr_expect_leq(at, HOLD_STALL_MS + 2 * HOLD_TICK_MS, "at %lu", at);
	cr_expect_eq(all.count, 0);
}

Test(holds, no_hold_is_dropped_while_the_writer_has_space)
{
	struct hold h = {0};
	struct holds_writer w = writer(SIZE);
	w.blocked = false;
	holds_add(&all, &h, 0, 0);
	cr_expect_eq(pass(&w, 100 * HOLD_STALL_MS, &h), UINT64_MAX);
	/* A hold that does not block the writer is kept too. */
	w.blocked = true;
	hold_move(&h, SIZE / 2 + 1, 0);
	cr_expect_eq(pass(&w, 100 * HOLD_STALL_MS, &h), UINT64_MAX);
	/* A hold whose events block the writer is dropped. */
	w.events = w.events_size;
	cr_expect_neq(pass(&w, 2 * HOLD_STALL_MS, &h), UINT64_MAX);
}

Test(holds, reading_a_byte_now_and_then_is_not_enough)
{
	struct hold h = {0};
	uint64_t at = UINT64_MAX, offset = 0;
	holds_add(&all, &h, 0, UINT64_MAX);
	for (int i = 0; i < 100 && at == UINT64_MAX; i++) {
		struct holds_writer w = writer(offset + SIZE);
		at = pass(&w, HOLD_STALL_MS - 1000, &h);
		hold_move(&h, ++offset, UINT64_MAX);
	}
	cr_expect_leq(at, HOLD_STALL_MS + 2 * HOLD_TICK_MS);
}

Test(holds, hold_of_an_active_reader_is_never_dropped)
{
	struct hold h = {0};
	uint64_t offset = 0;
	holds_add(&all, &h, 0, UINT64_MAX);
	for (int i = 0; i < 1000; i++) {
		struct holds_writer w = writer(offset + SIZE);
		cr_assert_eq(pass(&w, 1000, &h), UINT64_MAX);
		offset += 1000 * (HOLD_RATE + 1);
		hold_move(&h, offset, UINT64_MAX);
	}
	/* Earlier progress counts for one stall at most. */
	struct holds_writer w = writer(offset + SIZE);
	uint64_t before = now;
	cr_expect_leq(pass(&w, 10 * HOLD_STALL_MS, &h) - before, HOLD_STALL_MS + 2 * HOLD_TICK_MS);
}

Test(holds, many_holds_stall_no_longer_than_one)
{
	static struct hold h[HOLDS_MAX];
	struct hold more = {0};
	struct holds_writer w = writer(SIZE);
	for (unsigned i = 0; i < HOLDS_MAX; i++)
		cr_assert(holds_add(&all, &h[i], i * 1000, UINT64_MAX));
	cr_expect_not(holds_add(&all, &more, 0, UINT64_MAX));
	cr_expect_not(more.held);
	holds_remove(&all, &more);
	for (unsigned i = 0; i < HOLDS_MAX; i++)
		pass(&w, 2 * HOLD_STALL_MS, &h[i]);
	cr_expect_eq(all.count, 0);
	cr_expect_leq(now, HOLD_STALL_MS + HOLDS_MAX * HOLD_TICK_MS);
}

Test(holds, time_without_ticks_does_not_count)
{
	struct hold h = {0};
	struct holds_writer w = writer(SIZE);
	holds_add(&all, &h, 0, UINT64_MAX);
	/* The server was stopped meanwhile. */
	for (int i = 0; i < 3; i++) {
		now += 100 * HOLD_STALL_MS;
		cr_expect_not(holds_tick(&all, &w, now));
	}
	cr_expect(h.held);
}

Test(holds, unclaimed_hold_expires)
{
	struct hold kept = {0}, reader = {0};
	struct holds_writer w = writer(10);
	w.blocked = false;
	holds_add(&all, &kept, 7, 8);
	kept.expire_ms = HOLD_CLAIM_MS;
	holds_replace(&all, &kept, &reader);
	cr_expect_not(kept.held);
	cr_expect_eq(reader.offset, 7);
	cr_expect_eq(reader.position, 8);
	cr_expect_eq(pass(&w, 2 * HOLD_CLAIM_MS, &reader), UINT64_MAX);
	holds_replace(&all, &reader, &kept);
	cr_expect_eq(all.count, 1);
	kept.expire_ms = now + HOLD_CLAIM_MS;
	uint64_t due = kept.expire_ms;
	cr_expect_eq(pass(&w, 2 * HOLD_CLAIM_MS, &kept), due);
}
