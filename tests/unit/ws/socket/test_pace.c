#include "ws/socket/pace.h"

#include <criterion/criterion.h>

#define FRAME ((size_t)64 << 10)

/* A line that delivers rate bytes per millisecond after way_ms, and a client that acknowledges them. */
struct line {
	struct pace pace;
	uint64_t rate, way_ms, now_ms;
	uint64_t delivered, acked;
	uint64_t most; /* bytes in flight at recent times */
};

static struct line make_line(uint64_t rate, uint64_t way_ms)
{
	struct line l = {.rate = rate, .way_ms = way_ms};
	pace_init(&l.pace, true);
	return l;
}

/* Bytes and acknowledgements arrive after their way. */
static void pass(struct line *l, uint64_t ms, bool floods)
{
	uint64_t acked[1024] = {0};
	l->most = 0;
	cr_assert_lt(l->way_ms, sizeof acked / sizeof *acked);
	for (uint64_t end = l->now_ms + ms; l->now_ms < end; l->now_ms++) {
		for (size_t room; floods && (room = pace_frame_max(&l->pace, FRAME)) > 0;)
			pace_sent(&l->pace, room, l->now_ms);
		uint64_t waiting = l->pace.sent - l->delivered;
		if (waiting > l->most)
			l->most = waiting;
		l->delivered += waiting < l->rate ? waiting : l->rate;
		if (l->delivered - l->acked >= PACE_ACK_EVERY)
			l->acked = l->delivered;
		if (l->way_ms > 0) {
			uint64_t came = acked[l->now_ms % l->way_ms];
			acked[l->now_ms % l->way_ms] = l->acked;
			pace_acked(&l->pace, came, l->now_ms);
		} else {
			pace_acked(&l->pace, l->acked, l->now_ms);
		}
	}
}

Test(pace, slow_line_has_about_half_a_second_in_flight)
{
	struct line l = make_line(20, 0);
	pass(&l, 5000, true);
	uint64_t before = l.delivered;
	pass(&l, 10000, true);
	cr_assert_geq(l.delivered - before, 190000, "%llu in 10 s",
		(unsigned long long)(l.delivered - before));
	cr_assert_leq(l.most, 20000, "%llu on their way", (unsigned long long)l.most);
	cr_assert(l.pace.slow);
	cr_assert_eq(pace_lag(&l.pace, 1 << 20), l.pace.window);
	cr_assert_eq(pace_lag(&l.pace, 100), 100);
}

Test(pace, line_slower_than_the_smallest_window_still_moves)
{
	struct line l = make_line(1, 0);
	pass(&l, 60000, true);
	cr_assert_geq(l.delivered, 59000);
	pass(&l, 60000, true);
	cr_assert_geq(l.delivered, 118000);
	cr_assert_leq(l.most, PACE_WINDOW_MIN);
}

Test(pace, long_fast_line_is_used)
{
	struct line l = make_line(5000, 200);
	pass(&l, 5000, true);
	uint64_t before = l.delivered;
	pass(&l, 5000, true);
	cr_assert_geq(l.delivered - before, 5000 * 4500, "%llu in 5 s",
		(unsigned long long)(l.delivered - before));
	cr_assert_gt(pace_lag(&l.pace, 1 << 20), 1 << 20);
}

Test(pace, satellite_line_is_used)
{
	struct line l = make_line(1000, 650);
	pass(&l, 10000, true);
	cr_assert_geq(l.delivered, 10000 * 500, "%llu in 10 s", (unsigned long long)l.delivered);
}

Test(pace, change_of_the_line_is_noticed)
{
	struct line l = make_line(20, 0);
	pass(&l, 10000, true);
	l.rate = 5000;
	pass(&l, 3000, true);
	cr_assert_gt(pace_lag(&l.pace, 1 << 20), 1 << 20);
	l.rate = 20;
	pass(&l, 300000, true);
	pass(&l, 1000, true);
	cr_assert(l.pace.slow);
	cr_assert_leq(l.most, 20000, "%llu on their way", (unsigned long long)l.most);
}

Test(pace, client_without_acknowledgements_is_not_limited)
{
	struct pace p;
	pace_init(&p, false);
	for (int i = 0; i < 1000; i++)
		pace_sent(&p, FRAME, 0);
	cr_assert_eq(pace_frame_max(&p, FRAME), FRAME);
	cr_assert_eq(pace_lag(&p, 1 << 20), 1 << 20);
	cr_assert_not(pace_is_empty(&p));
}

Test(pace, impossible_acknowledgements_are_ignored)
{
	struct pace p;
	pace_init(&p, true);
	size_t room;
	while ((room = pace_frame_max(&p, FRAME)) > 0)
		pace_sent(&p, room, 0);
	static const uint64_t lies[] = {UINT64_MAX, PACE_WINDOW_FIRST + 1, 0};
	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
		pace_acked(&p, lies[i], 1);
	cr_assert_eq(p.acked, 0);
	cr_assert_eq(pace_frame_max(&p, FRAME), 0);
	pace_acked(&p, PACE_WINDOW_FIRST / 2, 1);
	pace_acked(&p, 1, 1);
	cr_assert_eq(p.acked, PACE_WINDOW_FIRST / 2);
	cr_assert_gt(pace_frame_max(&p, FRAME), 0);
	cr_assert_leq(pace_frame_max(&p, 1), 1);
	cr_assert_eq(pace_frame_max(&p, 0), 0);
}
