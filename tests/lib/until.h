/* Waits for a condition with a deadline. Tests never sleep instead. */
#pragma once

#include <criterion/criterion.h>
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

static inline void until_on_tick(uv_timer_t *timer)
{
	(void)timer;
}

/* Keep a loop running, as a server's timers do: start a timer. */
static inline void until_keep_running(uv_loop_t *loop, uv_timer_t *alive, uint64_t every_ms)
{
	uv_timer_init(loop, alive);
	uv_timer_start(alive, until_on_tick, every_ms, every_ms);
}

/* A new loop that is kept running. */
static inline void until_open_loop(uv_loop_t *loop, uv_timer_t *alive, uint64_t every_ms)
{
	cr_assert_eq(uv_loop_init(loop), 0);
	until_keep_running(loop, alive, every_ms);
}

static inline void until_close_loop(uv_loop_t *loop, uv_timer_t *alive)
{
	uv_close((uv_handle_t *)alive, NULL);
	uv_run(loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(loop), 0);
}
