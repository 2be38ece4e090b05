/*
 * The sessions of MCP's revisions that begin with `initialize`, which have nothing to do with those of
 * terminals: what the client said of itself, and a name under which it can cancel what it has asked for.
 * Bounded: those that are not used expire, and where there are too many, the one that was unused for longest goes, of
 * those of who wants another. That is no harm where the id says it all (ws/mcp/ticket.h): its next use makes it anew,
 * unless the client has ended it, of which the latest MCP_ENDED_MAX are remembered.
 */
#pragma once

#include "shell/claim.h"
#include "ws/auth/auth.h"

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#define MCP_SESSIONS_MAX 1024u
#define MCP_SESSION_IDLE_MS (UINT64_C(24) * 3600 * 1000)
#define MCP_SESSION_RANDOM 20u /* bytes of an id of ours */
#define MCP_SESSION_ID_SIZE 128u
#define MCP_ENDED_MAX 1024u
#define MCP_CLIENT_SIZE 65u

struct mcp_session {
	UT_hash_handle hh;
	char id[MCP_SESSION_ID_SIZE];
	char client[MCP_CLIENT_SIZE]; /* name of the program, or "" */
	bool batches;                 /* its revision has them */
	bool elicits;                 /* it can have a person open an address */
	bool taken_up;                /* it was begun with another server, or forgotten meanwhile */
	enum role role;               /* whose it is */
	char link[LINK_ID_SIZE];
	uint64_t used_ms;
	struct claim *claim; /* its place; owned until it is released; or NULL */
	struct mcp_sessions *all;
};

/* Zero is an empty one. Times are those of any steady clock. */
struct mcp_sessions {
	struct mcp_session *table;
	char (*ended)[2 * MCP_SESSION_RANDOM + 1]; /* MCP_ENDED_MAX ids, once there is one; owned */
	size_t ended_count;                        /* ever */
};

/* End the one of p's that was unused for longest. Returns whether there was one. */
bool mcp_sessions_evict(struct mcp_sessions *all, const struct principal *p);

/*
 * Make one for p; one that has expired goes, if there is one, or where there are too many the one of p's that was
 * unused for longest. id: how p calls it, then it may be there already; NULL: it gets a random one. claim: its place,
 * taken; may be NULL. Returns NULL when memory is short, or another has one of that id; then the claim is the caller's.
 */
struct mcp_session *mcp_sessions_create(struct mcp_sessions *all, const struct principal *p,
	const char *id, struct claim *claim, uint64_t now_ms);

/* Find one of p's, which is used now. Returns NULL when there is none, or it is another's. */
struct mcp_session *mcp_sessions_find(
	struct mcp_sessions *all, const char *id, const struct principal *p, uint64_t now_ms);

void mcp_sessions_end(struct mcp_sessions *all, struct mcp_session *s);

/* An id of ours is no good any more; whether it is so. */
void mcp_sessions_bar(struct mcp_sessions *all, const char *id);
bool mcp_sessions_barred(const struct mcp_sessions *all, const char *id);

void mcp_sessions_close(struct mcp_sessions *all);
