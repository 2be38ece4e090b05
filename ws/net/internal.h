/* What the files of the server share. */
#pragma once

#include "ws/net/http_head.h"
#include "ws/access.h"
#include "ws/net/bodies.h"
#include "ws/net/peers.h"
#include "ws/net/server.h"

#include <libwebsockets.h>
#include <openssl/types.h>

/* Who comes by a listener. */
enum arrival_by {
	ARRIVAL_ANYBODY,
	ARRIVAL_OWNER, /* by the command line's socket, from a process of our user or of root */
	ARRIVAL_OTHER, /* with --no-auth, from a process that is neither's, or of which nobody knows: it is refused */
};

/* Where a connection came in. */
struct arrival {
	bool unix_socket;
	enum arrival_by by;
};

struct listener {
	struct server *server;
	uv_poll_t poll;
	int fd;
	bool open;
	char address[300]; /* host part, or the path of a unix socket */
	unsigned port;
	bool unix_socket;
	bool command;   /* the command line's: its URL is nobody's business */
	bool inherited; /* its file is not ours to remove */
	int dir_fd;     /* of a path that is too long for an address; otherwise -1 */
	char url[340];
};

struct server {
	struct server_options options;
	struct lws_context *context;
	struct lws_vhost *vhost;
	SSL_CTX *tls; /* NULL = there is no TLS */
	struct origin_policy origins;
	struct listener listeners[SERVER_LISTENERS_MAX];
	size_t listeners_count;
	int peer_user;  /* asked whose a connection is, or a negative errno; only with --no-auth */
	int reserve_fd; /* given up for a moment to turn somebody away when descriptors run out */
	struct upgrade *adopting;   /* of the connection that libwebsockets is being given */
	unsigned connections;       /* that libwebsockets has */
	unsigned tunnels;           /* of those, which are callers as well */
	uv_timer_t sweep;           /* pings, expiry, dead peers */
	uv_timer_t closer;          /* closes WebSockets outside libwebsockets' callbacks */
	uv_timer_t relisten;        /* after descriptors ran out */
	struct socket *sockets;     /* list */
	uint64_t revoked;           /* auth_revoked(), when they were last looked at for it */
	struct exchange *exchanges; /* list */
	struct callers *callers;    /* connections that libwebsockets does not serve */
	struct bodies bodies;
	struct peers peers;
	uint8_t *scratch; /* LWS_PRE and one piece of a body */
	bool stopping;
};

/* libwebsockets' memory for each connection. */
struct connection {
	struct socket *socket; /* a WebSocket */
};

#define CONNECTION_ACK_WITHIN_MS 300000u /* while something is on its way to a living peer */

/* connection.c: end a connection in the next turn of the loop, whatever it has not sent yet. */
void connection_kill(struct lws *wsi);
/* How long ago the kernel of a socket's peer acknowledged anything, in ms; 0 when that cannot be told. */
uint64_t connection_last_ack_of(int fd);
/* After how many seconds of silence the reader of a stream is told that it goes on. */
unsigned server_quiet_s(const struct server *s);
/* Take a place for p (ws/quota.h). Returns whether it is had. */
bool server_has_place(struct server *s, enum quota_kind kind, const struct principal *p,
	struct quota_place *place);
/* Milliseconds of the loop. */
uint64_t server_now_ms(const struct server *s);

/* One request's headers, as far as they decide about anything, whatever they came by. */
struct head {
	enum method method;
	bool terminal;           /* of a terminal socket */
	bool head_only, options; /* HEAD is served like GET, without the body */
	char host[ORIGIN_TEXT_MAX], origin[ORIGIN_TEXT_MAX];
	char authorization[1200], cookie[6000];
	char session[NAME_ID_MAX + 2]; /* X-Session-Id; one that is too long is no id */
	char accept_encoding[256], if_none_match[128];
	char conditions[REQUEST_HEADERS][REQUEST_HEADER_SIZE]; /* "" where there is none */
	char content_type[64];                                 /* cut where it is longer */
	char fetch_site[16], fetch_mode[16]; /* Sec-Fetch-Site and -Mode, which no page can choose */
	char agent[LOGIN_AGENT_SIZE];        /* User-Agent, cut */
	char forwarded[256];                 /* Forwarded, cut; believed of trusted peers alone */
	char forwarded_proto[32];            /* X-Forwarded-Proto, the same */
	char length[32];                     /* Content-Length, as it came */
	bool has_host, has_origin, has_authorization, has_cookie, has_session, has_match;
	bool has_length;
	enum http_coding coding;
	bool is_encoded;      /* Content-Encoding: the body is not what it is */
	bool expects;         /* 100-continue */
	bool expects_unknown; /* something else */
	bool accepts_events;  /* Accept names text/event-stream */
	bool accepts_page;    /* Accept names text/html */
	bool accepts_tar;     /* Accept names application/x-tar */
	bool http_1_0;
	bool probe;       /* what it asks for answers whatever Host says; not from the head */
	bool close_after; /* the peer will send no other request */
	char peer[LIMITER_PEER_MAX];
	char *path;                       /* decoded; owned */
	char *params[REQUEST_PARAMS_MAX]; /* decoded; owned */
	size_t params_count;
	struct mcp_headers *mcp; /* owned; NULL = not looked for */
};

/* listen.c */
int listen_open(struct server *s);
void listen_close(struct server *s);

/*
 * head.c: take what counts from a parsed head; what h says of the peer is there already. Returns NULL, or the code of a
 * refusal.
 */
const char *head_take(const struct http_head *http, struct head *h);
void head_free(struct head *h);
/* Whether what comes is said to be a tar archive. */
bool head_is_tar(const struct head *h);
/* Whether it came by TLS: to us, or to a proxy that we trust and that says so. */
bool head_is_secure(const struct server *s, const struct arrival *a, const struct head *h);
/* Check Host, Origin and credentials; fills *p. state_changing: the method is no GET, or it is a socket. */
struct refusal head_check(struct server *s, const struct arrival *a, const struct head *h,
	bool state_changing, struct principal *p, enum auth_result *ret_auth);

/* socket.c: libwebsockets' callbacks. They return what the callback shall return. */
int socket_open(struct server *s, struct lws *wsi, struct connection *c, const struct upgrade *u);
int socket_receive(
	struct server *s, struct lws *wsi, struct connection *c, const void *bytes, size_t length);
int socket_writable(struct connection *c);
void socket_pong(struct connection *c);
void socket_gone(struct server *s, struct connection *c);
void socket_sweep(struct server *s);
void stream_sweep(struct server *s);
void socket_close_all(struct server *s);
