/*
 * The server: HTTP/1.1, and WebSocket by libwebsockets, on the libuv loop. It checks Host and
 * Origin, turns HTTP exchanges into requests (ws/request.h) and WebSockets into terminals (ws/socket/terminal.h)
 * or requests (ws/socket/control_socket.h, ws/rpc/socket.h).
 */
#pragma once

#include "ws/dispatcher.h"
#include "ws/rpc/socket.h"
#include "ws/socket/control_socket.h"
#include "ws/metrics.h"
#include "ws/auth/origin.h"
#include "ws/socket/terminal.h"

#include <uv.h>

#define SERVER_LISTENERS_MAX \
	49u /* SERVE_LIST_MAX, SUPERVISOR_SOCKETS_MAX, and the command line's */
#define SERVER_SNDBUF (128 << 10) /* what a client that never reads can make the kernel hold */

/* A socket that listens already, as somebody else has opened it: it stays where it is when the server ends. */
struct server_inherited {
	int fd;
	bool command;      /* the command line's, LOCAL_SOCKET_NAME in the runtime directory */
	char address[128]; /* as --listen has it */
};

/* All is borrowed for the server's life. */
struct server_options {
	uv_loop_t *loop;
	struct dispatcher *dispatcher; /* who answers requests */
	struct auth *auth;
	struct terminals *terminals;
	struct control_sockets *controls;
	struct rpc_sockets *rpcs;
	struct metrics *metrics;
	struct previews *previews; /* NULL: there are none */
	const char *const *listen; /* "ADDRESS:PORT", "[V6]:PORT" or "unix:PATH" */
	size_t listen_count;
	const struct server_inherited *inherited; /* before those; descriptors: taken */
	size_t inherited_count;
	const char *runtime_dir;  /* where the command line's socket is */
	const char *const *hosts; /* --allow-host */
	size_t hosts_count;
	const char *const *origins; /* --allow-origin */
	size_t origins_count;
	const char *const *proxies; /* --trust-proxy: addresses whose word on TLS is believed */
	size_t proxies_count;
	const char *tls_cert, *tls_key; /* NULL = no TLS */
	unsigned header_timeout_s;      /* for a complete request */
	unsigned ping_interval_s;       /* after this much silence a WebSocket is pinged */
	unsigned max_connections;
};

struct previews;
struct server;

/*
 * Start listening. *ret_server is owned by the caller (server_close).
 * Returns 0 or a negative errno; then the failure has been logged and nothing is left.
 */
int server_open(const struct server_options *options, struct server **ret_server);

/*
 * How listener i is reached: "http://127.0.0.1:7070/" or "unix:PATH"; NULL behind the last. That of the
 * command line, LOCAL_SOCKET_NAME in the runtime directory, is not among them.
 */
const char *server_url(const struct server *s, size_t i);

/* Stop listening, and begin to close all WebSockets with "going away". */
void server_stop(struct server *s);

/* Whether no WebSocket is open any more. */
bool server_is_idle(const struct server *s);

/*
 * Close everything else. The loop has to turn until its handles are closed, then server_free() releases
 * the memory.
 */
void server_close(struct server *s);
void server_free(struct server *s);

/* Whether an address, as given to --listen, is loopback or a unix socket. Pure. */
bool server_address_is_local(const char *address);
