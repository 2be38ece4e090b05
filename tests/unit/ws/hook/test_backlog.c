/* Events that wait for a webhook: order, retries, and limits. */
#include "ws/hook/backlog.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct backlog b;
static enum backlog_outcome outcome; /* of the last try */
static uint64_t wait;

static void restart(void)
{
	backlog_finish(&b);
	b = (struct backlog){0};
}

TestSuite(backlog, .fini = restart);

static struct hook_event *event(const char *session, enum hook_kind kind, const char *id)
{
	struct hook_event *e = calloc(1, sizeof *e + 1);
	e->references = 1;
	e->kind = kind;
	snprintf(e->id, sizeof e->id, "%s", id);
	snprintf(e->session, sizeof e->session, "%s", session);
	return e;
}

static void add(const char *session, enum hook_kind kind, const char *id)
{
	struct hook_event *e = event(session, kind, id);
	backlog_add(&b, e, 1);
	hook_event_unref(e);
}

/* Deliver the current event with this status. Returns its id, "" if there is none. */
static const char *try_once(uint64_t now, int status)
{
	static char id[HOOK_ID_SIZE];
	const struct hook_event *e = backlog_begin(&b, now, &wait);
	snprintf(id, sizeof id, "%s", e ? e->id : "");
	if (e)
		outcome = backlog_end(&b, &(struct backlog_answer){.status = status}, now);
	return id;
}

Test(backlog, events_are_delivered_in_order)
{
	cr_assert_null(backlog_begin(&b, 1, &wait));
	cr_assert_eq(wait, UINT64_MAX);
	add("s", HOOK_LINE, "1");
	add("s", HOOK_LINE, "2");
	cr_assert_str_eq(try_once(1, 200), "1");
	cr_assert_eq(outcome, BACKLOG_ARRIVED);
	cr_assert_str_eq(try_once(1, 299), "2");
	cr_assert_str_eq(try_once(1, 200), "");
	cr_assert_eq(b.counts.arrived, 2);
	cr_assert_eq(b.counts.waiting, 0);
	cr_assert_eq(backlog_finish(&b), 0);
}

Test(backlog, pauses_between_attempts_double_up_to_the_limit)
{
	uint64_t now = 1, pause = HOOK_PAUSE_MS;
	add("s", HOOK_LINE, "1");
	add("s", HOOK_LINE, "2");
	for (unsigned i = 1; i < HOOK_TRIES; i++) {
		cr_assert_str_eq(try_once(now, i % 2 ? 500 : 0), "1");
		cr_assert_eq(outcome, BACKLOG_AGAIN);
		cr_assert_null(backlog_begin(&b, now + pause - 1, &wait));
		cr_assert_eq(wait, 1);
		now += pause;
		pause = pause * 2 < HOOK_PAUSE_MAX_MS ? pause * 2 : HOOK_PAUSE_MAX_MS;
	}
	cr_assert_str_eq(try_once(now, 503), "1");
	cr_assert_eq(outcome, BACKLOG_GIVEN_UP);
	cr_assert_eq(b.counts.given_up, 1);
	/* Whatever is next, the receiver is left alone for as long. */
	cr_assert_null(backlog_begin(&b, now + HOOK_PAUSE_MAX_MS - 1, &wait));
	cr_assert_str_eq(try_once(now + HOOK_PAUSE_MAX_MS, 200), "2");
	/* After a success the pauses start over. */
	add("s", HOOK_LINE, "3");
	cr_assert_str_eq(try_once(now + HOOK_PAUSE_MAX_MS, 500), "3");
	cr_assert_not_null(backlog_begin(&b, now + HOOK_PAUSE_MAX_MS + HOOK_PAUSE_MS, &wait));
	cr_assert_eq(backlog_finish(&b), 1);
}

