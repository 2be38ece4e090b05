#include "ws/net/peers.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Connect from each address of a pattern, where # is a number. */
static unsigned connect_from(
	struct peers *all, const char *pattern, struct peer *entered[], unsigned most)
{
	unsigned count = 0;
	for (unsigned i = 0; i < most; i++) {
		char address[LIMITER_PEER_MAX];
		size_t length = strcspn(pattern, "#");
		snprintf(address, sizeof address, "%.*s", (int)length, pattern);
		if (pattern[length])
			snprintf(address + length, sizeof address - length, "%x%s", i,
				pattern + length + 1);
		if (peers_enter(all, address, &entered[count]))
			count++;
	}
	return count;
}

Test(peers_enter, network_has_a_share_of_all_connections, .timeout = 10)
{
	static const struct {
		const char *pattern;
		unsigned want;
	} cases[] = {{"192.0.2.1", 50}, {"2001:db8:1:2::#", 50}, {"2001:db8:1:#::1", 200},
		{"::ffff:192.0.2.9", 50}, {"127.0.0.1", 100}, {"::1", 100}, {"unix", 200}};
	uint64_t gauge = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct peers all = {.connections_max = 200, .gauge = &gauge};
		struct peer *entered[200];
		unsigned count = connect_from(&all, cases[i].pattern, entered, 200);
		cr_expect_eq(count, cases[i].want, "%s: %u", cases[i].pattern, count);
		cr_expect_eq(gauge, entered[0] ? count : 0);
		for (unsigned n = 0; n < count; n++)
			peers_leave(&all, entered[n]);
		cr_expect_eq(gauge, 0);
		cr_expect_null(all.table, "%s: no entry is left", cases[i].pattern);
		cr_expect_eq(connect_from(&all, cases[i].pattern, entered, 1), 1);
		peers_leave(&all, entered[0]);
		peers_finish(&all);
	}
}

Test(peers_enter, few_connections_are_shared_too, .timeout = 10)
{
	struct peers all = {.connections_max = 4};
	struct peer *entered[60];
	cr_assert_eq(connect_from(&all, "192.0.2.1", entered, 60), PEERS_UNAUTHENTICATED_MIN);
	peers_finish(&all);
}

Test(peers_count_failure, burst_and_then_a_rate, .timeout = 10)
{
	struct peers all = {.connections_max = 100};
	unsigned n = 0;
	while (n < 10000 && !peers_count_failure(&all, "192.0.2.1", 1000))
		n++;
	cr_assert_eq(n, PEERS_FAILURES_BURST);
	cr_assert_not(
		peers_count_failure(&all, "192.0.2.2", 1000), "another address has its own limit");
	cr_assert_not(peers_count_failure(&all, "192.0.2.1", 1000 + PEERS_FAILURE_MS));
	cr_assert(peers_count_failure(&all, "192.0.2.1", 1000 + PEERS_FAILURE_MS));
	for (unsigned i = 0; i < 2 * PEERS_FAILURES_BURST; i++)
		cr_assert_not(peers_count_failure(&all, "unix", 2000));
	peers_finish(&all);
}

Test(peers_count_failure, memory_is_bounded, .timeout = 30)
{
	struct peers all = {.connections_max = 100};
	struct peer *stays;
	cr_assert(peers_enter(&all, "192.0.2.1", &stays));
	for (unsigned i = 0; i < 3 * PEERS_KEPT; i++) {
		char address[LIMITER_PEER_MAX];
		snprintf(address, sizeof address, "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
		peers_count_failure(&all, address, i);
	}
	cr_assert_leq(HASH_COUNT(all.table), PEERS_KEPT + 1);
	peers_leave(&all, stays);
	peers_finish(&all);
}
