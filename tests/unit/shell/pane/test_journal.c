#include "shell/pane/journal.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void add_title(struct journal *j, unsigned number)
{
	char text[16];
	snprintf(text, sizeof text, "t%u", number);
	journal_add(
		j, &(struct journal_entry){.type = JOURNAL_TITLE, .offset = number, .text = text});
}

/* The journal has exactly these entries. */
static void expect_last(const struct journal *j, uint64_t oldest, uint64_t count)
{
	char text[16];
	cr_assert_eq(journal_oldest(j), oldest);
	for (uint64_t i = oldest; i < count; i++) {
		const struct journal_entry *entry = journal_get(j, i);
		cr_assert_not_null(entry);
		snprintf(text, sizeof text, "t%u", (unsigned)i);
		cr_assert_eq(entry->offset, i);
		cr_assert_str_eq(entry->text, text);
	}
	cr_assert_null(journal_get(j, count));
	if (oldest > 0)
		cr_assert_null(journal_get(j, oldest - 1));
}

Test(journal, grows_and_then_overwrites_the_oldest)
{
	struct journal j;
	journal_open(&j, 7);
	cr_assert_null(journal_get(&j, 0));
	for (unsigned i = 0; i < 2 * JOURNAL_MAX + 3; i++) {
		add_title(&j, i);
		expect_last(&j, i < JOURNAL_MAX ? 0 : i + 1 - JOURNAL_MAX, i + 1);
	}
	journal_close(&j);
	cr_assert_null(journal_get(&j, 0));
	/* A pane is opened again. */
	add_title(&j, 0);
	expect_last(&j, 0, 1);
	journal_close(&j);
}

Test(journal, bells_close_in_time_are_one)
{
	struct journal j;
	journal_open(&j, 0);
	for (unsigned i = 0; i < 10; i++)
		journal_add(
			&j, &(struct journal_entry){.type = JOURNAL_BELL, .at_ms = 1000 + i * 20});
	cr_assert_eq(j.count, 2);
	journal_close(&j);
}
