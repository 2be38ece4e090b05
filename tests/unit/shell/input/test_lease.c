#include "shell/input/lease.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const struct lease_terms mine = {
	.owner = "me", .author = "owner", .exclusive = true, .ttl_ms = 1000};
static const struct lease_terms soft = {
	.owner = "me", .author = "owner", .exclusive = false, .ttl_ms = 1000};

Test(lease_take, by_one_at_a_time)
{
	struct lease l = {0};
	cr_assert_eq(lease_take(&l, &mine, 5), 0);
	cr_expect(lease_is_held(&l, 1004));
	cr_expect_eq(strlen(l.id), LEASE_ID_LENGTH);
	cr_expect_eq(lease_take(&l, &soft, 1004), -EBUSY);
	cr_expect_not(lease_is_held(&l, 1005));
	char before[sizeof l.id];
	memcpy(before, l.id, sizeof before);
	cr_assert_eq(lease_take(&l, &mine, 1005), 0);
	cr_expect_str_neq(l.id, before);
	cr_expect_eq(l.since_ms, 1005);
}

Test(lease_take, renewal_goes_on)
{
	struct lease l = {0};
	cr_assert_eq(lease_take(&l, &mine, 5), 0);
	char id[sizeof l.id];
	memcpy(id, l.id, sizeof id);
	struct lease_terms again = soft;
	again.renew = id;
	cr_assert_eq(lease_take(&l, &again, 500), 0);
	cr_expect_str_eq(l.id, id);
	cr_expect_eq(l.since_ms, 5);
	cr_expect_eq(l.expires_ms, 1500);
	cr_expect_not(l.exclusive);
	again.renew = "00000000000000000000000000000000";
	cr_expect_eq(lease_take(&l, &again, 600), -EBUSY);
	again.renew = id;
	cr_assert_eq(lease_take(&l, &again, 2000), 0, "nobody has it");
	cr_expect_str_neq(l.id, id, "others may have typed since");
}

Test(lease_give_back, by_its_id)
{
	struct lease l = {0};
	cr_assert_eq(lease_take(&l, &mine, 5), 0);
	uint64_t version = l.version;
	cr_expect_not(lease_give_back(&l, "", 6));
	cr_expect_not(lease_give_back(&l, "00000000000000000000000000000000", 6));
	char id[sizeof l.id];
	memcpy(id, l.id, sizeof id);
	cr_expect(lease_give_back(&l, id, 6));
	cr_expect_not(lease_is_held(&l, 6));
	cr_expect_gt(l.version, version);
	cr_expect_not(lease_give_back(&l, id, 6));
	cr_expect_not(lease_give_back(&l, "", 6));
}

Test(lease_expire, once)
{
	struct lease l = {0};
	cr_expect_not(lease_expire(&l, 5));
	cr_assert_eq(lease_take(&l, &mine, 5), 0);
	cr_expect_not(lease_expire(&l, 1004));
	cr_expect(lease_expire(&l, 1005));
	cr_expect_not(lease_expire(&l, 1006));
}

Test(lease_admits, whom)
{
	struct lease l = {0};
	static const char other[] = "00000000000000000000000000000000";
	cr_expect(lease_admits(&l, NULL, 5));
	cr_expect_not(lease_admits(&l, other, 5), "it is over");
	cr_assert_eq(lease_take(&l, &mine, 5), 0);
	cr_expect(lease_admits(&l, l.id, 5));
	cr_expect_not(lease_admits(&l, NULL, 5));
	cr_expect_not(lease_admits(&l, other, 5));
	cr_expect(lease_admits(&l, NULL, 1005));
	cr_expect_not(lease_admits(&l, l.id, 1005), "it is over");
	lease_clear(&l);
	cr_assert_eq(lease_take(&l, &soft, 5), 0);
	cr_expect(lease_admits(&l, NULL, 5));
	cr_expect(lease_admits(&l, l.id, 5));
	cr_expect_not(lease_admits(&l, other, 5));
}
