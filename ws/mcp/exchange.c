/*
 * When each request of an exchange has a response, the exchange is over. Whether the answer is JSON
 * or an event stream is decided when something must be sent. The unsent messages are bounded: a new
 * progress notification of a call replaces the unsent one.
 */
#include "ws/mcp/exchange_internal.h"

#include "shell/memory_stream.h"
#include "ws/dispatcher.h"
#include "ws/mcp/call.h"
#include "ws/mcp/notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Answers that need no exchange */

void mcp_reply_nothing(struct request *r, int status)
{
	reply_bytes(r, status, NULL, "", 0, NULL);
}

void mcp_refuse_quota(struct request *r, json_t *id, enum quota_kind kind)
{
	reply_header(r, "Retry-After", "1");
	mcp_refuse(r, 429, id, RPC_LIMIT_REACHED,
		"The quota of this link, or of all links together, is used up",
		json_pack("{s:s, s:s}", "code", "QUOTA_REACHED", "kind", quota_name(kind)));
}

void mcp_refuse(struct request *r, int status, json_t *id, enum rpc_code code, const char *message,
	json_t *data)
{
	reply_json(r, status, rpc_error(id, code, message, data));
}

/* The end of exchanges */

static void item_finish(struct mcp_item *i, bool wanted)
{
	if (i->call)
		mcp_call_cancel(i->call, wanted);
	json_decref(i->id);
	json_decref(i->token);
	free(i->progress);
	free(i->asked);
	free(i->response);
}

/* wanted: the caller cancelled the calls in progress. */
static void exchange_destroy(struct mcp_exchange *x, bool wanted)
{
	struct mcp *m = x->mcp;
	struct request *r = x->request;
	DL_DELETE(m->exchanges, x);
	m->exchanges_count--;
	mcp_update_timer(m);
	for (size_t i = 0; i < x->count; i++)
		item_finish(&x->items[i], wanted);
	quota_release(&x->place);
	free(x);
	request_unref(r);
}

/* The client's connection was closed. */
static void on_gone(void *user)
{
	struct mcp_exchange *x = user;
	/* A connection closed because access ended does not cancel calls. */
	exchange_destroy(x, x->modern && !x->mcp->stopping && !x->request->cut);
}

/* Streams */

static char *take_text(char **text)
{
	char *taken = *text;
	*text = NULL;
	return taken;
}

static char *on_next(void *user)
{
	struct mcp_exchange *x = user;
	for (size_t i = 0; i < x->count; i++) {
		struct mcp_item *item = &x->items[i];
		if (item->progress)
			return take_text(&item->progress);
		if (item->asked)
			return take_text(&item->asked);
		if (item->response)
			return take_text(&item->response);
	}
	return NULL;
}

/* An error for every open request: access has ended. */
static char *on_farewell(void *user)
{
	const struct mcp_exchange *x = user;
	json_t *all = json_array();
	for (size_t i = 0; i < x->count; i++)
		if (!x->items[i].over)
			json_array_append_new(all,
				rpc_error(x->items[i].id, RPC_ACCESS_ENDED, "Access has ended",
					json_pack("{s:s}", "code", "ACCESS_ENDED")));
	json_t *whole = x->batch ? all : json_array_get(all, 0);
	char *text = whole ? json_dumps(whole, JSON_COMPACT) : NULL;
	json_decref(all);
	return text;
}

/* Answer with a stream. Returns false if x was freed because access has ended. */
static bool begin_stream(struct mcp_exchange *x)
{
	struct request *r = x->request;
	if (x->streaming)
		return true;
	x->streaming = true;
	r->gone = NULL;
	request_ref(r);
	reply_header(r, "X-Accel-Buffering", "no");
	reply_stream(r,
		&(struct event_stream){.next = on_next,
			.closed = on_gone,
			.farewell = on_farewell,
			.user = x,
			.placed = true});
	bool good = !r->cut;
	request_unref(r);
	return good;
}

static void stream_more(struct mcp_exchange *x)
{
	struct request *r = x->request;
	if (x->open == 0)
		reply_stream_complete(r);
	else if (r->transport)
		r->transport->more(r->transport_user);
}

/* JSON */

