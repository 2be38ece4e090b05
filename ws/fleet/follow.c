#include "ws/fleet/follow.h"

#include "shell/hash.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct follower {
	struct follower *prev, *next;
	struct follows *all;
	struct request *request; /* our reference */
	struct gather *gather;   /* NULL: none is under way */
	char *event;             /* to be sent; owned; NULL: none */
	bool due;                /* the list has changed since the gathering began */
};

static void gather(struct follower *f);

static void on_gathered(void *user, int status, json_t *list)
{
	struct follower *f = user;
	json_t *sessions = status == 200 ? json_object_get(list, "sessions") : NULL;
	json_t *event = sessions ? json_pack("{s:s, s:O}", "type", "sessions", "sessions", sessions)
				 : NULL;
	json_decref(list);
	free(f->event); /* a newer one replaces it */
	f->event = event ? dump_json(event) : NULL;
	reply_stream_more(f->request);
	if (f->due)
		gather(f);
}

static void gather(struct follower *f)
{
	f->due = f->gather != NULL;
	if (!f->due)
		gather_begin(f->all->gathers, f->request, on_gathered, f, &f->gather);
}

static char *next_event(void *user)
{
	struct follower *f = user;
	char *event = f->event;
	f->event = NULL;
	return event;
}

static void on_closed(void *user)
{
	struct follower *f = user;
	struct follows *all = f->all;
	struct request *r = f->request;
	gather_cancel(f->gather);
	DL_DELETE(all->list, f);
	if (!all->list)
		uv_timer_stop(&all->timer);
	free(f->event);
	free(f);
	request_unref(r);
}

void follows_changed(struct follows *all)
{
	struct follower *f, *next;
	DL_FOREACH_SAFE (all->list, f, next)
		gather(f);
}

static void on_nodes(void *user, int error, const struct node *nodes, size_t count)
{
	struct follows *all = user;
	uint64_t seen = HASH_START;
	for (size_t i = 0; i < count; i++) {
		seen = hash_text(seen, nodes[i].name);
		seen = seen * 31 + nodes[i].report.changes * 2 + nodes[i].lives;
	}
	if (error < 0 || seen == all->seen)
		return;
	all->seen = seen;
	follows_changed(all);
}

static void on_timer(uv_timer_t *timer)
{
	struct follows *all = timer->data;
	struct nodes *nodes = member_nodes(all->gathers->routings->member);
	if (nodes)
		nodes_list(nodes, on_nodes, all);
}

bool follow_is_events(const struct request *r)
{
	return strcmp(r->match.row->path, "/api/session/events") == 0;
}

void follow_begin(struct follows *all, struct request *r)
{
	struct follower *f = request_alloc(r, sizeof *f);
	if (!f)
		return;
	f->all = all;
	f->request = request_ref(r);
	if (!all->list)
		uv_timer_start(&all->timer, on_timer, FOLLOW_MS, FOLLOW_MS);
	DL_APPEND(all->list, f);
	/* It may be closed at once. */
	reply_stream(r, &(struct event_stream){.next = next_event, .closed = on_closed, .user = f});
	if (r->stream.next)
		gather(f);
}

void follows_open(struct follows *all, struct gathers *gathers)
{
	*all = (struct follows){.gathers = gathers};
	uv_timer_init(gathers->loop, &all->timer);
	all->timer.data = all;
	uv_unref((uv_handle_t *)&all->timer);
}

void follows_close(struct follows *all)
{
	uv_close((uv_handle_t *)&all->timer, NULL);
}
