/* Placement of tiles: in the window, without overlap, and where arrow keys lead. */
#include "ws/client/wall/tiling.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <string.h>

static bool overlap(const struct rect *a, const struct rect *b)
{
	return a->x < b->x + b->cols && b->x < a->x + a->cols && a->y < b->y + b->rows &&
		b->y < a->y + a->rows;
}

static void check_page(const struct tiling *l, unsigned page)
{
	struct rect places[TILING_TILES_MAX];
	unsigned n = tiling_on_page(l, page);
	cr_assert_leq(n, TILING_TILES_MAX);
	for (unsigned i = 0; i < n; i++) {
		struct rect *r = &places[i];
		*r = tiling_place(l, page, i);
		cr_assert_leq(r->x + r->cols, l->cols);
		cr_assert(r->rows == 0 || r->y + r->rows <= l->rows - 1);
		for (unsigned k = 0; k < i; k++)
			cr_assert_not(overlap(r, &places[k]), "%u and %u of %u in %ux%u", i, k, n,
				l->cols, l->rows);
	}
}

Test(tiling_make, every_window_has_space_for_all_tiles_on_pages)
{
	static const unsigned sides[] = {1, 2, 5, 7, 24, 31, 60, 80, 99, 200, 1000};
	for (unsigned c = 0; c < sizeof sides / sizeof *sides; c++)
		for (unsigned r = 0; r < sizeof sides / sizeof *sides; r++)
			for (unsigned count = 0; count <= 60; count++) {
				struct tiling l;
				unsigned sum = 0;
				tiling_make(&l, count, sides[c], sides[r]);
				for (unsigned page = 0; page < l.pages; page++) {
					check_page(&l, page);
					sum += tiling_on_page(&l, page);
				}
				cr_assert_eq(sum, count);
				cr_assert_eq(tiling_on_page(&l, l.pages), 0);
			}
}

Test(tiling_make, shapes)
{
	static const struct {
		unsigned count, cols, rows, across, down, pages;
	} cases[] = {
		{1, 80, 24, 1, 1, 1},
		{2, 160, 25, 2, 1, 1},
		{2, 80, 49, 1, 2, 1},
		{4, 160, 49, 2, 2, 1},
		{50, 100, 31, 3, 5, 4},
		{50, 300, 100, 10, 4, 2},
		{3, 10, 3, 1, 1, 3},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tiling l;
		tiling_make(&l, cases[i].count, cases[i].cols, cases[i].rows);
		cr_expect_eq(l.across, cases[i].across, "case %zu: %u across", i, l.across);
		cr_expect_eq(l.down, cases[i].down, "case %zu: %u down", i, l.down);
		cr_expect_eq(l.pages, cases[i].pages, "case %zu: %u pages", i, l.pages);
	}
}

Test(tiling_move, steps)
{
	struct tiling l;
	tiling_make(&l, 50, 100, 31); /* pages of 3 by 5 */
	static const struct {
		unsigned at;
		enum tiling_step step;
		unsigned to;
	} cases[] = {
		{0, TILING_LEFT, 0},
		{0, TILING_RIGHT, 1},
		{0, TILING_UP, 0},
		{0, TILING_DOWN, 3},
		{14, TILING_RIGHT, 15},
		{12, TILING_DOWN, 15},
		{15, TILING_UP, 14},
		{46, TILING_DOWN, 49},
		{47, TILING_DOWN, 49},
		{49, TILING_DOWN, 49},
		{49, TILING_RIGHT, 49},
		{20, TILING_PAGE_UP, 5},
		{5, TILING_PAGE_UP, 0},
		{40, TILING_PAGE_DOWN, 49},
		{30, TILING_FIRST, 0},
		{3, TILING_LAST, 49},
		{1000, TILING_LEFT, 48},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(tiling_move(&l, cases[i].at, cases[i].step), cases[i].to,
			"case %zu: %u", i, tiling_move(&l, cases[i].at, cases[i].step));
	tiling_make(&l, 0, 80, 24);
	for (int step = TILING_LEFT; step <= TILING_LAST; step++)
		cr_expect_eq(tiling_move(&l, 3, (enum tiling_step)step), 0);
}
