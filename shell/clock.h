/* Wall-clock time, as shown to people and stored on disk; and clocks that are never set, for timeouts. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Milliseconds since 1970-01-01 UTC. */
uint64_t clock_wall_ms(void);

/* Milliseconds since some time in the past, without those in which the machine slept; never set: CLOCK_MONOTONIC. */
uint64_t clock_monotonic_ms(void);

/* Milliseconds since boot, the same in all processes, never set: CLOCK_BOOTTIME of clock_gettime(2). */
uint64_t clock_boot_ms(void);

/*
 * When wall_ms was, by clock_boot_ms(); negative: before boot. Only right if the wall clock has not been set since: for
 * times of which nothing else is known. Now, if wall_ms is in the future.
 */
int64_t clock_boot_of_wall_ms(uint64_t wall_ms);

/* Milliseconds since boot_ms, a time by clock_boot_ms(); 0 if it is in the future. */
uint64_t clock_age_ms(int64_t boot_ms);

#define CLOCK_TEXT_SIZE 32

/* Format wall_ms as ISO 8601 in UTC with milliseconds: "2026-11-21T05:17:00.000Z". At most the end of the year 9999. */
void clock_format(uint64_t wall_ms, char text[CLOCK_TEXT_SIZE]);

/* The same for the time of a file, which can be any number. At least 1970. */
void clock_format_timespec(const struct timespec *wall, char text[CLOCK_TEXT_SIZE]);
