/*
 * Each call of an exchange is answered once; then the exchange is over. Until something has to be sent it is
 * open whether the answer will be JSON or a stream of events. What waits to be sent is bounded by the number
 * of calls: a newer progress replaces one that has not been sent.
 */
#include "ws/mcp/exchange.h"

#include "ws/dispatcher.h"
#include "ws/mcp/call.h"
#include "ws/mcp/map.h"
#include "ws/mcp/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define LIST_TTL_MS 300000
#define DISCOVER_TTL_MS 3600000

const char mcp_instructions[] =
	"Terminals that people and agents share. exec runs a command in a session's shell and gives its exit "
	"code and output; what still runs is read with exec_read. Drive programs (editors, REPLs, pagers, "
	"prompts) with send_keys and snapshot. Every answer says what the terminal does.";

/* A request of an exchange. */
struct item {
	struct mcp_exchange *exchange;
	json_t *id;            /* owned */
	struct mcp_call *call; /* NULL: none is under way */
	json_t *token;         /* of progress; owned; NULL: none is wanted */
	uint64_t progress_ms;  /* of the last one */
	char *progress;        /* waits to be sent; owned */
	char *response;        /* likewise */
	bool starting, over;   /* over: its response was made, or it was cancelled */
};

struct mcp_exchange {
	struct mcp_exchange *prev, *next;
	struct mcp *mcp;
	struct request *request; /* our reference */
	struct quota_place place;
	bool modern, batch, streaming, takes_json, takes_stream, busy;
	char scope[MCP_SESSION_ID_SIZE]; /* of ids for cancelling; "" = none */
	int status;                      /* of an answer in JSON */
	uint64_t began_ms;
	size_t count, open; /* items; those that are not over */
	struct item items[];
};

/* Answers that need no exchange */

void mcp_reply_nothing(struct request *r, int status)
{
	reply_bytes(r, status, NULL, "", 0, NULL);
}

void mcp_refuse_quota(struct request *r, json_t *id, enum quota_kind kind)
{
	reply_header(r, "Retry-After", "1");
	mcp_refuse(r, 429, id, RPC_LIMIT_REACHED,
		"This link, or all links together, have as many as they may",
		json_pack("{s:s, s:s}", "code", "QUOTA_REACHED", "kind", quota_name(kind)));
}

void mcp_refuse(struct request *r, int status, json_t *id, enum rpc_code code, const char *message,
	json_t *data)
{
	reply_json(r, status, rpc_error(id, code, message, data));
}

/* The end of exchanges */

static void item_finish(struct item *i, bool wanted)
{
	if (i->call)
		mcp_call_cancel(i->call, wanted);
	json_decref(i->id);
	json_decref(i->token);
	free(i->progress);
	free(i->response);
}

/* wanted: whatever is under way was cancelled. */
static void exchange_destroy(struct mcp_exchange *x, bool wanted)
{
	struct mcp *m = x->mcp;
	struct request *r = x->request;
	DL_DELETE(m->exchanges, x);
	m->exchanges_count--;
	if (!m->exchanges)
		uv_timer_stop(&m->tick);
	for (size_t i = 0; i < x->count; i++)
		item_finish(&x->items[i], wanted);
	quota_give(&x->place);
	free(x);
	request_unref(r);
}

/* The client's connection has ended. */
static void on_gone(void *user)
{
	struct mcp_exchange *x = user;
	/* Who has no access any more has cancelled nothing. */
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
		struct item *item = &x->items[i];
		if (item->progress)
			return take_text(&item->progress);
		if (item->response)
			return take_text(&item->response);
	}
	return NULL;
}

/* Of every request that is open, that access has ended. */
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

/* Returns whether x is there still: who asked may have no access any more. */
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

