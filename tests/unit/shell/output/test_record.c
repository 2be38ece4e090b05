#include "shell/output/record.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define NONCE "0123456789abcdef0123456789abcdef"
#define US "\037"
#define RS "\036"

struct seen {
	char text[4096];
	size_t length;
};

static void note(void *user, const struct record *r)
{
	struct seen *s = user;
	static const char kinds[] = {[RECORD_PROMPT] = 'P',
		[RECORD_START] = 'C',
		[RECORD_END] = 'D',
		[RECORD_STATE] = 'S',
		[RECORD_EXIT] = 'X'};
	s->length += (size_t)snprintf(s->text + s->length, sizeof s->text - s->length,
		"%c status=%d id=%s%s%s half=%zu cwd=%s", kinds[r->kind], r->status, r->id,
		r->seal[0] ? " sealed " : "", r->seal, r->half_typed, r->cwd);
	for (size_t i = 0; i < r->statuses_count; i++)
		s->length += (size_t)snprintf(
			s->text + s->length, sizeof s->text - s->length, " %d", r->statuses[i]);
	if (r->time_us > 0)
		s->length += (size_t)snprintf(s->text + s->length, sizeof s->text - s->length,
			" at %llu", (unsigned long long)r->time_us);
	s->length += (size_t)snprintf(s->text + s->length, sizeof s->text - s->length, "\n");
}

static const char all[] = "P" US NONCE US "130" US "exec_1" US "/tmp" RS "C" US NONCE US "exec_2" US
			  "14" RS "D" US NONCE US "exec_2;q=0a1b" US "4" US "1 0 4" US "/a b" RS
			  "P" US NONCE US "0" US US RS "P" US NONCE US "2" US US "/" US "0 2" RS
			  "S" US NONCE US "state" US RS "X" US NONCE US "3" US "exec_3" US "1.5" RS
			  "X" US NONCE US "0" US US RS "P" US NONCE US "1" US US "/" US "1" US
			  "1795275017.143295" RS "P" US NONCE US "1" US US "/" US "1" US "noon" RS;
static const char wanted[] = "P status=130 id=exec_1 half=0 cwd=/tmp\n"
			     "C status=0 id=exec_2 half=14 cwd=\n"
			     "D status=4 id=exec_2 sealed 0a1b half=0 cwd=/a b 1 0 4\n"
			     "P status=0 id= half=0 cwd=\n"
			     "P status=2 id= half=0 cwd=/ 0 2\n"
			     "S status=0 id=state half=0 cwd=\n"
			     "X status=3 id=exec_3 half=0 cwd=\n"
			     "X status=0 id= half=0 cwd=\n"
			     "P status=1 id= half=0 cwd=/ 1 at 1795275017143295\n"
			     "P status=1 id= half=0 cwd=/ 1\n";

Test(record, result_is_the_same_at_every_cut)
{
	for (size_t step = 1; step <= sizeof all; step++) {
		struct record_reader r = {0};
		struct seen seen = {.length = 0};
		for (size_t at = 0; at < sizeof all - 1; at += step) {
			size_t left = sizeof all - 1 - at;
			record_feed(&r, NONCE, all + at, left < step ? left : step, note, &seen);
		}
		cr_assert_str_eq(seen.text, wanted, "in steps of %zu", step);
		cr_assert_eq(r.invalid_records, 0);
	}
}

Test(record, invalid_records_are_counted_and_dropped)
{
	static const char *const noise[] = {"", "x", "P", "P" US "other" US "0" US US,
		"P" US NONCE US US US, "P" US NONCE US "256" US US, "P" US NONCE US "-1" US US,
		"P" US NONCE US " 1" US US, "P" US NONCE US "0" US "x", "PP" US NONCE US "0" US US,
		"C" US NONCE US "e" US "x", "C" US NONCE US "e" US "1" US,
		"D" US NONCE US "e" US "0" US "," US "/",
		"D" US NONCE US "e" US "0" US "1,2" US "/", "D" US NONCE US "e" US "0" US "1 2",
		"X" US NONCE US "e" US "0" US, "X" US NONCE US "256" US US, "X" US NONCE US "3" US,
		"X" US NONCE US "3" US "e" US US, "Y" US NONCE US "0" US "e"};
	for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
		struct record_reader r = {0};
		struct seen seen = {.length = 0};
		record_feed(&r, NONCE, noise[i], strlen(noise[i]), note, &seen);
		record_feed(&r, NONCE, RS, 1, note, &seen);
		cr_assert_eq(seen.length, 0, "%zu: %s", i, seen.text);
		cr_assert_eq(r.invalid_records, 1, "%zu", i);
		record_feed(&r, NONCE, all, sizeof all - 1, note, &seen);
		cr_assert_str_eq(seen.text, wanted);
	}
}

Test(record, record_that_is_too_long_is_dropped)
{
	struct record_reader r = {0};
	struct seen seen = {.length = 0};
	for (size_t i = 0; i < 3 * RECORD_MAX; i++)
		record_feed(&r, NONCE, "x", 1, note, &seen);
	record_feed(&r, NONCE, RS, 1, note, &seen);
	cr_assert_eq(r.invalid_records, 1);
	record_feed(&r, NONCE, all, sizeof all - 1, note, &seen);
	cr_assert_str_eq(seen.text, wanted);
}

Test(record, length_of_ids_and_lists_is_limited)
{
	char text[600] = "C" US NONCE US;
	struct record_reader r = {0};
	struct seen seen = {.length = 0};
	size_t length = strlen(text);
	memset(text + length, 'i', RECORD_ID_MAX + 1);
	strcpy(text + length + RECORD_ID_MAX + 1, US "0" RS);
	record_feed(&r, NONCE, text, strlen(text), note, &seen);
	cr_assert_eq(r.invalid_records, 1);
	strcpy(text, "D" US NONCE US "e" US "0" US);
	for (size_t i = 0; i < RECORD_STATUSES_MAX; i++)
		strcat(text, "1 ");
	strcat(text, "1" US "/" RS);
	record_feed(&r, NONCE, text, strlen(text), note, &seen);
	cr_assert_eq(r.invalid_records, 2);
	cr_assert_eq(seen.length, 0);
}
