/* Waits for a condition with a deadline. Tests never sleep instead. */
#pragma once

#include <stdbool.h>
#include <time.h>
#include <uv.h>

#define UNTIL_MS 30000

static inline long long until_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For do ... while (until_again(deadline)) around a probe. */
static inline bool until_again(long long deadline)
{
	struct timespec pause = {.tv_nsec = 2000000};
	if (until_now_ms() > deadline)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* Wait until the expression is true. The value is whether it became true. */
#define UNTIL(expression)                                                         \
	__extension__({                                                           \
		long long until_deadline = until_now_ms() + UNTIL_MS;             \
		bool until_ok;                                                    \
		while (!(until_ok = (expression)) && until_again(until_deadline)) \
			;                                                         \
		until_ok;                                                         \
	})

/* The same while the loop runs. */
#define LOOP_UNTIL(loop, expression)                                                  \
	__extension__({                                                               \
		long long until_deadline = until_now_ms() + UNTIL_MS;                 \
		bool until_ok;                                                        \
		while (!(until_ok = (expression)) && until_now_ms() < until_deadline) \
			if (uv_run((loop), UV_RUN_NOWAIT) == 0 || !(expression))      \
				until_again(until_deadline);                          \
		until_ok;                                                             \
	})
