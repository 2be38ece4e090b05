/*
 * Requests ("calls") and WebSockets to a server. Each is a peer: one connection of libwebsockets. Its opaque user data is set
 * to NULL when the peer is freed, so that no callback comes afterwards.
 */
#include "ws/net/client.h"

#include "ws/net/local_socket.h"
#include "ws/net/outgoing.h"

#include <errno.h>
#include <fcntl.h>
#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define RECEIVE_BYTES (32u << 10)
#define HEADER_BYTES 8192
#define PIECE_MAX ((size_t)16 << 10)
#define TEXT_MAX ((size_t)16 << 20) /* of one message of the server; screens of cells are large */
#define ANSWER_WITHIN_S (40 * 24 * 3600) /* the server's own limits are shorter */

struct peer;

struct client {
	struct client_target target;
	struct peer *peers; /* list */
	uv_loop_t *loop;
	struct lws_context *context;
	char address[LOCAL_SOCKET_PATH_MAX + 1]; /* "+PATH" */
	char host[300];                          /* Host */
	int dir_fd;                              /* of the socket's directory, or -1 */
};

enum kind { KIND_CALL, KIND_SOCKET };

/* One connection; the opaque user data of its wsi. */
struct peer {
	struct peer *prev, *next; /* of its client */
	enum kind kind;
	struct client *client;
	struct lws *wsi;
	void *user;
	bool starting; /* inside lws_client_connect_via_info() */
	bool failed;   /* libwebsockets reported an error inside that call */
	struct outgoing_queue queue;
};

/* Waits for an early answer while a body is streamed, on a duplicate of the descriptor. */
struct watch {
	uv_poll_t poll;
	struct client_call *call;
	int fd;
};

struct client_call {
	struct peer peer;
	const struct client_call_callbacks *callbacks;
	bool complete; /* the answer is complete */
	bool begun;    /* a part of the request may have been sent */
	char accept[128];
	size_t length; /* of the body */
	bool has_body;
	bool streamed; /* the body comes by client_call_send() */
	bool ended;    /* no more of the body is sent */
	struct watch *watch;
};

struct client_socket {
	struct peer peer;
	const struct client_socket_callbacks *callbacks;
	char *text; /* a text message, as far as it has come; owned */
	size_t text_length;
	int code; /* of the server's close frame; 0 = none */
	char reason[128];
};

static void peer_init(struct peer *p, enum kind kind, struct client *c, void *user)
{
	*p = (struct peer){.kind = kind, .client = c, .user = user};
	DL_APPEND(c->peers, p);
}

static void on_watch_closed(uv_handle_t *handle)
{
	struct watch *w = handle->data;
	close(w->fd);
	free(w);
}

static void watch_close(struct client_call *k)
{
	if (k->watch)
		uv_close((uv_handle_t *)&k->watch->poll, on_watch_closed);
	k->watch = NULL;
}

/* Free a call or a socket. libwebsockets' connection, if there is one, stays open. */
static void peer_free(struct peer *p)
{
	if (p->wsi)
		lws_set_opaque_user_data(p->wsi, NULL);
	DL_DELETE(p->client->peers, p);
	while (p->queue.first)
		outgoing_drop(&p->queue);
	if (p->kind == KIND_SOCKET)
		free(((struct client_socket *)p)->text);
	else
		watch_close((struct client_call *)p);
	free(p); /* the first member of both */
}

/* Free p and close its connection. */
static void hang_up(struct peer *p)
{
	struct lws *wsi = p->wsi;
	peer_free(p);
	if (!wsi)
		return;
	lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
	lws_cancel_service(lws_get_context(wsi));
}

/* Calls */

static bool add(
	struct lws *wsi, const char *name, const char *value, unsigned char **p, unsigned char *end)
{
	return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
		       (const unsigned char *)value, (int)strlen(value), p, end) == 0;
}

/* Add the bearer token. */
static bool add_token(struct peer *peer, unsigned char **p, unsigned char *end)
{
	char value[1100];
	if (!peer->client->target.token)
		return true;
	snprintf(value, sizeof value, "Bearer %s", peer->client->target.token);
	return add(peer->wsi, "authorization:", value, p, end);
}

static int call_headers(struct client_call *k, unsigned char **p, unsigned char *end)
{
	struct lws *wsi = k->peer.wsi;
	char length[24];
	bool good = add_token(&k->peer, p, end);
	if (good && k->accept[0])
		good = add(wsi, "accept:", k->accept, p, end);
	if (good && k->streamed) {
		good = add(wsi, "content-type:", "application/octet-stream", p, end) &&
			add(wsi, "transfer-encoding:", "chunked", p, end);
		lws_client_http_body_pending(wsi, 1);
		lws_callback_on_writable(wsi);
	}
	if (good && k->has_body) {
		snprintf(length, sizeof length, "%zu", k->length);
		good = add(wsi, "content-type:", "application/json", p, end) &&
			add(wsi, "content-length:", length, p, end);
		if (k->length > 0) {
			lws_client_http_body_pending(wsi, 1);
			lws_callback_on_writable(wsi);
		}
	}
	return good ? 0 : -1;
}

