/*
 * How much of what there is for all may be had by those who came by a link: by one link, by all links of one session, by
 * all links together. Each of these is less than there is, so that the rest is the owners' reserve; they have none of
 * these limits. Whatever is had is a place, which is given back once. Pure; memory is bounded by what is had.
 */
#pragma once

#include "ws/auth/auth.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

/* Kind, its name in /metrics, and the limits: of a link, of the links of a session, of all links. */
#define QUOTA_LIST(X)                                                                               \
	/* Connections with credentials, and WebSockets. These are the least: see quotas_init(). */ \
	X(CONNECTIONS, "connections", 16, 32, 32)                                                   \
	/* Terminal sockets, of TERMINAL_CLIENTS_MAX in a session. */                               \
	X(TERMINALS, "terminals", 128, 224, 1024)                                                   \
	/* Requests that a handler has and has not answered. */                                     \
	X(REQUESTS, "requests", 128, 512, 2048)                                                     \
	/* Streams of events. */                                                                    \
	X(STREAMS, "streams", 32, 128, 512)                                                         \
	/* Bytes of bodies that are being received, of BODIES_MAX. */                               \
	X(BODY_BYTES, "body_bytes", 8u << 20, 16u << 20, 40u << 20)                                 \
	/* Bytes of answers that are not sent yet, of ACCESS_ANSWERS_MAX. */                        \
	X(ANSWER_BYTES, "answer_bytes", 64u << 20, 128u << 20, 384u << 20)                          \
	/* Waits for a session, of WAITS_MAX in a session, also those that go on by their key. */   \
	X(WAITS, "waits", 16, 48, 2048)                                                             \
	/* Their patterns, of WAIT_PATTERNS_MAX in a session and WAIT_PATTERNS_TOTAL. */            \
	X(PATTERNS, "patterns", 16, 48, 768)                                                        \
	/* Commands that have not begun, of EXECS_QUEUED_MAX in a session. */                       \
	X(COMMANDS, "commands", 16, 48, 2048)                                                       \
	/* Commands beside a session (fork), of RUNS_MAX. */                                        \
	X(FORKS, "forks", 8, 32, 192)                                                               \
	/* Contexts of code, of CONTEXTS_MAX. */                                                    \
	X(CONTEXTS, "contexts", 8, 24, 48)                                                          \
	/* Clients of MCP that have initialized, of MCP_SESSIONS_MAX. */                            \
	X(MCP_SESSIONS, "mcp_sessions", 64, 256, 768)                                               \
	/* Requests to /mcp under way, of MCP_EXCHANGES_MAX. */                                     \
	X(MCP_CALLS, "mcp_calls", 64, 256, 384)

enum quota_kind {
#define QUOTA_KIND(kind, name, link, session, server) QUOTA_##kind,
	QUOTA_LIST(QUOTA_KIND)
#undef QUOTA_KIND
		QUOTA_KINDS
};

struct quota_limits {
	unsigned link, session, server;
};

/* What a link, or the links of a session, have. */
struct quota_count {
	UT_hash_handle hh;
	char name[NAME_ID_MAX + 4]; /* with whose it is in front: "l:" or "s:" */
	size_t places;
	unsigned had[QUOTA_KINDS];
};

struct quotas {
	struct quota_limits limits[QUOTA_KINDS];
	struct quota_count *table;
	unsigned had[QUOTA_KINDS]; /* by all links */
	uint64_t refused[QUOTA_KINDS];
};

/* What somebody has. Zero is nothing; it may be moved, but not copied. */
struct quota_place {
	struct quotas *quotas;
	struct quota_count *link, *session;
	enum quota_kind kind;
	unsigned amount;
};

/* max_connections: of the server. */
void quotas_init(struct quotas *all, unsigned max_connections);

/* Forget everything; what is had is not given back any more. */
void quotas_finish(struct quotas *all);

/*
 * Take so much of a kind; place: nothing, as yet. Who came by no link always gets it. Returns whether it is had;
 * otherwise that has been counted.
 */
bool quota_take(struct quotas *all, enum quota_kind kind, unsigned amount,
	const struct principal *p, struct quota_place *place);

/* Whether it is had by p; nothing is had by any owner. */
bool quota_is_of(const struct quota_place *place, const struct principal *p);

/* Give it back, if there is anything. */
void quota_give(struct quota_place *place);

/* "waits" ... */
const char *quota_name(enum quota_kind kind);
