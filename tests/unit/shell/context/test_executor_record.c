#include "shell/context/executor_record.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seen {
	char text[256]; /* type and body of each */
	unsigned left;  /* records before on_record() cancels */
};

static bool on_record(void *user, enum executor_record_type type, const char *body, size_t length)
{
	struct seen *s = user;
	size_t at = strlen(s->text);
	cr_assert_eq(strlen(body), length);
	snprintf(s->text + at, sizeof s->text - at, "%c%s;", (char)type, body);
	return s->left-- > 1;
}

static const char two[] = "rsH1\0\0\0\2{}rsD1\0\0\0\0";
#define LENGTH (sizeof two - 1)

Test(executor_records, result_is_the_same_at_every_split)
{
	for (size_t cut = 0; cut <= LENGTH; cut++) {
		struct executor_records r = {.header_length = 0};
		struct seen s = {.left = 9};
		cr_assert_eq(executor_records_feed(&r, two, cut, on_record, &s), 0);
		cr_assert_eq(executor_records_feed(&r, two + cut, LENGTH - cut, on_record, &s), 0);
		cr_assert_str_eq(s.text, "H{};D;", "cut at %zu", cut);
		executor_records_finish(&r);
	}
}

Test(executor_records, invalid_frame_is_a_permanent_error)
{
	static const char *const wrong[] = {"garbage!", "rsX1\0\0\0\0", "rsH2\0\0\0\0",
		"rsR1\0\x80\0\1", "rsR1\xff\xff\xff\xff", "RSH1\0\0\0\0"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct executor_records r = {.header_length = 0};
		struct seen s = {.left = 9};
		cr_assert_eq(
			executor_records_feed(&r, wrong[i], 8, on_record, &s), -EPROTO, "%zu", i);
		cr_assert_eq(executor_records_feed(&r, two, LENGTH, on_record, &s), -EPROTO);
		cr_assert_str_eq(s.text, "");
		executor_records_finish(&r);
	}
}

Test(executor_records, announced_length_allocates_nothing)
{
	struct executor_records r = {.header_length = 0};
	struct seen s = {.left = 9};
	cr_assert_eq(executor_records_feed(&r, "rsR1\0\x80\0\0ab", 10, on_record, &s), 0);
	cr_assert_leq(r.capacity, 4096);
	cr_assert_eq(r.length, 2);
	executor_records_finish(&r);
}

Test(executor_records, largest_record_is_accepted)
{
	struct executor_records r = {.header_length = 0};
	struct seen s = {.left = 9};
	uint8_t header[EXECUTOR_RECORD_HEADER];
	char *body = calloc(1, EXECUTOR_RECORD_MAX);
	memset(body, ' ', 3);
	executor_record_header(EXECUTOR_RESULT, EXECUTOR_RECORD_MAX, header);
	cr_assert_eq(executor_records_feed(&r, header, sizeof header, on_record, &s), 0);
	cr_assert_eq(executor_records_feed(&r, body, EXECUTOR_RECORD_MAX - 1, on_record, &s), 0);
	cr_assert_eq(r.length, EXECUTOR_RECORD_MAX - 1);
	free(body);
	executor_records_finish(&r);
}

Test(executor_records, callback_can_cancel)
{
	struct executor_records r = {.header_length = 0};
	struct seen s = {.left = 1};
	cr_assert_eq(executor_records_feed(&r, two, LENGTH, on_record, &s), -ECANCELED);
	cr_assert_str_eq(s.text, "H{};");
	executor_records_finish(&r);
}
