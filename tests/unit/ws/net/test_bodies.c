#include "ws/net/bodies.h"

#include <criterion/criterion.h>

static uint64_t gauge;

Test(bodies_reserve, limit_of_all_bodies, .timeout = 10)
{
	struct bodies b = {.gauge = &gauge};
	cr_assert(bodies_reserve(&b, BODIES_MAX - 1, false));
	cr_assert_not(bodies_reserve(&b, 2, false));
	cr_assert_not(bodies_reserve(&b, SIZE_MAX, false));
	cr_assert(bodies_reserve(&b, 1, true));
	cr_assert_eq(gauge, BODIES_MAX);
	bodies_release(&b, 1, true);
	bodies_release(&b, BODIES_MAX - 1, false);
	cr_assert_eq(gauge, 0);
}

Test(bodies_reserve, clients_without_credentials_cannot_use_all, .timeout = 10)
{
	struct bodies b = {.gauge = &gauge};
	size_t reserved = 0;
	while (bodies_reserve(&b, BODY_ANONYMOUS_MAX, true))
		reserved += BODY_ANONYMOUS_MAX;
	cr_assert_eq(reserved, BODIES_ANONYMOUS_MAX);
	cr_assert(bodies_reserve(&b, BODIES_MAX - reserved, false));
}

Test(bodies_is_slow, is_slow_after_the_first_moments_on_average, .timeout = 10)
{
	cr_assert_not(bodies_is_slow(10000, 10000, 0));
	cr_assert(bodies_is_slow(11000, 10000, BODY_RATE_MIN - 1));
	cr_assert_not(bodies_is_slow(11000, 10000, BODY_RATE_MIN));
	cr_assert_not(bodies_is_slow(60000, 10000, 50 * BODY_RATE_MIN));
}
