/* HTTP exchanges: a request comes in pieces, the API answers it, the answer goes out in pieces. */
#include "ws/asset.h"
#include "ws/error.h"
#include "ws/log.h"
#include "ws/net/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define HEADER_MAX 8192u
#define PREFLIGHT_AGE_S "600" /* what a browser may remember */
#define DISCARD_MAX ((size_t)16 << 20)
#define PIECE_MAX ((size_t)32 << 10)
#define H2_PIECE_MAX \
	((size_t)16000) /* one frame is at most 16 KiB, and libwebsockets does not split */

/* xterm.js places its rows by style attributes, so those cannot be restricted to files. */
static const char content_security_policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
	"font-src 'self'; connect-src 'self' ws: wss:; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'";

static void on_answered(void *user)
{
	struct exchange *x = user;
	x->answered = true;
	lws_set_timeout(x->wsi, PENDING_TIMEOUT_HTTP_CONTENT, 60);
	lws_callback_on_writable(x->wsi);
}

static void on_streaming(void *user)
{
	struct exchange *x = user;
	stream_open(x);
	lws_set_timeout(x->wsi, NO_PENDING_TIMEOUT, 0);
	lws_callback_on_writable(x->wsi);
}

static void on_more(void *user)
{
	struct exchange *x = user;
	lws_callback_on_writable(x->wsi);
}

static const struct request_transport transport = {
	.answered = on_answered, .streaming = on_streaming, .more = on_more};

void http_gone(struct connection *c)
{
	struct exchange *x = c->exchange;
	if (!x)
		return;
	c->exchange = NULL;
	DL_DELETE(x->server->exchanges, x);
	if (x->streaming)
		stream_gone(x);
	request_abandon(x->request);
	free(x->origin);
	free(x->event);
	free(x);
}

/* The method, from the tables of libwebsockets; HEAD is served like GET without the body. */
static enum method read_method(struct lws *wsi, bool *ret_head, bool *ret_options)
{
	char *uri;
	int length;
	int index = lws_http_get_uri_and_method(wsi, &uri, &length);
	*ret_head = index == LWSHUMETH_HEAD;
	*ret_options = index == LWSHUMETH_OPTIONS;
	switch (index) {
	case LWSHUMETH_GET:
	case LWSHUMETH_HEAD:
		return METHOD_GET;
	case LWSHUMETH_POST:
		return METHOD_POST;
	case LWSHUMETH_PUT:
		return METHOD_PUT;
	case LWSHUMETH_DELETE:
		return METHOD_DELETE;
	case LWSHUMETH_COLON_PATH: {
		/* HTTP/2: the method is a header of its own. */
		char method[16] = "";
		lws_hdr_copy(wsi, method, sizeof method, WSI_TOKEN_HTTP_COLON_METHOD);
		*ret_head = strcmp(method, "HEAD") == 0;
		*ret_options = strcmp(method, "OPTIONS") == 0;
		return *ret_head ? METHOD_GET : method_parse(method);
	}
	default:
		return METHOD_OTHER;
	}
}

/* How long the body will be. Returns a refusal's code when that is not told properly. */
static const char *read_length(
	struct lws *wsi, enum method method, size_t *ret_length, bool *ret_close)
{
	char text[32];
	uint64_t length = 0;
	*ret_length = 0;
	if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING) > 0)
		return "LENGTH_REQUIRED";
	if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) <= 0) {
		/* libwebsockets would wait for a body until the connection ends. */
		*ret_close = method != METHOD_GET;
		return NULL;
	}
	if (lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, 1) > 0 ||
		lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_CONTENT_LENGTH) < 0 ||
		!params_number(text, INT64_MAX, &length))
		return "VALIDATION_FAILED";
	*ret_length = (size_t)length;
	return length > REQUEST_BODY_MAX ? "REQUEST_TOO_LARGE" : NULL;
}

/* Whether the request came by HTTP/1.0, which knows no chunks. */
static bool is_http_1_0(struct lws *wsi)
{
	char version[16];
	return lws_hdr_copy(wsi, version, sizeof version, WSI_TOKEN_HTTP) > 0 &&
		strstr(version, "1.0") != NULL;
}

static void dispatch(struct exchange *x)
{
	struct request *r = x->request;
	lws_set_timeout(x->wsi, NO_PENDING_TIMEOUT, 0);
	api_handle(x->server->options.api, r);
}

static int fail(struct exchange *x, const char *code, const char *message)
{
	x->close_after = true;
	reply_error(x->request, code, message, NULL);
	return 0;
}

