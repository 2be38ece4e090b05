/* Patience with viewers: how long a writer waits in all. */
#include "ring/patience.h"

#include <criterion/criterion.h>

#define MS UINT64_C(1000000)
#define START (1000000 * MS)

/* Count the milliseconds that the writer may wait, at most `most`; check every millisecond. */
static unsigned wait_on(struct patience *p, uint64_t *now, unsigned most)
{
	unsigned waited = 0;
	while (waited < most && patience_allows_wait(p, *now, true)) {
		*now += MS;
		waited++;
	}
	return waited;
}

TestSuite(patience);

Test(patience, full_patience_is_used_up)
{
	struct patience p = {0};
	uint64_t now = START;
	cr_expect_eq(wait_on(&p, &now, 10000), PATIENCE_MS);
	cr_expect_not(patience_allows_wait(&p, now, true));
}

Test(patience, time_without_waiting_costs_nothing)
{
	struct patience p = {0};
	uint64_t now = START;
	for (unsigned i = 0; i < 1000; i++, now += MS)
		cr_assert(patience_allows_wait(&p, now, false));
	cr_expect_eq(wait_on(&p, &now, 10000), PATIENCE_MS);
}

Test(patience, refills_in_a_second_up_to_its_maximum)
{
	struct patience p = {0};
	uint64_t now = START;
	wait_on(&p, &now, 10000);
	cr_assert_not(patience_allows_wait(&p, now, false));
	now += 500 * MS;
	cr_expect(patience_allows_wait(&p, now, false));
	cr_expect_eq(wait_on(&p, &now, 10000), PATIENCE_MS / 2);
	cr_assert_not(patience_allows_wait(&p, now, false));
	now += 10000 * MS;
	cr_expect(patience_allows_wait(&p, now, false));
	cr_expect_eq(wait_on(&p, &now, 10000), PATIENCE_MS);
}

/* However the waiting is spread: in ten seconds a writer that always has to wait waits for half a second. */
Test(patience, long_term_average_is_bounded)
{
	struct patience p = {0};
	uint64_t now = START;
	unsigned waited = 0;
	for (unsigned i = 0; i < 10000; i++, now += MS)
		waited += patience_allows_wait(&p, now, true);
	cr_expect_geq(waited, 10 * PATIENCE_MS, "%u", waited);
	cr_expect_leq(waited, 11 * PATIENCE_MS + 10, "%u", waited);
}

Test(patience, late_check_counts_the_time_waited)
{
	struct patience p = {0};
	cr_assert(patience_allows_wait(&p, START, true));
	cr_expect_not(patience_allows_wait(&p, START + 3000 * MS, true));
}
