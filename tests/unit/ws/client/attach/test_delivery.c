/* What is sent again on a new connection: what has not arrived, in order, and nothing twice. */
#include "ws/client/attach/delivery.h"

#include <criterion/criterion.h>
#include <string.h>

static struct delivery d;

static void type(const char *text)
{
	delivery_add(&d, text, strlen(text));
}

static void expect_kept(const char *text)
{
	cr_expect_eq(d.length, strlen(text));
	cr_expect_arr_eq(d.bytes, text, strlen(text));
}

Test(delivery, what_has_a_receipt_is_not_sent_again)
{
	delivery_clear(&d);
	type("one");
	type("two");
	delivery_receipt(&d, 4);
	expect_kept("wo");
	delivery_receipt(&d, 3); /* late */
	expect_kept("wo");
	cr_expect_not(delivery_resume(&d, true, 5));
	expect_kept("o");
	cr_expect_eq(d.taken, 5);
	delivery_receipt(&d, 6);
	expect_kept("");
	type("x");
	cr_expect_not(delivery_resume(&d, true, 6));
	expect_kept("x");
}

Test(delivery, a_count_from_before_is_taken_over)
{
	delivery_clear(&d);
	cr_expect_not(delivery_resume(&d, true, 100));
	type("ab");
	delivery_receipt(&d, 101);
	expect_kept("b");
	cr_expect_eq(d.taken, 101);
}

Test(delivery, what_is_not_known_is_not_sent_twice)
{
	delivery_clear(&d);
	type("ab");
	delivery_receipt(&d, 1);
	cr_expect(delivery_resume(&d, false, 0));
	expect_kept("");
	cr_expect_eq(d.taken, 1);
	cr_expect_not(delivery_resume(&d, false, 0));
}

Test(delivery, a_count_that_makes_no_sense_leaves_nothing_to_be_sent)
{
	delivery_clear(&d);
	type("abc");
	delivery_receipt(&d, 2);
	cr_expect(delivery_resume(&d, true, 1));
	expect_kept("");
	type("d");
	cr_expect_not(delivery_resume(&d, true, UINT64_MAX), "it has all arrived, and more");
	expect_kept("");
}

Test(delivery, nobody_wants_it_any_more)
{
	delivery_clear(&d);
	type("ab");
	delivery_receipt(&d, 1);
	cr_expect(delivery_forget(&d));
	cr_expect_not(delivery_forget(&d));
	cr_expect_eq(d.taken, 1);
	cr_expect_not(delivery_resume(&d, true, 2), "it had arrived all the same");
	type("c");
	expect_kept("c");
	cr_expect_eq(d.from, 2);
}

Test(delivery, of_too_much_the_oldest_is_given_up)
{
	static char much[DELIVERY_MAX + 3];
	delivery_clear(&d);
	memset(much, 'm', sizeof much);
	type("ab");
	delivery_add(&d, much, sizeof much - 4);
	type("yz");
	cr_expect_eq(d.length, DELIVERY_MAX);
	cr_expect_eq(d.from, 3);
	cr_expect_eq(d.bytes[0], 'm');
	cr_expect_eq(d.bytes[DELIVERY_MAX - 1], 'z');
	delivery_receipt(&d, 2);
	cr_expect_eq(d.length, DELIVERY_MAX);
	delivery_receipt(&d, 4);
	cr_expect_eq(d.length, DELIVERY_MAX - 1);
	delivery_clear(&d);
	delivery_add(&d, much, sizeof much);
	cr_expect_eq(d.from, 3);
	cr_expect(delivery_resume(&d, true, 2), "a hole is not jumped over");
	cr_expect_eq(d.length, 0);
	cr_expect_eq(d.from, 2);
}
