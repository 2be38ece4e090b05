/* Cursors: one text for each place. */
#include "ws/cursor.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(cursor, says_where_it_was_made)
{
	static const uint64_t offsets[] = {
		0, 1, 63, 64, UINT64_C(1) << 53, (UINT64_C(1) << 53) + 1, (uint64_t)INT64_MAX};
	char text[CURSOR_SIZE], id[NAME_ID_MAX + 1];
	memset(id, 'x', sizeof id - 1);
	id[sizeof id - 1] = '\0';
	const char *const stores[] = {"s", "proc_17_a.b:c@d-e", id};
	for (size_t s = 0; s < sizeof stores / sizeof *stores; s++)
		for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
			uint64_t offset = 5;
			cursor_format(stores[s], offsets[i], text);
			cr_assert_eq(
				strspn(text,
					"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
				strlen(text));
			cr_assert(cursor_parse(text, stores[s], &offset));
			cr_assert_eq(offset, offsets[i]);
			cr_assert(!cursor_parse(text, "other", &offset));
		}
}

/* Whether a text is that place: another one may be another place. */
static bool is_there(const char *text)
{
	uint64_t offset = 0;
	return cursor_parse(text, "s", &offset) && offset == 1234567;
}

Test(cursor, no_other_text_is_that_place)
{
	char text[CURSOR_SIZE + 2], longer[2000];
	uint64_t offset = 5;
	cursor_format("s", 1234567, text);
	size_t length = strlen(text);
	cr_assert(is_there(text));
	for (size_t i = 0; i < length; i++) {
		char was = text[i];
		text[i] = was == 'A' ? 'B' : 'A';
		cr_expect(!is_there(text), "%s", text);
		text[i] = '\0';
		cr_expect(!is_there(text), "cut to %zu", i);
		text[i] = was;
	}
	strcpy(text + length, "=");
	cr_expect(!cursor_parse(text, "s", &offset));
	memset(longer, 'A', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	cr_expect(!cursor_parse(longer, "s", &offset));
	cr_expect(!cursor_parse("", "s", &offset));
	cr_expect(!cursor_parse("%%%%", "s", &offset));
	cr_expect(!cursor_parse("\xff\xfe", "s", &offset));
	cr_expect_eq(offset, 5);
}

Test(cursor, numbers_that_are_none)
{
	/* base64url of v1.s.-1, v1.s.007, v1.s.9223372036854775808, v1.s., v2.s.1, v1.s.1e3 */
	static const char *const texts[] = {"djEucy4tMQ", "djEucy4wMDc",
		"djEucy45MjIzMzcyMDM2ODU0Nzc1ODA4", "djEucy4", "djIucy4x", "djEucy4xZTM"};
	uint64_t offset = 5;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		cr_expect(!cursor_parse(texts[i], "s", &offset), "%s", texts[i]);
	cr_expect(cursor_parse("djEucy4x", "s", &offset) && offset == 1);
}
