/*
 * The list of sessions, once or as a stream of events. An event is the whole list or, with
 * ?activity, the activities that have changed.
 */
#include "ws/api/api.h"
#include "ws/json/state.h"
#include "ws/json/session.h"
#include "ws/api/read/query.h"
#include "ws/api/rows.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define LIST_LIMIT_MAX 10000u

static json_t *item_json(const struct api *a, const struct session *s)
{
	json_t *item = session_json(s);
	if (item)
		json_object_set_new(
			item, "activity", activity_json(activities_find(a->activities, s)));
	return item;
}

static json_t *list_json(const struct api *a, const struct principal *p, bool ids)
{
	json_t *list = json_array();
	for (struct session *s = NULL; (s = session_next(a->sessions, s));)
		if (auth_may_see(p, session_id(s), session_epoch(s)))
			json_array_append_new(
				list, ids ? json_string(session_id(s)) : item_json(a, s));
	return list;
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(
		session_id(*(struct session *const *)a), session_id(*(struct session *const *)b));
}

/* The sessions that a principal sees with ids after `after`, in the order of their ids. *ret_list: owned; NULL: no memory. */
static size_t sort_sessions(const struct api *a, const struct principal *p, const char *after,
	struct session ***ret_list)
{
	struct session **list = calloc(sessions_count(a->sessions) + 1, sizeof(struct session *));
	size_t count = 0;
	for (struct session *s = NULL; list && (s = session_next(a->sessions, s));)
		if (auth_may_see(p, session_id(s), session_epoch(s)) &&
			strcmp(session_id(s), after) > 0)
			list[count++] = s;
	if (list)
		qsort((void *)list, count, sizeof *list, compare_ids);
	*ret_list = list;
	return count;
}

/* Answer with a page: of a fleet's list, see ws/fleet/gather.h, or of this server's, whose cursors have no node in front. */
static void list_page(struct request *r, uint64_t limit)
{
	struct api *a = api_of(r);
	const char *cursor = request_param(r, "after"), *slash = cursor ? strchr(cursor, '/') : NULL;
	struct session **list;
	size_t count = sort_sessions(a, &r->principal, slash ? slash + 1 : "", &list);
	json_t *ids = json_array(), *sessions = json_array();
	for (size_t i = 0; i < count && i < limit; i++) {
		json_array_append_new(ids, json_string(session_id(list[i])));
		json_array_append_new(sessions, item_json(a, list[i]));
	}
	json_t *body = json_pack("{s:o, s:o}", "data", ids, "sessions", sessions);
	if (body && count > limit)
		json_object_set_new(body, "next", json_sprintf("/%s", session_id(list[limit - 1])));
	free((void *)list);
	reply_success(r, body);
}

static void list_sessions(struct request *r)
{
	struct api *a = api_of(r);
	uint64_t limit = 0;
	if (!query_number(r, "limit", LIST_LIMIT_MAX, &limit))
		return;
	if (limit > 0)
		list_page(r, limit);
	else
		reply_success(r,
			json_pack("{s:o, s:o}", "data", list_json(a, &r->principal, true),
				"sessions", list_json(a, &r->principal, false)));
}

/* Activities that have changed since the last event and are visible to the client; NULL: none. */
static json_t *changes_json(const struct list_stream *l)
{
	const struct api *a = l->api;
	json_t *list = json_array();
	for (struct session *s = NULL; (s = session_next(a->sessions, s));) {
		const struct activity *it = activities_find(a->activities, s);
		if (it && it->looked && it->version > l->told &&
			auth_may_see(&l->request->principal, session_id(s), session_epoch(s)))
			json_array_append_new(list,
				json_pack("{s:s, s:o}", "id", session_id(s), "activity",
					activity_json(it)));
	}
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *next_event(struct list_stream *l)
{
	uint64_t version = activities_version(l->api->activities);
	if (l->sent != l->api->list_version) {
		l->sent = l->api->list_version;
		l->told = version;
		return json_pack("{s:s, s:o}", "type", "sessions", "sessions",
			list_json(l->api, &l->request->principal, false));
	}
	if (l->draining != l->api->sessions->draining) {
		l->draining = l->api->sessions->draining;
		return json_pack("{s:s, s:b}", "type", "drain", "draining", (int)l->draining);
	}
	json_t *changes = l->activity && l->told != version ? changes_json(l) : NULL;
	l->told = version;
	return changes ? json_pack("{s:s, s:o}", "type", "activity", "activities", changes) : NULL;
}

static char *next_list(void *user)
{
	return dump_json(next_event(user));
}

void api_notify_drain(struct api *a)
{
	struct list_stream *l, *next;
	DL_FOREACH_SAFE (a->streams, l, next)
		reply_stream_more(l->request);
}

void api_notify_activity(struct api *a)
{
	struct list_stream *l, *next;
	DL_FOREACH_SAFE (a->streams, l, next)
		if (l->activity)
			reply_stream_more(l->request);
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
	bool activity = false;
	if (!query_flag(r, "activity", &activity))
		return;
	struct list_stream *l = request_alloc(r, sizeof *l);
	if (!l)
		return;
	l->api = a;
	l->activity = activity;
	l->request = request_ref(r);
	DL_APPEND(a->streams, l);
	reply_stream(r,
		&(struct event_stream){.next = next_list, .closed = on_stream_closed, .user = l});
}

const struct route_row api_session_list_rows[] = {
	{METHOD_GET, "/api/session/list", ROUTE_VIEWER, .plain = list_sessions, .place = PLACE_ALL},
	{METHOD_GET, "/api/session/events", ROUTE_VIEWER, .plain = follow_sessions,
		.place = PLACE_ALL},
	{.path = NULL},
};
