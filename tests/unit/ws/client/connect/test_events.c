/* Server-sent events, cut anywhere. */
#include "ws/client/connect/events.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static char seen[1024];

static void on_event(void *user, const char *data, size_t length)
{
	(void)user;
	cr_assert_eq(strlen(data), length);
	snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "[%s]", data);
}

static const char stream[] =
	"data: {\"a\":1}\n\n: quiet\n\ndata:one\ndata: two\r\n\r\nevent: x\nid: 1\ndata: \n\n"
	"retry: 5\n\n\n\ndata: cut";
static const char events[] = "[{\"a\":1}][one\ntwo][]";

Test(events_feed, result_is_the_same_at_every_cut)
{
	for (size_t cut = 0; cut <= strlen(stream); cut++) {
		struct events e = {0};
		seen[0] = '\0';
		cr_assert(events_feed(&e, stream, cut, on_event, NULL));
		cr_assert(events_feed(&e, stream + cut, strlen(stream) - cut, on_event, NULL));
		cr_assert_str_eq(seen, events, "cut at %zu", cut);
		events_finish(&e);
	}
}

Test(events_feed, endless_event_is_dropped)
{
	static char piece[1 << 20];
	struct events e = {0};
	bool good = true;
	memset(piece, 'x', sizeof piece);
	for (size_t i = 0; i < EVENTS_LINE_MAX / sizeof piece + 1 && good; i++)
		good = events_feed(&e, piece, sizeof piece, on_event, NULL);
	cr_assert_not(good);
	cr_assert_not(events_feed(&e, "\n\n", 2, on_event, NULL));
	events_finish(&e);
}
