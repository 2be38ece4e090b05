#include "ws/socket/pace.h"

#include <criterion/criterion.h>

#define FRAME ((size_t)64 << 10)

/* A line that delivers so many bytes a millisecond, each of them after way_ms; and a client that says so. */
struct line {
	struct pace pace;
	uint64_t rate, way_ms, now_ms;
	uint64_t delivered, acked;
	uint64_t most; /* bytes that have been on their way, lately */
};

static struct line lay(uint64_t rate, uint64_t way_ms)
{
	struct line l = {.rate = rate, .way_ms = way_ms};
	pace_init(&l.pace, true);
	return l;
}

/* What has been sent has come, and the client's word of it as well, one way after the other. */
static void pass(struct line *l, uint64_t ms, bool floods)
{
	uint64_t said[1024] = {0};
	l->most = 0;
	cr_assert_lt(l->way_ms, sizeof said / sizeof *said);
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
			uint64_t came = said[l->now_ms % l->way_ms];
			said[l->now_ms % l->way_ms] = l->acked;
			pace_acked(&l->pace, came, l->now_ms);
		} else {
			pace_acked(&l->pace, l->acked, l->now_ms);
		}
	}
}

Test(pace, a_slow_line_holds_what_it_delivers_in_about_half_a_second)
{
	struct line l = lay(20, 0);
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

Test(pace, a_line_slower_than_the_smallest_window_still_moves)
{
	struct line l = lay(1, 0);
	pass(&l, 60000, true);
	cr_assert_geq(l.delivered, 59000);
	pass(&l, 60000, true);
	cr_assert_geq(l.delivered, 118000);
	cr_assert_leq(l.most, PACE_WINDOW_MIN);
}

Test(pace, a_long_fast_line_is_used)
{
	struct line l = lay(5000, 200);
	pass(&l, 5000, true);
	uint64_t before = l.delivered;
	pass(&l, 5000, true);
	cr_assert_geq(l.delivered - before, 5000 * 4500, "%llu in 5 s",
		(unsigned long long)(l.delivered - before));
	cr_assert_gt(pace_lag(&l.pace, 1 << 20), 1 << 20);
}

Test(pace, a_satellite_is_used)
{
	struct line l = lay(1000, 650);
	pass(&l, 10000, true);
	cr_assert_geq(l.delivered, 10000 * 500, "%llu in 10 s", (unsigned long long)l.delivered);
}

Test(pace, a_line_that_gets_better_or_worse_is_noticed)
{
	struct line l = lay(20, 0);
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

Test(pace, who_says_nothing_is_not_held_back)
{
	struct pace p;
	pace_init(&p, false);
	for (int i = 0; i < 1000; i++)
		pace_sent(&p, FRAME, 0);
	cr_assert_eq(pace_frame_max(&p, FRAME), FRAME);
	cr_assert_eq(pace_lag(&p, 1 << 20), 1 << 20);
	cr_assert_not(pace_is_empty(&p));
}

Test(pace, what_cannot_be_is_not_believed)
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
