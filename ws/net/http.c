/*
 * HTTP exchanges, whatever they come by: a request's head decides whether it is served, its body is
 * received, the API answers it, the answer has headers. http1.c and http2.c move the bytes.
 */
#include "ws/asset.h"
#include "ws/net/caller.h"
#include "ws/net/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#define PREFLIGHT_AGE_S "600" /* what a browser may remember */
#define DISCARD_ROOM ((size_t)32 << 10)
#define ANSWER_WITHIN_S 60 /* to be sent */

/*
 * xterm.js places its rows by style attributes, so those cannot be restricted to files. The page opens sockets to
 * whence it comes and nowhere else; nothing in it makes markup of text.
 */
static const char content_security_policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
	"font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/* What a terminal has no use for; the clipboard is for our page alone. */
static const char permissions_policy[] =
	"accelerometer=(), autoplay=(), bluetooth=(), camera=(), clipboard-read=(self), clipboard-write=(self), "
	"display-capture=(), encrypted-media=(), geolocation=(), gyroscope=(), hid=(), idle-detection=(), "
	"local-fonts=(), magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), "
	"screen-wake-lock=(), serial=(), usb=(), web-share=(), xr-spatial-tracking=()";

/* Of the host, on all of its ports; what lies below it is somebody else's. */
static const char strict_transport_security[] = "max-age=31536000";

/* A stranger's request has failed: who fails too often hears that and no more. */
static void count_failure(struct exchange *x)
{
	struct server *s = x->server;
	struct request *r = x->request;
	if (!peers_fail(&s->peers, r->peer, server_now_ms(s)))
		return;
	s->options.metrics->failures_limited++;
	x->close_after = true;
	reply_instead(r, "TOO_MANY_ATTEMPTS", "Too many requests from this address have failed");
	reply_header(r, "Retry-After", "1");
}

static void on_answered(void *user)
{
	struct exchange *x = user;
	if (x->request->auth != AUTH_OK && x->request->reply.status >= 400)
		count_failure(x);
	x->answered = true;
	x->answered_ms = server_now_ms(x->server);
	if (x->wsi)
		lws_set_timeout(x->wsi, PENDING_TIMEOUT_HTTP_CONTENT, ANSWER_WITHIN_S);
	x->carrier->wake(x);
}

static void on_streaming(void *user)
{
	struct exchange *x = user;
	stream_open(x);
	if (x->wsi)
		lws_set_timeout(x->wsi, NO_PENDING_TIMEOUT, 0);
	x->carrier->wake(x);
}

static void on_more(void *user)
{
	struct exchange *x = user;
	x->carrier->wake(x);
}

static const struct request_transport transport = {
	.answered = on_answered, .streaming = on_streaming, .more = on_more};

struct exchange *exchange_create(struct server *s, const struct exchange_carrier *carrier)
{
	struct exchange *x = calloc(1, sizeof *x);
	struct request *r = x ? request_create() : NULL;
	if (!r) {
		free(x);
		return NULL;
	}
	x->server = s;
	x->carrier = carrier;
	x->request = r;
	r->transport = &transport;
	r->transport_user = x;
	DL_APPEND(s->exchanges, x);
	return x;
}

static void give_room(struct exchange *x)
{
	bodies_give(&x->server->bodies, x->room, x->anonymous);
	quota_give(&x->place);
	x->room = 0;
}

void exchange_free(struct exchange *x)
{
	DL_DELETE(x->server->exchanges, x);
	give_room(x);
	if (x->streaming)
		stream_gone(x);
	request_abandon(x->request);
	free(x->origin);
	free(x->event);
	free(x);
}

bool exchange_is_mux(const struct exchange *x)
{
	return x->wsi != NULL;
}

int exchange_fd(const struct exchange *x)
{
	return x->carrier->fd(x);
}

void exchange_kill(struct exchange *x)
{
	x->carrier->kill(x);
}

static void dispatch(struct exchange *x)
{
	if (x->wsi)
		lws_set_timeout(x->wsi, NO_PENDING_TIMEOUT, 0);
	dispatcher_handle(x->server->options.dispatcher, x->request);
}

/* What follows the head cannot be told from a body that nobody reads, so the connection ends. */
static void fail(struct exchange *x, const char *code, const char *message)
{
	x->close_after = true;
	if (strcmp(code, "LIMIT_REACHED") == 0 || strcmp(code, "QUOTA_REACHED") == 0)
		reply_header(x->request, "Retry-After", "1");
	reply_error(x->request, code, message, NULL);
}

