#include "shell/session/presence.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct presence p;

static void set_up(void)
{
	presence_init(&p);
}

TestSuite(presence, .init = set_up);
TestSuite(size_policy, .init = set_up);
TestSuite(presence_focus, .init = set_up);

static struct attendee client(enum role role, unsigned rows, unsigned cols)
{
	return (struct attendee){.name = "x", .role = role, .rows = rows, .cols = cols};
}

#define JOIN(...)                                                             \
	do {                                                                  \
		struct attendee *const joining[] = {__VA_ARGS__};             \
		for (size_t i = 0; i < sizeof joining / sizeof *joining; i++) \
			presence_join(&p, joining[i]);                        \
	} while (0)

/* "100x30", or "none" if no window counts: then the session keeps its size. */
static const char *size(void)
{
	static char text[32];
	unsigned rows = 7777, cols = 7777;
	if (!presence_size(&p, &rows, &cols)) {
		cr_assert(rows == 7777 && cols == 7777, "the size changed without a window");
		return "none";
	}
	snprintf(text, sizeof text, "%ux%u", cols, rows);
	return text;
}

#define EXPECT_SIZE(want) cr_expect_str_eq(size(), want, "%s instead of %s", size(), want)

Test(role_name, table)
{
	cr_assert_str_eq(role_name(ROLE_VIEWER), "viewer");
	cr_assert_str_eq(role_name(ROLE_DRIVER), "driver");
	cr_assert_str_eq(role_name(ROLE_OWNER), "owner");
}

Test(presence, ids_are_never_reused)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = a;
	presence_join(&p, &a);
	uint64_t first = a.id;
	presence_leave(&p, &a);
	presence_join(&p, &b);
	cr_assert_gt(b.id, first);
	cr_assert_eq(p.count, 1);
}

Test(presence, order_is_that_of_joining)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = a, c = a;
	JOIN(&a, &b, &c);
	presence_leave(&p, &b);
	cr_assert_eq(p.first, &a);
	cr_assert_eq(a.next, &c);
	cr_assert_null(c.next);
	cr_assert_eq(p.count, 2);
}

Test(presence, colours_differ_while_there_are_enough)
{
	struct attendee many[PRESENCE_COLORS + 1];
	unsigned seen = 0;
	for (unsigned i = 0; i < PRESENCE_COLORS; i++) {
		many[i] = client(ROLE_VIEWER, 0, 0);
		presence_join(&p, &many[i]);
		cr_assert_lt(many[i].color, PRESENCE_COLORS);
		seen |= 1u << many[i].color;
	}
	cr_assert_eq(seen, (1u << PRESENCE_COLORS) - 1);
	unsigned freed = many[3].color;
	presence_leave(&p, &many[3]);
	many[PRESENCE_COLORS] = client(ROLE_VIEWER, 0, 0);
	presence_join(&p, &many[PRESENCE_COLORS]);
	cr_assert_eq(many[PRESENCE_COLORS].color, freed);
}

Test(presence, first_window_gives_the_size)
{
	struct attendee viewer = client(ROLE_VIEWER, 50, 200), unknown = client(ROLE_OWNER, 0, 0),
			a = client(ROLE_DRIVER, 24, 80), b = client(ROLE_OWNER, 30, 100);
	EXPECT_SIZE("none");
	JOIN(&viewer, &unknown);
	EXPECT_SIZE("none");
	JOIN(&a, &b);
	EXPECT_SIZE("80x24");
	cr_assert_eq(p.size_by, &a);
}

Test(presence, last_typist_gives_the_size)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = client(ROLE_DRIVER, 30, 100);
	JOIN(&a, &b);
	presence_type(&p, &b, 1000);
	cr_assert_eq(p.size_by, &b);
	EXPECT_SIZE("100x30");
	uint64_t before = p.version;
	presence_type(&p, &b, 1001);
	cr_assert_eq(p.version, before, "it gives the size already");
	presence_window(&p, &a, 40, 40);
	EXPECT_SIZE("100x30");
	presence_window(&p, &b, 31, 101);
	EXPECT_SIZE("101x31");
}

