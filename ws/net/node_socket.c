/*
 * States: the node's address is looked up, then libwebsockets has a connection (wsi), then that is over. The client may close at
 * any time; libwebsockets' opaque user data is NULL from then on.
 */
#include "ws/net/node_socket.h"

#include "ws/net/outgoing.h"
#include "ws/net/tcp.h"

#include <errno.h>
#include <jansson.h>
#include <libwebsockets.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define RECEIVE_BYTES (32u << 10)
#define HEADER_BYTES 8192
#define PROBE_S 10

/* A message or a piece that waits for the client. */
struct incoming {
	struct incoming *prev, *next;
	bool text;
	size_t length, sent;
	uint8_t bytes[]; /* FRAMES_HEADROOM, then length */
};

struct node_sockets {
	uv_loop_t *loop;
	struct lws_context *context;
};

/* A lookup of a host. It outlives its socket. */
struct lookup {
	uv_getaddrinfo_t request;
	struct node_socket *socket; /* NULL: freed */
};

struct node_socket {
	struct node_sockets *all;
	struct node_socket_options options;
	const struct frames_transport *transport;
	void *transport_user;
	char *url, *target, *token; /* owned */
	/* In url, which is cut: */
	const char *scheme, *host, *path;
	int port;
	struct lookup *lookup; /* NULL: over */
	struct lws *wsi;       /* NULL: not connected yet, or over */
	bool starting, failed; /* inside of lws_client_connect_via_info(); it failed there */
	bool established, paused, over;
	struct outgoing_queue to_node;
	struct incoming *to_client;
	char *text; /* of the node, as far as it has come; owned */
	size_t text_length;
	int code; /* of the node's close frame; 0: none */
	char reason[64];
};

/* To the client */

static void close_client(struct node_socket *k, int code, const char *reason)
{
	if (k->over)
		return;
	k->over = true;
	k->code = code;
	snprintf(k->reason, sizeof k->reason, "%s", reason);
	k->transport->want(k->transport_user); /* the rest is sent before */
}

static bool put_incoming(struct node_socket *k, bool text, const void *bytes, size_t length)
{
	struct incoming *i = malloc(sizeof *i + FRAMES_HEADROOM + length);
	if (!i)
		return false;
	*i = (struct incoming){.text = text, .length = length};
	memcpy(i->bytes + FRAMES_HEADROOM, bytes, length);
	DL_APPEND(k->to_client, i);
	return true;
}

static void drop_incoming(struct node_socket *k)
{
	struct incoming *i = k->to_client;
	DL_DELETE(k->to_client, i);
	free(i);
}

static enum frame_kind kind_of(const struct incoming *i, size_t length)
{
	bool first = i->sent == 0, last = i->sent + length == i->length;
	if (!i->text)
		return FRAME_BINARY;
	if (first)
		return last ? FRAME_TEXT : FRAME_TEXT_PART;
	return last ? FRAME_CONTINUATION : FRAME_CONTINUATION_PART;
}

/* Send what waits, as far as there is room, and read the node only if nothing waits any more. */
static void pump(struct node_socket *k)
{
	struct incoming *i;
	size_t room;
	while ((i = k->to_client) && (room = k->transport->room(k->transport_user)) > 0) {
		size_t left = i->length - i->sent, length = left < room ? left : room;
		enum frame_kind kind = kind_of(i, length);
		/* The headroom of a later part is what has been sent already. */
		if (!k->transport->send(
			    k->transport_user, i->bytes + FRAMES_HEADROOM + i->sent, length, kind))
			return;
		i->sent += length;
		if (i->sent == i->length)
			drop_incoming(k);
	}
	if (!k->to_client && k->over) {
		k->transport->close(k->transport_user, (enum close_code)k->code, k->reason);
	} else if (k->wsi && k->paused != (k->to_client != NULL)) {
		k->paused = !k->paused;
		lws_rx_flow_control(k->wsi, k->paused ? 0 : 1);
		if (!k->paused) /* libwebsockets processes what it has buffered only after an event */
			lws_cancel_service(k->all->context);
	}
}

