/* A list of streams with their unsent messages. A timer looks for ended commands and changes. */
#include "ws/mcp/notify.h"

#include "shell/id.h"
#include "ws/mcp/exchange.h"
#include "ws/mcp/detached.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/rpc.h"
#include "ws/mcp/subscriptions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Prefix of the scope of a stream of subscriptions/listen, which is random. */
#define LISTENER "listen:"

struct mcp_stream {
	struct mcp_stream *prev, *next;
	struct mcp *mcp;
	struct request *request; /* our reference */
	char scope[MCP_SESSION_ID_SIZE];
	uint64_t client;
	json_t *listen_id; /* id of the subscriptions/listen; owned; NULL: a session's stream */
	char owner[MCP_SESSION_ID_SIZE]; /* scope of that request, or "" */
	json_t *waiting;                 /* unsent messages as texts, the oldest first; owned */
	bool ending;
};

static char *on_next(void *user)
{
	struct mcp_stream *n = user;
	const char *text = json_string_value(json_array_get(n->waiting, 0));
	char *copy = text ? strdup(text) : NULL;
	json_array_remove(n->waiting, 0);
	return copy;
}

static void on_closed(void *user)
{
	struct mcp_stream *n = user;
	struct mcp *m = n->mcp;
	DL_DELETE(m->streams, n);
	m->streams_count--;
	if (n->listen_id)
		mcp_unsubscribe_all(m, n->scope);
	mcp_update_timer(m);
	json_decref(n->listen_id);
	json_decref(n->waiting);
	request_unref(n->request);
	free(n);
}

static void end_stream(struct mcp_stream *n)
{
	if (n->ending)
		return;
	n->ending = true;
	reply_stream_complete(n->request);
}

void mcp_notify_end(struct mcp *m, const char *scope)
{
	struct mcp_stream *n, *next;
	DL_FOREACH_SAFE (m->streams, n, next)
		if (strcmp(n->scope, scope) == 0)
			end_stream(n);
}

/* Returns NULL after answering r with an error. id: of its message. */
static struct mcp_stream *create_stream(
	struct mcp *m, struct request *r, json_t *id, const char *scope)
{
	struct mcp_stream *n = m->streams_count < MCP_NOTIFY_MAX ? calloc(1, sizeof *n) : NULL;
	if (!n) {
		mcp_refuse(r, 429, id, RPC_LIMIT_REACHED,
			"Too many streams of notifications are open", NULL);
		return NULL;
	}
	snprintf(n->scope, sizeof n->scope, "%s", scope);
	n->mcp = m;
	n->waiting = json_array();
	n->request = request_ref(r);
	return n;
}

static void begin_stream(struct mcp_stream *n)
{
	struct mcp *m = n->mcp;
	DL_APPEND(m->streams, n);
	m->streams_count++;
	mcp_update_timer(m);
	reply_header(n->request, "X-Accel-Buffering", "no");
	reply_stream(n->request,
		&(struct event_stream){.next = on_next, .closed = on_closed, .user = n});
}

void mcp_notify_open(struct mcp *m, struct request *r, const char *scope, uint64_t client)
{
	struct mcp_stream *n = create_stream(m, r, NULL, scope);
	if (!n)
		return;
	mcp_notify_end(m, n->scope);
	n->client = client;
	mcp_detached_restore(m);
	begin_stream(n);
}

/* Queue a message, taken. Returns false if the queue is full. */
static bool queue_message(struct mcp_stream *n, json_t *message)
{
	char *line = dump_json(message);
	bool room = line && json_array_size(n->waiting) < MCP_NOTIFY_WAITING &&
		json_array_append_new(n->waiting, json_string(line)) == 0;
	free(line);
	if (room)
		reply_stream_more(n->request);
	return room;
}

bool mcp_notify_send(struct mcp *m, const char *scope, json_t *message)
{
	struct mcp_stream *n;
	DL_FOREACH (m->streams, n)
		if (!n->ending && strcmp(n->scope, scope) == 0)
			return queue_message(n, message);
	json_decref(message);
	return false;
}

/* The _meta by which a client identifies the subscriptions/listen. */
static json_t *meta_of(const struct mcp_stream *n)
{
	return json_pack("{s:O}", MCP_META "subscriptionId", n->listen_id);
}

void mcp_notify_listen(
	struct mcp *m, struct request *r, const struct rpc_message *message, const char *scope)
{
	const json_t *wanted = json_object_get(message->params, "notifications");
	char own[sizeof LISTENER + 2 * MCP_SESSION_RANDOM] = LISTENER;
	if (!json_is_object(wanted)) {
		mcp_refuse(r, 400, message->id, RPC_INVALID_PARAMS,
			"notifications must be an object", NULL);
		return;
	}
	if (id_hex(own + strlen(own), 2 * MCP_SESSION_RANDOM + 1) < 0) {
		mcp_refuse(r, 500, message->id, RPC_INTERNAL_ERROR,
			"No random number could be generated", NULL);
		return;
	}
	struct mcp_stream *n = create_stream(m, r, message->id, own);
	if (!n)
		return;
	const json_t *uris = json_object_get(wanted, "resourceSubscriptions");
	json_t *heard = json_object();
	if (json_is_array(uris))
		json_object_set_new(heard, "resourceSubscriptions",
			mcp_subscribe_all(m, own, &r->principal, uris));
	n->listen_id = json_incref(message->id);
	snprintf(n->owner, sizeof n->owner, "%s", scope);
	queue_message(n,
		rpc_notification("notifications/subscriptions/acknowledged",
			json_pack("{s:o, s:o}", "_meta", meta_of(n), "notifications", heard)));
	begin_stream(n);
}

void mcp_notify_cancel(struct mcp *m, const char *scope, const json_t *id)
{
	struct mcp_stream *n, *next;
	DL_FOREACH_SAFE (m->streams, n, next)
		if (n->listen_id && scope[0] && strcmp(n->owner, scope) == 0 &&
			json_equal(n->listen_id, id))
			end_stream(n);
}

void mcp_notify_stop(struct mcp *m)
{
	struct mcp_stream *n, *next;
	DL_FOREACH_SAFE (m->streams, n, next) {
		if (!n->listen_id || n->ending)
			continue;
		queue_message(n,
			rpc_result(n->listen_id,
				json_pack("{s:s, s:o}", "resultType", "complete", "_meta",
					meta_of(n))));
		end_stream(n);
	}
}

/* Queue changes, but only a few, because resources may change again before these are read. */
static void queue_changes(struct mcp *m, struct mcp_stream *n)
{
	while (json_array_size(n->waiting) < MCP_NOTIFY_CHANGES) {
		json_t *change = mcp_subscriptions_next_change(m, n->scope);
		if (change && n->listen_id)
			json_object_set_new(json_object_get(change, "params"), "_meta", meta_of(n));
		if (!change || !queue_message(n, change))
			return;
	}
}

void mcp_notify_tick(struct mcp *m)
{
	struct mcp_stream *n, *next;
	DL_FOREACH_SAFE (m->streams, n, next) {
		bool room = !n->ending && json_array_size(n->waiting) < MCP_NOTIFY_WAITING;
		json_t *text = room && !n->listen_id ? mcp_detached_next_ended(m, n->client) : NULL;
		if (text)
			queue_message(n,
				rpc_notification("notifications/message",
					json_pack("{s:s, s:s, s:o}", "level", "info", "logger",
						"ringside", "data", text)));
		if (room)
			queue_changes(m, n);
	}
}
