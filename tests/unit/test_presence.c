#include "shell/presence.h"

#include <criterion/criterion.h>

static struct presence p;

static void set_up(void)
{
	presence_init(&p);
}

TestSuite(presence, .init = set_up);

static struct attendee someone(enum role role, unsigned rows, unsigned cols)
{
	return (struct attendee){.name = "x", .role = role, .rows = rows, .cols = cols};
}

/* As a client does when it attaches: it joins, and tells its window. */
static bool join(struct attendee *a)
{
	presence_join(&p, a);
	return presence_window(&p, a, a->rows, a->cols);
}

Test(role_name, table)
{
	cr_assert_str_eq(role_name(ROLE_VIEWER), "viewer");
	cr_assert_str_eq(role_name(ROLE_DRIVER), "driver");
	cr_assert_str_eq(role_name(ROLE_OWNER), "owner");
}

Test(presence, ids_are_never_used_again)
{
	struct attendee a = someone(ROLE_OWNER, 24, 80), b = a;
	join(&a);
	uint64_t first = a.id;
	presence_leave(&p, &a);
	join(&b);
	cr_assert_gt(b.id, first);
	cr_assert_eq(p.count, 1);
}

Test(presence, order_is_that_of_arrival)
{
	struct attendee a = someone(ROLE_OWNER, 24, 80), b = a, c = a;
	join(&a);
	join(&b);
	join(&c);
	presence_leave(&p, &b);
	cr_assert_eq(p.first, &a);
	cr_assert_eq(a.next, &c);
	cr_assert_null(c.next);
	cr_assert_eq(p.count, 2);
}

Test(presence, colours_differ_as_long_as_there_are_any)
{
	struct attendee many[PRESENCE_COLORS + 1];
	unsigned seen = 0;
	for (unsigned i = 0; i < PRESENCE_COLORS; i++) {
		many[i] = someone(ROLE_VIEWER, 0, 0);
		join(&many[i]);
		cr_assert_lt(many[i].color, PRESENCE_COLORS);
		seen |= 1u << many[i].color;
	}
	cr_assert_eq(seen, (1u << PRESENCE_COLORS) - 1);
	unsigned freed = many[3].color;
	presence_leave(&p, &many[3]);
	many[PRESENCE_COLORS] = someone(ROLE_VIEWER, 0, 0);
	join(&many[PRESENCE_COLORS]);
	cr_assert_eq(many[PRESENCE_COLORS].color, freed);
}

Test(presence, first_with_a_window_gives_the_size)
{
	struct attendee viewer = someone(ROLE_VIEWER, 50, 200), unknown = someone(ROLE_OWNER, 0, 0),
			a = someone(ROLE_DRIVER, 24, 80), b = someone(ROLE_OWNER, 30, 100);
	cr_assert_not(join(&viewer));
	cr_assert_not(join(&unknown));
	cr_assert(join(&a));
	cr_assert_not(join(&b));
	cr_assert_eq(p.holder, &a);
}

Test(presence, who_types_takes_the_size)
{
	struct attendee a = someone(ROLE_OWNER, 24, 80), b = someone(ROLE_DRIVER, 30, 100);
	join(&a);
	join(&b);
	cr_assert(presence_type(&p, &b, 1000));
	cr_assert_eq(p.holder, &b);
	cr_assert_not(presence_type(&p, &b, 1001), "it has it already");
	cr_assert_not(presence_window(&p, &a, 40, 40));
	cr_assert(presence_window(&p, &b, 31, 101));
}

Test(presence, viewer_that_types_takes_nothing)
{
	struct attendee a = someone(ROLE_OWNER, 24, 80), v = someone(ROLE_VIEWER, 30, 100);
	join(&a);
	join(&v);
	cr_assert_not(presence_type(&p, &v, 1000));
	cr_assert_eq(p.holder, &a);
}

Test(presence, size_passes_on_to_who_typed_last)
{
	struct attendee a = someone(ROLE_OWNER, 24, 80), b = a, c = a;
	join(&a);
	join(&b);
	join(&c);
	presence_type(&p, &b, 1000);
	presence_type(&p, &c, 2000);
	presence_type(&p, &a, 3000);
	presence_leave(&p, &a);
	cr_assert_eq(p.holder, &c);
	presence_leave(&p, &c);
	cr_assert_eq(p.holder, &b);
	presence_leave(&p, &b);
	cr_assert_null(p.holder);
}

Test(presence, leaving_twice_is_harmless)
{
	struct attendee a = someone(ROLE_OWNER, 24, 80), b = a;
	join(&a);
	presence_leave(&p, &b);
	cr_assert_eq(p.count, 1);
	presence_leave(&p, &a);
	presence_leave(&p, &a);
	cr_assert_eq(p.count, 0);
}

Test(presence, version_counts_what_others_should_hear)
{
	struct attendee a = someone(ROLE_OWNER, 24, 80);
	uint64_t before = p.version;
	join(&a);
	cr_assert_gt(p.version, before);
	presence_type(&p, &a, 5000);
	before = p.version;
	presence_type(&p, &a, 5100);
	cr_assert_eq(p.version, before, "not each key");
	presence_type(&p, &a, 6200);
	cr_assert_gt(p.version, before);
	before = p.version;
	presence_leave(&p, &a);
	cr_assert_gt(p.version, before);
}

Test(presence, responder_has_caught_up_and_may_type)
{
	struct attendee v = someone(ROLE_VIEWER, 24, 80), a = someone(ROLE_OWNER, 24, 80), b = a;
	v.ready = true;
	join(&v);
	join(&a);
	join(&b);
	cr_assert_null(presence_responder(&p));
	b.ready = true;
	cr_assert_eq(presence_responder(&p), &b);
	a.ready = true;
	cr_assert_eq(presence_responder(&p), &a, "the holder of the size, once it is ready");
	presence_type(&p, &b, 1000);
	cr_assert_eq(presence_responder(&p), &b);
}

Test(presence, responder_without_a_window_is_better_than_none)
{
	struct attendee a = someone(ROLE_OWNER, 0, 0);
	a.ready = true;
	join(&a);
	cr_assert_eq(presence_responder(&p), &a);
}
