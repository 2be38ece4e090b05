/* HTTP exchanges: decides about requests by their heads, dispatches them, and makes the headers of answers. */
#include "ws/asset.h"
#include "ws/net/conn.h"
#include "ws/net/exchange.h"
#include "ws/net/upgrade.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#define PREFLIGHT_AGE_S "600" /* Access-Control-Max-Age */

/* xterm.js positions its rows by style attributes, so style-src-attr needs 'unsafe-inline'. */
static const char content_security_policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
	"font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/* All off but the clipboard, for our page. */
static const char permissions_policy[] =
	"accelerometer=(), autoplay=(), bluetooth=(), camera=(), clipboard-read=(self), clipboard-write=(self), "
	"display-capture=(), encrypted-media=(), geolocation=(), gyroscope=(), hid=(), idle-detection=(), "
	"local-fonts=(), magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), "
	"screen-wake-lock=(), serial=(), usb=(), web-share=(), xr-spatial-tracking=()";

/* For all ports of the host, without its subdomains, which may not be ours. */
static const char strict_transport_security[] = "max-age=31536000";

/* A request without credentials has failed. After too many from its address the answer is 429 and a close. */
static void count_failure(struct exchange *x)
{
	struct server *s = x->server;
	struct request *r = x->request;
	if (!peers_count_failure(&s->peers, r->peer, server_now_ms(s)))
		return;
	s->options.metrics->failures_limited++;
	x->close_after = true;
	x->upgrade = false;
	reply_replace(r, "TOO_MANY_ATTEMPTS", "Too many requests from this address have failed");
	reply_header(r, "Retry-After", "1");
}

/* An upload is answered before its end: stop reading, and close after the answer. */
static void leave_body(struct exchange *x)
{
	if (x->wants_body && exchange_body_is_upload(x)) {
		x->wants_body = false;
		x->close_after = true;
	}
}

static void on_answered(void *user)
{
	struct exchange *x = user;
	leave_body(x);
	if (x->request->auth != AUTH_OK && x->request->reply.status >= 400)
		count_failure(x);
	exchange_move(x, EXCHANGE_ANSWERED);
	conn_wake(x->conn);
}

static void on_streaming(void *user)
{
	struct exchange *x = user;
	leave_body(x);
	exchange_move(x, EXCHANGE_STREAMING);
	conn_wake(x->conn);
}

static void on_more(void *user)
{
	struct exchange *x = user;
	conn_wake(x->conn);
}

static void on_downloading(void *user)
{
	struct exchange *x = user;
	leave_body(x);
	exchange_move(x, EXCHANGE_DOWNLOADING);
	x->pulled_ms = x->since_ms;
	conn_wake(x->conn);
}

static const struct request_transport transport = {.answered = on_answered,
	.streaming = on_streaming,
	.more = on_more,
	.downloading = on_downloading,
	.uploading = on_more};

struct exchange *exchange_of(const struct request *r)
{
	return r->transport == &transport ? r->transport_user : NULL;
}

struct exchange *exchange_create(struct conn *c)
{
	struct exchange *x = calloc(1, sizeof *x);
	struct request *r = x ? request_create() : NULL;
	if (!r) {
		free(x);
		return NULL;
	}
	x->server = c->server;
	x->conn = c;
	x->request = r;
	r->transport = &transport;
	r->transport_user = x;
	DL_APPEND(c->server->exchanges, x);
	c->exchange = x;
	return x;
}

void exchange_free(struct exchange *x)
{
	DL_DELETE(x->server->exchanges, x);
	exchange_body_release(x);
	x->server->options.metrics->streams -= x->state == EXCHANGE_STREAMING;
	request_abandon(x->request);
	free(x->head);
	free(x->origin);
	free(x->event);
	free(x);
}

void exchange_move(struct exchange *x, enum exchange_state state)
{
	static const bool allowed[EXCHANGE_STATES][EXCHANGE_STATES] = {
		[EXCHANGE_PENDING] = {[EXCHANGE_ANSWERED] = true,
			[EXCHANGE_STREAMING] = true,
			[EXCHANGE_DOWNLOADING] = true},
		[EXCHANGE_STREAMING] = {[EXCHANGE_OVER] = true},
		[EXCHANGE_DOWNLOADING] = {[EXCHANGE_OVER] = true},
	};
	assert(allowed[x->state][state]);
	x->server->options.metrics->streams += state == EXCHANGE_STREAMING;
	x->server->options.metrics->streams -= x->state == EXCHANGE_STREAMING;
	x->state = state;
	x->since_ms = server_now_ms(x->server);
	free(x->head);
	x->head = NULL;
}

void exchange_dispatch(struct exchange *x)
{
	dispatcher_handle(x->server->options.dispatcher, x->request);
}