/* The page's files need no credentials: there is nothing in them, and the login is one of them. */
static bool serve_asset(struct exchange *x)
{
	struct request *r = x->request;
	char match[128];
	struct route_match m;
	route_parse(r->method, r->path, &m);
	if (m.route != ROUTE_PAGE)
		return false;
	const struct asset *a = asset_find(r->path);
	if (!a)
		return false;
	x->asset = a;
	x->server->options.metrics->http_requests++;
	char accept[256] = "";
	const char *encoding;
	lws_hdr_copy(x->wsi, accept, sizeof accept, WSI_TOKEN_HTTP_ACCEPT_ENCODING);
	lws_hdr_copy(x->wsi, match, sizeof match, WSI_TOKEN_HTTP_IF_NONE_MATCH);
	const struct asset_body *body = asset_choose(a, accept, &encoding);
	bool fresh = lws_hdr_total_length(x->wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH) > 0 &&
		strcmp(match, a->etag) == 0;
	reply_header(r, "etag", a->etag);
	reply_header(r, "vary",
		x->server->origins.origins_count > 0 ? "accept-encoding, origin"
						     : "accept-encoding");
	reply_header(r, "cache-control",
		a->immutable ? "public, max-age=31536000, immutable" : "no-cache");
	if (encoding && !fresh)
		reply_header(r, "content-encoding", encoding);
	if (strncmp(a->content_type, "text/html", 9) == 0)
		reply_header(r, "content-security-policy", content_security_policy);
	reply_bytes(r, fresh ? 304 : 200, a->content_type, (const char *)body->data,
		fresh ? 0 : body->length, NULL);
	return true;
}

/* Fill the request from the head and decide whether it is served. Returns whether it goes on. */
static bool begin(struct exchange *x, struct head *h, const char *path)
{
	struct request *r = x->request;
	const char *problem = head_read(x->wsi, h);
	request_hint_session(r, h->has_session ? h->session : NULL);
	r->path = strdup(path);
	if (strcmp(path, "/mcp") == 0)
		r->mcp = head_read_mcp(x->wsi);
	snprintf(r->peer, sizeof r->peer, "%s", h->peer);
	for (; r->params_count < h->params_count; r->params_count++) {
		r->params[r->params_count] = h->params[r->params_count];
		h->params[r->params_count] = NULL;
	}
	if (problem || !r->path) {
		fail(x, problem ? problem : "INTERNAL_ERROR",
			"The request's headers cannot be taken");
		return false;
	}
	/* `link` has moved to the request with the other parameters. */
	struct head view = *h;
	memcpy(view.params, r->params, sizeof view.params);
	struct refusal refusal = head_check(
		x->server, x->wsi, &view, r->method != METHOD_GET, &r->principal, &r->auth);
	if (refusal.status) {
		fail(x, refusal.code, refusal.message);
		return false;
	}
	if (h->has_origin && origin_is_configured(&x->server->origins, h->origin))
		x->origin = strdup(h->origin);
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
	route_methods(r->path, methods);
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

int http_request(struct server *s, struct lws *wsi, struct connection *c, const char *path)
{
	size_t length;
	struct head h;
	http_gone(c);
	struct exchange *x = calloc(1, sizeof *x);
	struct request *r = x ? request_create() : NULL;
	if (!r) {
		free(x);
		return -1;
	}
	x->server = s;
	DL_APPEND(s->exchanges, x);
	x->wsi = wsi;
	x->request = r;
	r->transport = &transport;
	r->transport_user = x;
	r->method = read_method(wsi, &x->head_only, &x->options);
	x->http_1_0 = is_http_1_0(wsi);
	c->exchange = x;
	server_mark_served(wsi);
	bool go_on = begin(x, &h, path);
	head_free(&h);
	if (!go_on)
		return 0;
	const char *problem = read_length(wsi, r->method, &length, &x->close_after);
	/* Closing while the client still sends would reset the connection, and the answer with it. */
	x->discard = length > REQUEST_BODY_MAX && length <= DISCARD_MAX;
	if (problem && !x->discard)
		return fail(x, problem, "The request's body cannot be taken");
	if (x->discard) {
		x->wants_body = true;
		return 0;
	}
	if (x->options && x->origin && length == 0) {
		x->close_after = false;
		answer_preflight(x);
		return 0;
	}
	if (length > 0) {
		r->body = malloc(length + 1);
		x->body_size = length;
		x->wants_body = r->body != NULL;
		return r->body ? 0 : fail(x, "INTERNAL_ERROR", "Out of memory");
	}
	/* An explicit length of zero is followed by the callback for the body's end. */
	if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0 && r->method == METHOD_POST)
		x->wants_body = true;
	else if (!serve_asset(x))
		dispatch(x);
	return 0;
}

int http_body(struct server *s, struct connection *c, const void *bytes, size_t length)
{
	struct exchange *x = c->exchange;
	(void)s;
	if (!x || !x->wants_body || x->discard || length == 0)
		return 0;
	struct request *r = x->request;
	if (r->body_length + length > x->body_size)
		return -1;
	memcpy(r->body + r->body_length, bytes, length);
	r->body_length += length;
	r->body[r->body_length] = '\0';
	return 0;
}

int http_body_done(struct server *s, struct connection *c)
{
	struct exchange *x = c->exchange;
	(void)s;
	if (!x || !x->wants_body)
		return 0;
	x->wants_body = false;
	if (x->discard)
		return fail(x, "REQUEST_TOO_LARGE", "The request's body is too large");
	dispatch(x);
	return 0;
}

