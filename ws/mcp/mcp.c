/* The routes of /mcp: validates requests and passes them on by the kind of their revision. */
#include "ws/mcp/mcp.h"

#include "ws/access.h"
#include "ws/base64.h"
#include "ws/dispatcher.h"
#include "ws/mcp/exchange.h"
#include "ws/mcp/legacy.h"
#include "ws/mcp/notify.h"
#include "ws/mcp/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS 250u

/* Headers */

/* The value of Mcp-Name, to be freed. It may be encoded as =?base64?…?=. */
static char *decode_name(const char *value)
{
	static const char prefix[] = "=?base64?", suffix[] = "?=";
	size_t length = strlen(value), around = sizeof prefix - 1 + sizeof suffix - 1;
	size_t decoded_length;
	if (length < around || strncmp(value, prefix, sizeof prefix - 1) != 0 ||
		strcmp(value + length - 2, suffix) != 0)
		return strdup(value);
	char *inner = strndup(value + sizeof prefix - 1, length - around);
	unsigned char *bytes = inner ? base64_decode(inner, &decoded_length) : NULL;
	char *name = bytes && !memchr(bytes, '\0', decoded_length) ? calloc(1, decoded_length + 1)
								   : NULL;
	if (name)
		memcpy(name, bytes, decoded_length);
	free(bytes);
	free(inner);
	return name;
}

static bool name_matches(const char *header, const char *name)
{
	char *said = header ? decode_name(header) : NULL;
	bool same = said && strcmp(said, name) == 0;
	free(said);
	return same;
}