/* Answer with an error and close, because an unread body may follow the head. */
static void fail(struct exchange *x, const char *code, const char *message)
{
	x->close_after = true;
	if (strcmp(code, "LIMIT_REACHED") == 0 || strcmp(code, "QUOTA_REACHED") == 0)
		reply_header(x->request, "Retry-After", "1");
	reply_error(x->request, code, message, NULL);
}

/* The message of an error code. */
static const char *refusal_text(const char *code)
{
	static const struct {
		const char *code, *text;
	} texts[] = {{"LIMIT_REACHED", "Too many request bodies are being received: try again"},
		{"QUOTA_REACHED",
			"Too many bytes of request bodies are being received for this link"},
		{"EXPECTATION_FAILED", "Invalid Expect: only 100-continue is supported"},
		{"UNSUPPORTED_MEDIA_TYPE",
			"Content-Encoding is not supported: send the body without it"},
		{"NOT_IMPLEMENTED", "Invalid Transfer-Encoding: only chunked is supported"},
		{"REQUEST_TOO_LARGE", "The request's body is too large"},
		{"REQUEST_TIMEOUT", "The request's body did not arrive in time"},
		{"VALIDATION_FAILED",
			"Invalid Content-Length, Transfer-Encoding or chunk of the request's body"}};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(texts[i].code, code) == 0)
			return texts[i].text;
	return "The request's body cannot be received";
}

void exchange_refuse_body(struct exchange *x, const char *code)
{
	if (strcmp(code, "UNSUPPORTED_MEDIA_TYPE") == 0)
		reply_header(x->request, "accept-encoding", "identity"); /* RFC 9110 12.5.3 */
	fail(x, code, refusal_text(code));
}

static void add_page_headers(struct request *r)
{
	reply_header(r, "content-security-policy", content_security_policy);
	reply_header(r, "permissions-policy", permissions_policy);
}

/* Serve a file of the page. They need no credentials: they contain no secrets, and the login is one of them. */
static bool serve_asset(struct exchange *x, const struct head *h)
{
	struct request *r = x->request;
	struct route_match m;
	route_parse(&x->server->options.dispatcher->routes, r->method, r->path, &m);
	if (m.result != ROUTE_PAGE)
		return false;
	const struct asset *a = asset_find(r->path);
	if (!a)
		return false;
	x->asset = a;
	x->server->options.metrics->http_requests++;
	const char *encoding;
	const struct asset_body *body = asset_choose_encoding(a, h->accept_encoding, &encoding);
	bool fresh = h->has_match && strcmp(h->if_none_match, a->etag) == 0;
	reply_header(r, "etag", a->etag);
	reply_header(r, "vary",
		x->server->origins.origins_count > 0 ? "accept-encoding, origin"
						     : "accept-encoding");
	reply_header(r, "cache-control",
		a->immutable ? "public, max-age=31536000, immutable" : "no-cache");
	if (encoding && !fresh)
		reply_header(r, "content-encoding", encoding);
	if (strncmp(a->content_type, "text/html", 9) == 0)
		add_page_headers(r);
	reply_bytes(r, fresh ? 304 : 200, a->content_type, (const char *)body->data,
		fresh ? 0 : body->length, NULL);
	return true;
}

/*
 * Answer a CORS preflight of a configured origin. It comes without credentials. Access-Control-Allow-Credentials is not sent,
 * so cookies do not work: such a page needs a token or a link.
 */
static void answer_preflight(struct exchange *x)
{
	struct request *r = x->request;
	char methods[ROUTE_METHODS_SIZE];
	route_methods(&x->server->options.dispatcher->routes, r->path, methods);
	if (!methods[0]) {
		reply_error(r, "UNKNOWN_ERROR", "The requested endpoint was not found", NULL);
		return;
	}
	x->server->options.metrics->http_requests++;
	reply_header(r, "access-control-allow-methods", methods);
	reply_header(r, "access-control-allow-headers",
		"Content-Type, Authorization, X-Session-Id, X-Sandbox-Id, X-Trace-Id, "
		"MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID");
	reply_header(r, "access-control-max-age", PREFLIGHT_AGE_S);
	reply_bytes(r, 204, NULL, "", 0, NULL);
}

/* Whether to send Strict-Transport-Security. Not for localhost, where other servers may have no TLS. */
static bool is_strict(const struct request *r, const struct head *h)
{
	size_t length = strcspn(h->host, ":");
	bool loopback = length >= 9 && strncasecmp(h->host + length - 9, "localhost", 9) == 0;
	return r->secure && h->has_host && !loopback;
}