static bool add(
	struct lws *wsi, const char *name, const char *value, unsigned char **p, unsigned char *end)
{
	char with_colon[64];
	size_t i;
	for (i = 0; name[i] && i < sizeof with_colon - 2; i++)
		with_colon[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
	with_colon[i++] = ':';
	with_colon[i] = '\0';
	return lws_add_http_header_by_name(wsi, (const unsigned char *)with_colon,
		       (const unsigned char *)value, (int)strlen(value), p, end) == 0;
}

bool exchange_is_mux(const struct exchange *x)
{
	return lws_get_network_wsi(x->wsi) != x->wsi;
}

/* What pages of other origins may do with the answer: those that are configured may read it. */
static bool add_origin(struct exchange *x, unsigned char **p, unsigned char *end)
{
	struct lws *wsi = x->wsi;
	bool good = add(wsi, "cross-origin-resource-policy",
		x->origin ? "cross-origin" : "same-origin", p, end);
	if (good && x->origin)
		good = add(wsi, "access-control-allow-origin", x->origin, p, end) &&
			add(wsi, "access-control-expose-headers", "*", p, end);
	if (good && !x->asset && x->server->origins.origins_count > 0)
		good = add(wsi, "vary", "origin", p, end);
	return good;
}

static bool send_head(struct exchange *x)
{
	unsigned char buffer[LWS_PRE + HEADER_MAX];
	unsigned char *start = buffer + LWS_PRE, *p = start, *end = buffer + sizeof buffer;
	const struct reply *reply = &x->request->reply;
	int status = x->streaming ? 200 : reply->status;
	const char *type = x->streaming ? "text/event-stream" : reply->content_type;
	bool good = lws_add_http_header_status(x->wsi, (unsigned)status, &p, end) == 0 &&
		(!type || add(x->wsi, "content-type", type, &p, end)) &&
		add(x->wsi, "x-content-type-options", "nosniff", &p, end) &&
		add(x->wsi, "referrer-policy", "no-referrer", &p, end) && add_origin(x, &p, end);
	if (good && !x->asset)
		good = add(x->wsi, "cache-control", "no-store", &p, end);
	for (size_t i = 0; good && i < reply->headers_count; i++)
		good = add(x->wsi, reply->headers[i].name, reply->headers[i].value, &p, end);
	if (good && !x->streaming && status != 204)
		good = lws_add_http_header_content_length(x->wsi, reply->length, &p, end) == 0;
	bool mux = exchange_is_mux(x);
	if (good && x->streaming && !mux && !x->http_1_0)
		good = add(x->wsi, "transfer-encoding", "chunked", &p, end);
	if (good && (x->close_after || x->streaming) && !mux)
		good = add(x->wsi, "connection", "close", &p, end);
	if (!good || lws_finalize_write_http_header(x->wsi, start, &p, end))
		return false;
	if (status >= 400)
		x->server->options.metrics->http_errors++;
	x->head_sent = true;
	return true;
}

int exchange_finish(struct lws *wsi, struct connection *c)
{
	bool close_after = c->exchange->close_after;
	http_gone(c);
	if (close_after)
		return -1;
	return lws_http_transaction_completed(wsi) ? -1 : 0;
}

/* How much may be written in one go. */
static size_t piece_size(const struct exchange *x, size_t left)
{
	bool mux = exchange_is_mux(x);
	size_t most = mux ? H2_PIECE_MAX : PIECE_MAX;
	size_t size = left < most ? left : most;
	lws_fileofs_t allowance = lws_get_peer_write_allowance(x->wsi);
	if (mux && allowance >= 0 && (size_t)allowance < size)
		size = (size_t)allowance;
	return size;
}

long exchange_send(struct exchange *x, const char *bytes, size_t length, bool final)
{
	uint8_t *payload = x->server->scratch + LWS_PRE;
	size_t size = piece_size(x, length);
	if (size == 0 && length > 0)
		return 0;
	memcpy(payload, bytes, size);
	enum lws_write_protocol kind = final && size == length ? LWS_WRITE_HTTP_FINAL
							       : LWS_WRITE_HTTP;
	return lws_write(x->wsi, payload, size, kind) < (int)size ? -1 : (long)size;
}

static size_t body_length(const struct exchange *x)
{
	return x->head_only ? 0 : x->request->reply.length;
}

static int send_body(struct exchange *x, struct connection *c)
{
	const struct reply *reply = &x->request->reply;
	size_t length = body_length(x);
	long n = exchange_send(x, reply->body + x->sent, length - x->sent, true);
	if (n < 0)
		return -1;
	x->sent += (size_t)n;
	if (x->sent == length)
		return exchange_finish(x->wsi, c);
	lws_callback_on_writable(x->wsi);
	return 0;
}

int http_writable(struct server *s, struct lws *wsi, struct connection *c)
{
	struct exchange *x = c->exchange;
	(void)s;
	if (!x || (!x->answered && !x->streaming))
		return 0;
	if (!x->head_sent) {
		if (!send_head(x))
			return -1;
		/* A stream of HTTP/2 has an end to be told even so. */
		if (!x->streaming && body_length(x) == 0 && !exchange_is_mux(x))
			return exchange_finish(wsi, c);
		lws_callback_on_writable(wsi);
		return 0;
	}
	return x->streaming ? stream_send(x, c) : send_body(x, c);
}
