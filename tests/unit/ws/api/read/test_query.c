#include "ws/api/read/query.h"

#include <criterion/criterion.h>
#include <string.h>

/* A request with this target. */
static struct request *make(const char *target)
{
	struct request *r = request_create();
	cr_assert_eq(request_parse_target(r, target), 0);
	return r;
}

static void expect_number(const char *target, bool good, uint64_t wanted)
{
	struct request *r = make(target);
	uint64_t n = 7;
	cr_expect_eq(query_number(r, "n", 100, &n), good, "%s", target);
	cr_expect_eq(n, wanted, "%s: %llu", target, (unsigned long long)n);
	cr_expect_eq(r->done, !good, "%s", target);
	if (!good)
		cr_expect_eq(r->reply.status, 400, "%s", target);
	request_unref(r);
}

Test(query_number, table)
{
	expect_number("/x", true, 7);
	expect_number("/x?m=3", true, 7);
	expect_number("/x?n=0", true, 0);
	expect_number("/x?n=100", true, 100);
	expect_number("/x?n=101", false, 7);
	expect_number("/x?n=", false, 7);
	expect_number("/x?n=-1", false, 7);
	expect_number("/x?n=1x", false, 7);
}

Test(query_number_or, default_is_used_without_a_parameter)
{
	struct request *r = make("/x?n=much");
	uint64_t n;
	cr_assert_not(query_number_or(r, "n", 100, "Must be few", &n));
	cr_assert_not_null(strstr(r->reply.body, "Must be few"));
	cr_assert_not_null(strstr(r->reply.body, "\"field\":\"n\""));
	request_unref(r);
}

Test(query_choice, value_must_be_one_of_the_words)
{
	static const char *const words[] = {"one", "two", "three"};
	struct request *r = make("/x?a=two&b=four");
	unsigned choice = 9;
	cr_assert(query_choice(r, "absent", words, 3, &choice));
	cr_assert_eq(choice, 9);
	cr_assert(query_choice(r, "a", words, 3, &choice));
	cr_assert_eq(choice, 1);
	cr_assert_not(query_choice(r, "b", words, 3, &choice));
	cr_assert_eq(choice, 1);
	cr_assert_not_null(strstr(r->reply.body, "Must be one, two or three"));
	request_unref(r);
}

Test(query_flag, zero_or_one)
{
	struct request *r = make("/x?on=1&off=0&odd=true");
	bool flag = true;
	cr_assert(query_flag(r, "absent", &flag));
	cr_assert(flag);
	cr_assert(query_flag(r, "off", &flag));
	cr_assert_not(flag);
	cr_assert(query_flag(r, "on", &flag));
	cr_assert(flag);
	cr_assert_not(query_flag(r, "odd", &flag));
	request_unref(r);
}