/* The responses as one body, to be freed; "": all requests were cancelled. */
static char *gather(const struct mcp_exchange *x)
{
	char *text = NULL;
	size_t length = 0, put = 0;
	FILE *file = memory_stream(&text, &length);
	if (!file)
		return NULL;
	for (size_t i = 0; i < x->count; i++) {
		const char *response = x->items[i].response;
		if (response)
			fprintf(file, "%s%s", x->batch ? put++ ? "," : "[" : "", response);
	}
	if (put > 0)
		fputc(']', file);
	fclose(file);
	return text;
}

static void answer(struct mcp_exchange *x)
{
	struct request *r = request_ref(x->request);
	char *text = x->count == 1 && !x->batch ? take_text(&x->items[0].response) : gather(x);
	int status = x->status;
	r->gone = NULL;
	exchange_destroy(x, false);
	if (text && *text) {
		reply_bytes(r, status, "application/json", text, strlen(text), text);
	} else {
		free(text);
		mcp_reply_nothing(r, 202);
	}
	request_unref(r);
}

void mcp_exchange_advance(struct mcp_exchange *x)
{
	if (x->busy)
		return;
	bool json = !x->needs_stream && (x->accepts_json || x->status >= 400);
	if (!x->streaming && x->open == 0 && json)
		answer(x);
	else if (x->streaming)
		stream_more(x);
	else if (x->open == 0 && begin_stream(x))
		stream_more(x);
}

/* End an item with its response, taken; NULL: it was cancelled. */
static void item_end(struct mcp_item *i, json_t *response)
{
	if (i->over)
		json_decref(response);
	if (i->over)
		return;
	i->over = true;
	i->exchange->open--;
	free(i->progress);
	i->progress = NULL;
	i->response = dump_json(response);
}

/* Responses */

json_t *mcp_server_info(const struct mcp *m)
{
	return json_pack(
		"{s:s, s:s, s:s}", "name", "ringside", "title", "Ringside", "version", m->version);
}

/* Add what every result has in the revision without sessions. result: taken. */
static json_t *complete(const struct mcp_exchange *x, json_t *result)
{
	if (!x->modern || !result)
		return result;
	if (!json_object_get(result, "resultType"))
		json_object_set_new(result, "resultType", json_string("complete"));
	json_object_set_new(result, "_meta",
		json_pack("{s:o}", MCP_META "serverInfo", mcp_server_info(x->mcp)));
	return result;
}

void mcp_item_result(struct mcp_item *i, json_t *result)
{
	struct mcp_exchange *x = i->exchange;
	if (result)
		item_end(i, rpc_result(i->id, complete(x, result)));
	else
		item_end(i, rpc_error(i->id, RPC_INTERNAL_ERROR, "Out of memory", NULL));
}

void mcp_item_error(
	struct mcp_item *i, int status, enum rpc_code code, const char *message, json_t *data)
{
	if (i->exchange->modern)
		i->exchange->status = status;
	item_end(i, rpc_error(i->id, code, message, data));
}

/* Progress */

static void make_progress(struct mcp_item *i, uint64_t now)
{
	char text[MCP_PROGRESS_SIZE];
	struct mcp_exchange *x = i->exchange;
	mcp_call_progress(i->call, text);
	i->progress_ms = now;
	json_t *notification = rpc_notification("notifications/progress",
		json_pack("{s:O, s:f, s:s}", "progressToken", i->token, "progress",
			(double)(now - x->began_ms) / 1000, "message", text));
	free(i->progress);
	i->progress = dump_json(notification);
}

static void exchange_tick(struct mcp_exchange *x, uint64_t now)
{
	bool made = false;
	if (!x->accepts_stream || x->open == 0)
		return;
	for (size_t n = 0; n < x->count; n++) {
		struct mcp_item *i = &x->items[n];
		if (!i->call || !i->token || now - i->progress_ms < MCP_PROGRESS_MS)
			continue;
		make_progress(i, now);
		made = true;
	}
	if (!made && now - x->began_ms < MCP_STREAM_AFTER_MS)
		return;
	if (begin_stream(x) && made)
		stream_more(x);
}

void mcp_exchanges_tick(struct mcp *m)
{
	struct mcp_exchange *x, *next;
	DL_FOREACH_SAFE (m->exchanges, x, next)
		exchange_tick(x, uv_now(m->loop));
}

/* Exchanges */

