#include "ws/rota.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static uv_loop_t loop;
static struct rota rota;
static char order[256]; /* names of those that have begun */

struct worker {
	struct shift shift;
	char name;
	bool stays; /* the test ends its shift */
};

static void on_shift(void *user)
{
	struct worker *w = user;
	order[strlen(order)] = w->name;
	if (!w->stays)
		shift_end(&w->shift, 1000);
}

static int begin_shift(struct worker *w, const char *link)
{
	w->shift.begin = on_shift;
	w->shift.user = w;
	return shift_request(&rota, link, &w->shift);
}

static void open_rota(void)
{
	cr_assert_eq(uv_loop_init(&loop), 0);
	rota_open(&rota, &loop, 0);
}

/* Run the loop until count workers have begun. */
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

TestSuite(rota, .init = open_rota, .fini = close_rota, .timeout = 10);
TestSuite(rota_close, .init = open_rota, .timeout = 10);

Test(rota, links_work_at_the_same_time)
{
	struct worker one = {.name = '1'}, two = {.name = '2'};
	cr_assert_eq(begin_shift(&one, "a"), 1);
	cr_assert_eq(begin_shift(&two, "b"), 1, "another link works at the same time");
	shift_end(&one.shift, 0);
	shift_end(&two.shift, 0);
	cr_assert_eq(begin_shift(&one, "a"), 1);
	shift_end(&one.shift, 0);
	shift_end(&one.shift, 0);
	cr_assert_null(rota.takers);
}

Test(rota, one_at_a_time_per_link_and_links_in_turn)
{
	struct worker first = {.name = '0'}, a[5], b[2];
	cr_assert_eq(begin_shift(&first, "a"), 1);
	for (unsigned i = 0; i < 5; i++) {
		a[i] = (struct worker){.name = (char)('1' + i)};
		cr_assert_eq(begin_shift(&a[i], "a"), 0);
	}
	/* A link without a worker does not wait for the other; its second worker does. */
	b[0] = (struct worker){.name = 'x'};
	b[1] = (struct worker){.name = 'y'};
	cr_assert_eq(begin_shift(&b[0], "b"), 1);
	cr_assert_eq(begin_shift(&b[1], "b"), 0);
	shift_end(&b[0].shift, 0);
	shift_end(&first.shift, 0);
	begin_until(6);
	cr_assert(strcmp(order, "1y2345") == 0 || strcmp(order, "y12345") == 0, "%s", order);
	cr_assert_null(rota.takers);
}

Test(rota, number_of_all_links_is_limited)
{
	struct worker one = {.name = '1', .stays = true}, two = {.name = '2', .stays = true},
		      three = {.name = '3', .stays = true};
	rota_close(&rota);
	uv_run(&loop, UV_RUN_DEFAULT);
	rota_open(&rota, &loop, 1);
	cr_assert_eq(begin_shift(&one, "a"), 1);
	cr_assert_eq(begin_shift(&two, "b"), 0, "the other link waits too");
	cr_assert_eq(begin_shift(&three, "a"), 0);
	cr_assert_not(uv_is_active((uv_handle_t *)&rota.rest), "only for the end of the first");
	shift_end(&one.shift, 0);
	begin_until(1);
	cr_assert_str_eq(order, "2");
	cr_assert_not(uv_is_active((uv_handle_t *)&rota.rest));
	shift_end(&two.shift, 0);
	begin_until(2);
	cr_assert_str_eq(order, "23");
	shift_end(&three.shift, 0);
	cr_assert_eq(begin_shift(&one, "a"), 1);
	shift_end(&one.shift, 0);
	cr_assert_null(rota.takers);
}

Test(rota, rest_is_as_long_as_the_shift)
{
	struct worker one = {.name = '1'}, two = {.name = '2'};
	cr_assert_eq(begin_shift(&one, "a"), 1);
	uint64_t over = uv_hrtime();
	shift_end(&one.shift, 300u * 1000000u);
	cr_assert_eq(begin_shift(&two, "b"), 0);
	begin_until(1);
	cr_assert_geq(uv_hrtime() - over, 290u * 1000000u);
}

Test(rota, waiting_worker_can_be_cancelled)
{
	struct worker one = {.name = '1'}, two = {.name = '2'}, three = {.name = '3'};
	cr_assert_eq(begin_shift(&one, "a"), 1);
	cr_assert_eq(begin_shift(&two, "a"), 0);
	cr_assert_eq(begin_shift(&three, "a"), 0);
	shift_end(&two.shift, 0);
	shift_end(&one.shift, 0);
	begin_until(1);
	cr_assert_str_eq(order, "3");
	cr_assert_null(rota.takers);
}

Test(rota_close, workers_may_wait)
{
	struct worker one = {.name = '1'}, two = {.name = '2'};
	cr_assert_eq(begin_shift(&one, "a"), 1);
	cr_assert_eq(begin_shift(&two, "a"), 0);
	close_rota();
	shift_end(&one.shift, 0);
	shift_end(&two.shift, 0);
	cr_assert_str_eq(order, "");
}
