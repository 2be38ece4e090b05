/* What a request to /mcp has to be like, in either kind of revision, and the sessions of one kind. */
#include "ws/mcp/mcp.h"

#include "ws/access.h"
#include "ws/base64.h"
#include "ws/dispatcher.h"
#include "ws/mcp/exchange.h"
#include "ws/mcp/exec.h"
#include "ws/mcp/headers.h"
#include "ws/mcp/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS 250u

static void refuse_version(struct request *r, json_t *id, const char *asked)
{
	mcp_refuse(r, 400, id, RPC_UNSUPPORTED_VERSION, "Unsupported protocol version",
		json_pack("{s:o, s:s}", "supported", mcp_versions_json(), "requested", asked));
}

/* Headers */

/* The value of Mcp-Name, decoded if it is =?base64?…?=; to be freed. */
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

static bool name_matches(const struct mcp_headers *h, const char *name)
{
	char *said = h->has_name ? decode_name(h->name) : NULL;
	bool same = said && strcmp(said, name) == 0;
	free(said);
	return same;
}

/* What of the headers is not as the message, or NULL. */
static const char *mismatch(const struct mcp_headers *h, const struct rpc_message *m)
{
	const char *version = json_string_value(
		json_object_get(m->meta, MCP_META "protocolVersion"));
	const char *name = json_string_value(json_object_get(m->params, "name"));
	if (!h || !h->known)
		return NULL;
	if (!h->has_version || !version || strcmp(h->version, version) != 0)
		return "Header mismatch: MCP-Protocol-Version is not that of params._meta";
	if (m->kind == RPC_NOTIFICATION)
		return NULL;
	if (!h->has_method || strcmp(h->method, m->method) != 0)
		return "Header mismatch: Mcp-Method is not the method";
	if (strcmp(m->method, "tools/call") == 0 && name && !name_matches(h, name))
		return "Header mismatch: Mcp-Name is not params.name";
	return NULL;
}

/* The revision without sessions */

static const char *client_name(const json_t *info)
{
	const char *name = json_string_value(json_object_get(info, "name"));
	return name && name_is_text(name) && strlen(name) < MCP_CLIENT_SIZE ? name : "";
}

static void handle_modern(
	struct mcp *m, struct request *r, const struct rpc_input *input, struct mcp_sender *sender)
{
	struct rpc_message message;
	rpc_message(input, 0, &message);
	const json_t *version = json_object_get(message.meta, MCP_META "protocolVersion");
	const char *problem = mismatch(r->mcp, &message);
	if (message.kind == RPC_RESPONSE)
		mcp_refuse(r, 400, NULL, RPC_INVALID_REQUEST, "Nothing was asked", NULL);
	else if (!json_is_string(version))
		mcp_refuse(r, 400, message.id, RPC_INVALID_PARAMS,
			"params._meta must have " MCP_META "protocolVersion", NULL);
	else if (problem)
		mcp_refuse(r, 400, message.id, RPC_HEADER_MISMATCH, problem, NULL);
	else if (strcmp(json_string_value(version), MCP_VERSION) != 0)
		refuse_version(r, message.id, json_string_value(version));
	else if (message.kind == RPC_NOTIFICATION) {
		mcp_take_notification(m, &message, sender->scope);
		mcp_reply_nothing(r, 202);
	} else if (!json_is_object(json_object_get(message.meta, MCP_META "clientCapabilities")))
		mcp_refuse(r, 400, message.id, RPC_INVALID_PARAMS,
			"params._meta must have " MCP_META "clientCapabilities", NULL);
	else {
		sender->client = client_name(json_object_get(message.meta, MCP_META "clientInfo"));
		mcp_exchange_run(m, r, input, true, sender);
	}
}

/* The revisions with sessions */

/* A place for a client: who has as many as there may be gives up the one that was unused for longest. */
static int claim(struct mcp *m, const struct principal *p, struct claim **ret_claim)
{
	static const struct access_want want[ACCESS_PLACES] = {{QUOTA_MCP_SESSIONS, 1}};
	struct access *a = m->dispatcher->access;
	int rc = access_claim(a, p, want, ret_claim, NULL);
	if (rc == -EUSERS && mcp_sessions_evict(&m->sessions, p))
		rc = access_claim(a, p, want, ret_claim, NULL);
	return rc;
}

/*
 * Keep what the client says of itself, under its scope or an id that it is told. Returns 0, -EUSERS (the quota is used
 * up, by others), or -ENOMEM.
 */
