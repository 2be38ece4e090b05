#include "ws/api/later/event_queue.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect_text(struct event_queue *q, const char *wanted)
{
	uint64_t lost = 0;
	char *text = event_queue_take(q, &lost);
	cr_assert_str_eq(text ? text : "none", wanted);
	cr_assert_eq(lost, 0);
	free(text);
}

Test(event_queue, events_come_in_order)
{
	struct event_queue q = {NULL};
	cr_assert_null(event_queue_last(&q));
	cr_assert(event_queue_put(&q, json_pack("{s:i}", "n", 1), 0));
	cr_assert(event_queue_put(&q, json_pack("{s:i}", "n", 2), 0));
	expect_text(&q, "{\"n\":1}");
	expect_text(&q, "{\"n\":2}");
	expect_text(&q, "none");
}

Test(event_queue, last_event_can_be_extended)
{
	struct event_queue q = {NULL};
	event_queue_put(&q, json_pack("{s:i}", "n", 1), 0);
	event_queue_put(&q, json_object(), 0);
	json_object_set_new(event_queue_last(&q), "cursor", json_string("7.0.0"));
	expect_text(&q, "{\"n\":1}");
	expect_text(&q, "{\"cursor\":\"7.0.0\"}");
}

Test(event_queue, null_is_ignored)
{
	struct event_queue q = {NULL};
	cr_assert_not(event_queue_put(&q, NULL, 5));
	expect_text(&q, "none");
}

Test(event_queue, unwritable_events_count_as_lost)
{
	struct event_queue q = {NULL};
	uint64_t lost = 1;
	json_t *loop = json_object();
	json_object_set_new(loop, "self", json_array());
	json_array_append(json_object_get(loop, "self"), loop); /* JSON cannot be circular */
	event_queue_put(&q, json_incref(loop), 10);
	event_queue_put(&q, json_pack("{s:i}", "n", 2), 20);
	char *text = event_queue_take(&q, &lost);
	cr_assert_str_eq(text, "{\"n\":2}");
	cr_assert_eq(lost, 11);
	json_array_clear(json_object_get(loop, "self"));
	json_decref(loop);
	free(text);
}
