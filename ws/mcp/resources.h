/*
 * What a terminal shows and what its commands have printed, as resources that a client may list and read, with the rights that
 * tools have. How their requests begin; their results are those of the protocol.
 */
#pragma once

#include "ws/mcp/call.h"

#define MCP_RESOURCE_SESSIONS 25        /* in an answer, each with its screen */
#define MCP_RESOURCE_BLOCKS 5           /* and so many of its latest blocks; all can be read */
#define MCP_RESOURCE_BYTES (256u << 10) /* of a block that are given: head and tail */

void mcp_resources_list(struct mcp_call *c, const struct mcp_answer *a);
void mcp_resources_read(struct mcp_call *c, const struct mcp_answer *a);
void mcp_resources_subscribe(struct mcp_call *c, const struct mcp_answer *a);
void mcp_resources_unsubscribe(struct mcp_call *c, const struct mcp_answer *a);

/* The kinds of addresses that there are. Returns a new reference. */
json_t *mcp_resources_templates(void);
