#include "tests/lib/random.h"
#include "ws/api/later/output_queue.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(output_queue, .timeout = 60);

Test(output_queue, pieces_in_order)
{
	struct output_queue q = {0};
	cr_assert_null(output_queue_take(&q));
	output_queue_put(&q, 0, "ab", 2);
	output_queue_put(&q, 0, "c", 1);
	output_queue_put(&q, 1, "x", 1);
	output_queue_put(&q, 0, "d", 1);
	static const struct {
		unsigned stream;
		const char *text;
	} want[] = {{0, "abc"}, {1, "x"}, {0, "d"}};
	for (size_t i = 0; i < 3; i++) {
		struct output_piece *p = output_queue_take(&q);
		cr_assert_not_null(p);
		cr_expect_eq(p->stream, want[i].stream);
		cr_expect_eq(p->length, strlen(want[i].text));
		cr_expect_eq(memcmp(p->bytes, want[i].text, p->length), 0);
		cr_expect_eq(p->dropped, 0);
		free(p);
	}
	cr_assert_null(output_queue_take(&q));
	cr_expect_eq(q.size, 0);
}

Test(output_queue, bytes_beyond_the_limit_are_counted_at_their_place)
{
	struct output_queue q = {0};
	static uint8_t bytes[100000];
	uint64_t put = 0, got = 0, dropped = 0;
	bool gap = false;
	for (int i = 0; i < 60; i++, put += sizeof bytes)
		output_queue_put(&q, 0, bytes, sizeof bytes);
	cr_expect_leq(q.size, OUTPUT_QUEUE_MAX);
	for (struct output_piece *p; (p = output_queue_take(&q)); free(p)) {
		cr_expect(!gap, "the gap is at the end");
		gap |= p->dropped > 0;
		got += p->length;
		dropped += p->dropped;
	}
	cr_expect_eq(got + dropped, put);
	cr_expect_gt(got, OUTPUT_QUEUE_MAX * 9 / 10);
	cr_expect(gap);
	output_queue_put(&q, 0, "again", 5);
	struct output_piece *p = output_queue_take(&q);
	cr_expect_eq(p->length, 5);
	free(p);
}

Test(output_queue, continues_after_a_gap_when_half_empty)
{
	struct output_queue q = {0};
	static uint8_t bytes[32768];
	for (int i = 0; i < 200; i++)
		output_queue_put(&q, 1, bytes, sizeof bytes);
	for (int i = 0; i < 80; i++) {
		struct output_piece *p = output_queue_take(&q);
		cr_assert_eq(p->dropped, 0);
		free(p);
		output_queue_put(&q, 1, "y", 1);
	}
	bool gap = false, after = false;
	for (struct output_piece *p; (p = output_queue_take(&q)); free(p)) {
		gap |= p->dropped > 0;
		after |= gap && p->length > 0 && p->bytes[0] == 'y';
	}
	cr_expect(gap && after);
}

Test(output_queue, loss_is_always_reported)
{
	struct random r = {3};
	struct output_queue q = {0};
	static uint8_t bytes[70000];
	uint64_t put[2] = {0}, told[2] = {0};
	for (int i = 0; i < 20000; i++) {
		unsigned stream = (unsigned)random_below(&r, 2);
		size_t n = random_below(&r, i % 10 ? 300 : sizeof bytes);
		if (random_below(&r, 3)) {
			output_queue_put(&q, stream, bytes, n);
			put[stream] += n;
		} else {
			struct output_piece *p = output_queue_take(&q);
			if (p)
				told[p->stream] += p->length + p->dropped;
			free(p);
		}
		cr_assert_leq(q.size, OUTPUT_QUEUE_MAX + 2 * sizeof(struct output_piece));
	}
	for (struct output_piece *p; (p = output_queue_take(&q)); free(p))
		told[p->stream] += p->length + p->dropped;
	cr_expect_eq(put[0], told[0]);
	cr_expect_eq(put[1], told[1]);
	cr_expect_eq(q.size, 0);
}
