#include "ws/api/files/condition.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct stat file = {
	.st_ino = 7, .st_size = 100, .st_mtim = {.tv_sec = 784111777, .tv_nsec = 5}};

Test(condition_parse_range, table)
{
	static const struct {
		const char *text;
		enum condition_range want;
		uint64_t first, end;
	} cases[] = {{"bytes=0-0", CONDITION_PART, 0, 1}, {"bytes=0-", CONDITION_PART, 0, 100},
		{"bytes=99-", CONDITION_PART, 99, 100},
		{"bytes=100-", CONDITION_UNSATISFIABLE, 0, 0},
		{"bytes=-1", CONDITION_PART, 99, 100}, {"bytes=-100", CONDITION_PART, 0, 100},
		{"bytes=-101", CONDITION_PART, 0, 100}, {"bytes=-0", CONDITION_UNSATISFIABLE, 0, 0},
		{"bytes=5-4", CONDITION_WHOLE, 0, 0}, {"bytes=5-5 ", CONDITION_WHOLE, 0, 0},
		{"bytes=1-2,4-5", CONDITION_WHOLE, 0, 0}, {"bytes=-", CONDITION_WHOLE, 0, 0},
		{"bytes=", CONDITION_WHOLE, 0, 0}, {"", CONDITION_WHOLE, 0, 0},
		{"bytes=+1-2", CONDITION_WHOLE, 0, 0}, {"lines=1-2", CONDITION_WHOLE, 0, 0},
		{"bytes=a-b", CONDITION_WHOLE, 0, 0}, {"bytes=--1", CONDITION_WHOLE, 0, 0},
		{"bytes=0-999999999999999999", CONDITION_PART, 0, 100},
		{"bytes=0-9999999999999999999", CONDITION_WHOLE, 0, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t first = 0, end = 0;
		cr_expect_eq(condition_parse_range(cases[i].text, 100, &first, &end), cases[i].want,
			"%s", cases[i].text);
		cr_expect(first == cases[i].first && end == cases[i].end, "%s", cases[i].text);
	}
}

Test(condition_check, follows_rfc_9110)
{
	static char tag[CONDITION_ETAG_SIZE], other[] = "\"x\"", any[] = "*";
	static char date[] = "Sun, 06 Nov 1994 08:49:37 GMT",
		    earlier[] = "Sun, 06 Nov 1994 08:49:36 GMT";
	static char list[] = "\"x\" , W/\"y\",\"unended";
	char is[CONDITION_ETAG_SIZE], when[CONDITION_DATE_SIZE];
	condition_etag(&file, is);
	snprintf(tag, sizeof tag, "%s", is);
	condition_date(&file, when);
	cr_assert_str_eq(when, date);
	static const struct {
		enum request_header header;
		char *value;
		enum condition reads, writes, missing; /* missing: a write to a missing file */
	} cases[] = {{HEADER_IF_MATCH, tag, CONDITION_MET, CONDITION_MET, CONDITION_FAILED},
		{HEADER_IF_MATCH, other, CONDITION_FAILED, CONDITION_FAILED, CONDITION_FAILED},
		{HEADER_IF_MATCH, list, CONDITION_FAILED, CONDITION_FAILED, CONDITION_FAILED},
		{HEADER_IF_MATCH, any, CONDITION_MET, CONDITION_MET, CONDITION_FAILED},
		{HEADER_IF_NONE_MATCH, tag, CONDITION_NOT_MODIFIED, CONDITION_FAILED, CONDITION_MET},
		{HEADER_IF_NONE_MATCH, any, CONDITION_NOT_MODIFIED, CONDITION_FAILED, CONDITION_MET},
		{HEADER_IF_NONE_MATCH, other, CONDITION_MET, CONDITION_MET, CONDITION_MET},
		{HEADER_IF_MODIFIED_SINCE, date, CONDITION_NOT_MODIFIED, CONDITION_MET,
			CONDITION_MET},
		{HEADER_IF_MODIFIED_SINCE, earlier, CONDITION_MET, CONDITION_MET, CONDITION_MET},
		{HEADER_IF_MODIFIED_SINCE, other, CONDITION_MET, CONDITION_MET, CONDITION_MET},
		{HEADER_IF_UNMODIFIED_SINCE, date, CONDITION_MET, CONDITION_MET, CONDITION_FAILED},
		{HEADER_IF_UNMODIFIED_SINCE, earlier, CONDITION_FAILED, CONDITION_FAILED,
			CONDITION_FAILED}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct request r = {.path = NULL};
		r.headers[cases[i].header] = cases[i].value;
		cr_expect_eq(condition_check(&r, &file, true), cases[i].reads, "%zu", i);
		cr_expect_eq(condition_check(&r, &file, false), cases[i].writes, "%zu", i);
		cr_expect_eq(condition_check(&r, NULL, false), cases[i].missing, "%zu", i);
	}
	struct request none = {.path = NULL};
	cr_assert_eq(condition_check(&none, &file, true), CONDITION_MET);
}