static int remember(struct mcp *m, struct request *r, const struct rpc_message *message,
	const char *version, const char *scope)
{
	bool headers = r->mcp && r->mcp->known;
	struct claim *place;
	if (!headers && !*scope) /* where a header could not come back there is none */
		return 0;
	int rc = claim(m, &r->principal, &place);
	if (rc < 0)
		return rc;
	struct mcp_session *s = mcp_sessions_create(
		&m->sessions, &r->principal, headers ? NULL : scope, place, uv_now(m->loop));
	if (!s) {
		access_drop(place);
		return -ENOMEM;
	}
	s->batches = strcmp(version, "2025-03-26") == 0;
	snprintf(s->client, sizeof s->client, "%s",
		client_name(json_object_get(message->params, "clientInfo")));
	if (headers)
		reply_header(r, "Mcp-Session-Id", s->id);
	return 0;
}

static void initialize(
	struct mcp *m, struct request *r, const struct rpc_message *message, const char *scope)
{
	const char *asked = json_string_value(json_object_get(message->params, "protocolVersion"));
	const char *version = asked && mcp_version_is_legacy(asked) ? asked : MCP_VERSION_LEGACY;
	if (!asked) {
		mcp_refuse(r, 200, message->id, RPC_INVALID_PARAMS,
			"protocolVersion must be a string", NULL);
		return;
	}
	int rc = remember(m, r, message, version, scope);
	if (rc == -EUSERS) {
		mcp_refuse_quota(r, message->id, QUOTA_MCP_SESSIONS);
		return;
	}
	if (rc < 0) {
		mcp_refuse(
			r, 500, message->id, RPC_INTERNAL_ERROR, "The client cannot be kept", NULL);
		return;
	}
	reply_json(r, 200,
		rpc_result(message->id,
			json_pack("{s:s, s:{s:{}}, s:o, s:s}", "protocolVersion", version,
				"capabilities", "tools", "serverInfo", mcp_server_info(m),
				"instructions", mcp_instructions)));
}

/* The session that the headers name; false: r is answered. *ret_session is NULL where there are none. */
static bool take_session(struct mcp *m, struct request *r, const struct rpc_message *message,
	struct mcp_session **ret_session)
{
	const struct mcp_headers *h = r->mcp;
	*ret_session = NULL;
	if (!h || !h->known)
		return true;
	if (h->has_version && !mcp_version_is_legacy(h->version)) {
		refuse_version(r, message->id, h->version);
		return false;
	}
	if (!h->has_session) {
		mcp_refuse(r, 400, message->id, RPC_INVALID_REQUEST,
			"Mcp-Session-Id is required: initialize first", NULL);
		return false;
	}
	*ret_session = mcp_sessions_find(&m->sessions, h->session, &r->principal, uv_now(m->loop));
	if (!*ret_session)
		mcp_refuse(r, 404, message->id, RPC_INVALID_REQUEST,
			"There is no such session, or it has ended: initialize again", NULL);
	return *ret_session != NULL;
}

static bool has_requests(const struct rpc_input *input)
{
	struct rpc_message message;
	for (size_t i = 0; i < input->count; i++) {
		rpc_message(input, i, &message);
		if (message.kind == RPC_REQUEST || message.kind == RPC_INVALID)
			return true;
	}
	return false;
}

static void handle_legacy(
	struct mcp *m, struct request *r, const struct rpc_input *input, struct mcp_sender *sender)
{
	struct rpc_message message;
	struct mcp_session *session;
	rpc_message(input, 0, &message);
	if (!input->batch && message.kind == RPC_REQUEST &&
		strcmp(message.method, "initialize") == 0) {
		initialize(m, r, &message, sender->scope);
		return;
	}
	if (!take_session(m, r, &message, &session))
		return;
	if (!session && sender->scope[0])
		session = mcp_sessions_find(
			&m->sessions, sender->scope, &r->principal, uv_now(m->loop));
	if (session) {
		snprintf(sender->scope, sizeof sender->scope, "%s", session->id);
		sender->client = session->client;
	}
	if (input->batch && session && !session->batches) {
		mcp_refuse(r, 400, NULL, RPC_INVALID_REQUEST, "This revision has no batches", NULL);
	} else if (has_requests(input)) {
		mcp_exchange_run(m, r, input, false, sender);
	} else {
		for (size_t i = 0; i < input->count; i++) {
			rpc_message(input, i, &message);
			if (message.kind == RPC_NOTIFICATION)
				mcp_take_notification(m, &message, sender->scope);
		}
		mcp_reply_nothing(r, 202);
	}
}

