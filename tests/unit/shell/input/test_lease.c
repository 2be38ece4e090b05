#include "shell/input/lease.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const struct lease_terms mine = {
	.owner = "me", .author = "owner", .exclusive = true, .ttl_ms = 1000};
static const struct lease_terms soft = {
	.owner = "me", .author = "owner", .exclusive = false, .ttl_ms = 1000};

static struct lease l;
static char id[sizeof l.id];

static void keep(const char *of)
{
	memcpy(id, of, sizeof id);
}

Test(lease_acquire, one_holder_at_a_time)
{
	cr_assert_eq(lease_acquire(&l, &mine, 5), 0);
	cr_expect(lease_is_held(&l, 1004));
	cr_expect_eq(strlen(l.id), LEASE_ID_LENGTH);
	cr_expect_eq(lease_acquire(&l, &soft, 1004), -EBUSY);
	cr_expect_not(lease_is_held(&l, 1005));
	keep(l.id);
	cr_assert_eq(lease_acquire(&l, &mine, 1005), 0);
	cr_expect_str_neq(l.id, id);
	cr_expect_eq(l.since_ms, 1005);
}

Test(lease_acquire, renewal_keeps_the_id)
{
	cr_assert_eq(lease_acquire(&l, &mine, 5), 0);
	keep(l.id);
	struct lease_terms again = soft;
	again.renew = id;
	cr_assert_eq(lease_acquire(&l, &again, 500), 0);
	cr_expect_str_eq(l.id, id);
	cr_expect_eq(l.since_ms, 5);
	cr_expect_eq(l.expires_ms, 1500);
	cr_expect_not(l.exclusive);
	again.renew = "00000000000000000000000000000000";
	cr_expect_eq(lease_acquire(&l, &again, 600), -EBUSY);
	again.renew = id;
	cr_assert_eq(lease_acquire(&l, &again, 2000), 0, "the lease has expired");
	cr_expect_str_neq(l.id, id, "other input may have come since");
}

Test(lease_release, needs_the_id_of_the_lease)
{
	cr_assert_eq(lease_acquire(&l, &mine, 5), 0);
	uint64_t version = l.version;
	cr_expect_not(lease_release(&l, "", 6));
	cr_expect_not(lease_release(&l, "00000000000000000000000000000000", 6));
	keep(l.id);
	cr_expect(lease_release(&l, id, 6));
	cr_expect_not(lease_is_held(&l, 6));
	cr_expect_gt(l.version, version);
	cr_expect_not(lease_release(&l, id, 6));
	cr_expect_not(lease_release(&l, "", 6));
}

Test(lease_expire, lease_expires_once)
{
	cr_expect_not(lease_expire(&l, 5));
	cr_assert_eq(lease_acquire(&l, &mine, 5), 0);
	cr_expect_not(lease_expire(&l, 1004));
	cr_expect(lease_expire(&l, 1005));
	cr_expect_not(lease_expire(&l, 1006));
}

Test(lease_allows, depends_on_the_lease_and_its_id)
{
	static const char other[] = "00000000000000000000000000000000";
	cr_expect(lease_allows(&l, NULL, 5));
	cr_expect_not(lease_allows(&l, other, 5), "the lease is not valid");
	cr_assert_eq(lease_acquire(&l, &mine, 5), 0);
	cr_expect(lease_allows(&l, l.id, 5));
	cr_expect_not(lease_allows(&l, NULL, 5));
	cr_expect_not(lease_allows(&l, other, 5));
	cr_expect(lease_allows(&l, NULL, 1005));
	cr_expect_not(lease_allows(&l, l.id, 1005), "the lease is not valid");
	lease_clear(&l);
	cr_assert_eq(lease_acquire(&l, &soft, 5), 0);
	cr_expect(lease_allows(&l, NULL, 5));
	cr_expect(lease_allows(&l, l.id, 5));
	cr_expect_not(lease_allows(&l, other, 5));
}

static const struct lease_terms others = {
	.owner = "you", .author = "driver/1", .exclusive = true, .ttl_ms = 1000};

static struct lease_terms terms_with(enum lease_acquire take)
{
	struct lease_terms terms = mine;
	terms.take = take;
	return terms;
}

Test(lease_acquire, lease_of_another_holder_can_be_replaced)
{
	const struct lease_terms now = terms_with(LEASE_ACQUIRE_NOW);
	cr_assert_eq(lease_acquire(&l, &others, 5), 0);
	keep(l.id);
	cr_assert_eq(lease_acquire(&l, &now, 100), 0);
	cr_expect_str_neq(l.id, id);
	cr_expect_str_eq(l.owner, "me");
	cr_expect_eq(l.since_ms, 100);
	cr_expect_not(lease_allows(&l, id, 101));
}

Test(lease_acquire, heir_follows_the_holder)
{
	const struct lease_terms after = terms_with(LEASE_ACQUIRE_AFTER);
	cr_assert_eq(lease_acquire(&l, &others, 5), 0);
	char their_id[sizeof l.id], heir[sizeof l.id];
	memcpy(their_id, l.id, sizeof their_id);
	cr_assert_eq(lease_acquire(&l, &after, 100), 0);
	memcpy(heir, l.heir.id, sizeof heir);
	cr_expect(lease_allows(&l, their_id, 101), "the lease continues");
	cr_expect_not(lease_allows(&l, heir, 101));
	cr_expect(lease_hand_over(&l, 200));
	cr_expect(lease_allows(&l, heir, 201));
	cr_expect_not(lease_allows(&l, their_id, 201));
	cr_expect_eq(l.expires_ms, 1200);
	cr_expect_not(lease_hand_over(&l, 300));
	cr_assert_eq(lease_acquire(&l, &after, 5000), 0, "the lease has expired");
	cr_expect(lease_allows(&l, l.id, 5001));
	cr_expect_eq(l.heir.id[0], 0);
}

/* I become the heir of another holder. */
static void others_then_me(void)
{
	const struct lease_terms after = terms_with(LEASE_ACQUIRE_AFTER);
	cr_assert_eq(lease_acquire(&l, &others, 0), 0);
	cr_assert_eq(lease_acquire(&l, &after, 1), 0);
}

Test(lease_heir, gets_the_lease_when_it_is_released_or_expires)
{
	others_then_me();
	keep(l.id);
	cr_expect(lease_release(&l, id, 2));
	cr_expect_str_eq(l.owner, "me");
	lease_clear(&l);
	others_then_me();
	cr_expect(lease_expire(&l, 1000));
	cr_expect_str_eq(l.owner, "me");
	cr_expect(lease_is_held(&l, 1999));
}

Test(lease_heir, precedes_requests_after_the_expiry)
{
	others_then_me();
	cr_expect_eq(lease_acquire(&l, &others, 1500), -EBUSY);
	cr_expect_str_eq(l.owner, "me");
	cr_expect(lease_is_held(&l, 2499));
}

Test(lease_heir, can_give_up_its_claim)
{
	others_then_me();
	keep(l.heir.id);
	cr_expect(lease_release(&l, id, 2));
	cr_expect_str_eq(l.owner, "you");
	cr_expect_not(lease_hand_over(&l, 3));
}

Test(lease_leave_note, note_stays_until_the_end_of_the_next_lease)
{
	uint64_t version = l.version;
	lease_leave_note(&l, "go on", "Ada", "owner", 7);
	cr_expect_gt(l.version, version);
	cr_assert_eq(lease_acquire(&l, &others, 10), 0);
	cr_expect_str_eq(l.note.text, "go on");
	lease_clear(&l);
	cr_expect_eq(l.note.text[0], 0);
}
