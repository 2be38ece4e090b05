/* Resources from the environment. */
#include "shell/workers.h"
#include "ws/serve/resources.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(resources_threads, number_from_the_environment)
{
	setenv("RINGSIDE_THREADS", "0", 1);
	cr_assert_eq(resources_threads(), 0);
	setenv("RINGSIDE_THREADS", "3", 1);
	cr_assert_eq(resources_threads(), 3);
	setenv("RINGSIDE_THREADS", "16", 1);
	cr_assert_eq(resources_threads(), 16);
}

Test(resources_threads, invalid_number_counts_as_missing)
{
	static char huge[100000];
	static const char *const wrong[] = {
		"", "x", "-1", "+1", " 1", "1 ", "17", "99999999999999999999", huge};
	memset(huge, 'x', sizeof huge - 1);
	unsigned suitable = workers_suitable();
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		setenv("RINGSIDE_THREADS", wrong[i], 1);
		cr_expect_eq(resources_threads(), suitable, "%.20s", wrong[i]);
	}
	unsetenv("RINGSIDE_THREADS");
	cr_expect_eq(resources_threads(), suitable);
}