/* Requests */

static bool is_modern(const struct request *r, const struct rpc_input *input)
{
	struct rpc_message message;
	rpc_message(input, 0, &message);
	if (input->batch || strcmp(message.method, "initialize") == 0)
		return false;
	return json_object_get(message.meta, MCP_META "protocolVersion") ||
		(r->mcp && r->mcp->known && r->mcp->has_version && !r->mcp->has_session &&
			!mcp_version_is_legacy(r->mcp->version));
}

/* How it may be answered; none: r is answered and false returned. */
static bool take_accept(struct request *r, struct mcp_sender *s)
{
	const char *accept = r->mcp ? r->mcp->accept : "";
	bool any = !*accept || strstr(accept, "*/*");
	s->takes_json = any || strcasestr(accept, "application/json") ||
		strcasestr(accept, "application/*");
	s->takes_stream = strcasestr(accept, "text/event-stream") != NULL;
	if (s->takes_json || s->takes_stream)
		return true;
	mcp_refuse(r, 406, NULL, RPC_INVALID_REQUEST,
		"Accept must list application/json and text/event-stream", NULL);
	return false;
}

_Static_assert(
	MCP_SESSION_ID_SIZE > sizeof "stdio::" + NAME_AUTHOR_MAX + MCP_SCOPE_MAX, "a scope fits");

/*
 * The key of ?stdio=, which must be one; otherwise r is answered and false returned. It is the caller's own: another's may
 * be the same.
 */
static bool take_scope(struct request *r, struct mcp_sender *s)
{
	const char *key = request_param(r, "stdio");
	char author[NAME_AUTHOR_MAX + 1];
	if (!key)
		return true;
	if (!name_is_id(key) || strlen(key) > MCP_SCOPE_MAX) {
		mcp_refuse(r, 400, NULL, RPC_INVALID_REQUEST,
			"stdio must be 1 to 64 of A-Z a-z 0-9 _ -", NULL);
		return false;
	}
	auth_author(&r->principal, author);
	snprintf(s->scope, sizeof s->scope, "stdio:%s:%s", author, key);
	if (r->mcp)
		r->mcp->known = false;
	return true;
}

static void take_messages(struct request *r)
{
	struct mcp *m = r->match.module;
	struct mcp_sender sender = {.client = ""};
	struct rpc_input input;
	if (!take_accept(r, &sender) || !take_scope(r, &sender))
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
		handle_legacy(m, r, &input, &sender);
	rpc_free(&input);
}

/* The end of a session. What it has under way goes on. */
static void end_session(struct request *r)
{
	struct mcp *m = r->match.module;
	const struct mcp_headers *h = r->mcp;
	if (!h || !h->known || !h->has_session) {
		reply_header(r, "Allow", "POST");
		mcp_refuse(
			r, 405, NULL, RPC_INVALID_REQUEST, "There is no session to be ended", NULL);
		return;
	}
	struct mcp_session *s = mcp_sessions_find(
		&m->sessions, h->session, &r->principal, uv_now(m->loop));
	if (!s) {
		mcp_refuse(r, 404, NULL, RPC_INVALID_REQUEST, "There is no such session", NULL);
		return;
	}
	mcp_exec_leave(m, s->id);
	mcp_sessions_end(&m->sessions, s);
	mcp_reply_nothing(r, 204);
}

static const struct route_row rows[] = {
	{METHOD_POST, "/mcp", WHO_VIEWER, .plain = take_messages},
	{METHOD_DELETE, "/mcp", WHO_VIEWER, .plain = end_session},
	{.path = NULL},
};

void mcp_register(struct mcp *m, struct routes *all)
{
	routes_add(all, rows, m);
}

static void on_tick(uv_timer_t *timer)
{
	mcp_exchanges_tick(timer->data);
}

int mcp_open(struct mcp *m, struct dispatcher *dispatcher, const char *version, uv_loop_t *loop)
{
	*m = (struct mcp){.dispatcher = dispatcher, .version = version, .loop = loop};
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
	uv_timer_stop(&m->tick); /* until there is an exchange */
	return 0;
}

void mcp_stop(struct mcp *m)
{
	m->stopping = true;
}

void mcp_close(struct mcp *m)
{
	uv_close((uv_handle_t *)&m->tick, NULL);
	mcp_sessions_close(&m->sessions);
	mcp_cursors_close(&m->cursors);
	mcp_tools_close(&m->tools);
}