static void fail_body(struct exchange *x, const char *code)
{
	fail(x, code,
		strcmp(code, "LIMIT_REACHED") == 0
			? "Too many requests are being received at this moment"
			: strcmp(code, "QUOTA_REACHED") == 0
			? "Too much is being received of this link at this moment"
			: "The request's body cannot be taken");
}

static void add_page_headers(struct request *r)
{
	reply_header(r, "content-security-policy", content_security_policy);
	reply_header(r, "permissions-policy", permissions_policy);
}

/* The page's files need no credentials: there is nothing in them, and the login is one of them. */
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
	const struct asset_body *body = asset_choose(a, h->accept_encoding, &encoding);
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
 * A browser asks whether a page of a configured origin may send what it wants to send. Credentials are
 * needed for that request and not for this one. Cookies are not among them: nothing here allows
 * credentials, so such a page needs a token or a link of its own.
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

/*
 * Whether browsers shall never again come to this host without TLS. What else is served from localhost is nobody's to
 * decide here.
 */
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
	x->options = h->options;
	x->http_1_0 = h->http_1_0;
	x->close_after = h->close_after;
	r->method = h->method;
	request_hint_session(r, h->has_session ? h->session : NULL);
	snprintf(r->peer, sizeof r->peer, "%s", h->peer);
	snprintf(r->agent, sizeof r->agent, "%s", h->agent);
	r->secure = head_is_secure(x->server, arrival, h);
	r->path = h->path;
	r->mcp = h->mcp;
	h->path = NULL;
	h->mcp = NULL;
	struct refusal refusal = {0};
	r->auth = problem ? AUTH_OK
			  : AUTH_MISSING; /* what is no request is not counted as a stranger's */
	if (!problem)
		refusal = head_check(
			x->server, arrival, h, r->method != METHOD_GET, &r->principal, &r->auth);
	memcpy(r->params, h->params, sizeof r->params);
	r->params_count = h->params_count;
	h->params_count = 0;
	x->strict = !problem && !refusal.status && is_strict(r, h);
	if (problem)
		fail(x, problem, "The request's head cannot be taken");
	else if (refusal.status)
		fail(x, refusal.code, refusal.message);
	else if (h->has_origin && origin_is_configured(&x->server->origins, h->origin))
		x->origin = strdup(h->origin);
	return !problem && !refusal.status;
}

/* How long the body will be. Returns a refusal's code when that is not told properly. */
static const char *read_length(struct exchange *x, const struct head *h, size_t *ret_length)
{
	uint64_t length = 0;
	*ret_length = 0;
	if (h->has_coding)
		return h->has_length ? "VALIDATION_FAILED" : "LENGTH_REQUIRED";
	if (!h->has_length) {
		/* libwebsockets would wait for a body until the connection ends. */
		if (exchange_is_mux(x) && h->method != METHOD_GET)
			x->close_after = true;
		return NULL;
	}
	if (!params_number(h->length, INT64_MAX, &length))
		return "VALIDATION_FAILED";
	*ret_length = (size_t)length;
	return length > REQUEST_BODY_MAX ? "REQUEST_TOO_LARGE" : NULL;
}

/* Make room for a body of this length. Returns a refusal's code. */
static const char *expect_body(struct exchange *x, size_t length)
{
	struct request *r = x->request;
	x->anonymous = r->auth != AUTH_OK;
	if (x->anonymous && length > BODY_ANONYMOUS_MAX)
		return "REQUEST_TOO_LARGE";
	struct access *a = x->server->options.dispatcher->access;
	if (a && !x->anonymous &&
		!quota_take(&a->quotas, QUOTA_BODY_BYTES, (unsigned)length, &r->principal, &x->place))
		return "QUOTA_REACHED";
	if (!bodies_take(&x->server->bodies, length, x->anonymous)) {
		x->server->options.metrics->bodies_refused++;
		return "LIMIT_REACHED";
	}
	x->room = length;
	r->body = malloc(length + 1);
	return r->body ? NULL : "INTERNAL_ERROR";
}

/*
 * libwebsockets has no stream of HTTP/2 that is answered while it is sent to: there the decision waits for the end of the
 * body, of which nothing is kept where it is clear already that nobody wants it.
 */
