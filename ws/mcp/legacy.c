/*
 * The revisions that begin with `initialize`. Over HTTP a client is identified by the session id
 * that `initialize` returned, which contains the whole session. With ?stdio= it is identified by
 * its key.
 */
#include "ws/mcp/legacy.h"

#include "shell/hash.h"
#include "shell/own_error.h"
#include "ws/access.h"
#include "ws/dispatcher.h"
#include "ws/mcp/exec.h"
#include "ws/mcp/notify.h"
#include "ws/mcp/own.h"
#include "ws/mcp/ticket.h"
#include "ws/mcp/version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void mcp_refuse_version(struct request *r, json_t *id, const char *asked)
{
	mcp_refuse(r, 400, id, RPC_UNSUPPORTED_VERSION, "Unsupported protocol version",
		json_pack("{s:o, s:s}", "supported", mcp_versions_json(), "requested", asked));
}

static const char *client_name_of(const char *name)
{
	return name && name_is_text(name) && strlen(name) < MCP_CLIENT_SIZE ? name : "";
}

const char *mcp_client_name(const json_t *info)
{
	return client_name_of(json_string_value(json_object_get(info, "name")));
}

/* Claim a place in the quota. If it is used up, end the least recently used session of p. */
static int claim(struct mcp *m, const struct principal *p, struct claim **ret_claim)
{
	static const struct access_amount want[ACCESS_PLACES] = {{QUOTA_MCP_SESSIONS, 1}};
	struct access *a = m->dispatcher->access;
	int rc = access_claim(a, p, want, ret_claim, NULL);
	if (rc == -ERR_LIMIT && mcp_sessions_evict(&m->sessions, p))
		rc = access_claim(a, p, want, ret_claim, NULL);
	return rc;
}

/* Create the session of a ticket. Returns 0, -ERR_LIMIT (the quota is used up) or -ENOMEM. */
static int create_session(struct mcp *m, const struct principal *p, const struct mcp_ticket *t,
	struct mcp_session **ret_session)
{
	struct claim *place;
	int rc = claim(m, p, &place);
	if (rc < 0)
		return rc;
	struct mcp_session *s = mcp_sessions_create(&m->sessions, p, t->id, place, uv_now(m->loop));
	if (!s) {
		claim_release(&place);
		return -ENOMEM;
	}
	s->batches = t->batches;
	s->elicits = t->elicits;
	memcpy(s->client, t->client, sizeof s->client);
	*ret_session = s;
	return 0;
}

/*
 * Create a session with what the client declares. Its id is the scope, or over HTTP a new ticket in
 * a reply header. Returns 0, -ERR_LIMIT (the quota is used up) or another negative errno.
 */
static int create_client_session(struct mcp *m, struct request *r,
	const struct rpc_message *message, const char *version, const char *scope)
{
	bool headers = mcp_has_headers(r);
	const json_t *capabilities = json_object_get(message->params, "capabilities");
	const json_t *elicitation = json_object_get(capabilities, "elicitation");
	struct mcp_ticket ticket = {.batches = strcmp(version, "2025-03-26") == 0,
		.elicits = json_is_object(json_object_get(elicitation, "url"))};
	struct mcp_session *s;
	char id[MCP_TICKET_SIZE];
	if (!headers && !*scope) /* no way to identify the client later */
		return 0;
	snprintf(ticket.client, sizeof ticket.client, "%s",
		mcp_client_name(json_object_get(message->params, "clientInfo")));
	snprintf(ticket.id, sizeof ticket.id, "%s", scope);
	int rc = headers ? mcp_ticket_create_id(&ticket) : 0;
	if (rc == 0)
		rc = create_session(m, &r->principal, &ticket, &s);
	if (rc < 0 || !headers)
		return rc;
	mcp_ticket_sign(&ticket, &r->principal, m->key, id);
	reply_header(r, "Mcp-Session-Id", id);
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
	int rc = create_client_session(m, r, message, version, scope);
	if (rc == -ERR_LIMIT) {
		mcp_refuse_quota(r, message->id, QUOTA_MCP_SESSIONS);
		return;
	}
	if (rc < 0) {
		mcp_refuse(r, 500, message->id, RPC_INTERNAL_ERROR, "The session cannot be created",
			NULL);
		return;
	}
	reply_json(r, 200,
		rpc_result(message->id,
			json_pack("{s:s, s:{s:{}, s:{}, s:{s:b}}, s:o, s:s}", "protocolVersion",
				version, "capabilities", "tools", "logging", "resources",
				"subscribe", *scope || mcp_has_headers(r), "serverInfo",
				mcp_server_info(m), "instructions", mcp_instructions)));
}

/*
 * Find the session of a ticket, or create it again. Returns 0, -ENOENT (not a ticket of p, or the
 * session was ended), -ERR_LIMIT or -ENOMEM.
 */
static int find_session(
	struct mcp *m, const struct principal *p, const char *id, struct mcp_session **ret_session)
{
	struct mcp_ticket ticket;
	if (!mcp_ticket_read(id, p, m->key, &ticket) ||
		mcp_sessions_is_ended(&m->sessions, ticket.id))
		return -ENOENT;
	*ret_session = mcp_sessions_find(&m->sessions, ticket.id, p, uv_now(m->loop));
	if (*ret_session)
		return 0;
	int rc = create_session(m, p, &ticket, ret_session);
	if (rc == 0)
		(*ret_session)->restored = true;
	return rc;
}