Test(presence, window_counts_once_it_is_known)
{
	struct attendee a = client(ROLE_OWNER, 0, 0), b = client(ROLE_OWNER, 24, 80);
	presence_join(&p, &a);
	presence_type(&p, &a, 1000);
	EXPECT_SIZE("none");
	presence_window(&p, &a, 30, 100);
	EXPECT_SIZE("100x30");
	presence_join(&p, &b);
	presence_window(&p, &a, 0, 0);
	EXPECT_SIZE("80x24");
}

Test(presence, deferred_window_waits)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = client(ROLE_OWNER, 0, 0);
	presence_set_policy(&p, SIZE_SMALLEST);
	presence_join(&p, &a);
	presence_defer_window(&b, 10, 20);
	presence_join(&p, &b);
	presence_defer_window(&a, 20, 60);
	EXPECT_SIZE("80x24");
	presence_apply_window(&p, &b);
	EXPECT_SIZE("20x10");
	presence_window(&p, &b, 30, 90);
	presence_apply_window(&p, &b);
	EXPECT_SIZE("80x24");
	presence_apply_window(&p, &a);
	EXPECT_SIZE("60x20");
}

Test(presence, typing_viewer_changes_nothing)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), v = client(ROLE_VIEWER, 30, 100);
	JOIN(&a, &v);
	presence_type(&p, &v, 1000);
	cr_assert_eq(p.size_by, &a);
	EXPECT_SIZE("80x24");
}

Test(presence, cleared_size_waits_for_the_next_typist)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = client(ROLE_OWNER, 30, 100);
	JOIN(&a, &b);
	uint64_t before = p.version;
	presence_clear_size(&p);
	cr_assert_gt(p.version, before);
	before = p.version;
	presence_clear_size(&p);
	cr_assert_eq(p.version, before);
	EXPECT_SIZE("none");
	presence_leave(&p, &a);
	EXPECT_SIZE("none");
	presence_type(&p, &b, 1000);
	EXPECT_SIZE("100x30");
}

Test(presence, size_passes_to_the_previous_typist)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = a, c = a;
	JOIN(&a, &b, &c);
	presence_type(&p, &b, 1000);
	presence_type(&p, &c, 2000);
	presence_type(&p, &a, 3000);
	presence_leave(&p, &a);
	cr_assert_eq(p.size_by, &c);
	presence_leave(&p, &c);
	cr_assert_eq(p.size_by, &b);
	presence_leave(&p, &b);
	cr_assert_null(p.size_by);
}

Test(presence, leaving_twice_is_harmless)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = a;
	presence_join(&p, &a);
	presence_leave(&p, &b);
	cr_assert_eq(p.count, 1);
	presence_leave(&p, &a);
	presence_leave(&p, &a);
	cr_assert_eq(p.count, 0);
}

Test(presence, version_counts_visible_changes)
{
	struct attendee a = client(ROLE_OWNER, 24, 80);
	uint64_t before = p.version;
	presence_join(&p, &a);
	cr_assert_gt(p.version, before);
	presence_type(&p, &a, 5000);
	before = p.version;
	presence_type(&p, &a, 5100);
	cr_assert_eq(p.version, before, "not with each key");
	presence_type(&p, &a, 6200);
	cr_assert_gt(p.version, before);
	before = p.version;
	presence_leave(&p, &a);
	cr_assert_gt(p.version, before);
}

Test(size_policy, names)
{
	static const char *const names[] = {"latest", "smallest", "fixed", "owner"};
	enum size_policy policy = SIZE_OWNER;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		cr_expect_str_eq(size_policy_name((enum size_policy)i), names[i]);
		cr_expect(size_policy_parse(names[i], &policy));
		cr_expect_eq(policy, i);
	}
	for (const char *const *wrong = (const char *const[]){"", "Latest", "latest ", "none", NULL};
		*wrong; wrong++)
		cr_expect_not(size_policy_parse(*wrong, &policy), "%s", *wrong);
	cr_assert_eq(policy, SIZE_OWNER, "an invalid name changes nothing");
}

Test(size_policy, default_is_latest)
{
	cr_assert_eq(p.policy, SIZE_LATEST);
}