static struct mcp_exchange *exchange_create(
	struct mcp *m, struct request *r, const struct rpc_input *input, bool modern)
{
	size_t count = 0;
	struct rpc_message message;
	for (size_t i = 0; i < input->count; i++) {
		rpc_message(input, i, &message);
		count += message.kind == RPC_REQUEST || message.kind == RPC_INVALID;
	}
	struct mcp_exchange *x = calloc(1, sizeof *x + count * sizeof x->items[0]);
	if (!x)
		return NULL;
	x->mcp = m;
	x->request = request_ref(r);
	x->modern = modern;
	x->batch = input->batch;
	x->status = 200;
	x->began_ms = uv_now(m->loop);
	x->count = x->open = count;
	for (size_t i = 0; i < count; i++) {
		x->items[i].exchange = x;
		x->items[i].progress_ms = x->began_ms;
	}
	DL_APPEND(m->exchanges, x);
	m->exchanges_count++;
	mcp_update_timer(m);
	r->gone = on_gone;
	r->gone_user = x;
	return x;
}

/* notifications/cancelled: cancel the call with this id of the same client. */
static void cancel(struct mcp *m, const char *scope, const json_t *id)
{
	struct mcp_exchange *x, *next;
	DL_FOREACH_SAFE (m->exchanges, x, next) {
		if (!scope[0] || strcmp(x->scope, scope) != 0)
			continue;
		for (size_t n = 0; n < x->count; n++) {
			struct mcp_item *i = &x->items[n];
			if (i->over || !i->call || !json_equal(i->id, id))
				continue;
			mcp_call_cancel(i->call, true);
			item_end(i, NULL);
			mcp_exchange_advance(x);
			return;
		}
	}
}

void mcp_handle_message(struct mcp *m, const struct rpc_message *message, const char *scope)
{
	if (message->kind == RPC_RESPONSE)
		mcp_elicit_answered(m, message, scope);
	else if (message->kind == RPC_NOTIFICATION &&
		strcmp(message->method, "notifications/cancelled") == 0) {
		cancel(m, scope, json_object_get(message->params, "requestId"));
		mcp_notify_cancel(m, scope, json_object_get(message->params, "requestId"));
	}
}

/* Reserve a place for an exchange. Returns false if there is none; then r is answered. */
static bool reserve_place(struct mcp *m, struct request *r, json_t *id, struct quota_place *place)
{
	struct access *a = m->dispatcher->access;
	if (m->exchanges_count >= MCP_EXCHANGES_MAX)
		mcp_refuse(r, 429, id, RPC_LIMIT_REACHED, "Too many requests are under way", NULL);
	else if (a && !quota_acquire(&a->quotas, QUOTA_MCP_CALLS, 1, &r->principal, place))
		mcp_refuse_quota(r, id, QUOTA_MCP_CALLS);
	else
		return true;
	return false;
}

void mcp_exchange_run(struct mcp *m, struct request *r, const struct rpc_input *input, bool modern,
	const struct mcp_sender *sender)
{
	struct rpc_message message;
	struct quota_place place = {0};
	rpc_message(input, 0, &message);
	if (!reserve_place(m, r, message.id, &place))
		return;
	struct mcp_exchange *x = exchange_create(m, r, input, modern);
	if (!x) {
		quota_release(&place);
		mcp_refuse(r, 500, NULL, RPC_INTERNAL_ERROR, "Out of memory", NULL);
		return;
	}
	x->place = place;
	quota_release(&r->place); /* x->place replaces it; requests of tools have their own */
	snprintf(x->scope, sizeof x->scope, "%s", sender->scope);
	x->accepts_json = sender->accepts_json;
	x->accepts_stream = sender->accepts_stream;
	x->busy = true;
	for (size_t i = 0, n = 0; i < input->count; i++) {
		rpc_message(input, i, &message);
		mcp_handle_message(m, &message, sender->scope);
		if (message.kind != RPC_REQUEST && message.kind != RPC_INVALID)
			continue;
		struct mcp_item *item = &x->items[n++];
		item->id = json_incref(message.id);
		if (message.kind == RPC_INVALID)
			mcp_item_error(item, 400, RPC_INVALID_REQUEST, message.problem, NULL);
		else
			mcp_method_begin(item, &message, sender);
	}
	x->busy = false;
	mcp_exchange_advance(x);
}