/* Fill the request from the head and decide whether it is served. Returns whether it goes on. */
static bool admit(
	struct exchange *x, struct head *h, const struct arrival *arrival, const char *problem)
{
	struct request *r = x->request;
	x->head_only = h->head_only;
	x->http_1_0 = h->http_1_0;
	x->close_after = h->close_after;
	r->method = h->method;
	request_set_session_header(r, h->has_session ? h->session : NULL);
	snprintf(r->agent, sizeof r->agent, "%s", h->agent);
	snprintf(r->node, sizeof r->node, "%s", h->node);
	r->accepts_events = h->accepts_events;
	r->accepts_page = h->accepts_page;
	r->page_link = "/";
	r->accepts_tar = h->accepts_tar;
	r->sends_tar = head_is_tar(h);
	r->has_headers = true;
	memcpy(r->headers, h->headers, sizeof r->headers);
	memset(h->headers, 0, sizeof h->headers);
	r->path = h->path;
	h->path = NULL;
	struct refusal refusal = {0};
	r->auth = problem ? AUTH_OK : AUTH_MISSING; /* an invalid head does not count as a failure */
	if (!problem)
		refusal = head_check(
			x->server, arrival, h, r->method != METHOD_GET, &r->principal, &r->auth);
	snprintf(r->peer, sizeof r->peer, "%s", h->peer);
	r->secure = head_is_secure(x->server, arrival, h);
	r->caller = h->caller.client;
	memcpy(r->params, h->params, sizeof r->params);
	r->params_count = h->params_count;
	h->params_count = 0;
	x->strict = !problem && !refusal.status && is_strict(r, h);
	if (problem)
		fail(x, problem, "The request's head is invalid or too large");
	else if (refusal.status)
		fail(x, refusal.code, refusal.message);
	else if (h->has_origin && origin_is_configured(&x->server->origins, h->origin))
		x->origin = strdup(h->origin);
	return !problem && !refusal.status;
}

/* Read Content-Length and Transfer-Encoding. Returns NULL, or an error code. */
static const char *read_length(struct exchange *x, const struct head *h, size_t *ret_length)
{
	uint64_t length = 0;
	*ret_length = 0;
	x->in_chunks = h->coding == HTTP_CODING_CHUNKED;
	if (h->coding == HTTP_CODING_INVALID || (h->coding != HTTP_CODING_NONE && h->has_length))
		return "VALIDATION_FAILED";
	if (h->coding == HTTP_CODING_UNKNOWN)
		return "NOT_IMPLEMENTED";
	if (!h->has_length)
		return NULL;
	if (!params_number(h->length, INT64_MAX, &length))
		return "VALIDATION_FAILED";
	*ret_length = (size_t)length;
	return NULL;
}

/* Check the headers about the body. Returns NULL, or an error code. */
static const char *check_body(const struct head *h)
{
	return h->expects_unknown ? "EXPECTATION_FAILED"
		: h->is_encoded   ? "UNSUPPORTED_MEDIA_TYPE"
				  : NULL;
}

/* The handler consumes the body while it comes. Returns NULL, or an error code. */
static const char *begin_upload(struct exchange *x, const struct route_row *row, size_t length)
{
	struct upload *u = &x->request->upload;
	if (row->upload_max > 0 && length > row->upload_max)
		return "REQUEST_TOO_LARGE";
	u->live = true;
	u->length = x->in_chunks ? UPLOAD_UNKNOWN : length;
	return NULL;
}

/* Check the request, then its body. Returns whether the body is received; otherwise it is answered. */
static bool admit_body(struct exchange *x, size_t length, const char *problem)
{
	if (!dispatcher_admit(x->server->options.dispatcher, x->request))
		return false;
	const struct route_row *row = x->request->match.row;
	if (!problem && row->upload)
		problem = begin_upload(x, row, length);
	else if (!problem)
		problem = length > request_body_max(x->request) ? "REQUEST_TOO_LARGE"
								: exchange_body_reserve(x, length);
	if (problem)
		exchange_refuse_body(x, problem);
	return !problem;
}

/* The request has a body: receive it, or answer without. */
static void decide_body(struct exchange *x, const struct head *h, size_t length)
{
	x->body_size = length;
	x->body_since_ms = server_now_ms(x->server);
	x->wants_body = admit_body(x, length, check_body(h));
	if (!x->wants_body) {
		/* http1.c skips a short body, or closes after the answer. */
		exchange_body_release(x);
		x->unread = length;
		x->close_after |= x->in_chunks; /* chunks are not skipped */
	} else if (exchange_body_is_upload(x)) {
		exchange_dispatch(x);
	}
}

/* A WebSocket's path without the handshake: RFC 9110 15.5.22. */
static void require_upgrade(struct exchange *x)
{
	struct request *r = x->request;
	x->server->options.metrics->http_requests++;
	if (r->method != METHOD_GET) {
		reply_header(r, "allow", "GET");
		fail(x, "METHOD_NOT_ALLOWED", "The endpoint does not support this method");
		return;
	}
	x->upgrade = true;
	reply_header(r, "upgrade", "websocket");
	reply_error(r, "UPGRADE_REQUIRED", "This address is for WebSockets", NULL);
}

