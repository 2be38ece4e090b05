#include "ws/quota.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct quotas all;

static void open_all(void)
{
	quotas_init(&all, 4096);
}

static void close_all(void)
{
	quotas_finish(&all);
}

TestSuite(quota, .init = open_all, .fini = close_all, .timeout = 60);

static const struct principal owner = {.role = ROLE_OWNER};

static struct principal link_of(unsigned n, const char *session)
{
	struct principal p = {.role = ROLE_VIEWER};
	snprintf(p.link, sizeof p.link, "link%u", n);
	snprintf(p.session, sizeof p.session, "%s", session);
	return p;
}

/* Acquire places one by one until one is refused; they are not released. Returns the count. */
static unsigned fill(enum quota_kind kind, const struct principal *p)
{
	unsigned count = 0;
	struct quota_place place = {0};
	while (quota_acquire(&all, kind, 1, p, &place))
		count++;
	return count;
}

Test(quota, each_level_leaves_something_for_the_others)
{
	for (int i = 0; i < QUOTA_KINDS; i++) {
		const struct quota_limits *l = &all.limits[i];
		cr_expect_gt(l->link, 0, "%s", quota_name((enum quota_kind)i));
		cr_expect_lt(l->link, l->session, "%s", quota_name((enum quota_kind)i));
		cr_expect_leq(l->session, l->server, "%s", quota_name((enum quota_kind)i));
	}
}

Test(quota, of_a_link_of_a_session_and_of_the_server)
{
	const struct quota_limits *l = &all.limits[QUOTA_WAITS];
	struct principal p = link_of(0, "s");
	cr_assert_eq(fill(QUOTA_WAITS, &p), l->link);
	unsigned others = 0;
	for (unsigned i = 1; i < 10; i++) {
		p = link_of(i, "s");
		others += fill(QUOTA_WAITS, &p);
	}
	cr_assert_eq(others, l->session - l->link);
	unsigned elsewhere = 0;
	for (unsigned i = 10; i < 1000; i++) {
		char session[16];
		snprintf(session, sizeof session, "s%u", i);
		p = link_of(i, session);
		elsewhere += fill(QUOTA_WAITS, &p);
	}
	cr_assert_eq(elsewhere, l->server - l->session);
	cr_assert_eq(all.refused[QUOTA_WAITS], 1000);
	cr_assert_eq(all.had[QUOTA_WAITS], l->server);
	p = link_of(0, "s");
	cr_assert_gt(fill(QUOTA_STREAMS, &p), 0, "other kinds have their own quota");
}

Test(quota, owners_are_not_limited)
{
	struct quota_place place = {0};
	for (unsigned i = 0; i < 100000; i++)
		cr_assert(quota_acquire(&all, QUOTA_WAITS, 1, &owner, &place));
	quota_release(&place);
	cr_assert_eq(all.had[QUOTA_WAITS], 0);
	cr_assert(quota_is_of(&place, &owner));
}

Test(quota, released_places_can_be_acquired_again)
{
	struct quota_place places[64] = {0};
	struct principal p = link_of(1, "s");
	for (int round = 0; round < 3; round++) {
		unsigned n = 0;
		while (quota_acquire(&all, QUOTA_WAITS, 1, &p, &places[n]))
			n++;
		cr_assert_eq(n, all.limits[QUOTA_WAITS].link);
		cr_assert(quota_is_of(&places[0], &p));
		cr_assert_not(quota_is_of(&places[0], &owner));
		while (n-- > 0) {
			quota_release(&places[n]);
			quota_release(&places[n]);
		}
		cr_assert_null(all.table, "all places are released");
		cr_assert_eq(all.had[QUOTA_WAITS], 0);
	}
}

Test(quota, amounts)
{
	struct quota_place big = {0}, small = {0};
	struct principal p = link_of(1, "s");
	unsigned most = all.limits[QUOTA_BODY_BYTES].link;
	cr_assert_not(quota_acquire(&all, QUOTA_BODY_BYTES, most + 1, &p, &big));
	cr_assert_not(quota_acquire(&all, QUOTA_BODY_BYTES, UINT32_MAX, &p, &big));
	cr_assert_null(all.table);
	cr_assert(quota_acquire(&all, QUOTA_BODY_BYTES, most, &p, &big));
	cr_assert_not(quota_acquire(&all, QUOTA_BODY_BYTES, 1, &p, &small));
	cr_assert_not(quota_acquire(&all, QUOTA_BODY_BYTES, UINT32_MAX, &p, &small));
	cr_assert(quota_acquire(&all, QUOTA_BODY_BYTES, 0, &p, &small),
		"an amount of zero is always granted");
	quota_release(&small);
	quota_release(&big);
	cr_assert_null(all.table);
}

Test(quota, connections_depend_on_the_servers_limit)
{
	cr_assert_eq(all.limits[QUOTA_CONNECTIONS].link, 512);
	cr_assert_eq(all.limits[QUOTA_CONNECTIONS].server, 1536);
	quotas_init(&all, 8);
	cr_assert_eq(all.limits[QUOTA_CONNECTIONS].link, 16);
}
