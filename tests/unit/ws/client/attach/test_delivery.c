/* What is sent again after a reconnect: unacknowledged input, in order, and nothing twice. */
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

Test(delivery, acknowledged_input_is_not_sent_again)
{
	type("one");
	type("two");
	delivery_receipt(&d, 4);
	expect_kept("wo");
	delivery_receipt(&d, 3); /* a late acknowledgement */
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

Test(delivery, count_of_the_previous_connection_continues)
{
	cr_expect_not(delivery_resume(&d, true, 100));
	type("ab");
	delivery_receipt(&d, 101);
	expect_kept("b");
	cr_expect_eq(d.taken, 101);
}

Test(delivery, unknown_count_drops_the_input)
{
	type("ab");
	delivery_receipt(&d, 1);
	cr_expect(delivery_resume(&d, false, 0));
	expect_kept("");
	cr_expect_eq(d.taken, 1);
	cr_expect_not(delivery_resume(&d, false, 0));
}

Test(delivery, invalid_count_drops_the_input)
{
	type("abc");
	delivery_receipt(&d, 2);
	cr_expect(delivery_resume(&d, true, 1));
	expect_kept("");
	type("d");
	cr_expect_not(
		delivery_resume(&d, true, UINT64_MAX), "the count is larger than what was sent");
	expect_kept("");
}

Test(delivery, input_can_be_dropped)
{
	type("ab");
	delivery_receipt(&d, 1);
	cr_expect(delivery_forget(&d));
	cr_expect_not(delivery_forget(&d));
	cr_expect_eq(d.taken, 1);
	cr_expect_not(delivery_resume(&d, true, 2), "the dropped input had arrived");
	type("c");
	expect_kept("c");
	cr_expect_eq(d.from, 2);
}

Test(delivery, oldest_input_is_dropped_beyond_the_limit)
{
	static char much[DELIVERY_MAX + 3];
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
	cr_expect(delivery_resume(&d, true, 2), "input is not sent after a gap");
	cr_expect_eq(d.length, 0);
	cr_expect_eq(d.from, 2);
}