Test(size_policy, version_changes_only_with_the_policy)
{
	uint64_t before = p.version;
	presence_set_policy(&p, SIZE_LATEST);
	cr_assert_eq(p.version, before);
	presence_set_policy(&p, SIZE_SMALLEST);
	cr_assert_gt(p.version, before);
}

Test(size_policy, smallest_is_the_minimum_of_all_windows_that_count)
{
	struct attendee viewer = client(ROLE_VIEWER, 5, 10), unknown = client(ROLE_OWNER, 0, 0),
			a = client(ROLE_OWNER, 24, 132), b = client(ROLE_DRIVER, 50, 80),
			c = client(ROLE_DRIVER, 20, 70);
	presence_set_policy(&p, SIZE_SMALLEST);
	JOIN(&viewer, &unknown);
	EXPECT_SIZE("none");
	presence_join(&p, &a);
	EXPECT_SIZE("132x24");
	cr_assert_eq(p.size_by, &a);
	presence_join(&p, &b);
	EXPECT_SIZE("80x24");
	cr_assert_null(p.size_by, "rows and columns are of different clients");
	presence_join(&p, &c);
	EXPECT_SIZE("70x20");
	cr_assert_eq(p.size_by, &c);
	presence_window(&p, &unknown, 21, 69);
	EXPECT_SIZE("69x20");
	presence_window(&p, &unknown, 0, 0);
	presence_window(&p, &c, 30, 90);
	EXPECT_SIZE("80x24");
	presence_leave(&p, &b);
	EXPECT_SIZE("90x24");
	presence_leave(&p, &a);
	EXPECT_SIZE("90x30");
	cr_assert_eq(p.size_by, &c);
	presence_leave(&p, &c);
	EXPECT_SIZE("none");
	cr_assert_null(p.size_by);
}

Test(size_policy, typing_does_not_matter_for_smallest)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = client(ROLE_OWNER, 30, 100);
	presence_set_policy(&p, SIZE_SMALLEST);
	JOIN(&b, &a);
	presence_type(&p, &b, 1000);
	EXPECT_SIZE("80x24");
	cr_assert_eq(p.size_by, &a);
}

Test(size_policy, first_of_equal_windows_gives_the_smallest)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = a;
	presence_set_policy(&p, SIZE_SMALLEST);
	JOIN(&a, &b);
	cr_assert_eq(p.size_by, &a);
	presence_leave(&p, &a);
	cr_assert_eq(p.size_by, &b);
	EXPECT_SIZE("80x24");
}

Test(size_policy, fixed_ignores_all_windows)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = client(ROLE_OWNER, 30, 100);
	presence_join(&p, &a);
	presence_set_policy(&p, SIZE_FIXED);
	presence_join(&p, &b);
	presence_type(&p, &b, 1000);
	presence_window(&p, &b, 31, 101);
	EXPECT_SIZE("none");
	cr_assert_null(p.size_by);
	presence_leave(&p, &a);
	EXPECT_SIZE("none");
}

Test(size_policy, owner_uses_the_owner_that_typed_last)
{
	struct attendee d = client(ROLE_DRIVER, 20, 70), v = client(ROLE_VIEWER, 5, 10),
			a = client(ROLE_OWNER, 24, 80), b = client(ROLE_OWNER, 30, 100);
	presence_set_policy(&p, SIZE_OWNER);
	JOIN(&d, &v);
	presence_type(&p, &d, 500);
	presence_window(&p, &d, 21, 71);
	EXPECT_SIZE("none");
	JOIN(&a, &b);
	EXPECT_SIZE("80x24");
	presence_type(&p, &b, 1000);
	EXPECT_SIZE("100x30");
	presence_type(&p, &d, 2000);
	EXPECT_SIZE("100x30");
	presence_leave(&p, &b);
	EXPECT_SIZE("80x24");
	presence_leave(&p, &a);
	EXPECT_SIZE("none");
	cr_assert_null(p.size_by);
	presence_join(&p, &b);
	EXPECT_SIZE("100x30");
}

