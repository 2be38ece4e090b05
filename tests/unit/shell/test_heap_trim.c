#include "shell/heap_trim.h"

#include "tests/lib/asan.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 4096u
#define PIECE ((size_t)4 << 10)

Test(heap_trim_is_due, only_memory_freed_since_the_last_time_counts)
{
	struct heap_trim h = {0};
	cr_assert_not(heap_trim_is_due(&h, HEAP_TRIM_MIN - 1));
	cr_assert(heap_trim_is_due(&h, HEAP_TRIM_MIN));
	cr_assert_not(heap_trim_is_due(&h, HEAP_TRIM_MIN), "it was trimmed already");
	cr_assert_not(heap_trim_is_due(&h, 2 * HEAP_TRIM_MIN - 1));
	cr_assert(heap_trim_is_due(&h, 2 * HEAP_TRIM_MIN));
	/* Half of it is used and freed again. */
	cr_assert_not(heap_trim_is_due(&h, HEAP_TRIM_MIN));
	cr_assert(heap_trim_is_due(&h, 2 * HEAP_TRIM_MIN));
	cr_assert_not(heap_trim_is_due(&h, 0));
	cr_assert_not(heap_trim_is_due(&h, HEAP_TRIM_MIN / 2));
}

#ifndef ASAN /* sanitizers keep freed memory */
static size_t resident(void)
{
	unsigned long size = 0, pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	cr_assert_eq(fscanf(f, "%lu %lu", &size, &pages), 2);
	fclose(f);
	return pages * 4096;
}

Test(heap_trim, holes_are_returned_to_the_kernel, .timeout = 60)
{
	static char *pieces[PIECES];
	uv_loop_t loop;
	uv_timer_t alive;
	struct heap_trim h;
	until_open_loop(&loop, &alive, 10);
	heap_trim_open(&h, &loop);
	for (unsigned i = 0; i < PIECES; i++) {
		pieces[i] = malloc(PIECE + (i % 16 == 0 ? 0 : PIECE));
		memset(pieces[i], 1, PIECE);
	}
	size_t full = resident();
	/* Every sixteenth piece is kept, and the last one. */
	for (unsigned i = 0; i + 1 < PIECES; i++) {
		if (i % 16 != 0) {
			free(pieces[i]);
			pieces[i] = NULL;
		}
	}
	cr_assert(LOOP_UNTIL(&loop, resident() < full - PIECES * PIECE / 2));
	for (unsigned i = 0; i < PIECES; i++)
		free(pieces[i]);
	heap_trim_close(&h);
	until_close_loop(&loop, &alive);
}
#endif