/* Find the session of the headers; NULL: there are no headers. Returns false after answering r. */
static bool find_header_session(struct mcp *m, struct request *r, const struct rpc_message *message,
	struct mcp_session **ret_session)
{
	const char *version = r->headers[HEADER_MCP_PROTOCOL_VERSION];
	const char *id = r->headers[HEADER_MCP_SESSION_ID];
	*ret_session = NULL;
	if (!mcp_has_headers(r))
		return true;
	if (version && !mcp_version_is_legacy(version)) {
		mcp_refuse_version(r, message->id, version);
		return false;
	}
	if (!id) {
		mcp_refuse(r, 400, message->id, RPC_INVALID_REQUEST,
			"Mcp-Session-Id is required: initialize first", NULL);
		return false;
	}
	int rc = find_session(m, &r->principal, id, ret_session);
	if (rc == -ERR_LIMIT)
		mcp_refuse_quota(r, message->id, QUOTA_MCP_SESSIONS);
	else if (rc == -ENOENT)
		mcp_refuse(r, 404, message->id, RPC_INVALID_REQUEST,
			"Unknown or ended Mcp-Session-Id: initialize again", NULL);
	else if (rc < 0)
		mcp_refuse(r, 500, message->id, RPC_INTERNAL_ERROR, "The session cannot be created",
			NULL);
	return rc == 0;
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

/* Fill in the sender by its session, if it has one, or its key. Returns false after answering r. */
static bool fill_sender(struct mcp *m, struct request *r, const struct rpc_message *message,
	struct mcp_sender *sender, struct mcp_session **ret_session)
{
	struct mcp_session *session;
	if (!find_header_session(m, r, message, &session))
		return false;
	if (!session && sender->scope[0])
		session = mcp_sessions_find(
			&m->sessions, sender->scope, &r->principal, uv_now(m->loop));
	if (!session && sender->scope[0]) {
		sender->client = client_name_of(request_param(r, "client"));
		const char *elicits = request_param(r, "elicits");
		sender->elicits = elicits && strcmp(elicits, "url") == 0;
	}
	if (session) {
		snprintf(sender->scope, sizeof sender->scope, "%s", session->id);
		sender->client = session->client;
		sender->restored = session->restored;
		sender->elicits = session->elicits;
	}
	*ret_session = session;
	return true;
}

void mcp_legacy_handle(
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
	if (!fill_sender(m, r, &message, sender, &session))
		return;
	if (input->batch && session && !session->batches) {
		mcp_refuse(r, 400, NULL, RPC_INVALID_REQUEST,
			"Batches are not supported in this revision", NULL);
	} else if (has_requests(input)) {
		mcp_exchange_run(m, r, input, false, sender);
	} else {
		for (size_t i = 0; i < input->count; i++) {
			rpc_message(input, i, &message);
			mcp_handle_message(m, &message, sender->scope);
		}
		mcp_reply_nothing(r, 202);
	}
}

void mcp_legacy_end(struct mcp *m, struct request *r)
{
	const char *id = mcp_has_headers(r) ? r->headers[HEADER_MCP_SESSION_ID] : NULL;
	if (!id) {
		reply_header(r, "Allow", "POST");
		mcp_refuse(
			r, 405, NULL, RPC_INVALID_REQUEST, "DELETE requires Mcp-Session-Id", NULL);
		return;
	}
	struct mcp_ticket ticket;
	if (!mcp_ticket_read(id, &r->principal, m->key, &ticket) ||
		mcp_sessions_is_ended(&m->sessions, ticket.id)) {
		mcp_refuse(
			r, 404, NULL, RPC_INVALID_REQUEST, "Unknown or ended Mcp-Session-Id", NULL);
		return;
	}
	struct mcp_session *s = mcp_sessions_find(
		&m->sessions, ticket.id, &r->principal, uv_now(m->loop));
	mcp_exec_release_output(m, ticket.id);
	mcp_sessions_mark_ended(&m->sessions, ticket.id);
	mcp_elicit_forget(m, ticket.id);
	mcp_unsubscribe_all(m, ticket.id);
	mcp_notify_end(m, ticket.id);
	if (s)
		mcp_sessions_end(&m->sessions, s);
	mcp_reply_nothing(r, 204);
}

void mcp_legacy_follow(struct mcp *m, struct request *r, struct mcp_sender *sender)
{
	const char *accept = r->headers[HEADER_ACCEPT];
	struct rpc_message none = {.kind = RPC_NOTIFICATION};
	struct mcp_session *session;
	char caller[EXEC_READER_SIZE];
	bool named = sender->scope[0] || (mcp_has_headers(r) && r->headers[HEADER_MCP_SESSION_ID]);
	if (!named || !accept || !strstr(accept, "text/event-stream")) {
		reply_header(r, "Allow", "POST");
		mcp_refuse(r, 405, NULL, RPC_INVALID_REQUEST,
			"GET requires a session and Accept: text/event-stream", NULL);
		return;
	}
	if (!fill_sender(m, r, &none, sender, &session))
		return;
	mcp_own_identity(caller, sender->scope, &r->principal, sender->client);
	mcp_notify_open(m, r, sender->scope, hash_text(HASH_START, caller));
}