/* Stop sending a body, so that libwebsockets reads the answer. */
static void end_body(struct client_call *k)
{
	k->ended = true;
	while (k->peer.queue.first)
		outgoing_drop(&k->peer.queue);
	if (k->watch)
		uv_poll_stop(&k->watch->poll);
	lws_client_http_body_pending(k->peer.wsi, 0);
}

static void on_early_answer(uv_poll_t *poll, int status, int events)
{
	struct watch *w = poll->data;
	(void)status; /* libwebsockets gets the same error */
	(void)events;
	end_body(w->call);
}

/*
 * libwebsockets reads nothing before a body has ended, but a server that refuses the body answers earlier. Over TLS, readable
 * bytes need not be an answer, so the body is sent until it ends or the connection is lost.
 */
static bool watch_open(struct client_call *k)
{
	struct watch *w = calloc(1, sizeof *w);
	int fd = w ? fcntl(lws_get_socket_fd(k->peer.wsi), F_DUPFD_CLOEXEC, 0) : -1;
	if (fd < 0 || uv_poll_init(k->peer.client->loop, &w->poll, fd) < 0) {
		if (fd >= 0)
			close(fd);
		free(w);
		return false;
	}
	w->poll.data = w;
	w->fd = fd;
	w->call = k;
	k->watch = w;
	if (!k->peer.client->target.tls)
		uv_poll_start(&w->poll, UV_READABLE, on_early_answer);
	return true;
}

static int call_write(struct client_call *k)
{
	struct outgoing *o = k->peer.queue.first;
	struct lws *wsi = k->peer.wsi;
	if (k->streamed && !k->watch && !watch_open(k))
		return -1;
	if (!o && k->streamed && !k->ended)
		k->callbacks->writable(k->peer.user);
	if (!o)
		return 0;
	size_t left = o->length - o->sent, size = left < PIECE_MAX ? left : PIECE_MAX;
	bool last = size == left;
	if (lws_write(wsi, o->bytes + LWS_PRE + o->sent, size,
		    last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)size)
		return -1;
	o->sent += size;
	if (last)
		outgoing_drop(&k->peer.queue);
	if (last && (!k->streamed || k->ended))
		lws_client_http_body_pending(wsi, 0);
	else
		lws_callback_on_writable(wsi);
	return 0;
}

static int call_head(struct client_call *k)
{
	char type[128];
	if (k->streamed)
		end_body(k);
	if (lws_hdr_copy(k->peer.wsi, type, sizeof type, WSI_TOKEN_HTTP_CONTENT_TYPE) <= 0)
		type[0] = '\0';
	k->callbacks->head(k->peer.user, (int)lws_http_client_http_response(k->peer.wsi), type);
	return 0;
}

/* Read what has come; libwebsockets decodes the chunks and calls back with RECEIVE_CLIENT_HTTP_READ. */
static int call_fetch(struct lws *wsi)
{
	char buffer[LWS_PRE + RECEIVE_BYTES], *p = buffer + LWS_PRE;
	int length = (int)RECEIVE_BYTES;
	return lws_http_client_read(wsi, &p, &length) < 0 ? -1 : 0;
}

static void call_over(struct client_call *k)
{
	const struct client_call_callbacks *callbacks = k->callbacks;
	void *user = k->peer.user;
	int error = k->complete ? 0 : k->begun ? -ECONNRESET : -ECONNREFUSED;
	peer_free(&k->peer);
	callbacks->done(user, error);
}

static int on_call(struct client_call *k, enum lws_callback_reasons reason, void *in, size_t length)
{
	unsigned char **p = in;
	switch (reason) {
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		k->begun = true;
		return call_headers(k, p, *p + length);
	case LWS_CALLBACK_CLIENT_HTTP_WRITEABLE:
		return call_write(k);
	case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
		return call_head(k);
	case LWS_CALLBACK_RECEIVE_CLIENT_HTTP:
		return call_fetch(k->peer.wsi);
	case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
		k->callbacks->body(k->peer.user, in, length);
		return 0;
	case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
		k->complete = true;
		call_over(k);
		return -1;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
	case LWS_CALLBACK_CLOSED_CLIENT_HTTP:
		if (k->peer.starting)
			k->peer.failed = true;
		else
			call_over(k);
		return 0;
	default:
		return 0;
	}
}

/* Sockets */

