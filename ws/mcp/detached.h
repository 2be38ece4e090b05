/*
 * Commands that still run after the call that started them was answered. The end of each is
 * reported with the next answer to the same client, whatever it called, also by a restarted server.
 * If a client has more than MCP_DETACHED_MAX of them, its oldest is dropped.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_DETACHED_MAX 256u    /* of a client */
#define MCP_DETACHED_TOTAL 8192u /* of all clients; then the oldest is dropped */

struct mcp;
struct mcp_call;
struct mcp_detached_one;

/* Zeroed memory is empty. */
struct mcp_detached {
	struct mcp_detached_one *all; /* list, the oldest first */
	size_t count;
};

/* Report the end of this call's command later. */
void mcp_detached_add(struct mcp_detached *all, const struct mcp_call *c);

/* Do not report the end of this call's command: the client has received it. */
void mcp_detached_remove(struct mcp_detached *all, const struct mcp_call *c);

/* Add the commands that ran when an earlier server ended, from all sessions adopted so far. */
void mcp_detached_restore(struct mcp *m);

/* Add the commands of the caller that have ended to the answer of the call, and remove them. */
void mcp_detached_report(struct mcp_detached *all, struct mcp_call *c);

/* The end of one of the client's commands, returned once, as a new reference; NULL: none. */
json_t *mcp_detached_next_ended(struct mcp *m, uint64_t client);

/* Free everything. */
void mcp_detached_close(struct mcp_detached *all);
