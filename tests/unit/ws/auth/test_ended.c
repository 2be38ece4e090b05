#include "ws/auth/ended.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct ended_logins e;

static void add(unsigned number, uint64_t expires_ms, uint64_t now_ms)
{
	char id[LOGIN_ID_SIZE];
	snprintf(id, sizeof id, "%032u", number);
	ended_logins_add(&e, id, expires_ms, now_ms);
}

static bool have(unsigned number)
{
	char id[LOGIN_ID_SIZE];
	snprintf(id, sizeof id, "%032u", number);
	return ended_logins_have(&e, id);
}

Test(ended, keeps_each_login_once_until_it_expires)
{
	e = (struct ended_logins){0};
	add(1, 100, 0);
	add(1, 100, 0);
	add(2, 50, 0);
	cr_expect_eq(e.count, 2);
	cr_expect_eq(e.changes, 2);
	cr_expect(have(1) && have(2) && !have(3));
	add(3, 10, 10);
	cr_expect_not(have(3), "it has expired");
	add(4, 200, 60);
	cr_expect(have(1) && !have(2) && have(4));
	ended_logins_unpublished(&e)->published = true;
	ended_logins_unpublished(&e)->published = true;
	cr_expect_null(ended_logins_unpublished(&e));
	ended_logins_finish(&e);
}

Test(ended, at_the_limit_the_next_to_expire_goes)
{
	e = (struct ended_logins){0};
	e.entries = calloc(ENDED_MAX, sizeof *e.entries);
	e.size = e.count = ENDED_MAX;
	for (size_t i = 0; i < ENDED_MAX; i++)
		e.entries[i].expires_ms = 1000 + i;
	e.entries[7].expires_ms = 500;
	snprintf(e.entries[7].id, LOGIN_ID_SIZE, "%032u", 7);
	add(8, 2000, 0);
	cr_expect_eq(e.count, ENDED_MAX);
	cr_expect(have(8) && !have(7));
	ended_logins_finish(&e);
}
