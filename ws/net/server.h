/*
 * The server: HTTP/1.1, and WebSockets by libwebsockets, on the libuv loop. It checks Host and Origin, and passes HTTP requests
 * to the dispatcher (ws/request.h) and WebSockets to terminals (ws/socket/terminal.h) or to the protocols of requests
 * (ws/socket/control_socket.h, ws/rpc/socket.h).
 */
#pragma once

#include "ws/dispatcher.h"
#include "ws/rpc/socket.h"
#include "ws/socket/control_socket.h"
#include "ws/metrics.h"
#include "ws/auth/origin.h"
#include "ws/socket/terminal.h"

#include <uv.h>

/* SERVE_LIST_MAX, SUPERVISOR_SOCKETS_MAX, and the command line's. */
#define SERVER_LISTENERS_MAX 49u

/* SO_SNDBUF of connections: limits the kernel memory for a client that never reads. */
#define SERVER_SNDBUF (128 << 10)

/* A listening socket that was opened before, by default by another program, which also owns its file. */
struct server_inherited {
	int fd;
	bool command; /* LOCAL_SOCKET_NAME in the runtime directory */
	bool ours; /* opened by a server that this one replaces: its file is removed at the end */
	char address[128]; /* in the form of --listen */
};

/* How to serve. All is borrowed for the server's life. */
struct server_options {
	uv_loop_t *loop;
	struct dispatcher *dispatcher; /* answers requests */
	struct auth *auth;
	struct terminals *terminals;
	struct control_sockets *controls;
	struct rpc_sockets *rpcs;
	struct metrics *metrics;
	struct previews *previews; /* NULL = none */
	const char *const *listen; /* "ADDRESS:PORT", "[V6]:PORT" or "unix:PATH" */
	size_t listen_count;
	const struct server_inherited *inherited; /* opened before `listen`; descriptors are taken */
	size_t inherited_count;
	const char *runtime_dir;  /* of the command line's socket */
	const char *const *hosts; /* --allow-host */
	size_t hosts_count;
	const char *const *origins; /* --allow-origin */
	size_t origins_count;
	const char *const *proxies; /* --trust-proxy: addresses */
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
 * Returns 0 or a negative errno, which has been logged; nothing is left then.
 */
int server_open(const struct server_options *options, struct server **ret_server);

/*
 * The URL of listener i: "http://127.0.0.1:7070/" or "unix:PATH"; NULL after the last. The command line's
 * socket is not among them.
 */
const char *server_url(const struct server *s, size_t i);

/*
 * Check what server_open() reads before it listens: names, the certificate and its key. Returns 0 or a negative errno, which has
 * been logged.
 */
int server_check(const struct server_options *options);

/* Stop listening, and begin to close all WebSockets with "going away". */
void server_stop(struct server *s);

/* Whether no WebSocket is open any more. */
bool server_is_idle(const struct server *s);

/* Close everything else. Then run the loop until all handles are closed, and call server_free(). */
void server_close(struct server *s);

/* Free the server's memory. */
void server_free(struct server *s);

/* Whether an address of --listen is loopback or a unix socket. Pure. */
bool server_address_is_local(const char *address);
