/* The system's real-time clock, which may jump, and its ISO text; no state, and it cannot fail. */
#include "shell/clock.h"

#include <stdio.h>
#include <time.h>

uint64_t clock_wall_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
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