/* Tell the client an error as the terminal socket does, and close. */
static void refuse(struct node_socket *k, int close, const char *code, const char *message)
{
	json_t *json = json_pack(
		"{s:s, s:s, s:s}", "type", "error", "code", code, "message", message);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	if (text && !k->over)
		(void)put_incoming(k, true, text, strlen(text));
	free(text);
	close_client(k, close, message);
	pump(k);
}

/* The handshake was refused with this HTTP status; 0: no answer. */
static void refuse_status(struct node_socket *k, unsigned status)
{
	static const struct {
		unsigned status;
		int close;
		const char *code, *message;
	} known[] = {
		{401, CLOSE_ACCESS_ENDED, "UNAUTHENTICATED", "Valid credentials are required"},
		{403, CLOSE_POLICY, "PERMISSION_DENIED", "The session's node has refused"},
		{404, CLOSE_SESSION_DELETED, "SESSION_NOT_FOUND", "There is no such session"},
		{429, CLOSE_GOING_AWAY, "LIMIT_REACHED", "The session's node has reached a limit"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].status == status) {
			refuse(k, known[i].close, known[i].code, known[i].message);
			return;
		}
	if (status > 0 || k->established || !k->options.unreachable(k->options.user))
		refuse(k, CLOSE_GOING_AWAY, "NODE_UNREACHABLE",
			"The session's node cannot be reached");
}

/* From the node */

static int receive_text(struct node_socket *k, const char *bytes, size_t length, bool last)
{
	if (k->text_length + length > NODE_SOCKET_TEXT_MAX)
		return -1;
	char *text = realloc(k->text, k->text_length + length + 1);
	if (!text)
		return -1;
	k->text = text;
	memcpy(text + k->text_length, bytes, length);
	k->text_length += length;
	if (!last)
		return 0;
	bool put = put_incoming(k, true, text, k->text_length);
	free(text);
	k->text = NULL;
	k->text_length = 0;
	return put ? 0 : -1;
}

static int receive(struct node_socket *k, const void *bytes, size_t length)
{
	bool last = lws_is_final_fragment(k->wsi) && lws_remaining_packet_payload(k->wsi) == 0;
	int rc = 0;
	if (!lws_frame_is_binary(k->wsi))
		rc = receive_text(k, bytes, length, last);
	else if (length > 0)
		rc = put_incoming(k, false, bytes, length) ? 0 : -1;
	pump(k);
	return rc;
}

