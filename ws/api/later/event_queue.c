/* Events that wait for the transport. They are serialized when pulled: until then fields can be added. */
#include "ws/api/later/event_queue.h"

#include <stdlib.h>
#include <utlist.h>

bool event_queue_put(struct event_queue *q, json_t *event, size_t bytes)
{
	struct queued_event *e = event ? calloc(1, sizeof *e) : NULL;
	if (!e) {
		json_decref(event);
		return false;
	}
	e->event = event;
	e->bytes = bytes;
	DL_APPEND(q->list, e);
	return true;
}

json_t *event_queue_last(const struct event_queue *q)
{
	return q->list ? q->list->prev->event : NULL;
}

static void drop_event(struct event_queue *q, struct queued_event *e)
{
	DL_DELETE(q->list, e);
	json_decref(e->event);
	free(e);
}

char *event_queue_take(struct event_queue *q, uint64_t *lost_bytes)
{
	char *text = NULL;
	while (!text && q->list) {
		text = json_dumps(q->list->event, JSON_COMPACT);
		if (!text)
			*lost_bytes += q->list->bytes;
		drop_event(q, q->list);
	}
	return text;
}

void event_queue_clear(struct event_queue *q)
{
	while (q->list)
		drop_event(q, q->list);
}
