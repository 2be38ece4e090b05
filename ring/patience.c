/*
 * Waiting spends the budget and other time refills it. If a call is late, the writer may have
 * waited longer than allowed; the excess counts as spent. Cannot fail.
 */
#include "ring/patience.h"

#define ALL_NS ((int64_t)PATIENCE_MS * 1000000)
#define REFILL (1000 / PATIENCE_MS) /* share of elapsed time that is refilled */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

bool patience_allows_wait(struct patience *p, uint64_t now_ns, bool waits)
{
	/* Longer intervals make no difference. */
	uint64_t elapsed = now_ns - p->looked_ns;
	int64_t passed = elapsed < UINT64_C(60000000000) ? (int64_t)elapsed : INT64_C(60000000000);
	if (p->waits)
		p->spent_ns = least(p->spent_ns + passed, 2 * ALL_NS);
	else
		p->spent_ns -= least(p->spent_ns, passed / REFILL);
	bool lasts = p->spent_ns < ALL_NS;
	p->looked_ns = now_ns;
	p->waits = waits && lasts;
	return lasts;
}
