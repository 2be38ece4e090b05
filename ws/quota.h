/*
 * Quotas: how much of each shared resource links may use. There are three limits: for one link, for all links of one
 * session, and for all links together. Each is less than the total, so the rest is reserved for owners, who have no
 * quotas. What a principal uses is a place, which is released once. Pure; memory is bounded by the places in use.
 */
#pragma once

#include "ws/auth/auth.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

/* Kind, its name in /metrics, and the limits: for one link, for the links of a session, for all links. */
#define QUOTA_LIST(X)                                                                          \
	/* Connections with credentials, and WebSockets. The minimum: see quotas_init(). */    \
	X(CONNECTIONS, "connections", 16, 32, 32)                                              \
	/* Terminal sockets; TERMINAL_CLIENTS_MAX in a session. */                             \
	X(TERMINALS, "terminals", 128, 224, 1024)                                              \
	/* Requests that a handler has not answered yet. */                                    \
	X(REQUESTS, "requests", 128, 512, 2048)                                                \
	/* Event streams. */                                                                   \
	X(STREAMS, "streams", 32, 128, 512)                                                    \
	/* Bytes of bodies that are being received; BODIES_MAX in all. */                      \
	X(BODY_BYTES, "body_bytes", 8u << 20, 16u << 20, 40u << 20)                            \
	/* Bytes of unsent answers; ACCESS_ANSWERS_MAX in all. */                              \
	X(ANSWER_BYTES, "answer_bytes", 64u << 20, 128u << 20, 384u << 20)                     \
	/* Waits for a session, also those that go on by their key; WAITS_MAX in a session. */ \
	X(WAITS, "waits", 16, 48, 2048)                                                        \
	/* Patterns of waits; WAIT_PATTERNS_MAX in a session, WAIT_PATTERNS_TOTAL in all. */   \
	X(PATTERNS, "patterns", 16, 48, 768)                                                   \
	/* Queued commands; EXECS_QUEUED_MAX in a session. */                                  \
	X(COMMANDS, "commands", 16, 48, 2048)                                                  \
	/* Commands beside a session (fork); RUNS_MAX in all. */                               \
	X(FORKS, "forks", 8, 32, 192)                                                          \
	/* Contexts of code; CONTEXTS_MAX in all. */                                           \
	X(CONTEXTS, "contexts", 8, 24, 48)                                                     \
	/* Initialized MCP clients; MCP_SESSIONS_MAX in all. */                                \
	X(MCP_SESSIONS, "mcp_sessions", 64, 256, 768)                                          \
	/* Requests to /mcp under way; MCP_EXCHANGES_MAX in all. */                            \
	X(MCP_CALLS, "mcp_calls", 64, 256, 384)

/* A kind of resource. */
enum quota_kind {
#define QUOTA_KIND(kind, name, link, session, server) QUOTA_##kind,
	QUOTA_LIST(QUOTA_KIND)
#undef QUOTA_KIND
		QUOTA_KINDS
};

/* Limits of one kind: for a link, for the links of a session, for all links. */
struct quota_limits {
	unsigned link, session, server;
};

/* What a link, or all links of a session, use. */
struct quota_count {
	UT_hash_handle hh;
	char name[NAME_ID_MAX + 4]; /* "l:LINK" or "s:SESSION" */
	size_t places;
	unsigned had[QUOTA_KINDS];
};

/* The quotas of a server. */
struct quotas {
	struct quota_limits limits[QUOTA_KINDS];
	struct quota_count *table;
	unsigned had[QUOTA_KINDS]; /* used by all links */
	uint64_t refused[QUOTA_KINDS];
};

/* An amount that a link uses. Zeroed: none. It may be moved, but not copied. */
struct quota_place {
	struct quotas *quotas;
	struct quota_count *link, *session;
	enum quota_kind kind;
	unsigned amount;
};

/* Initialize. max_connections: of the server; connections have limits in proportion to it. */
void quotas_init(struct quotas *all, unsigned max_connections);

/* Free everything. Places that are still in use must not be released any more. */
void quotas_finish(struct quotas *all);

/* Acquire amount of a kind into an empty place. Owners always succeed. Returns false, and counts it, if a limit is reached. */
bool quota_acquire(struct quotas *all, enum quota_kind kind, unsigned amount,
	const struct principal *p, struct quota_place *place);

/* Whether p's link uses this place; for an empty place, whether p is an owner. */
bool quota_is_of(const struct quota_place *place, const struct principal *p);

/* Release a place; an empty one is fine. */
void quota_release(struct quota_place *place);

/* The name in /metrics, such as "waits". */
const char *quota_name(enum quota_kind kind);
