#include "ws/auth/limiter.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct limiter l;

static unsigned failures_allowed(const char *peer, uint64_t now_ms)
{
	unsigned n = 0;
	while (n < 1000 && !limiter_fail(&l, peer, now_ms))
		n++;
	return n;
}

Test(limiter_fail, burst_and_then_no_more)
{
	cr_assert_eq(failures_allowed("a", 1000), LIMITER_BURST);
	cr_assert(limiter_fail(&l, "a", 1000));
}

Test(limiter_fail, one_more_after_each_refill)
{
	failures_allowed("a", 1000);
	cr_assert(limiter_fail(&l, "a", 1000 + LIMITER_REFILL_MS - 1));
	cr_assert_eq(failures_allowed("a", 1000 + LIMITER_REFILL_MS), 1);
	cr_assert_eq(failures_allowed("a", 1000 + 3 * LIMITER_REFILL_MS), 2);
}

Test(limiter_fail, refused_attempts_do_not_count)
{
	failures_allowed("a", 0);
	for (int i = 0; i < 1000; i++)
		limiter_fail(&l, "a", 1);
	cr_assert_eq(failures_allowed("a", LIMITER_REFILL_MS), 1);
}

Test(limiter_fail, waiting_restores_the_burst_and_not_more)
{
	failures_allowed("a", 0);
	cr_assert_eq(failures_allowed("a", UINT64_C(1) << 40), LIMITER_BURST);
}

Test(limiter_fail, peers_are_independent)
{
	failures_allowed("a", 0);
	cr_assert_eq(failures_allowed("b", 0), LIMITER_BURST);
}

Test(limiter_fail, memory_is_bounded_and_offenders_are_kept)
{
	char name[32];
	failures_allowed("attacker", 1000);
	for (unsigned i = 0; i < 3 * LIMITER_PEERS; i++) {
		snprintf(name, sizeof name, "peer%u", i);
		limiter_fail(&l, name, 1000);
	}
	cr_assert_eq(l.count, LIMITER_PEERS);
	cr_assert(limiter_fail(&l, "attacker", 1000),
		"other peers must not clear the attacker's count");
}

Test(limiter_fail, clock_set_back_does_not_block_for_ever)
{
	failures_allowed("a", 1000000);
	cr_assert(limiter_fail(&l, "a", 0));
	cr_assert_eq(failures_allowed("a", 1000000 + LIMITER_REFILL_MS), 1);
}

Test(limiter_get_network, networks)
{
	static const struct {
		const char *peer, *want;
	} cases[] = {{"192.0.2.1", "192.0.2.1"}, {"::ffff:192.0.2.1", "192.0.2.1"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"}, {"2001:db8:1:2::", "2001:db8:1:2::"},
		{"::1", "::1"}, {"unix", "unix"}, {"", ""}, {"a:b", "a:b"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char network[LIMITER_PEER_MAX];
		limiter_get_network(cases[i].peer, network);
		cr_expect_str_eq(network, cases[i].want, "%s: %s", cases[i].peer, network);
	}
}

Test(limiter_fail, address_of_the_same_network_is_the_same_peer)
{
	static struct limiter one;
	unsigned n = 0;
	char peer[LIMITER_PEER_MAX];
	for (; n < 1000; n++) {
		snprintf(peer, sizeof peer, "2001:db8::%x", n);
		if (limiter_fail(&one, peer, 1000))
			break;
	}
	cr_assert_eq(n, LIMITER_BURST);
}
