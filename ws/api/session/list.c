/* The list of sessions, once or as a stream of events: each event is the whole list. */
#include "ws/api/api.h"
#include "ws/api/json/session.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <stdlib.h>
#include <utlist.h>

static json_t *list_json(const struct api *a, const struct principal *p, bool ids)
{
	json_t *list = json_array();
	for (struct session *s = NULL; (s = session_next(a->sessions, s));)
		if (auth_may_see(p, session_id(s), session_epoch(s)))
			json_array_append_new(
				list, ids ? json_string(session_id(s)) : session_json(s));
	return list;
}

static void list_sessions(struct request *r)
{
	struct api *a = api_of(r);
	reply_success(r,
		json_pack("{s:o, s:o}", "data", list_json(a, &r->principal, true), "sessions",
			list_json(a, &r->principal, false)));
}

static char *next_list(void *user)
{
	struct list_stream *l = user;
	if (l->sent == l->api->version_of_list)
		return NULL;
	l->sent = l->api->version_of_list;
	json_t *event = json_pack("{s:s, s:o}", "type", "sessions", "sessions",
		list_json(l->api, &l->request->principal, false));
	char *text = event ? json_dumps(event, JSON_COMPACT) : NULL;
	json_decref(event);
	return text;
}

static void on_stream_closed(void *user)
{
	struct list_stream *l = user;
	struct request *r = l->request;
	DL_DELETE(l->api->streams, l);
	free(l);
	request_unref(r);
}

static void follow_sessions(struct request *r)
{
	struct api *a = api_of(r);
	struct list_stream *l = calloc(1, sizeof *l);
	if (!l) {
		refuse_memory(r);
		return;
	}
	l->api = a;
	l->request = request_ref(r);
	DL_APPEND(a->streams, l);
	reply_stream(r,
		&(struct event_stream){.next = next_list, .closed = on_stream_closed, .user = l});
}

const struct route_row api_session_list_rows[] = {
	{METHOD_GET, "/api/session/list", WHO_VIEWER, .plain = list_sessions},
	{METHOD_GET, "/api/session/events", WHO_VIEWER, .plain = follow_sessions},
	{.path = NULL},
};