static void receive_close(struct node_socket *k, const unsigned char *bytes, size_t length)
{
	int code = length < 2 ? 0 : bytes[0] << 8 | bytes[1];
	char reason[sizeof k->reason] = "";
	/* RFC 6455 7.4: those that may be sent. */
	bool fits = (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
		(code >= 3000 && code <= 4999);
	if (length > 2)
		snprintf(reason, sizeof reason, "%.*s", (int)(length - 2), (const char *)bytes + 2);
	if (fits)
		close_client(k, code, reason);
}

static int write_next(struct node_socket *k)
{
	struct outgoing *o = k->to_node.first;
	if (!o)
		return 0;
	if (lws_write(k->wsi, o->bytes + LWS_PRE, o->length,
		    o->binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT) < (int)o->length)
		return -1;
	outgoing_drop(&k->to_node);
	if (k->to_node.first)
		lws_callback_on_writable(k->wsi);
	return 0;
}

static int add_token(struct node_socket *k, unsigned char **p, unsigned char *end)
{
	char value[1200];
	int n = snprintf(value, sizeof value, "Bearer %s", k->token);
	return n < 0 || n >= (int)sizeof value ||
		lws_add_http_header_by_name(k->wsi,
			(const unsigned char *)"authorization:", (const unsigned char *)value, n, p,
			end);
}

/* The connection is over; more callbacks of it may come. */
static void forget(struct node_socket *k)
{
	lws_set_opaque_user_data(k->wsi, NULL);
	k->wsi = NULL;
}

static int on_socket(
	struct node_socket *k, enum lws_callback_reasons reason, void *in, size_t length)
{
	unsigned char **p = in;
	unsigned status;
	switch (reason) {
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		return add_token(k, p, *p + length);
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		k->established = true;
		tcp_probe_every(lws_get_socket_fd(k->wsi), PROBE_S);
		lws_callback_on_writable(k->wsi);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		return receive(k, in, length);
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		return write_next(k);
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		receive_close(k, in, length);
		return 0;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		status = lws_http_client_http_response(k->wsi);
		forget(k);
		k->failed = true;
		if (!k->starting)
			refuse_status(k, status);
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
		forget(k);
		close_client(k, CLOSE_GOING_AWAY, "the session's node has gone");
		pump(k);
		return 0;
	default:
		return 0;
	}
}

static int on_event(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	struct node_socket *k = wsi ? lws_get_opaque_user_data(wsi) : NULL;
	(void)user;
	if (!k) /* freed */
		return reason == LWS_CALLBACK_CLIENT_RECEIVE ? -1 : 0;
	k->wsi = wsi;
	return on_socket(k, reason, in, length);
}

static const struct lws_protocols protocols[] = {
	{.name = "ringside-node", .callback = on_event, .rx_buffer_size = RECEIVE_BYTES},
	{0},
};

/* Off: a node that is not read, because its client is slow, would be closed. */
static const lws_retry_bo_t idle_policy = {
	.secs_since_valid_ping = 0xfffe, .secs_since_valid_hangup = 0xffff};

/* Connecting */

static void connect_to(struct node_socket *k, const char *address)
{
	char host[300], *path = NULL;
	bool v6 = strchr(k->host, ':') != NULL;
	snprintf(host, sizeof host, "%s%s%s:%d", v6 ? "[" : "", k->host, v6 ? "]" : "", k->port);
	/* libwebsockets gives the path without the first slash, and no path as a slash. */
	bool prefixed = *k->path && strcmp(k->path, "/") != 0;
	if (asprintf(&path, "%s%s%s", prefixed ? "/" : "", prefixed ? k->path : "", k->target) < 0)
		path = NULL;
	struct lws_client_connect_info info = {
		.context = k->all->context,
		.address = address,
		.port = k->port,
		.ssl_connection = strcmp(k->scheme, "https") == 0 ? LCCSCF_USE_SSL : 0,
		.path = path,
		.host = host,
		.local_protocol_name = protocols[0].name,
		.alpn = "http/1.1",
		.opaque_user_data = k,
		.pwsi = &k->wsi,
		.retry_and_idle_policy = &idle_policy,
	};
	k->starting = true;
	struct lws *wsi = path ? lws_client_connect_via_info(&info) : NULL;
	k->starting = false;
	free(path); /* libwebsockets has copied it */
	if (!wsi || k->failed) {
		k->wsi = NULL;
		refuse_status(k, 0);
	}
}

static void on_address(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
	struct lookup *l = request->data;
	struct node_socket *k = l->socket;
	char address[INET6_ADDRSTRLEN] = "";
	if (status == 0 && found->ai_family == AF_INET)
		uv_ip4_name((struct sockaddr_in *)(void *)found->ai_addr, address, sizeof address);
	else if (status == 0 && found->ai_family == AF_INET6)
		uv_ip6_name((struct sockaddr_in6 *)(void *)found->ai_addr, address, sizeof address);
	uv_freeaddrinfo(found);
	free(l);
	if (!k)
		return;
	k->lookup = NULL;
	if (address[0])
		connect_to(k, address);
	else
		refuse_status(k, 0);
}

/* Look the host up on a thread; an address is one already. Returns false when memory is short. */
static bool look_up(struct node_socket *k)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct lookup *l = calloc(1, sizeof *l);
	if (!l)
		return false;
	l->request.data = l;
	l->socket = k;
	if (uv_getaddrinfo(k->all->loop, &l->request, on_address, k->host, NULL, &hints) < 0) {
		free(l);
		return false;
	}
	k->lookup = l;
	return true;
}