static bool is_equal(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* The error if the headers contradict the message; NULL: they match. */
static const char *mismatch(const struct request *r, const struct rpc_message *m)
{
	const char *version = json_string_value(
		json_object_get(m->meta, MCP_META "protocolVersion"));
	char *const *h = r->headers;
	bool reads = strcmp(m->method, "resources/read") == 0;
	bool named = reads || strcmp(m->method, "tools/call") == 0;
	const char *name = json_string_value(json_object_get(m->params, reads ? "uri" : "name"));
	if (!mcp_has_headers(r))
		return NULL;
	if (!is_equal(h[HEADER_MCP_PROTOCOL_VERSION], version))
		return "Header mismatch: MCP-Protocol-Version is not that of params._meta";
	if (m->kind == RPC_NOTIFICATION)
		return NULL;
	if (!is_equal(h[HEADER_MCP_METHOD], m->method))
		return "Header mismatch: Mcp-Method is not the method";
	if (named && name && !name_matches(h[HEADER_MCP_NAME], name))
		return reads ? "Header mismatch: Mcp-Name is not params.uri"
			     : "Header mismatch: Mcp-Name is not params.name";
	return NULL;
}

/* The revision without sessions */

/* Read what a request declares about its client. */
static void read_client(const struct rpc_message *m, struct mcp_sender *sender)
{
	const json_t *can = json_object_get(m->meta, MCP_META "clientCapabilities");
	const json_t *elicitation = json_object_get(can, "elicitation");
	sender->client = mcp_client_name(json_object_get(m->meta, MCP_META "clientInfo"));
	sender->elicits = json_is_object(json_object_get(elicitation, "url"));
}

static void begin_listening(struct mcp *m, struct request *r, const struct rpc_message *message,
	const struct mcp_sender *sender)
{
	if (!sender->accepts_stream)
		mcp_refuse(r, 406, message->id, RPC_INVALID_REQUEST,
			"Accept must list text/event-stream", NULL);
	else
		mcp_notify_listen(m, r, message, sender->scope);
}

static void handle_modern(
	struct mcp *m, struct request *r, const struct rpc_input *input, struct mcp_sender *sender)
{
	struct rpc_message message;
	rpc_message(input, 0, &message);
	const json_t *version = json_object_get(message.meta, MCP_META "protocolVersion");
	const char *problem = mismatch(r, &message);
	if (message.kind == RPC_RESPONSE)
		mcp_refuse(r, 400, NULL, RPC_INVALID_REQUEST,
			"Unexpected response: the server sent no request", NULL);
	else if (!json_is_string(version))
		mcp_refuse(r, 400, message.id, RPC_INVALID_PARAMS,
			"params._meta must have " MCP_META "protocolVersion", NULL);
	else if (problem)
		mcp_refuse(r, 400, message.id, RPC_HEADER_MISMATCH, problem, NULL);
	else if (strcmp(json_string_value(version), MCP_VERSION) != 0)
		mcp_refuse_version(r, message.id, json_string_value(version));
	else if (message.kind == RPC_NOTIFICATION) {
		mcp_handle_message(m, &message, sender->scope);
		mcp_reply_nothing(r, 202);
	} else if (!json_is_object(json_object_get(message.meta, MCP_META "clientCapabilities")))
		mcp_refuse(r, 400, message.id, RPC_INVALID_PARAMS,
			"params._meta must have " MCP_META "clientCapabilities", NULL);
	else {
		read_client(&message, sender);
		if (strcmp(message.method, "subscriptions/listen") == 0)
			begin_listening(m, r, &message, sender);
		else
			mcp_exchange_run(m, r, input, true, sender);
	}
}

/* Requests */

static bool is_modern(const struct request *r, const struct rpc_input *input)
{
	struct rpc_message message;
	rpc_message(input, 0, &message);
	if (input->batch || strcmp(message.method, "initialize") == 0)
		return false;
	const char *version = r->headers[HEADER_MCP_PROTOCOL_VERSION];
	return json_object_get(message.meta, MCP_META "protocolVersion") ||
		(mcp_has_headers(r) && version && !r->headers[HEADER_MCP_SESSION_ID] &&
			!mcp_version_is_legacy(version));
}

/* Parse Accept. Returns false after answering r if it accepts nothing that we send. */
static bool parse_accept(struct request *r, struct mcp_sender *s)
{
	const char *accept = r->headers[HEADER_ACCEPT] ? r->headers[HEADER_ACCEPT] : "";
	bool any = !*accept || strstr(accept, "*/*");
	s->accepts_json = any || strcasestr(accept, "application/json") ||
		strcasestr(accept, "application/*");
	s->accepts_stream = strcasestr(accept, "text/event-stream") != NULL;
	if (s->accepts_json || s->accepts_stream)
		return true;
	mcp_refuse(r, 406, NULL, RPC_INVALID_REQUEST,
		"Accept must list application/json and text/event-stream", NULL);
	return false;
}

_Static_assert(
	MCP_SESSION_ID_SIZE > sizeof "stdio::" + NAME_AUTHOR_MAX + MCP_SCOPE_MAX, "a scope fits");

/*
 * Make the scope of ?stdio=KEY. It includes the principal, because two principals may use the same
 * key. Returns false after answering r if the key is invalid.
 */
static bool parse_scope(struct request *r, struct mcp_sender *s)
{
	const char *key = request_param(r, "stdio");
	char author[NAME_AUTHOR_MAX + 1];
	if (!key)
		return true;
	if (!name_is_id(key) || strlen(key) > MCP_SCOPE_MAX) {
		mcp_refuse(r, 400, NULL, RPC_INVALID_REQUEST,
			"stdio must be 1 to 64 of A-Z a-z 0-9 . _ : @ -", NULL);
		return false;
	}
	auth_author(&r->principal, author);
	snprintf(s->scope, sizeof s->scope, "stdio:%s:%s", author, key);
	return true;
}

static void handle_post(struct request *r)
{
	struct mcp *m = r->match.module;
	struct mcp_sender sender = {.client = ""};
	struct rpc_input input;
	if (!parse_accept(r, &sender) || !parse_scope(r, &sender))
		return;
	rpc_parse(r->body ? r->body : "", r->body_length, &input);
	struct rpc_message message = {0};
	if (input.root)
		rpc_message(&input, 0, &message);
	if (!input.root)
		mcp_refuse(r, 400, NULL, input.code, input.problem, NULL);
	else if (!input.batch && message.kind == RPC_INVALID)
		mcp_refuse(r, 400, message.id, RPC_INVALID_REQUEST, message.problem, NULL);
	else if (is_modern(r, &input))
		handle_modern(m, r, &input, &sender);
	else
		mcp_legacy_handle(m, r, &input, &sender);
	rpc_free(&input);
}

/* DELETE: end a session. */
static void end_session(struct request *r)
{
	mcp_legacy_end(r->match.module, r);
}

/* GET: the stream of notifications for a client. */
static void follow(struct request *r)
{
	struct mcp_sender sender = {.client = ""};
	if (parse_scope(r, &sender))
		mcp_legacy_follow(r->match.module, r, &sender);
}

static const struct route_row rows[] = {
	{METHOD_GET, "/mcp", ROUTE_VIEWER, .plain = follow, .headers = ROUTE_HEADERS_MCP,
		.place = PLACE_TOOL},
	{METHOD_POST, "/mcp", ROUTE_VIEWER, .plain = handle_post, .headers = ROUTE_HEADERS_MCP,
		.place = PLACE_TOOL},
	{METHOD_DELETE, "/mcp", ROUTE_VIEWER, .plain = end_session, .headers = ROUTE_HEADERS_MCP,
		.place = PLACE_TOOL},
	{.path = NULL},
};

void mcp_register(struct mcp *m, struct routes *all)
{
	routes_add(all, rows, m);
}

static void on_tick(uv_timer_t *timer)
{
	mcp_exchanges_tick(timer->data);
	mcp_notify_tick(timer->data);
	mcp_elicit_tick(timer->data);
}

void mcp_update_timer(struct mcp *m)
{
	bool news = m->detached.count > 0 || m->elicits.count > 0 || m->subscriptions.count > 0;
	bool needed = m->exchanges || (m->streams && news);
	if (needed && !uv_is_active((uv_handle_t *)&m->tick))
		uv_timer_again(&m->tick);
	else if (!needed)
		uv_timer_stop(&m->tick);
}

int mcp_open(struct mcp *m, struct dispatcher *dispatcher, const char *version, uv_loop_t *loop)
{
	*m = (struct mcp){.dispatcher = dispatcher, .version = version, .loop = loop};
	auth_derive(dispatcher->access->auth, "mcp sessions", m->key);
	int rc = mcp_tools_open(&m->tools);
	if (rc < 0)
		return rc;
	rc = uv_timer_init(loop, &m->tick);
	if (rc < 0) {
		mcp_tools_close(&m->tools);
		return rc;
	}
	m->tick.data = m;
	uv_unref((uv_handle_t *)&m->tick);
	uv_timer_start(&m->tick, on_tick, TICK_MS, TICK_MS);
	uv_timer_stop(&m->tick); /* started by mcp_update_timer() */
	return 0;
}

void mcp_stop(struct mcp *m)
{
	m->stopping = true;
	mcp_notify_stop(m);
}

void mcp_close(struct mcp *m)
{
	uv_close((uv_handle_t *)&m->tick, NULL);
	mcp_sessions_close(&m->sessions);
	mcp_cursors_close(&m->cursors);
	mcp_detached_close(&m->detached);
	mcp_elicit_close(&m->elicits);
	mcp_subscriptions_close(&m->subscriptions);
	mcp_tools_close(&m->tools);
}
