/*
 * Commands that still run after the call that started them was answered. The end of each is
 * reported with the next answer to the same client, whatever it called, also by a restarted server.
 * If a client has more than MCP_LEFT_MAX of them, its oldest is dropped.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_LEFT_MAX 256u    /* of a client */
#define MCP_LEFT_TOTAL 8192u /* of all clients; then the oldest is dropped */

struct mcp;
struct mcp_call;
struct mcp_left_one;

/* Zeroed memory is empty. */
struct mcp_left {
	struct mcp_left_one *all; /* list, the oldest first */
	size_t count;
};

/* Report the end of this call's command later. */
void mcp_left_note(struct mcp_left *all, const struct mcp_call *c);

/* Do not report the end of this call's command: the client has received it. */
void mcp_left_forget(struct mcp_left *all, const struct mcp_call *c);

/* Add the commands that ran when an earlier server ended, from all sessions adopted so far. */
void mcp_left_take_up(struct mcp *m);

/* Add the commands of the caller that have ended to the answer of the call, and remove them. */
void mcp_left_tell(struct mcp_left *all, struct mcp_call *c);

/* The end of one of the client's commands, returned once, as a new reference; NULL: none. */
json_t *mcp_left_news(struct mcp *m, uint64_t client);

/* Free everything. */
void mcp_left_close(struct mcp_left *all);
