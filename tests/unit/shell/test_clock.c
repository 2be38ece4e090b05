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

Test(clock_format, ends_with_the_year_9999)
{
	expect(253402300800000, "9999-12-31T23:59:59.999Z");
	expect((uint64_t)INT64_MAX, "9999-12-31T23:59:59.999Z");
	expect(UINT64_MAX, "9999-12-31T23:59:59.999Z");
}

Test(clock_format_timespec, takes_any_time_of_a_file)
{
	static const struct {
		struct timespec time;
		const char *want;
	} cases[] = {
		{{.tv_sec = 951782400, .tv_nsec = 1999999}, "2000-02-29T00:00:00.001Z"},
		{{.tv_sec = -1, .tv_nsec = 999999999}, "1970-01-01T00:00:00.000Z"},
		{{.tv_sec = INT64_MIN}, "1970-01-01T00:00:00.000Z"},
		{{.tv_sec = 253402300799, .tv_nsec = 999999999}, "9999-12-31T23:59:59.999Z"},
		{{.tv_sec = 253402300800}, "9999-12-31T23:59:59.999Z"},
		{{.tv_sec = INT64_MAX, .tv_nsec = 999999999}, "9999-12-31T23:59:59.999Z"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[CLOCK_TEXT_SIZE];
		clock_format_timespec(&cases[i].time, text);
		cr_expect_str_eq(text, cases[i].want, "%zu", i);
	}
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
