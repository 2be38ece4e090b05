#include "tests/lib/leak.h"
#include "ws/rota.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static uv_loop_t loop;
static struct rota rota;
static char order[256]; /* who has begun */

struct worker {
	struct shift shift;
	char name;
	bool stays; /* its shift is ended by the test */
};

static void on_shift(void *user)
{
	struct worker *w = user;
	order[strlen(order)] = w->name;
	if (!w->stays)
		shift_end(&w->shift, 1000);
}

static int take(struct worker *w, const char *link)
{
	w->shift.begin = on_shift;
	w->shift.user = w;
	return shift_request(&rota, link, &w->shift);
}

static void open_rota_of(unsigned most)
{
	cr_assert_eq(uv_loop_init(&loop), 0);
	rota_open(&rota, &loop, most);
}

static void open_rota(void)
{
	open_rota_of(0);
}

/* Until so many have begun. */
static void begin_until(size_t count)
{
	uv_ref((uv_handle_t *)&rota.rest);
	while (strlen(order) < count)
		uv_run(&loop, UV_RUN_ONCE);
	uv_unref((uv_handle_t *)&rota.rest);
}

static void close_rota(void)
{
	rota_close(&rota);
	uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&loop), 0);
}

Test(rota, nobody_waits_for_nobody, .timeout = 10)
{
	struct worker one = {.name = '1'}, two = {.name = '2'};
	open_rota();
	cr_assert_eq(take(&one, "a"), 1);
	cr_assert_eq(take(&two, "b"), 1, "another link works meanwhile");
	shift_end(&one.shift, 0);
	shift_end(&two.shift, 0);
	cr_assert_eq(take(&one, "a"), 1);
	shift_end(&one.shift, 0);
	shift_end(&one.shift, 0);
	cr_assert_null(rota.takers);
	close_rota();
	ASSERT_NO_LEAKS();
}

Test(rota, one_at_a_time_and_the_links_in_turn, .timeout = 10)
{
	struct worker first = {.name = '0'}, a[5], b[2];
	open_rota();
	cr_assert_eq(take(&first, "a"), 1);
	for (unsigned i = 0; i < 5; i++) {
		a[i] = (struct worker){.name = (char)('1' + i)};
		cr_assert_eq(take(&a[i], "a"), 0);
	}
	/* A link that has none is not kept out by them; its second waits. */
	b[0] = (struct worker){.name = 'x'};
	b[1] = (struct worker){.name = 'y'};
	cr_assert_eq(take(&b[0], "b"), 1);
	cr_assert_eq(take(&b[1], "b"), 0);
	shift_end(&b[0].shift, 0);
	shift_end(&first.shift, 0);
	begin_until(6);
	cr_assert(strcmp(order, "1y2345") == 0 || strcmp(order, "y12345") == 0, "%s", order);
	cr_assert_null(rota.takers);
	close_rota();
	ASSERT_NO_LEAKS();
}

Test(rota, so_many_of_all_links_at_a_time, .timeout = 10)
{
	struct worker one = {.name = '1', .stays = true}, two = {.name = '2', .stays = true},
		      three = {.name = '3', .stays = true};
	open_rota_of(1);
	cr_assert_eq(take(&one, "a"), 1);
	cr_assert_eq(take(&two, "b"), 0, "the other link waits, too");
	cr_assert_eq(take(&three, "a"), 0);
	cr_assert_not(
		uv_is_active((uv_handle_t *)&rota.rest), "for nothing but the end of the first");
	shift_end(&one.shift, 0);
	begin_until(1);
	cr_assert_str_eq(order, "2");
	cr_assert_not(uv_is_active((uv_handle_t *)&rota.rest));
	shift_end(&two.shift, 0);
	begin_until(2);
	cr_assert_str_eq(order, "23");
	shift_end(&three.shift, 0);
	cr_assert_eq(take(&one, "a"), 1);
	shift_end(&one.shift, 0);
	cr_assert_null(rota.takers);
	close_rota();
	ASSERT_NO_LEAKS();
}

Test(rota, after_each_a_rest_as_long, .timeout = 10)
{
	struct worker one = {.name = '1'}, two = {.name = '2'};
	open_rota();
	cr_assert_eq(take(&one, "a"), 1);
	uint64_t over = uv_hrtime();
	shift_end(&one.shift, 300u * 1000000u);
	cr_assert_eq(take(&two, "b"), 0);
	begin_until(1);
	cr_assert_geq(uv_hrtime() - over, 290u * 1000000u);
	close_rota();
	ASSERT_NO_LEAKS();
}

Test(rota, who_gives_up_is_not_waited_for, .timeout = 10)
{
	struct worker one = {.name = '1'}, two = {.name = '2'}, three = {.name = '3'};
	open_rota();
	cr_assert_eq(take(&one, "a"), 1);
	cr_assert_eq(take(&two, "a"), 0);
	cr_assert_eq(take(&three, "a"), 0);
	shift_end(&two.shift, 0);
	shift_end(&one.shift, 0);
	begin_until(1);
	cr_assert_str_eq(order, "3");
	cr_assert_null(rota.takers);
	close_rota();
	ASSERT_NO_LEAKS();
}

Test(rota, may_end_when_all_is_over, .timeout = 10)
{
	struct worker one = {.name = '1'}, two = {.name = '2'};
	open_rota();
	cr_assert_eq(take(&one, "a"), 1);
	cr_assert_eq(take(&two, "a"), 0);
	close_rota();
	shift_end(&one.shift, 0);
	shift_end(&two.shift, 0);
	cr_assert_str_eq(order, "");
	ASSERT_NO_LEAKS();
}