static int socket_write(struct client_socket *k)
{
	struct outgoing *o = k->peer.queue.first;
	if (!o)
		return 0;
	int rc = lws_write(k->peer.wsi, o->bytes + LWS_PRE, o->length,
		o->binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
	if (rc < (int)o->length)
		return -1;
	outgoing_drop(&k->peer.queue);
	if (k->peer.queue.first)
		lws_callback_on_writable(k->peer.wsi);
	else if (k->callbacks->drained)
		k->callbacks->drained(k->peer.user);
	return 0;
}

static int receive_text(struct client_socket *k, const void *bytes, size_t length)
{
	if (k->text_length + length > TEXT_MAX)
		return -1;
	char *text = realloc(k->text, k->text_length + length + 1);
	if (!text)
		return -1;
	memcpy(text + k->text_length, bytes, length);
	k->text = text;
	k->text_length += length;
	text[k->text_length] = '\0';
	if (!lws_is_final_fragment(k->peer.wsi) || lws_remaining_packet_payload(k->peer.wsi) > 0)
		return 0;
	k->text = NULL;
	length = k->text_length;
	k->text_length = 0;
	k->callbacks->text(k->peer.user, text, length);
	free(text);
	return 0;
}

static void socket_over(struct client_socket *k, int code, const char *reason)
{
	const struct client_socket_callbacks *callbacks = k->callbacks;
	void *user = k->peer.user;
	char text[sizeof k->reason];
	snprintf(text, sizeof text, "%s", reason);
	peer_free(&k->peer);
	callbacks->closed(user, code, text);
}

static void receive_close(struct client_socket *k, const unsigned char *bytes, size_t length)
{
	if (length < 2)
		return;
	k->code = bytes[0] << 8 | bytes[1];
	snprintf(k->reason, sizeof k->reason, "%.*s", (int)(length - 2), (const char *)bytes + 2);
}

static int on_socket(
	struct client_socket *k, enum lws_callback_reasons reason, void *in, size_t length)
{
	unsigned char **p = in;
	unsigned status;
	switch (reason) {
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		return add_token(&k->peer, p, *p + length) ? 0 : -1;
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		k->callbacks->opened(k->peer.user);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		if (!lws_frame_is_binary(k->peer.wsi))
			return receive_text(k, in, length);
		if (k->callbacks->binary)
			k->callbacks->binary(k->peer.user, in, length);
		return 0;
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		return socket_write(k);
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		receive_close(k, in, length);
		return 0;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		status = lws_http_client_http_response(k->peer.wsi);
		if (k->peer.starting)
			k->peer.failed = true;
		else
			socket_over(k, status > 0 ? -(int)status : -1, in ? in : "");
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
		socket_over(k, k->code, k->reason);
		return 0;
	default:
		return 0;
	}
}

static int on_event(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	struct peer *p = wsi ? lws_get_opaque_user_data(wsi) : NULL;
	(void)user;
	if (!p) /* freed */
		return reason == LWS_CALLBACK_RECEIVE_CLIENT_HTTP ? -1 : 0;
	p->wsi = wsi;
	return p->kind == KIND_CALL ? on_call((struct client_call *)p, reason, in, length)
				    : on_socket((struct client_socket *)p, reason, in, length);
}

static const struct lws_protocols protocols[] = {
	{.name = "ringside-client", .callback = on_event, .rx_buffer_size = RECEIVE_BYTES},
	{0},
};

/* Pings, so that a lost server is noticed. Seconds. */
static const lws_retry_bo_t liveness = {.secs_since_valid_ping = 15, .secs_since_valid_hangup = 25};

static int connect_peer(struct peer *p, const char *method, const char *path)
{
	struct client *c = p->client;
	const struct client_target *t = &c->target;
	char *prefixed = NULL;
	if (t->prefix && asprintf(&prefixed, "%s%s", t->prefix, path) < 0)
		return -ENOMEM;
	struct lws_client_connect_info info = {
		.context = c->context,
		.address = t->socket ? c->address : t->host,
		.port = t->socket ? 80 : (int)t->port,
		.ssl_connection = t->tls ? LCCSCF_USE_SSL : 0,
		.path = prefixed ? prefixed : path,
		.host = c->host,
		.method = method,
		.local_protocol_name = protocols[0].name,
		.alpn = "http/1.1",
		.opaque_user_data = p,
		.pwsi = &p->wsi,
		.retry_and_idle_policy = &liveness,
	};
	p->starting = true;
	struct lws *wsi = lws_client_connect_via_info(&info);
	p->starting = false;
	free(prefixed); /* libwebsockets has copied it */
	if (wsi && !p->failed)
		return 0;
	p->wsi = wsi;
	hang_up(p);
	return -ECONNREFUSED;
}

int client_request(struct client *c, const struct client_request *r,
	const struct client_call_callbacks *callbacks, void *user, struct client_call **ret_call)
{
	struct client_call *k = calloc(1, sizeof *k);
	if (!k)
		return -ENOMEM;
	peer_init(&k->peer, KIND_CALL, c, user);
	k->callbacks = callbacks;
	k->has_body = r->body != NULL;
	k->streamed = r->streamed;
	k->length = r->length;
	snprintf(k->accept, sizeof k->accept, "%s", r->accept ? r->accept : "");
	if (r->length > 0 && !outgoing_put(&k->peer.queue, true, r->body, r->length)) {
		peer_free(&k->peer);
		return -ENOMEM;
	}
	int rc = connect_peer(&k->peer, r->method, r->path);
	if (rc == 0)
		*ret_call = k;
	return rc;
}

/* Queue a chunk (RFC 9112 7.1): its length and its bytes. An empty chunk ends the body. */
bool client_call_send(struct client_call *k, const void *bytes, size_t length)
{
	char size[24];
	size_t before = (size_t)snprintf(size, sizeof size, "%zx\r\n", length);
	if (k->ended)
		return true;
	if (!outgoing_put(&k->peer.queue, true, NULL, before + length + 2))
		return false;
	uint8_t *chunk = k->peer.queue.first->prev->bytes + LWS_PRE; /* the last */
	memcpy(chunk, size, before);
	if (length > 0)
		memcpy(chunk + before, bytes, length);
	chunk[before + length] = '\r';
	chunk[before + length + 1] = '\n';
	k->ended = length == 0;
	lws_callback_on_writable(k->peer.wsi);
	return true;
}

void client_call_header(struct client_call *k, const char *name, char *value, size_t size)
{
	int length = (int)strlen(name);
	value[0] = '\0';
	if (lws_hdr_custom_length(k->peer.wsi, name, length) > 0 &&
		lws_hdr_custom_copy(k->peer.wsi, value, (int)size, name, length) < 0)
		value[0] = '\0';
}

void client_call_cancel(struct client_call *k)
{
	hang_up(&k->peer);
}

int client_socket_open(struct client *c, const char *path,
	const struct client_socket_callbacks *callbacks, void *user,
	struct client_socket **ret_socket)
{
	struct client_socket *k = calloc(1, sizeof *k);
	if (!k)
		return -ENOMEM;
	peer_init(&k->peer, KIND_SOCKET, c, user);
	k->callbacks = callbacks;
	int rc = connect_peer(&k->peer, NULL, path);
	if (rc == 0)
		*ret_socket = k;
	return rc;
}

bool client_socket_send(struct client_socket *k, bool binary, const void *bytes, size_t length)
{
	if (!outgoing_put(&k->peer.queue, binary, bytes, length))
		return false;
	lws_callback_on_writable(k->peer.wsi);
	return true;
}

size_t client_socket_queued(const struct client_socket *k)
{
	return k->peer.queue.bytes;
}

void client_socket_close(struct client_socket *k)
{
	hang_up(&k->peer);
}

/* The client */

int client_open(uv_loop_t *loop, const struct client_target *target, struct client **ret_client)
{
	struct client *c = calloc(1, sizeof *c);
	void *loops[] = {loop};
	if (!c)
		return -ENOMEM;
	c->target = *target;
	c->loop = loop;
	c->dir_fd = -1;
	c->address[0] = '+';
	bool v6 = target->host && strchr(target->host, ':');
	if (target->socket)
		snprintf(c->host, sizeof c->host, "localhost");
	else
		snprintf(c->host, sizeof c->host, "%s%s%s:%u", v6 ? "[" : "", target->host,
			v6 ? "]" : "", target->port);
	int rc = target->socket ? local_socket_address(target->socket, c->address + 1, &c->dir_fd)
				: 0;
	if (rc < 0) {
		free(c);
		return rc;
	}
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = protocols,
		.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_VALIDATE_UTF8 |
			(target->tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT
				     : LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS),
		.foreign_loops = loops,
		.gid = -1,
		.uid = -1,
		.max_http_header_data = HEADER_BYTES,
		.pt_serv_buf_size = RECEIVE_BYTES,
		.timeout_secs = ANSWER_WITHIN_S,
		.retry_and_idle_policy = &liveness,
	};
	lws_set_log_level(0, NULL); /* errors come by callbacks */
	c->context = lws_create_context(&info);
	if (!c->context) {
		if (c->dir_fd >= 0)
			close(c->dir_fd);
		free(c);
		return -EIO;
	}
	*ret_client = c;
	return 0;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	struct peer *p, *next;
	DL_FOREACH_SAFE (c->peers, p, next)
		peer_free(p);
	/* With a foreign loop it must be called before and after its handles close. */
	lws_context_destroy(c->context);
	uv_run(c->loop, UV_RUN_DEFAULT);
	lws_context_destroy(c->context);
	if (c->dir_fd >= 0)
		close(c->dir_fd);
	free(c);
}