static void decide(struct exchange *x, const struct head *h)
{
	size_t length;
	const char *problem = read_length(x, h, &length);
	if (!problem && upgrade_is_path(x->request->path) && !(h->options && x->origin)) {
		x->close_after |= length > 0 || x->in_chunks;
		require_upgrade(x);
	} else if (!problem && (length > 0 || x->in_chunks)) {
		decide_body(x, h, length);
	} else if (problem || h->expects_unknown) {
		exchange_refuse_body(x, problem ? problem : "EXPECTATION_FAILED");
	} else if (h->options && x->origin) {
		x->close_after = h->close_after;
		answer_preflight(x);
	} else if (!serve_asset(x, h)) {
		exchange_dispatch(x);
	}
}

/* Count the connection for its principal. Returns false if that is over its quota; then it is answered. */
static bool acquire_place(struct exchange *x, bool served)
{
	if (!served || x->request->auth != AUTH_OK ||
		conn_set_principal(x->conn, &x->request->principal))
		return true;
	fail(x, "QUOTA_REACHED", "This link has reached its limit of connections");
	return false;
}

void exchange_begin(
	struct exchange *x, struct head *h, const struct arrival *arrival, const char *problem)
{
	bool served = admit(x, h, arrival, problem);
	if (acquire_place(x, served) && served)
		decide(x, h);
	head_free(h);
}

bool exchange_admit(
	struct exchange *x, struct head *h, const struct arrival *arrival, const char *problem)
{
	bool served = admit(x, h, arrival, problem);
	bool place = acquire_place(x, served);
	head_free(h);
	x->close_after = true;
	/* The program decides about methods; the permission is the same for all. */
	x->request->method = METHOD_GET;
	if (!served || !place || !dispatcher_admit(x->server->options.dispatcher, x->request))
		return false;
	/* Its rights are not known here, and ports are of one machine. */
	return !x->request->principal.node[0] ||
		reply_error(x->request, "PERMISSION_DENIED",
			"This link is for a session of another node", NULL);
}

/* Add the headers by which pages of configured origins can read the answer. */
static bool add_origin(const struct exchange *x, exchange_add_header add, void *user)
{
	bool good = add(
		user, "cross-origin-resource-policy", x->origin ? "cross-origin" : "same-origin");
	if (good && x->origin)
		good = add(user, "access-control-allow-origin", x->origin) &&
			add(user, "access-control-expose-headers", "*");
	if (good && !x->asset && x->server->origins.origins_count > 0)
		good = add(user, "vary", "origin");
	return good;
}

/* Whether another node has given the answer. */
static bool names_node(const struct reply *reply)
{
	for (size_t i = 0; i < reply->headers_count; i++)
		if (strcmp(reply->headers[i].name, "Ringside-Node") == 0)
			return true;
	return false;
}

bool exchange_headers(const struct exchange *x, exchange_add_header add, void *user)
{
	const struct reply *reply = &x->request->reply;
	const char *type = x->state == EXCHANGE_STREAMING ? "text/event-stream"
							  : reply->content_type;
	bool good = (!type || add(user, "content-type", type)) &&
		add(user, "x-content-type-options", "nosniff") &&
		add(user, "referrer-policy", "no-referrer") &&
		add(user, "cross-origin-opener-policy", "same-origin") && add_origin(x, add, user);
	if (good && x->strict)
		good = add(user, "strict-transport-security", strict_transport_security);
	if (good && !x->asset)
		good = add(user, "cache-control", "no-store");
	for (size_t i = 0; good && i < reply->headers_count; i++)
		good = add(user, reply->headers[i].name, reply->headers[i].value);
	const char *node = x->server->options.auth->node;
	if (good && *node && !names_node(reply))
		good = add(user, "ringside-node", node);
	return good;
}

int exchange_status(const struct exchange *x)
{
	return x->state == EXCHANGE_STREAMING ? 200 : x->request->reply.status;
}

bool exchange_is_endless(const struct exchange *x)
{
	return x->state == EXCHANGE_STREAMING ||
		(x->state == EXCHANGE_DOWNLOADING && x->request->download.length == DOWNLOAD_UNKNOWN);
}

bool exchange_has_length(const struct exchange *x)
{
	int status = exchange_status(x);
	return !exchange_is_endless(x) && status != 204 && status != 304;
}

uint64_t exchange_content_length(const struct exchange *x)
{
	return x->state == EXCHANGE_DOWNLOADING ? x->request->download.length
						: x->request->reply.length;
}

size_t exchange_length(const struct exchange *x)
{
	return x->head_only ? 0 : x->request->reply.length;
}