/* The same clients, which have typed already, under one policy after the other. */
Test(size_policy, size_follows_from_the_present_clients_at_once)
{
	static const struct {
		enum size_policy policy;
		const char *want;
	} cases[] = {{SIZE_SMALLEST, "70x24"}, {SIZE_OWNER, "100x30"}, {SIZE_FIXED, "none"},
		{SIZE_LATEST, "70x40"}, {SIZE_OWNER, "100x30"}, {SIZE_LATEST, "70x40"},
		{SIZE_FIXED, "none"}, {SIZE_SMALLEST, "70x24"}, {SIZE_LATEST, "70x40"}};
	struct attendee a = client(ROLE_OWNER, 24, 80), b = client(ROLE_OWNER, 30, 100),
			d = client(ROLE_DRIVER, 40, 70);
	JOIN(&a, &b, &d);
	presence_type(&p, &b, 1000);
	presence_type(&p, &d, 2000);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		presence_set_policy(&p, cases[i].policy);
		EXPECT_SIZE(cases[i].want);
	}
}

Test(presence_focus, session_has_it_while_a_client_that_may_type_has_it)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = client(ROLE_DRIVER, 0, 0);
	JOIN(&a, &b);
	cr_assert_not(p.focused);
	cr_assert(presence_focus(&p, &a, true));
	cr_assert(p.focused);
	cr_assert_not(presence_focus(&p, &a, true), "reported twice");
	cr_assert_not(presence_focus(&p, &b, true), "the session has the focus already");
	cr_assert_not(presence_focus(&p, &a, false), "the other client still has it");
	cr_assert(p.focused);
	cr_assert(presence_focus(&p, &b, false));
	cr_assert_not(p.focused);
	cr_assert_not(presence_focus(&p, &b, false), "reported twice");
}

Test(presence_focus, viewers_do_not_count)
{
	struct attendee v = client(ROLE_VIEWER, 24, 80), a = client(ROLE_OWNER, 24, 80);
	JOIN(&v, &a);
	cr_assert_not(presence_focus(&p, &v, true));
	cr_assert_not(p.focused);
	cr_assert(presence_focus(&p, &a, true));
	cr_assert_not(presence_leave(&p, &v));
	cr_assert(presence_focus(&p, &a, false));
}

Test(presence_focus, is_lost_with_the_last_client_that_has_it)
{
	struct attendee a = client(ROLE_OWNER, 24, 80), b = a, c = a;
	JOIN(&a, &b, &c);
	presence_focus(&p, &a, true);
	presence_focus(&p, &b, true);
	cr_assert_not(presence_leave(&p, &c));
	cr_assert_not(presence_leave(&p, &a));
	cr_assert(p.focused);
	cr_assert(presence_leave(&p, &b));
	cr_assert_not(p.focused);
	cr_assert_not(presence_leave(&p, &b), "it is detached already");
}

Test(presence_focus, new_client_has_none)
{
	struct attendee a = client(ROLE_OWNER, 24, 80);
	presence_join(&p, &a);
	presence_focus(&p, &a, true);
	presence_leave(&p, &a);
	presence_join(&p, &a);
	cr_assert_not(a.focused);
	cr_assert_not(p.focused);
	cr_assert(presence_focus(&p, &a, true));
}

/* A program requests reports again, so every terminal reports its focus once more. */
Test(presence_focus, forgotten_focus_is_reported_again)
{
	struct attendee v = client(ROLE_VIEWER, 24, 80), a = client(ROLE_OWNER, 24, 80), b = a;
	JOIN(&v, &a, &b);
	presence_focus(&p, &v, true);
	presence_focus(&p, &a, true);
	presence_focus(&p, &b, true);
	uint64_t before = p.version;
	presence_forget_focus(&p);
	cr_assert_not(p.focused);
	cr_assert_not(v.focused || a.focused || b.focused);
	cr_assert_eq(p.version, before, "other clients need no notice");
	cr_assert_not(presence_focus(&p, &a, false), "it was forgotten already");
	cr_assert(presence_focus(&p, &b, true));
	cr_assert(p.focused);
	cr_assert_not(presence_leave(&p, &a));
	cr_assert(presence_leave(&p, &b));
}
