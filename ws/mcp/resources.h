/*
 * Screens and the output of commands as resources that a client can list, read and subscribe to,
 * with the same rights as tools. The results are those of the protocol.
 */
#pragma once

#include "ws/mcp/call.h"

#define MCP_RESOURCE_SESSIONS 25 /* in a page of the list, each with its screen */
#define MCP_RESOURCE_BLOCKS 5    /* latest blocks of a session in the list; all can be read */
#define MCP_RESOURCE_BYTES (256u << 10) /* of a block's output: head and tail */

/* First step of resources/list. */
void mcp_resources_list(struct mcp_call *c, const struct mcp_answer *a);

/* First step of resources/read. */
void mcp_resources_read(struct mcp_call *c, const struct mcp_answer *a);

/* First step of resources/subscribe. */
void mcp_resources_subscribe(struct mcp_call *c, const struct mcp_answer *a);

/* First step of resources/unsubscribe. */
void mcp_resources_unsubscribe(struct mcp_call *c, const struct mcp_answer *a);

/* The result of resources/templates/list. Returns a new reference. */
json_t *mcp_resources_templates(void);