Test(backlog, retry_after_is_respected_up_to_a_limit)
{
	static const struct {
		uint64_t asked, pause;
		unsigned random;
	} cases[] = {{0, HOOK_PAUSE_MS, 0}, {1, HOOK_PAUSE_MS, 0}, {7000, 7000, 0},
		{0, HOOK_PAUSE_MS + HOOK_PAUSE_MS * 255 / 1024, 255},
		{HOOK_RETRY_AFTER_MAX_MS, HOOK_RETRY_AFTER_MAX_MS, 0},
		{UINT64_MAX, HOOK_RETRY_AFTER_MAX_MS, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		add("s", HOOK_LINE, "1");
		cr_assert_not_null(backlog_begin(&b, 1, &wait));
		backlog_end(&b,
			&(struct backlog_answer){.status = 429,
				.retry_after_ms = cases[i].asked,
				.random = cases[i].random},
			1);
		cr_assert_null(backlog_begin(&b, 1, &wait));
		cr_expect_eq(wait, cases[i].pause, "%zu: %llu", i, (unsigned long long)wait);
		restart();
	}
}

Test(backlog, statuses)
{
	static const struct {
		int status;
		enum backlog_outcome outcome;
	} cases[] = {{0, BACKLOG_AGAIN}, {200, BACKLOG_ARRIVED}, {204, BACKLOG_ARRIVED},
		{301, BACKLOG_REFUSED}, {304, BACKLOG_REFUSED}, {400, BACKLOG_REFUSED},
		{404, BACKLOG_REFUSED}, {408, BACKLOG_AGAIN}, {410, BACKLOG_UNWANTED},
		{413, BACKLOG_REFUSED}, {425, BACKLOG_AGAIN}, {429, BACKLOG_AGAIN},
		{500, BACKLOG_AGAIN}, {503, BACKLOG_AGAIN}, {999, BACKLOG_AGAIN},
		{100, BACKLOG_AGAIN}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		add("s", HOOK_LINE, "1");
		cr_expect_str_eq(try_once(1, cases[i].status), "1", "%d", cases[i].status);
		cr_expect_eq(outcome, cases[i].outcome, "%d", cases[i].status);
		cr_expect_eq(b.counts.waiting, outcome == BACKLOG_AGAIN, "%d", cases[i].status);
		restart();
	}
}

Test(backlog, refused_event_is_followed_by_the_next_at_once)
{
	add("s", HOOK_LINE, "1");
	add("s", HOOK_LINE, "2");
	try_once(1, 422);
	cr_assert_str_eq(try_once(1, 200), "2");
}

Test(backlog, receiver_that_is_gone_gets_no_more)
{
	add("s", HOOK_LINE, "1");
	add("s", HOOK_LINE, "2");
	try_once(1, 410);
	add("s", HOOK_LINE, "3");
	cr_assert_str_eq(try_once(1, 200), "");
	cr_assert_eq(b.counts.dropped, 3);
	cr_assert_eq(b.counts.told, 3);
}

Test(backlog, old_events_are_dropped)
{
	add("s", HOOK_LINE, "1");
	cr_assert_str_eq(try_once(1 + HOOK_AGE_MAX_MS, 500), "1");
	cr_assert_str_eq(try_once(2 * HOOK_AGE_MAX_MS, 200), "");
	cr_assert_eq(b.counts.given_up, 1);
}

Test(backlog, oldest_is_dropped_when_full_except_the_current)
{
	char session[16], id[16];
	add("0", HOOK_LINE, "first");
	cr_assert_str_eq(backlog_begin(&b, 1, &wait)->id, "first");
	for (unsigned i = 1; i < HOOK_WAITING_MAX + 3; i++) {
		snprintf(session, sizeof session, "%u", i);
		snprintf(id, sizeof id, "%u", i);
		add(session, HOOK_LINE, id);
	}
	cr_assert_eq(b.counts.waiting, HOOK_WAITING_MAX);
	cr_assert_eq(b.counts.dropped, 3);
	cr_assert_eq(backlog_end(&b, &(struct backlog_answer){.status = 200}, 1), BACKLOG_ARRIVED);
	cr_assert_str_eq(try_once(1, 200), "4");
	cr_assert_eq(b.counts.told, b.counts.arrived + b.counts.dropped + backlog_finish(&b));
}

Test(backlog, session_has_a_share)
{
	char id[16];
	add("quiet", HOOK_PASSWORD, "quiet");
	for (unsigned i = 0; i < 2 * HOOK_WAITING_MAX; i++) {
		snprintf(id, sizeof id, "%u", i);
		add("loud", HOOK_FAILED, id);
	}
	cr_assert_eq(b.counts.waiting, HOOK_SESSION_WAITING_MAX + 1);
	cr_assert_str_eq(try_once(1, 200), "quiet");
	cr_assert_str_eq(try_once(1, 200), "896");
}

Test(backlog, waiting_bells_are_one)
{
	add("s", HOOK_BELL, "1");
	add("s", HOOK_BELL, "2");
	add("s", HOOK_NOTIFICATION, "3");
	add("other", HOOK_BELL, "4");
	add("s", HOOK_NOTIFICATION, "5");
	add("s", HOOK_LINE, "6");
	add("s", HOOK_LINE, "7");
	cr_assert_eq(b.counts.merged, 2);
	cr_assert_eq(b.counts.waiting, 5);
	/* The current one may have been sent already. */
	cr_assert_str_eq(backlog_begin(&b, 1, &wait)->id, "1");
	add("s", HOOK_BELL, "8");
	cr_assert_eq(b.counts.waiting, 6);
}
