#include "shell/clock.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

static void expect(uint64_t wall_ms, const char *want)
{
	char text[CLOCK_TEXT_SIZE];
	clock_format(wall_ms, text);
	cr_expect_str_eq(text, want);
}

Test(clock_format, iso_8601_in_utc)
{
	expect(0, "1970-01-01T00:00:00.000Z");
	expect(1, "1970-01-01T00:00:00.001Z");
	expect(951782400000, "2000-02-29T00:00:00.000Z");
	expect(1795238220123, "2026-11-21T05:17:00.123Z");
	expect(253402300799999, "9999-12-31T23:59:59.999Z");
}

Test(clock_format, does_not_depend_on_the_time_zone)
{
	setenv("TZ", "Pacific/Auckland", 1);
	tzset();
	expect(1795238220123, "2026-11-21T05:17:00.123Z");
}

Test(clock_format, time_beyond_the_calendar_is_text_too)
{
	char text[CLOCK_TEXT_SIZE];
	memset(text, 'x', sizeof text);
	clock_format(UINT64_MAX, text);
	cr_assert_not_null(memchr(text, '\0', sizeof text));
	cr_assert_eq(text[strlen(text) - 1], 'Z');
}

Test(clock_boot_of_wall_ms, is_as_long_ago)
{
	uint64_t now = clock_wall_ms();
	uint64_t age = clock_age_ms(clock_boot_of_wall_ms(now - 5000));
	cr_expect(age >= 5000 && age < 65000, "it is %ju", (uintmax_t)age);
	cr_expect_geq(clock_age_ms(clock_boot_of_wall_ms(0)), now);
	cr_expect_lt(clock_age_ms(clock_boot_of_wall_ms(UINT64_MAX)), 60000);
}

Test(clock_age_ms, future_has_none)
{
	cr_expect_eq(clock_age_ms(INT64_MAX), 0);
	cr_expect_geq(clock_age_ms(INT64_MIN + 1), (uint64_t)INT64_MAX);
}

Test(clock_wall_ms, is_the_current_time)
{
	uint64_t before = (uint64_t)time(NULL) * 1000, now = clock_wall_ms();
	cr_assert(now >= before && now < before + 60000);
}
