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

static inline void drawn_start(struct drawn *d, unsigned rows, unsigned cols)
{
	drawn_init(d, rows, cols, 100);
}

static inline void drawn_expect_cursor(const struct drawn *d, unsigned want_row, unsigned want_col)
{
	unsigned row, col;
	screen_cursor(d->screen, &row, &col);
	cr_expect(row == want_row && col == want_col, "cursor at %u, %u", row, col);
}

/* Each test of a screen ends with this: the screen is consistent. */
static inline void drawn_end(struct drawn *d)
{
	drawn_check(d);
	drawn_finish(d);
}
