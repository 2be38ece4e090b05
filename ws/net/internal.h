/* What the files of the server share. */
#pragma once

#include "ws/net/http_head.h"
#include "ws/access.h"
#include "ws/auth/caller.h"
#include "ws/net/bodies.h"
#include "ws/net/peers.h"
#include "ws/net/server.h"

#include <libwebsockets.h>
#include <openssl/types.h>

/* What a connection's listener and peer credentials say about it. */
enum conn_trust {
	CONN_TRUST_NONE,
	CONN_TRUST_OWNER, /* on the command line's socket, from a process of our user or root */
	CONN_TRUST_FOREIGN, /* with --no-auth, from a process of another or an unknown user; refused */
};

/* How a connection was accepted. */
struct arrival {
	bool unix_socket;
	enum conn_trust by;
};

/* A listening socket. */
struct listener {
	struct server *server;
	uv_poll_t poll;
	int fd;
	bool open;
	char address[300]; /* host part, or the path of a unix socket */
	unsigned port;
	bool unix_socket;
	bool command;   /* the command line's; server_url() omits it */
	bool inherited; /* opened by another process: do not remove its file */
	int dir_fd;     /* of the directory, see local_socket_address(); -1 = none */
	char url[340];
};

/* The server; heap. */
struct server {
	struct server_options options;
	struct lws_context *context;
	struct lws_vhost *vhost;
	SSL_CTX *tls; /* NULL = there is no TLS */
	struct origin_policy origins;
	struct listener listeners[SERVER_LISTENERS_MAX];
	size_t listeners_count;
	int peer_user;  /* of peer_user_open(), or a negative errno; only with --no-auth */
	int reserve_fd; /* closed for a moment to accept and close a connection at EMFILE */
	struct upgrade *adopting;   /* of the connection that is being handed over */
	unsigned connections;       /* of libwebsockets */
	unsigned tunnels;           /* of those, over TLS: they are in conns too */
	unsigned busy;              /* connections with conn.busy */
	uv_timer_t sweep;           /* pings, expiry, dead peers */
	uv_timer_t closer;          /* closes WebSockets outside libwebsockets' callbacks */
	uv_timer_t relisten;        /* listens again after EMFILE */
	struct socket *sockets;     /* list */
	uint64_t revoked;           /* auth_revoked() when they were last checked */
	struct exchange *exchanges; /* list */
	struct conns *conns;        /* connections of conn.h */
	struct bodies bodies;
	struct peers peers;
	uint8_t *scratch; /* LWS_PRE and 64 KiB, for any callback */
	bool stopping;
	bool held; /* no connection is accepted, and no request is read, see takeover.h */
};

/* The per-session data of libwebsockets. */
struct socket_slot {
	struct socket *socket; /* NULL = none */
};

/* server.c: seconds of silence after which a stream sends something to stay alive. */
unsigned server_keepalive_s(const struct server *s);

/* Acquire an amount of a quota for p (ws/quota.h). Returns false if that is too much. */
bool server_acquire_quota(struct server *s, enum quota_kind kind, size_t amount,
	const struct principal *p, struct quota_place *place);

/* Loop time in ms. */
uint64_t server_now_ms(const struct server *s);

/* The headers of a request that are used. */
struct head {
	enum method method;
	bool terminal;           /* it is for a terminal socket */
	bool head_only, options; /* HEAD is served like GET, without the body */
	char host[ORIGIN_TEXT_MAX], origin[ORIGIN_TEXT_MAX];
	char authorization[1200], cookie[6000];
	char session[NAME_ID_MAX + 2]; /* X-Session-Id; invalid if it was too long */
	char node[AUTH_NODE_SIZE];     /* Ringside-Node, cut */
	char accept_encoding[256], if_none_match[128];
	char *headers[REQUEST_HEADERS];      /* owned; NULL: absent, or not for this route */
	char content_type[64];               /* cut */
	char fetch_site[16], fetch_mode[16]; /* Sec-Fetch-Site, -Mode; set by the browser */
	char agent[LOGIN_AGENT_SIZE];        /* User-Agent, cut */
	char forwarded[256];                 /* Forwarded, cut; used from trusted peers only */
	char forwarded_proto[32];            /* X-Forwarded-Proto, the same */
	char length[32];                     /* Content-Length, as it came */
	bool has_host, has_origin, has_authorization, has_cookie, has_session, has_match;
	bool has_length;
	enum http_coding coding;
	bool is_encoded;      /* it has a Content-Encoding */
	bool expects;         /* Expect: 100-continue */
	bool expects_unknown; /* Expect: anything else */
	bool accepts_events;  /* Accept names text/event-stream */
	bool accepts_page;    /* Accept names text/html */
	bool accepts_tar;     /* Accept names application/x-tar */
	bool http_1_0;
	bool close_after; /* Connection: close, or HTTP/1.0 without keep-alive */
	char peer[LIMITER_PEER_MAX];
	bool by_node;                     /* another node forwards the request */
	struct caller caller;             /* of that */
	char *path;                       /* decoded; owned */
	const struct route_row *row;      /* of its route; zeros if there is none */
	char *params[REQUEST_PARAMS_MAX]; /* decoded; owned */
	size_t params_count;
};

/* listen.c: open all listeners. Returns 0 or a negative errno, which has been logged. */
int listen_open(struct server *s);

/* Do not accept connections until listen_resume(): they wait in the kernel. */
void listen_hold(struct server *s);

/* Accept connections again. */
void listen_resume(struct server *s);

/* Stop using the sockets without closing them, for the next server. */
void listen_leave(struct server *s);

/* Close them, and remove their socket files. */
void listen_close(struct server *s);

/*
 * head.c: fill h from a parsed head; h->peer is set. all: the routes; NULL: the request has none, such as a WebSocket's.
 * Returns NULL, or an error code.
 */
const char *head_extract(const struct http_head *http, const struct routes *all, struct head *h);

/* Free what h owns. */
void head_free(struct head *h);

/* Whether Content-Type is that of a tar archive. */
bool head_is_tar(const struct head *h);

/* Whether the client uses TLS: to us, or to a trusted proxy according to its headers. */
bool head_is_secure(const struct server *s, const struct arrival *a, const struct head *h);

/*
 * Check Host, Origin and credentials. state_changing: the method is not GET, or it is a WebSocket. Fills *p and *ret_auth,
 * unless Host or Origin is refused. For a request that another node forwards, h->caller and h->peer are those of its client.
 */
struct refusal head_check(struct server *s, const struct arrival *a, struct head *h,
	bool state_changing, struct principal *p, enum auth_result *ret_auth);

/* socket.c: open an admitted WebSocket. Returns what libwebsockets' callback must return. */
int socket_open(struct server *s, struct lws *wsi, struct socket_slot *c, const struct upgrade *u);

/* Receive a piece of a message. Returns as socket_open(). */
int socket_receive(
	struct server *s, struct lws *wsi, struct socket_slot *c, const void *bytes, size_t length);

/* Send what is due. Returns as socket_open(). */
int socket_writable(struct socket_slot *c);

/* A pong has come. */
void socket_pong(struct socket_slot *c);

/* The connection has closed: free the socket. */
void socket_free(struct server *s, struct socket_slot *c);

/* Once a second: ping, and close dead or expired sockets. */
void socket_sweep(struct server *s);

/* Set whether to read from sockets. What was read already is still received. */
void socket_hold_all(struct server *s, bool held);

/* Begin to close all sockets with "going away". */
void socket_close_all(struct server *s);

/* stream.c: once a second: check the rate of bodies and downloads, and keep streams alive. */
void stream_sweep(struct server *s);
