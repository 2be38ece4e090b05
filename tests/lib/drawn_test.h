/* Shared by the unit tests of screens. */
#pragma once

#include "tests/lib/drawn_check.h"
#include "tests/lib/asan.h"

#include <criterion/criterion.h>
#include <malloc.h>

#ifdef ASAN
/* From allocator_interface.h, which gcc does not have. */
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

/* Bytes allocated on the heap. */
static inline size_t drawn_heap_used(void)
{
#ifdef ASAN
	return __sanitizer_get_current_allocated_bytes();
#else
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
#endif
}

/* The screen of a suite with drawn_set_up() as .init and drawn_tear_down() as .fini: 4 rows of 8 columns. */
static struct drawn d;

/* Each test of a screen ends with this: the screen is consistent. */
static inline void drawn_tear_down(void)
{
	if (!d.screen)
		return;
	drawn_check(&d);
	drawn_finish(&d);
}

/* Continue with an empty screen of this size. */
static inline void drawn_restart(unsigned rows, unsigned cols, unsigned scrollback)
{
	drawn_tear_down();
	drawn_init(&d, rows, cols, scrollback);
}

static inline void drawn_set_up(void)
{
	drawn_restart(4, 8, 100);
}

#define DRAWN_SUITE .init = drawn_set_up, .fini = drawn_tear_down, .timeout = 120

static inline void drawn_expect_cursor(unsigned want_row, unsigned want_col)
{
	unsigned row, col;
	screen_cursor(d.screen, &row, &col);
	cr_expect(row == want_row && col == want_col, "cursor at %u, %u", row, col);
}
