/*
 * Commands that clients have left running: the end of each is told with the next answer to who has left it, whatever was
 * asked, also by the next server. At most MCP_LEFT_MAX of a client; then the one that they left first is not told of.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_LEFT_MAX 256u    /* of a client */
#define MCP_LEFT_TOTAL 8192u /* of all; the oldest goes */

struct mcp;
struct mcp_call;
struct mcp_left_one;

/* Zero is none. */
struct mcp_left {
	struct mcp_left_one *all; /* list, in the order in which they were left */
	size_t count;
};

/* The caller knows that the command of this call still runs; or how it has ended. */
void mcp_left_note(struct mcp_left *all, const struct mcp_call *c);
void mcp_left_forget(struct mcp_left *all, const struct mcp_call *c);

/* Take up those that were under way when an earlier server ended, once their sessions have been adopted. */
void mcp_left_take_up(struct mcp *m);

/* Say with the answer of the call what has ended since. */
void mcp_left_tell(struct mcp_left *all, struct mcp_call *c);

/* One of the caller's that has ended, and of which this has not said so: in words, a new reference; or NULL. */
json_t *mcp_left_news(struct mcp *m, uint64_t client);

void mcp_left_close(struct mcp_left *all);
