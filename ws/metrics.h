/* Counters, shown at /metrics in Prometheus' text format (version 0.0.4). */
#pragma once

#include "shell/session/sessions.h"

#include <stdint.h>

/* Counters that this layer increments: name and help text. */
#define METRICS_LIST(X)                                                                             \
	X(http_requests, "HTTP requests answered")                                                  \
	X(http_errors, "HTTP requests answered with a status of 400 or more")                       \
	X(connections_accepted, "Connections accepted")                                             \
	X(connections_refused,                                                                      \
		"Connections refused because there were too many, or no descriptors were left")     \
	X(strangers_refused,                                                                        \
		"Connections refused because their address had too many without credentials")       \
	X(failures_limited, "Requests that failed from addresses where too many had failed before") \
	X(header_timeouts, "Connections that ended without a complete request")                     \
	X(body_timeouts, "Requests whose bodies came too slowly")                                   \
	X(bodies_refused, "Bodies refused because too many were being received")                    \
	X(websockets_opened, "WebSockets opened")                                                   \
	X(websockets_refused, "WebSockets refused before the upgrade")                              \
	X(websocket_timeouts, "WebSockets closed because their peer was dead")                      \
	X(frames_oversized, "Messages refused for their size")                                      \
	X(control_invalid, "Invalid control messages")                                              \
	X(control_errors, "Errors sent on control sockets")                                         \
	X(viewer_input_refused, "Input from clients that may only watch")                           \
	X(host_refused, "Requests with a Host that is not allowed")                                 \
	X(peers_refused, "Requests from processes of other users, with --no-auth")                  \
	X(origin_refused, "Requests with an Origin that is not allowed")                            \
	X(auth_failures, "Requests without valid credentials")                                      \
	X(auth_limited, "Requests refused because too many had failed before")                      \
	X(resyncs, "Snapshots sent in place of a backlog to slow clients")                          \
	X(snapshots, "Snapshots sent to clients")                                                   \
	X(bytes_skipped, "Bytes of output that slow clients did not get")                           \
	X(bytes_sent, "Bytes of terminal output sent to clients")                                   \
	X(mcp_calls, "Tools called over MCP")                                                       \
	X(preview_requests, "Requests forwarded to ports of this machine")                          \
	X(preview_failures, "Forwarded requests that no program answered")                          \
	X(upgrades, "Upgrades of the running server (ringside upgrade)")                            \
	X(runs, "Commands run on their own")                                                        \
	X(run_timeouts, "Commands run on their own that exceeded their time limit")                 \
	X(failures, "Failures that were logged")

struct processes;
struct crew;
struct hooks;
struct access;

/* The counters, and the objects whose own counters are shown too; those pointers are borrowed, or NULL. */
struct metrics {
	const struct processes *processes;
	const struct access *access;
	struct crew *crew;
	struct hooks *hooks;
#define METRICS_FIELD(name, help) uint64_t name;
	METRICS_LIST(METRICS_FIELD)
#undef METRICS_FIELD
	uint64_t clients;           /* open terminal sockets */
	uint64_t runs_active;       /* running commands of /api/run and the like */
	uint64_t control_sockets;   /* open now */
	uint64_t rpc_sockets;       /* open now */
	uint64_t mux_sockets;       /* open now */
	uint64_t streams;           /* open event streams */
	uint64_t http1_connections; /* HTTP/1.1 connections, and those that have sent nothing yet */
	uint64_t connections_silent; /* connections that have sent nothing yet, or are in a TLS handshake */
	uint64_t strangers;          /* connections without credentials so far */
	uint64_t upgrade_held_ms; /* how long clients waited for the last upgrade */
	uint64_t body_bytes;      /* memory of bodies that are being received */
};

/* Format the page for /metrics. Returns a string owned by the caller, or NULL when memory is short. */
char *metrics_format(const struct metrics *m, const struct sessions *s);
