#include "ring/receipts.h"

#include <criterion/criterion.h>
#include <unistd.h>

static struct control control;
static int fd;

static void set_up(void)
{
	cr_assert_eq(control_create(&control, 4096, &fd), 0);
}

static void tear_down(void)
{
	control_close(&control);
	close(fd);
}

static uint64_t count_taken(uint64_t key)
{
	uint64_t n = UINT64_MAX;
	cr_assert(receipts_find(&control, key, &n));
	return n;
}

TestSuite(receipts, .init = set_up, .fini = tear_down);

Test(receipts, without_a_receipt_nothing_counts_as_taken_while_all_are_kept)
{
	uint64_t n = 7;
	cr_assert_not(receipts_find(&(struct control){0}, 1, &n));
	cr_assert_eq(n, 7);
	cr_assert_eq(count_taken(1), 0);
	receipts_note(&control, 2, 5, 5, 5);
	cr_assert_eq(count_taken(1), 0);
	atomic_store(&control.page->receipts[0].key, 0); /* torn by a crash */
	cr_assert_not(receipts_find(&control, 1, &n));
}

Test(receipts, part_of_the_input_is_confirmed)
{
	receipts_note(&control, 1, 100, 100, 100);
	cr_assert_eq(count_taken(1), 0);
	receipts_announce(&control, 100);
	receipts_confirm(&control, 30);
	cr_assert_eq(count_taken(1), 30);
	receipts_confirm(&control, 70);
	cr_assert_eq(count_taken(1), 100);
}

Test(receipts, bytes_of_another_client_do_not_count)
{
	receipts_note(&control, 1, 10, 10, 10);
	receipts_note(&control, 2, 5, 15, 5);
	receipts_note(&control, 1, 20, 25, 10);
	receipts_confirm(&control, 12);
	cr_assert_eq(count_taken(1), 10);
	cr_assert_eq(count_taken(2), 2);
	receipts_confirm(&control, 8);
	cr_assert_eq(count_taken(1), 15);
	cr_assert_eq(count_taken(2), 5);
}

Test(receipts, input_that_a_killed_server_was_writing_counts_as_taken)
{
	receipts_note(&control, 1, 10, 10, 10);
	receipts_settle(&control);
	cr_assert_eq(count_taken(1), 0, "writing had not begun");
	receipts_note(&control, 1, 10, 10, 10);
	receipts_announce(&control, 4);
	receipts_settle(&control);
	cr_assert_eq(count_taken(1), 4);
}

Test(receipts, input_of_others_does_not_stand_for_what_a_killed_server_has_lost)
{
	receipts_note(&control, 1, 10, 10, 10);
	receipts_settle(&control);
	receipts_note(&control, 2, 20, 20, 20);
	receipts_confirm(&control, 20);
	cr_assert_eq(count_taken(1), 0);
}

Test(receipts, what_a_client_has_typed_behind_lost_input_is_lost_too)
{
	receipts_note(&control, 1, 10, 10, 10);
	receipts_note(&control, 2, 5, 15, 5);
	receipts_note(&control, 1, 20, 25, 10);
	receipts_note(&control, 2, 10, 30, 5);
	receipts_note(&control, 1, 30, 30, 0); /* refused */
	receipts_confirm(&control, 4);
	receipts_settle(&control);
	cr_assert_eq(count_taken(1), 4);
	cr_assert_eq(count_taken(2), 0);
}

Test(receipts, noted_input_is_found_before_it_is_written)
{
	uint64_t n = 0;
	receipts_note(&control, 1, 10, 10, 10);
	cr_assert(receipts_find_noted(&control, 1, &n));
	cr_assert_eq(n, 10);
}

Test(receipts, refused_input_counts_as_taken)
{
	receipts_note(&control, 1, 10, 10, 10);
	receipts_correct(&control, 0, 10);
	cr_assert_eq(count_taken(1), 10);
	receipts_note(&control, 1, 30, 20, 20);
	receipts_correct(&control, 5, 15);
	cr_assert_eq(count_taken(1), 25);
}

Test(receipts, notes_of_one_client_share_a_receipt)
{
	for (unsigned i = 1; i <= 3 * CONTROL_RECEIPTS; i++)
		receipts_note(&control, 1, i * 10, i * 10, 10);
	cr_assert_eq(atomic_load(&control.page->receipts_count), 1);
	receipts_confirm(&control, 15);
	cr_assert_eq(count_taken(1), 15);
}

Test(receipts, oldest_receipt_is_forgotten)
{
	uint64_t n;
	for (unsigned i = 1; i <= CONTROL_RECEIPTS + 1; i++)
		receipts_note(&control, i, 1, i, 1);
	cr_assert_not(receipts_find(&control, 1, &n));
	cr_assert(receipts_find(&control, 2, &n));
}

Test(receipts, garbage_in_the_page_is_harmless)
{
	uint64_t n;
	for (size_t i = 0; i < CONTROL_RECEIPTS; i++) {
		atomic_store(&control.page->receipts[i].key, 1);
		control.page->receipts[i].end = UINT64_MAX - i;
		control.page->receipts[i].length = UINT64_MAX;
		control.page->receipts[i].taken = i;
	}
	atomic_store(&control.page->receipts_count, UINT64_MAX);
	atomic_store(&control.page->input_writing, UINT64_MAX);
	cr_assert(receipts_find(&control, 1, &n));
	receipts_note(&control, 2, 1, 0, UINT64_MAX);
	receipts_correct(&control, 1, UINT64_MAX);
	receipts_settle(&control);
}
