#include "ws/fleet/event_reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char stream[] =
	":\n\ndata: {\"n\":1}\n\n:\n\n\ndata: {}\n\ndata: {\"text\":\"a\\nb\"}\n\n:\n\n";
static const char *const events[] = {"{\"n\":1}", "{\"text\":\"a\\nb\"}"};

static void expect_event(struct event_reader *e, const char *text)
{
	char *event = event_reader_next(e);
	cr_assert_not_null(event);
	cr_expect_str_eq(event, text);
	free(event);
}

/* Whatever the pieces are. An empty line more makes "\ndata: {}" no event of ours, which is skipped. */
Test(event_reader, pieces_of_any_size)
{
	for (size_t size = 1; size < sizeof stream; size++) {
		struct event_reader e = {0};
		char joined[256] = "";
		for (size_t at = 0; at < sizeof stream - 1; at += size) {
			size_t left = sizeof stream - 1 - at;
			cr_assert_eq(
				event_reader_add(&e, stream + at, left < size ? left : size), 0);
			for (char *event; (event = event_reader_next(&e)); free(event))
				snprintf(joined + strlen(joined), sizeof joined - strlen(joined),
					"%s;", event);
		}
		cr_expect_str_eq(joined, "{\"n\":1};{\"text\":\"a\\nb\"};", "pieces of %zu", size);
		cr_expect_eq(event_reader_length(&e), 0);
		event_reader_finish(&e);
	}
}

Test(event_reader, tells_whether_there_is_one)
{
	struct event_reader e = {0};
	cr_expect_null(event_reader_next(&e));
	cr_expect_not(event_reader_has_next(&e));
	event_reader_add(&e, "data: {\"n\":1}\n", 14);
	cr_expect_not(event_reader_has_next(&e));
	event_reader_add(&e, "\n", 1);
	cr_expect(event_reader_has_next(&e));
	expect_event(&e, events[0]);
	event_reader_finish(&e);
}

Test(event_reader, long_events_have_a_limit)
{
	struct event_reader e = {0};
	size_t piece = (size_t)1 << 20;
	char *bytes = malloc(piece);
	memset(bytes, 'x', piece);
	memcpy(bytes, "data: ", 6);
	int rc = 0;
	size_t added = 0;
	for (; rc == 0 && added <= EVENT_READER_MAX; added += piece)
		rc = event_reader_add(&e, bytes, piece);
	cr_expect_eq(rc, -E2BIG);
	cr_expect_eq(event_reader_length(&e), EVENT_READER_MAX);
	event_reader_finish(&e);
	free(bytes);
}
