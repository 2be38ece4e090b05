/* Checks WebSocket handshakes; see upgrade.h. */
#include "ws/net/upgrade.h"

#include "ws/log.h"
#include "ws/net/conn.h"
#include "ws/net/exchange.h"
#include "ws/net/http1.h"
#include "ws/net/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RETRY_S "1"          /* Retry-After of a 429 */
#define RETRY_GUESSES_S "60" /* the same after too many wrong credentials */
#define KEY_LENGTH 24u       /* 16 bytes in base64, RFC 6455 4.1 */
#define VERSION "13"         /* Sec-WebSocket-Version, also sent with an error (4.2.2) */

#define INVALID "Invalid WebSocket handshake: "

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool upgrade_is_wanted(const struct http_head *http)
{
	const char *to = http_head_field(http, "upgrade");
	return to && strcasecmp(to, "websocket") == 0 && strcmp(http->method, "GET") == 0 &&
		http->minor > 0 && http_head_lists(http, "connection", "upgrade");
}

static bool is_key(const char *key)
{
	return key && strlen(key) == KEY_LENGTH && strspn(key, base64) == KEY_LENGTH - 2 &&
		strcmp(key + KEY_LENGTH - 2, "==") == 0;
}

/* Check a handshake (RFC 6455 4.2.1). Returns NULL, or what is wrong. */
static const char *find_fault(const struct http_head *http)
{
	const char *key = http_head_field(http, "sec-websocket-key");
	const char *version = http_head_field(http, "sec-websocket-version");
	if (http_head_count(http, "upgrade") != 1)
		return INVALID "Upgrade is given more than once";
	if (!key)
		return INVALID "Sec-WebSocket-Key is missing";
	if (http_head_count(http, "sec-websocket-key") > 1)
		return INVALID "Sec-WebSocket-Key is given more than once";
	if (!is_key(key))
		return INVALID "Sec-WebSocket-Key must be 16 bytes in base64";
	if (!version)
		return INVALID "Sec-WebSocket-Version is missing";
	if (http_head_count(http, "sec-websocket-version") > 1)
		return INVALID "Sec-WebSocket-Version is given more than once";
	if (strcmp(version, VERSION) != 0)
		return INVALID "Sec-WebSocket-Version must be " VERSION;
	if (http_head_count(http, "host") > 1)
		return INVALID "Host is given more than once";
	if (http_head_field(http, "content-length"))
		return INVALID "Content-Length is not allowed";
	if (http_head_field(http, "transfer-encoding"))
		return INVALID "Transfer-Encoding is not allowed";
	return http->authority ? INVALID "the request target must be a path" : NULL;
}

/* Copy ID of a path "/v1/sandbox/ID/pty", or "". */
static void copy_sandbox(const char *path, char ret_sandbox[NAME_ID_MAX + 2])
{
	static const char before[] = "/v1/sandbox/", behind[] = "/pty";
	size_t length = strlen(path), ends = sizeof before - 1 + sizeof behind - 1;
	ret_sandbox[0] = '\0';
	if (length > ends && length - ends <= NAME_ID_MAX + 1 &&
		strncmp(path, before, sizeof before - 1) == 0 &&
		strcmp(path + length - (sizeof behind - 1), behind) == 0)
		snprintf(ret_sandbox, NAME_ID_MAX + 2, "%.*s", (int)(length - ends),
			path + sizeof before - 1);
}

static enum upgrade_kind kind_of(const char *path, const char *sandbox)
{
	static const struct {
		const char *path;
		enum upgrade_kind kind;
	} kinds[] = {{"/ws/pty", UPGRADE_TERMINAL}, {"/ws", UPGRADE_CONTROL},
		{"/api/ws", UPGRADE_CONTROL}, {"/ws/mux", UPGRADE_MUX}, {"/rpc", UPGRADE_RPC}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(path, kinds[i].path) == 0)
			return kinds[i].kind;
	return sandbox[0] ? UPGRADE_TERMINAL : UPGRADE_NONE;
}

bool upgrade_is_path(const char *path)
{
	return kind_of(path, "") != UPGRADE_NONE;
}

/* Parse and check the query of a terminal. */
static struct refusal check_terminal(
	struct server *s, struct head *h, const char *sandbox, struct upgrade *u)
{
	struct refusal refusal = sandbox[0]
		? terminal_query_parse_private(
			  sandbox, h->session, h->params, h->params_count, &u->query)
		: terminal_query_parse(h->params, h->params_count, &u->query);
	if (refusal.status)
		return refusal;
	u->elsewhere = terminal_is_elsewhere(s->options.terminals, &u->query, &u->principal);
	if (!u->elsewhere)
		return terminal_check(s->options.terminals, &u->query, &u->principal);
	memcpy(u->params, h->params, sizeof u->params);
	u->params_count = h->params_count;
	h->params_count = 0;
	return refusal;
}

