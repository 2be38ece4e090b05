/* Wall-clock time, as it is shown to people and written to disk; and the time since boot, by which limits are measured. */
#pragma once

#include <stdint.h>

/* Milliseconds since 1970-01-01 UTC. */
uint64_t clock_wall_ms(void);

/* Milliseconds since boot, the same for all processes of this machine; nobody sets it. See CLOCK_BOOTTIME in clock_gettime(2). */
uint64_t clock_boot_ms(void);

#define CLOCK_TEXT_SIZE 32

/* Write wall as ISO 8601 in UTC with milliseconds ("2026-11-21T05:17:00.000Z") into text. */
void clock_format(uint64_t wall_ms, char text[CLOCK_TEXT_SIZE]);
