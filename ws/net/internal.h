/* What the files of the server share. */
#pragma once

#include "ws/net/server.h"

#include <libwebsockets.h>

/* What libwebsockets keeps with each connection: where it came in, and whether it has sent a request. */
struct arrival {
	bool unix_socket;
	bool owner; /* by the command line's socket, from a process of our user or of root */
	bool served;
	const struct arrival *next; /* the state after the first request */
};

struct listener {
	struct server *server;
	/* The states that its connections can be in: fresh, served; and the same of owners. */
	struct arrival arrival[4];
	uv_poll_t poll;
	int fd;
	bool open;
	char address[300]; /* host part, or the path of a unix socket */
	unsigned port;
	bool unix_socket;
	bool command; /* the command line's: its URL is nobody's business */
	int dir_fd;   /* of a path that is too long for an address; otherwise -1 */
	char url[340];
};

struct server {
	struct server_options options;
	struct lws_context *context;
	struct lws_vhost *tcp, *local; /* the second without TLS, for unix sockets */
	struct origin_policy origins;
	struct listener listeners[SERVER_LISTENERS_MAX];
	size_t listeners_count;
	int reserve_fd; /* given up for a moment to turn somebody away when descriptors run out */
	unsigned connections;
	uv_timer_t sweep;           /* pings, expiry, dead peers */
	uv_timer_t closer;          /* closes WebSockets outside libwebsockets' callbacks */
	uv_timer_t relisten;        /* after descriptors ran out */
	struct socket *sockets;     /* list */
	struct exchange *exchanges; /* list */
	uv_check_t hangup;          /* notices peers that have gone */
	uint64_t looked_ms;         /* loop time when it looked */
	uint8_t *scratch;           /* LWS_PRE and one piece of a body */
	bool stopping;
};

/* A request for a WebSocket that has been admitted, between its two callbacks. */
struct upgrade {
	bool control; /* a control socket; otherwise a terminal's */
	struct terminal_query query;
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
};

/* libwebsockets' memory for each connection. */
struct connection {
	struct exchange *exchange; /* an HTTP request under way */
	struct socket *socket;     /* a WebSocket */
	struct upgrade upgrade;
};

#define SERVER_ACK_WITHIN_MS 300000u /* while something is on its way to a living peer */

/* After how many seconds of silence the reader of a stream is told that it goes on. */
unsigned server_quiet_s(const struct server *s);
/* End a connection in the next turn of the loop, whatever it has not sent yet. */
void server_kill(struct lws *wsi);
/* How long ago the peer's kernel acknowledged anything; 0 when that cannot be told. */
uint64_t server_last_ack_ms(struct lws *wsi);
/* Note that a connection has sent a request. */
void server_mark_served(struct lws *wsi);
/* Whether it came in by a unix socket. The vhost does not tell: libwebsockets chooses that by Host. */
bool server_is_local(struct lws *wsi);
/* Whether it came in by the command line's socket, from a process of our user or of root. */
bool server_is_owner(struct lws *wsi);

/* One request's headers, as far as they decide whether it is served. */
struct head {
	char host[ORIGIN_TEXT_MAX], origin[ORIGIN_TEXT_MAX];
	char authorization[1200], cookie[6000];
	char session[NAME_ID_MAX + 2]; /* X-Session-Id; one that is too long is no id */
	bool has_host, has_origin, has_authorization, has_cookie, has_session;
	char peer[LIMITER_PEER_MAX];
	char *params[REQUEST_PARAMS_MAX]; /* owned */
	size_t params_count;
};

/* listen.c */
int listen_open(struct server *s);
void listen_close(struct server *s);

/* head.c: read the headers. Returns NULL, or the refusal's code when they are too large. */
const char *head_read(struct lws *wsi, struct head *h);
void head_free(struct head *h);
/* The headers that MCP looks at, owned by the caller; NULL when memory is short. */
struct mcp_headers *head_read_mcp(struct lws *wsi);
/* Check Host, Origin and credentials; fills *p. state_changing: the method is no GET, or it is a socket. */
struct refusal head_check(struct server *s, struct lws *wsi, const struct head *h,
	bool state_changing, struct principal *p, enum auth_result *ret_auth);

/* http.c and socket.c: libwebsockets' callbacks by subject. They return what the callback shall return. */
int http_request(struct server *s, struct lws *wsi, struct connection *c, const char *path);
int http_body(struct server *s, struct connection *c, const void *bytes, size_t length);
int http_body_done(struct server *s, struct connection *c);
int http_writable(struct server *s, struct lws *wsi, struct connection *c);
void http_gone(struct connection *c);
int socket_filter(struct server *s, struct lws *wsi, struct connection *c);
int socket_open(struct server *s, struct lws *wsi, struct connection *c);
int socket_receive(
	struct server *s, struct lws *wsi, struct connection *c, const void *bytes, size_t length);
int socket_writable(struct connection *c);
void socket_pong(struct connection *c);
void socket_gone(struct server *s, struct connection *c);
void socket_sweep(struct server *s);
void stream_sweep(struct server *s);
/* hangup.c */
void hangup_open(struct server *s);
void socket_close_all(struct server *s);
