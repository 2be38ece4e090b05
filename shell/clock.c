/* See clock.h. The real-time clock may jump. Nothing here has state or can fail. */
#include "shell/clock.h"

#include <stdio.h>
#include <time.h>

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
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm parts;
	char date[24];
	gmtime_r(&seconds, &parts);
	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text, CLOCK_TEXT_SIZE, "%s.%03uZ", date, (unsigned)(wall_ms % 1000));
}