/* Check the result of authentication. */
static struct refusal check_credentials(struct server *s, enum auth_result auth)
{
	if (auth == AUTH_LIMITED) {
		s->options.metrics->auth_limited++;
		return (struct refusal){
			429, "TOO_MANY_ATTEMPTS", "Too many requests with wrong credentials"};
	}
	if (auth == AUTH_OK)
		return (struct refusal){0};
	s->options.metrics->auth_failures++;
	return (struct refusal){401, "UNAUTHENTICATED", "Valid credentials are required"};
}

/* Acquire quota for a connection and, if it is one, a terminal. Returns false if there is none. */
static bool acquire_places(struct conn *c, struct upgrade *u)
{
	if (!conn_set_principal(c, &u->principal))
		return false;
	u->place = c->place;
	c->place = (struct quota_place){0};
	return u->kind != UPGRADE_TERMINAL ||
		server_acquire_quota(c->server, QUOTA_TERMINALS, 1, &u->principal, &u->seat);
}

static struct refusal check(
	struct conn *c, struct head *h, struct upgrade *u, enum auth_result *ret_auth)
{
	struct server *s = c->server;
	char sandbox[NAME_ID_MAX + 2];
	copy_sandbox(h->path, sandbox);
	u->kind = kind_of(h->path, sandbox);
	h->terminal = u->kind == UPGRADE_TERMINAL;
	h->method = METHOD_OTHER; /* it is not a navigation */
	struct refusal refusal = head_check(s, &c->arrival, h, true, &u->principal, ret_auth);
	if (refusal.status)
		return refusal;
	if (u->kind == UPGRADE_NONE)
		return (struct refusal){
			404, "UNKNOWN_ERROR", "The requested endpoint was not found"};
	refusal = check_credentials(s, *ret_auth);
	if (refusal.status)
		return refusal;
	if (u->kind != UPGRADE_TERMINAL && u->principal.answers)
		return (struct refusal){403, "PERMISSION_DENIED", "This link only answers a prompt"};
	if (!acquire_places(c, u))
		return (struct refusal){429, "QUOTA_REACHED",
			"This link, or all links together, have as many as they may"};
	return u->kind == UPGRADE_TERMINAL ? check_terminal(s, h, sandbox, u) : refusal;
}

/* Answer with an error, and log it. */
static void refuse(struct exchange *x, struct refusal refusal)
{
	struct request *r = x->request;
	if (r->auth == AUTH_LIMITED)
		reply_header(r, "Retry-After", RETRY_GUESSES_S);
	else if (refusal.status == 429)
		reply_header(r, "Retry-After", RETRY_S);
	else if (refusal.status == 401)
		reply_header(r, "WWW-Authenticate", "Bearer");
	x->server->options.metrics->websockets_refused++;
	log_write(LOG_DEBUG, "socket", "refused", "peer", r->peer, "code", refusal.code, "reason",
		refusal.message, NULL);
	reply_error(r, refusal.code, refusal.message, NULL);
}

/* Check a request. Returns whether it is admitted; otherwise x has been answered. */
static bool admit(struct exchange *x, const struct http_head *http, struct upgrade *u)
{
	struct request *r = x->request;
	struct head *h = calloc(1, sizeof *h);
	struct refusal refusal;
	snprintf(r->peer, sizeof r->peer, "%s", u->peer);
	r->auth = AUTH_OK; /* running out of memory does not count as a failure */
	if (!h) {
		refuse(x, (struct refusal){500, "OUT_OF_MEMORY", "Out of memory"});
		return false;
	}
	snprintf(h->peer, sizeof h->peer, "%s", u->peer);
	r->auth = AUTH_MISSING;
	const char *fault = find_fault(http);
	if (fault)
		reply_header(r, "Sec-WebSocket-Version", VERSION);
	const char *problem = fault ? "VALIDATION_FAILED" : head_extract(http, NULL, h);
	if (problem) {
		refusal = (struct refusal){
			400, problem, fault ? fault : "The request's head is invalid or too large"};
	} else {
		refusal = check(x->conn, h, u, &r->auth);
	}
	head_free(h);
	free(h);
	if (refusal.status)
		refuse(x, refusal);
	return !refusal.status;
}

struct upgrade *upgrade_admit(struct conn *c, const struct http_head *http)
{
	struct upgrade *u = calloc(1, sizeof *u);
	struct exchange *x = u ? http1_exchange(c) : NULL;
	if (!x) {
		free(u);
		conn_drop(c);
		return NULL;
	}
	snprintf(u->peer, sizeof u->peer, "%s", c->peer);
	c->server->options.metrics->http_requests++;
	if (!admit(x, http, u)) {
		upgrade_free(u);
		return NULL;
	}
	c->exchange = NULL;
	exchange_free(x);
	return u;
}

void upgrade_free(struct upgrade *u)
{
	if (!u)
		return;
	if (u->tunnel)
		relay_socket_closed(u->tunnel);
	quota_release(&u->place);
	quota_release(&u->seat);
	for (size_t i = 0; i < u->params_count; i++)
		free(u->params[i]);
	free(u);
}