/* The responses as one body; "" when everything was cancelled. To be freed. */
static char *gather(const struct mcp_exchange *x)
{
	char *text = NULL;
	size_t length = 0, put = 0;
	FILE *file = open_memstream(&text, &length);
	if (!file)
		return NULL;
	for (size_t i = 0; i < x->count; i++) {
		const char *response = x->items[i].response;
		if (response)
			fprintf(file, "%s%s", x->batch ? put++ ? "," : "[" : "", response);
	}
	if (put > 0)
		fputc(']', file);
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
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

/* Something is over: answer, or send it. Nobody looks at x afterwards. */
static void exchange_advance(struct mcp_exchange *x)
{
	if (x->busy)
		return;
	if (!x->streaming && x->open == 0 && (x->takes_json || x->status >= 400))
		answer(x);
	else if (x->streaming)
		stream_more(x);
	else if (x->open == 0 && begin_stream(x))
		stream_more(x);
}

/* A response is there (taken; NULL: none will come). */
static void item_end(struct item *i, json_t *response)
{
	if (i->over)
		json_decref(response);
	if (i->over)
		return;
	i->over = true;
	i->exchange->open--;
	free(i->progress);
	i->progress = NULL;
	i->response = response ? json_dumps(response, JSON_COMPACT) : NULL;
	json_decref(response);
}

/* Methods */

json_t *mcp_server_info(const struct mcp *m)
{
	return json_pack(
		"{s:s, s:s, s:s}", "name", "ringside", "title", "Ringside", "version", m->version);
}

/* What every result of the revision without sessions has; result is taken. */
static json_t *complete(const struct mcp_exchange *x, json_t *result)
{
	if (!x->modern || !result)
		return result;
	json_object_set_new(result, "resultType", json_string("complete"));
	json_object_set_new(result, "_meta",
		json_pack("{s:o}", MCP_META "serverInfo", mcp_server_info(x->mcp)));
	return result;
}

static void item_result(struct item *i, json_t *result)
{
	struct mcp_exchange *x = i->exchange;
	if (result)
		item_end(i, rpc_result(i->id, complete(x, result)));
	else
		item_end(i, rpc_error(i->id, RPC_INTERNAL_ERROR, "Out of memory", NULL));
}

/* status: of HTTP, where there are no sessions. */
static void item_error(
	struct item *i, int status, enum rpc_code code, const char *message, json_t *data)
{
	if (i->exchange->modern)
		i->exchange->status = status;
	item_end(i, rpc_error(i->id, code, message, data));
}

static void on_called(void *user, json_t *result)
{
	struct item *i = user;
	item_result(i, result);
	if (!i->starting)
		exchange_advance(i->exchange);
}

static void list_tools(struct item *i, const struct rpc_message *m)
{
	struct mcp_exchange *x = i->exchange;
	if (json_object_get(m->params, "cursor")) {
		item_error(
			i, 200, RPC_INVALID_PARAMS, "There is one page, which has no cursor", NULL);
		return;
	}
	json_t *result = json_pack(
		"{s:O}", "tools", x->mcp->tools.lists[x->request->principal.role]);
	if (x->modern) {
		json_object_set_new(result, "ttlMs", json_integer(LIST_TTL_MS));
		/* Links may do less. */
		json_object_set_new(result, "cacheScope", json_string("private"));
	}
	item_result(i, result);
}

static void call_tool(struct item *i, const struct rpc_message *m, const char *client)
{
	struct mcp_exchange *x = i->exchange;
	const json_t *name = json_object_get(m->params, "name");
	json_t *args = json_object_get(m->params, "arguments");
	json_t *token = json_object_get(m->meta, "progressToken");
	if (!json_is_string(name) || (args && !json_is_object(args))) {
		item_error(i, 200, RPC_INVALID_PARAMS, "name must be a string, arguments an object",
			NULL);
		return;
	}
	const struct mcp_tool *tool = mcp_tools_find(&x->mcp->tools, json_string_value(name));
	if (!tool) {
		char message[160];
		snprintf(message, sizeof message, "Unknown tool: %.100s", json_string_value(name));
		item_error(i, 200, RPC_INVALID_PARAMS, message, NULL);
		return;
	}
	if (json_is_string(token) || json_is_integer(token))
		i->token = json_incref(token);
	x->mcp->dispatcher->metrics->mcp_calls++;
	i->starting = true;
	mcp_call_start(&(struct mcp_call_options){.mcp = x->mcp,
		.principal = &x->request->principal,
		.peer = x->request->peer,
		.author = client,
		.scope = x->scope,
		.tool = tool,
		.begin = mcp_tool_begin(tool->name),
		.args = args ? json_incref(args) : json_object(),
		.slot = &i->call,
		.done = on_called,
		.user = i});
	i->starting = false;
}

static void discover(struct item *i)
{
	json_t *result = json_pack("{s:o, s:{s:{}}, s:s, s:I, s:s}", "supportedVersions",
		mcp_versions_json(), "capabilities", "tools", "instructions", mcp_instructions,
		"ttlMs", (json_int_t)DISCOVER_TTL_MS, "cacheScope", "public");
	item_result(i, result);
}

static void begin_item(struct item *i, const struct rpc_message *m, const char *client)
{
	bool modern = i->exchange->modern;
	if (strcmp(m->method, "tools/call") == 0)
		call_tool(i, m, client);
	else if (strcmp(m->method, "tools/list") == 0)
		list_tools(i, m);
	else if (modern && strcmp(m->method, "server/discover") == 0)
		discover(i);
	else if (!modern && strcmp(m->method, "ping") == 0)
		item_result(i, json_object());
	else
		item_error(i, 404, RPC_METHOD_NOT_FOUND, "There is no such method", NULL);
}

/* Progress */

static void tell_progress(struct item *i, uint64_t now)
{
	char text[MCP_PROGRESS_SIZE];
	struct mcp_exchange *x = i->exchange;
	mcp_call_progress(i->call, text);
	i->progress_ms = now;
	json_t *notification = rpc_notification("notifications/progress",
		json_pack("{s:O, s:f, s:s}", "progressToken", i->token, "progress",
			(double)(now - x->began_ms) / 1000, "message", text));
	free(i->progress);
	i->progress = notification ? json_dumps(notification, JSON_COMPACT) : NULL;
	json_decref(notification);
}

static void exchange_tick(struct mcp_exchange *x, uint64_t now)
{
	bool told = false;
	if (!x->takes_stream || x->open == 0)
		return;
	for (size_t n = 0; n < x->count; n++) {
		struct item *i = &x->items[n];
		if (!i->call || !i->token || now - i->progress_ms < MCP_PROGRESS_MS)
			continue;
		tell_progress(i, now);
		told = true;
	}
	if (!told && now - x->began_ms < MCP_STREAM_AFTER_MS)
		return;
	if (begin_stream(x) && told)
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
	if (m->exchanges_count++ == 0)
		uv_timer_again(&m->tick);
	r->gone = on_gone;
	r->gone_user = x;
	return x;
}

/* notifications/cancelled: whatever has this id, from the same client. */
static void cancel(struct mcp *m, const char *scope, const json_t *id)
{
	struct mcp_exchange *x, *next;
	DL_FOREACH_SAFE (m->exchanges, x, next) {
		if (!scope[0] || strcmp(x->scope, scope) != 0)
			continue;
		for (size_t n = 0; n < x->count; n++) {
			struct item *i = &x->items[n];
			if (i->over || !i->call || !json_equal(i->id, id))
				continue;
			mcp_call_cancel(i->call, true);
			item_end(i, NULL);
			exchange_advance(x);
			return;
		}
	}
}

void mcp_take_notification(struct mcp *m, const struct rpc_message *message, const char *scope)
{
	if (strcmp(message->method, "notifications/cancelled") == 0)
		cancel(m, scope, json_object_get(message->params, "requestId"));
}

/* Whether there is room for another exchange; otherwise r has been answered. */
static bool take_room(struct mcp *m, struct request *r, json_t *id, struct quota_place *place)
{
	struct access *a = m->dispatcher->access;
	if (m->exchanges_count >= MCP_EXCHANGES_MAX)
		mcp_refuse(r, 429, id, RPC_LIMIT_REACHED, "Too many requests are under way", NULL);
	else if (a && !quota_take(&a->quotas, QUOTA_MCP_CALLS, 1, &r->principal, place))
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
	if (!take_room(m, r, message.id, &place))
		return;
	struct mcp_exchange *x = exchange_create(m, r, input, modern);
	if (!x) {
		quota_give(&place);
		mcp_refuse(r, 500, NULL, RPC_INTERNAL_ERROR, "Out of memory", NULL);
		return;
	}
	x->place = place;
	quota_give(&r->place); /* that one is instead; what its tools ask has places of its own */
	snprintf(x->scope, sizeof x->scope, "%s", sender->scope);
	x->takes_json = sender->takes_json;
	x->takes_stream = sender->takes_stream;
	x->busy = true;
	for (size_t i = 0, n = 0; i < input->count; i++) {
		rpc_message(input, i, &message);
		if (message.kind == RPC_NOTIFICATION)
			mcp_take_notification(m, &message, sender->scope);
		if (message.kind != RPC_REQUEST && message.kind != RPC_INVALID)
			continue;
		struct item *item = &x->items[n++];
		item->id = json_incref(message.id);
		if (message.kind == RPC_INVALID)
			item_error(item, 400, RPC_INVALID_REQUEST, message.problem, NULL);
		else
			begin_item(item, &message, sender->client);
	}
	x->busy = false;
	exchange_advance(x);
}
