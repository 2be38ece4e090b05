#include "shell/output/excerpt.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(excerpt, .timeout = 60);

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)(i * 7 + i / 251);
}

/* Add n bytes of the stream in pieces of random size. */
static void add(struct excerpt *e, struct random *r, uint64_t n, uint64_t piece, size_t *budget)
{
	static uint8_t bytes[8192];
	for (uint64_t at = 0; at < n;) {
		uint64_t size = 1 + random_below(r, piece);
		size = size < n - at ? size : n - at;
		for (uint64_t i = 0; i < size; i++)
			bytes[i] = byte_at(at + i);
		excerpt_add(e, bytes, size, budget);
		at += size;
	}
}

static void check(const struct excerpt_parts *p, uint64_t total)
{
	cr_assert_eq(p->total, total);
	cr_assert_eq(p->head_length + p->omitted + p->tail_length, total);
	for (size_t i = 0; i < p->head_length; i++)
		cr_assert_eq(p->head[i], byte_at(i), "%zu", i);
	for (size_t i = 0; i < p->tail_length; i++)
		cr_assert_eq(p->tail[i], byte_at(total - p->tail_length + i), "%zu", i);
}

Test(excerpt, any_limit_and_length)
{
	struct random r = {4};
	for (unsigned round = 0; round < 3000; round++) {
		struct excerpt e;
		size_t limit = random_below(&r, round % 2 ? 40 : 20000), budget = SIZE_MAX;
		uint64_t total = random_below(&r, round % 3 ? limit * 3 + 20 : limit + 2);
		excerpt_init(&e, limit);
		add(&e, &r, total, round % 5 ? 1 + limit / 3 % 8192 : 8192, &budget);
		struct excerpt_parts p = excerpt_parts(&e);
		check(&p, total);
		cr_assert_eq(p.omitted, total > limit ? total - limit : 0);
		if (p.omitted > 0)
			cr_assert_eq(p.head_length, limit / 2);
		cr_assert_eq(SIZE_MAX - budget, e.capacity);
		excerpt_finish(&e);
	}
}

Test(excerpt, memory_grows_with_the_content)
{
	struct excerpt e;
	size_t budget = SIZE_MAX;
	excerpt_init(&e, 1 << 20);
	excerpt_add(&e, "x", 1, &budget);
	cr_assert_leq(e.capacity, 4096);
	excerpt_finish(&e);
}

Test(excerpt, lack_of_memory_keeps_the_content)
{
	struct random r = {5};
	for (size_t budget = 0; budget < 40000; budget += 1111) {
		struct excerpt e;
		size_t left = budget;
		excerpt_init(&e, 1 << 20);
		add(&e, &r, 100000, 3000, &left);
		struct excerpt_parts p = excerpt_parts(&e);
		check(&p, 100000);
		cr_assert_leq(e.capacity, budget);
		if (budget > 8192)
			cr_assert_gt(p.tail_length, 0);
		excerpt_finish(&e);
	}
}

Test(excerpt, limit_zero_keeps_nothing)
{
	struct excerpt e;
	size_t budget = SIZE_MAX;
	excerpt_init(&e, 0);
	excerpt_add(&e, "abc", 3, &budget);
	struct excerpt_parts p = excerpt_parts(&e);
	cr_assert_eq(p.total, 3);
	cr_assert_eq(p.omitted, 3);
	cr_assert_eq(p.head_length + p.tail_length, 0);
	cr_assert_eq(budget, SIZE_MAX);
	excerpt_finish(&e);
}