/* Free all, and close the connection to the node. */
static void destroy(struct node_socket *k)
{
	struct lws *wsi = k->wsi;
	if (k->lookup)
		k->lookup->socket = NULL;
	while (k->to_node.first)
		outgoing_drop(&k->to_node);
	while (k->to_client)
		drop_incoming(k);
	free(k->text);
	free(k->url);
	free(k->target);
	free(k->token);
	free(k);
	if (!wsi)
		return;
	lws_set_opaque_user_data(wsi, NULL);
	lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
	lws_cancel_service(lws_get_context(wsi));
}

struct node_socket *node_socket_open(
	struct node_sockets *all, const struct node_socket_options *options)
{
	struct node_socket *k = calloc(1, sizeof *k);
	if (!k)
		return NULL;
	*k = (struct node_socket){.all = all,
		.options = *options,
		.transport = options->transport,
		.transport_user = options->transport_user,
		.url = strdup(options->url),
		.target = strdup(options->target),
		.token = strdup(options->token)};
	if (!k->url || !k->target || !k->token ||
		lws_parse_uri(k->url, &k->scheme, &k->host, &k->port, &k->path) != 0 || !look_up(k)) {
		destroy(k);
		return NULL;
	}
	return k;
}

void node_socket_lose(struct node_socket *k)
{
	refuse_status(k, 0);
}

/* From the client */

static void pass(struct node_socket *k, bool binary, const void *bytes, size_t length)
{
	if (k->over)
		return;
	if (k->to_node.bytes + length > NODE_SOCKET_QUEUE_MAX)
		close_client(k, CLOSE_POLICY, "the session's node does not read");
	else if (!outgoing_put(&k->to_node, binary, bytes, length))
		close_client(k, CLOSE_INTERNAL, "out of memory");
	else if (k->established && k->wsi)
		lws_callback_on_writable(k->wsi);
}

static void on_binary(void *self, const void *bytes, size_t length)
{
	pass(self, true, bytes, length);
}

static void on_text(void *self, const char *text, size_t length)
{
	struct node_socket *k = self;
	if (text)
		pass(k, false, text, length);
	else
		close_client(k, CLOSE_TOO_BIG, "message too big");
}

static void on_writable(void *self)
{
	pump(self);
}

static void on_too_big(void *self)
{
	close_client(self, CLOSE_TOO_BIG, "message too big");
}

static void on_closed(void *self)
{
	destroy(self);
}

const struct frames_protocol node_socket_protocol = {
	.message_max = (size_t)1 << 20,
	.text_max = (size_t)1 << 20,
	.writable = on_writable,
	.binary = on_binary,
	.text = on_text,
	.too_big = on_too_big,
	.closed = on_closed,
};

/* All sockets */

struct node_sockets *node_sockets_open(uv_loop_t *loop, const char *ca)
{
	struct node_sockets *all = calloc(1, sizeof *all);
	void *loops[] = {loop};
	if (!all)
		return NULL;
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = protocols,
		.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_VALIDATE_UTF8 |
			LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT |
			(ca ? LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS : 0),
		.client_ssl_ca_filepath = ca,
		.foreign_loops = loops,
		.gid = -1,
		.uid = -1,
		.max_http_header_data = HEADER_BYTES,
		.pt_serv_buf_size = RECEIVE_BYTES,
		.timeout_secs = NODE_SOCKET_CONNECT_S,
		.connect_timeout_secs = NODE_SOCKET_CONNECT_S,
		.retry_and_idle_policy = &idle_policy,
	};
	all->loop = loop;
	lws_set_log_level(0, NULL); /* until the server sets it */
	all->context = lws_create_context(&info);
	if (all->context)
		return all;
	free(all);
	return NULL;
}

void node_sockets_close(struct node_sockets *all)
{
	if (all)
		lws_context_destroy(all->context);
}

void node_sockets_free(struct node_sockets *all)
{
	if (!all)
		return;
	/* With a foreign loop it must be called before and after its handles close. */
	lws_context_destroy(all->context);
	free(all);
}
