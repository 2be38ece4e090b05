/* Memory accounting and minimum rate of bodies. */
#include "ws/net/bodies.h"

#include <assert.h>

bool bodies_reserve(struct bodies *b, size_t length, bool anonymous)
{
	if (length > BODIES_MAX - b->held ||
		(anonymous && length > BODIES_ANONYMOUS_MAX - b->anonymous))
		return false;
	b->held += length;
	b->anonymous += anonymous ? length : 0;
	*b->gauge = b->held;
	return true;
}

void bodies_release(struct bodies *b, size_t length, bool anonymous)
{
	assert(length <= b->held && (!anonymous || length <= b->anonymous));
	b->held -= length;
	b->anonymous -= anonymous ? length : 0;
	*b->gauge = b->held;
}

bool bodies_is_slow(uint64_t ms, uint64_t grace_ms, uint64_t done)
{
	return ms > grace_ms && done < (ms - grace_ms) * BODY_RATE_MIN / 1000;
}
