/* See clock.h. The real-time clock may jump. Nothing here has state or can fail. */
#include "shell/clock.h"

#include <stdio.h>
#include <time.h>

#define WALL_MS_MAX UINT64_C(253402300799999) /* the last of the year 9999 */

static uint64_t read_ms(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t clock_wall_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}

uint64_t clock_monotonic_ms(void)
{
	return read_ms(CLOCK_MONOTONIC);
}

uint64_t clock_boot_ms(void)
{
	return read_ms(CLOCK_BOOTTIME);
}

int64_t clock_boot_of_wall_ms(uint64_t wall_ms)
{
	uint64_t now = clock_wall_ms();
	return (int64_t)clock_boot_ms() - (wall_ms < now ? (int64_t)(now - wall_ms) : 0);
}

uint64_t clock_age_ms(int64_t boot_ms)
{
	int64_t now = (int64_t)clock_boot_ms();
	return boot_ms < now ? (uint64_t)now - (uint64_t)boot_ms : 0;
}

void clock_format(uint64_t wall_ms, char text[CLOCK_TEXT_SIZE])
{
	uint64_t ms = wall_ms < WALL_MS_MAX ? wall_ms : WALL_MS_MAX;
	time_t seconds = (time_t)(ms / 1000);
	struct tm parts;
	gmtime_r(&seconds, &parts);
	/* It returns 0 without a defined text if there is no room. */
	size_t length = strftime(text, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + length, CLOCK_TEXT_SIZE - length, ".%03uZ", (unsigned)(ms % 1000));
}

void clock_format_timespec(const struct timespec *wall, char text[CLOCK_TEXT_SIZE])
{
	uint64_t ms = 0;
	if (wall->tv_sec > (time_t)(WALL_MS_MAX / 1000))
		ms = WALL_MS_MAX;
	else if (wall->tv_sec >= 0)
		ms = (uint64_t)wall->tv_sec * 1000 + (uint64_t)wall->tv_nsec / 1000000;
	clock_format(ms, text);
}