static bool admit_stream(struct exchange *x, size_t length, const char *problem)
{
	if (length > DISCARD_MAX) {
		fail_body(x, problem);
		return false;
	}
	if (!problem)
		problem = expect_body(x, length);
	x->anonymous = x->request->auth != AUTH_OK;
	x->discard = problem != NULL;
	/* Who may send so much is no question before it is known who asks. */
	if (problem && !x->anonymous)
		x->refusal = problem;
	return true;
}

/* Whether its body is to be received: what its head decides has been decided, in this order. */
static bool admit_body(struct exchange *x, size_t length, const char *problem)
{
	if (exchange_is_mux(x))
		return admit_stream(x, length, problem);
	bool asked = dispatcher_admit(x->server->options.dispatcher, x->request);
	if (asked && !problem)
		problem = expect_body(x, length);
	if (asked && problem)
		fail_body(x, problem);
	return asked && !problem;
}

static void decide(struct exchange *x, const struct head *h)
{
	size_t length;
	const char *problem = read_length(x, h, &length);
	x->body_size = length;
	x->body_since_ms = server_now_ms(x->server);
	if (length > 0) {
		x->wants_body = admit_body(x, length, problem);
		if (!x->wants_body) {
			/* HTTP/1.1 sends the answer, and reads over a short body or ends the connection. */
			give_room(x);
			x->unread = length;
		}
	} else if (problem) {
		fail_body(x, problem);
	} else if (x->options && x->origin) {
		x->close_after = h->close_after;
		answer_preflight(x);
	} else if (exchange_is_mux(x) && h->has_length && x->request->method == METHOD_POST) {
		/* libwebsockets calls back for the end of a body of zero bytes. */
		x->wants_body = true;
	} else if (!serve_asset(x, h)) {
		dispatch(x);
	}
}

/* Whoever asks, it is no stranger. Returns whether they may have another connection. */
static bool know_peer(struct exchange *x)
{
	if (x->caller)
		return caller_known(x->caller, &x->request->principal);
	connection_known(x->server, x->wsi);
	return true;
}

void exchange_begin(
	struct exchange *x, struct head *h, const struct arrival *arrival, const char *problem)
{
	bool served = admit(x, h, arrival, problem);
	bool place = !served || x->request->auth != AUTH_OK || know_peer(x);
	if (!place)
		fail(x, "QUOTA_REACHED", "This link has as many connections as it may");
	else if (served)
		decide(x, h);
	head_free(h);
}

char *exchange_body_room(struct exchange *x, size_t *ret_room)
{
	size_t left = x->body_size - x->body_got;
	if (!x->discard) {
		*ret_room = left;
		return x->request->body + x->body_got;
	}
	*ret_room = left < DISCARD_ROOM ? left : DISCARD_ROOM;
	return (char *)x->server->scratch;
}

bool exchange_body_add(struct exchange *x, size_t length)
{
	struct request *r = x->request;
	x->body_got += length;
	if (x->body_got < x->body_size)
		return false;
	x->wants_body = false;
	if (!x->discard && r->body) {
		r->body_length = x->body_size;
		r->body[r->body_length] = '\0';
	}
	give_room(x);
	if (x->refusal)
		fail_body(x, x->refusal);
	else
		dispatch(x);
	return true;
}

bool exchange_is_slow(const struct exchange *x)
{
	uint64_t ms = server_now_ms(x->server) - x->body_since_ms;
	uint64_t grace_ms = (uint64_t)x->server->options.header_timeout_s * 1000;
	return x->wants_body && (ms > BODY_WITHIN_MS || bodies_is_slow(ms, grace_ms, x->body_got));
}

/* What pages of other origins may do with the answer: those that are configured may read it. */
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

bool exchange_headers(const struct exchange *x, exchange_add_header add, void *user)
{
	const struct reply *reply = &x->request->reply;
	const char *type = x->streaming ? "text/event-stream" : reply->content_type;
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
	return good;
}

int exchange_status(const struct exchange *x)
{
	return x->streaming ? 200 : x->request->reply.status;
}

bool exchange_tells_length(const struct exchange *x)
{
	int status = exchange_status(x);
	return !x->streaming && status != 204 && status != 304;
}

size_t exchange_length(const struct exchange *x)
{
	return x->head_only ? 0 : x->request->reply.length;
}
