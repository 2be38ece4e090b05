/* HTTP exchanges: a request comes in pieces, the API answers it, the answer goes out in pieces. */
#include "ws/asset.h"
#include "ws/error.h"
#include "ws/log.h"
#include "ws/net/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_MAX 8192u
#define DISCARD_MAX ((size_t)16 << 20)
#define PIECE_MAX ((size_t)32 << 10)
#define H2_PIECE_MAX \
	((size_t)16000) /* one frame is at most 16 KiB, and libwebsockets does not split */

/* xterm.js places its rows by style attributes, so those cannot be restricted to files. */
static const char content_security_policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
	"font-src 'self'; connect-src 'self' ws: wss:; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'";

struct exchange {
	struct server *server;
	struct lws *wsi;
	struct request *request; /* our reference */
	bool wants_body;
	size_t body_size; /* bytes of body that were announced and have room */
	bool discard; /* the body is too large: it is read, for the client's sake, and refused */
	bool close_after; /* the connection cannot be used again */
	bool head_only;   /* HEAD */
	bool answered, streaming;
	bool head_sent;
	size_t sent; /* of the body */
	char *event; /* being sent, with LWS_PRE in front */
	size_t event_length;
	const struct asset *asset; /* instead of a reply */
};

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
	x->streaming = true;
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
	request_abandon(x->request);
	free(x->event);
	free(x);
}

/* The method, from the tables of libwebsockets; HEAD is served like GET without the body. */
static enum method read_method(struct lws *wsi, bool *ret_head)
{
	char *uri;
	int length;
	int index = lws_http_get_uri_and_method(wsi, &uri, &length);
	*ret_head = index == LWSHUMETH_HEAD;
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
	reply_header(r, "vary", "accept-encoding");
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
	r->path = strdup(path);
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
	return true;
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
	x->wsi = wsi;
	x->request = r;
	r->transport = &transport;
	r->transport_user = x;
	r->method = read_method(wsi, &x->head_only);
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

static bool send_head(struct exchange *x)
{
	unsigned char buffer[LWS_PRE + HEADER_MAX];
	unsigned char *start = buffer + LWS_PRE, *p = start, *end = buffer + sizeof buffer;
	const struct reply *reply = &x->request->reply;
	int status = x->streaming ? 200 : reply->status;
	const char *type = x->streaming ? "text/event-stream" : reply->content_type;
	bool good = lws_add_http_header_status(x->wsi, (unsigned)status, &p, end) == 0 &&
		add(x->wsi, "content-type", type, &p, end) &&
		add(x->wsi, "x-content-type-options", "nosniff", &p, end) &&
		add(x->wsi, "referrer-policy", "no-referrer", &p, end) &&
		add(x->wsi, "cross-origin-resource-policy", "same-origin", &p, end);
	if (good && !x->asset)
		good = add(x->wsi, "cache-control", "no-store", &p, end);
	for (size_t i = 0; good && i < reply->headers_count; i++)
		good = add(x->wsi, reply->headers[i].name, reply->headers[i].value, &p, end);
	if (good && !x->streaming)
		good = lws_add_http_header_content_length(x->wsi, reply->length, &p, end) == 0;
	if (good && (x->close_after || x->streaming) && lws_get_network_wsi(x->wsi) == x->wsi)
		good = add(x->wsi, "connection", "close", &p, end);
	if (!good || lws_finalize_write_http_header(x->wsi, start, &p, end))
		return false;
	if (status >= 400)
		x->server->options.metrics->http_errors++;
	x->head_sent = true;
	return true;
}

/* The exchange is over: free it, and make the connection ready for the next. */
static int finish(struct lws *wsi, struct connection *c)
{
	bool close_after = c->exchange->close_after;
	http_gone(c);
	if (close_after)
		return -1;
	return lws_http_transaction_completed(wsi) ? -1 : 0;
}

/* How much may be written in one go. */
static size_t piece_size(struct lws *wsi, size_t left)
{
	bool mux = lws_get_network_wsi(wsi) != wsi;
	size_t most = mux ? H2_PIECE_MAX : PIECE_MAX;
	size_t size = left < most ? left : most;
	lws_fileofs_t allowance = lws_get_peer_write_allowance(wsi);
	if (mux && allowance >= 0 && (size_t)allowance < size)
		size = (size_t)allowance;
	return size;
}

/* Write a piece of length bytes. Returns bytes written, or -1 when the connection is lost. */
static long send_piece(struct exchange *x, const char *bytes, size_t length, bool final)
{
	uint8_t *payload = x->server->scratch + LWS_PRE;
	size_t size = piece_size(x->wsi, length);
	if (size == 0)
		return 0;
	memcpy(payload, bytes, size);
	enum lws_write_protocol kind = final && size == length ? LWS_WRITE_HTTP_FINAL
							       : LWS_WRITE_HTTP;
	return lws_write(x->wsi, payload, size, kind) < (int)size ? -1 : (long)size;
}

static int send_body(struct exchange *x, struct connection *c)
{
	const struct reply *reply = &x->request->reply;
	long n = send_piece(x, reply->body + x->sent, reply->length - x->sent, true);
	if (n < 0)
		return -1;
	x->sent += (size_t)n;
	if (x->sent == reply->length)
		return finish(x->wsi, c);
	lws_callback_on_writable(x->wsi);
	return 0;
}

/* The next event as server-sent events have it. Returns 1, 0 when there is none, or -1. */
static int next_event(struct exchange *x)
{
	struct request *r = x->request;
	char *json = r->stream.next(r->stream.user);
	if (!json)
		return 0;
	size_t size = strlen(json) + sizeof "data: \n\n";
	x->event = malloc(size);
	if (x->event)
		x->event_length = (size_t)snprintf(x->event, size, "data: %s\n\n", json);
	free(json);
	x->sent = 0;
	return x->event ? 1 : -1;
}

static int send_event(struct exchange *x)
{
	if (!x->request->stream.next)
		return -1;
	if (!x->event) {
		int rc = next_event(x);
		if (rc <= 0)
			return rc;
	}
	long n = send_piece(x, x->event + x->sent, x->event_length - x->sent, false);
	if (n < 0)
		return -1;
	x->sent += (size_t)n;
	if (x->sent == x->event_length) {
		free(x->event);
		x->event = NULL;
	}
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
		bool empty = !x->streaming && (x->head_only || x->request->reply.length == 0);
		if (empty)
			return finish(wsi, c);
		lws_callback_on_writable(wsi);
		return 0;
	}
	return x->streaming ? send_event(x) : send_body(x, c);
}
