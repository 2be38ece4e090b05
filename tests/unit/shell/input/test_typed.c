#include "shell/input/typed.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void add(struct typed *t, const char *by, const char *text, uint64_t at, bool shown)
{
	typed_add(t,
		&(struct typed_note){.offset = at,
			.at_ms = at,
			.client = 7,
			.author = by,
			.label = "",
			.bytes = text,
			.length = strlen(text),
			.shown = shown});
}

Test(typed_add, keystrokes_of_an_author_join_up_to_the_end_of_the_line)
{
	struct typed t = {0};
	add(&t, "a", "l", 1, true);
	add(&t, "a", "s", 2, true);
	add(&t, "a", "\r", 3, true);
	add(&t, "a", "x", 4, true);
	cr_assert_eq(t.count, 2);
	cr_expect_eq(t.entries->bytes, 3);
	cr_expect_arr_eq(t.entries->text, "ls\r", 3);
	cr_expect_eq(t.entries->offset, 1);
	typed_finish(&t);
	cr_expect_eq(t.size, 0);
}

Test(typed_add, other_author_time_or_client_starts_a_new_entry)
{
	struct typed t = {0};
	add(&t, "a", "1", 1, true);
	add(&t, "b", "2", 2, true);
	add(&t, "b", "3", 2 + TYPED_JOIN_MS + 1, true);
	typed_add(&t,
		&(struct typed_note){.at_ms = 2 + TYPED_JOIN_MS + 1,
			.client = 8,
			.author = "b",
			.label = "",
			.bytes = "4",
			.length = 1,
			.shown = true});
	cr_expect_eq(t.count, 4);
	typed_finish(&t);
}

Test(typed_add, hidden_input_is_only_counted)
{
	struct typed t = {0};
	add(&t, "a", "x", 1, true);
	add(&t, "a", "secret", 1, false);
	add(&t, "a", "s2", 1, false);
	add(&t, "a", "y", 1, true);
	cr_assert_eq(t.count, 3);
	cr_expect_null(t.entries->next->text);
	cr_expect_eq(t.entries->next->bytes, 8);
	typed_finish(&t);
}

Test(typed_add, entries_and_bytes_are_limited)
{
	struct typed t = {0};
	for (unsigned i = 0; i < TYPED_ENTRIES_MAX + 10; i++)
		add(&t, i % 2 ? "a" : "b", "x", i, true);
	cr_expect_eq(t.count, TYPED_ENTRIES_MAX);
	cr_expect_eq(t.entries->offset, 10);
	char *large = malloc(TYPED_BYTES_MAX / 3);
	memset(large, 'x', TYPED_BYTES_MAX / 3);
	large[TYPED_BYTES_MAX / 3 - 1] = '\0';
	for (int i = 0; i < 10; i++) {
		add(&t, "a", large, 0, true);
		cr_expect_leq(t.size, TYPED_BYTES_MAX);
	}
	cr_expect_geq(t.count, 2);
	free(large);
	typed_finish(&t);
}
