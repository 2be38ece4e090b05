/* Counters, shown at /metrics in Prometheus' text format (version 0.0.4). */
#pragma once

#include "shell/session/sessions.h"

#include <stdint.h>

#define METRICS_LIST(X)                                                                             \
	X(http_requests, "HTTP requests answered")                                                  \
	X(http_errors, "HTTP requests answered with a status of 400 or more")                       \
	X(connections_accepted, "Connections accepted")                                             \
	X(connections_refused,                                                                      \
		"Connections refused because there were too many, or for lack of descriptors")      \
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
	X(control_invalid, "Control messages that made no sense")                                   \
	X(control_errors, "Errors told on control sockets")                                         \
	X(viewer_input_refused, "Input from clients that may only watch")                           \
	X(host_refused, "Requests with a Host that is not allowed")                                 \
	X(peers_refused, "Requests from processes of other users, with --no-auth")                  \
	X(origin_refused, "Requests with an Origin that is not allowed")                            \
	X(auth_failures, "Requests without valid credentials")                                      \
	X(auth_limited, "Requests refused because too many had failed before")                      \
	X(resyncs, "Clients that were too slow and got a snapshot")                                 \
	X(snapshots, "Snapshots sent to clients")                                                   \
	X(bytes_skipped, "Bytes that such clients did not get")                                     \
	X(bytes_sent, "Bytes of terminal output sent to clients")                                   \
	X(mcp_calls, "Tools called over MCP")                                                       \
	X(preview_requests, "Requests passed on to ports of this machine")                          \
	X(preview_failures, "Requests passed on that no program has answered")                      \
	X(runs, "Commands run on their own")                                                        \
	X(run_timeouts, "Commands run on their own that took too long")                             \
	X(failures, "Failures that were logged")

struct processes;
struct crew;
struct hooks;
struct access;

struct metrics {
	const struct processes *processes; /* whose counters are shown too, or NULL */
	const struct access *access;       /* the same, and its quotas */
	struct crew *crew;                 /* the same */
	struct hooks *hooks;               /* the same */
#define METRICS_FIELD(name, help) uint64_t name;
	METRICS_LIST(METRICS_FIELD)
#undef METRICS_FIELD
	uint64_t clients;         /* terminal sockets open now */
	uint64_t runs_active;     /* commands that run on their own now */
	uint64_t control_sockets; /* open now */
	uint64_t rpc_sockets;     /* open now */
	uint64_t streams;         /* streams of events open now */
	uint64_t callers; /* connections of HTTP/1.1, and those that have not said what they speak */
	uint64_t callers_silent; /* the latter, and handshakes of TLS */
	uint64_t strangers;      /* connections on which nobody has said yet who asks */
	uint64_t body_bytes;     /* taken by bodies that are being received */
};

/* The page for /metrics: a string owned by the caller, or NULL when memory is short. */
char *metrics_format(const struct metrics *m, const struct sessions *s);
