/*
 * The sessions of the revisions that begin with `initialize` (not terminal sessions): what a client
 * has declared, and a scope for its request ids. Their number is bounded: unused sessions expire,
 * and if there are too many, the least recently used one of the same principal is dropped. If the
 * id is a ticket (ws/mcp/ticket.h), its next use creates the session again, unless the client has
 * ended it. The latest MCP_ENDED_MAX ended ids are stored for that.
 */
#pragma once

#include "shell/claim.h"
#include "ws/auth/auth.h"

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#define MCP_SESSIONS_MAX 1024u
#define MCP_SESSION_IDLE_MS (UINT64_C(24) * 3600 * 1000)
#define MCP_SESSION_RANDOM 20u /* random bytes of an id */
#define MCP_SESSION_ID_SIZE 128u
#define MCP_ENDED_MAX 1024u
#define MCP_CLIENT_SIZE 65u

/* A session. */
struct mcp_session {
	UT_hash_handle hh;
	char id[MCP_SESSION_ID_SIZE];
	char client[MCP_CLIENT_SIZE]; /* name of the program, or "" */
	bool batches;                 /* its revision has batches */
	bool elicits;                 /* the client supports elicitation by URL */
	bool restored;                /* begun by another server, or dropped meanwhile */
	enum role role;               /* of its principal */
	char link[LINK_ID_SIZE];      /* of its principal */
	uint64_t used_ms;
	struct claim *claim; /* its place in the quota; owned; or NULL */
	struct mcp_sessions *all;
};

/* Zeroed memory is an empty table. Times are of any monotonic clock. */
struct mcp_sessions {
	struct mcp_session *table;
	char (*ended)[2 * MCP_SESSION_RANDOM + 1]; /* ring of MCP_ENDED_MAX ids; owned; or NULL */
	size_t ended_count;                        /* ever */
};

/* End the least recently used session of p. Returns whether there was one. */
bool mcp_sessions_evict(struct mcp_sessions *all, const struct principal *p);

/*
 * Create a session for p. It replaces an expired one, or, if there are too many, the least recently
 * used one of p. id: chosen by p, in which case an existing session is returned; NULL: a random
 * one. claim: its place in the quota, taken; may be NULL. Returns NULL if memory is short or
 * another principal has this id; then the claim stays the caller's.
 */
struct mcp_session *mcp_sessions_create(struct mcp_sessions *all, const struct principal *p,
	const char *id, struct claim *claim, uint64_t now_ms);

/* Find a session of p and mark it as used. Returns NULL if p has no such session. */
struct mcp_session *mcp_sessions_find(
	struct mcp_sessions *all, const char *id, const struct principal *p, uint64_t now_ms);

/* End and free a session. */
void mcp_sessions_end(struct mcp_sessions *all, struct mcp_session *s);

/* Record that the client has ended the session with this id, so that it is not created again. */
void mcp_sessions_mark_ended(struct mcp_sessions *all, const char *id);

/* Whether mcp_sessions_mark_ended() was called for this id. */
bool mcp_sessions_is_ended(const struct mcp_sessions *all, const char *id);

/* Free everything. */
void mcp_sessions_close(struct mcp_sessions *all);
