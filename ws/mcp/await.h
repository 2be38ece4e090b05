/*
 * Waiting for a command on behalf of a call: until it is over, a page of its output is there, the time is up, or its
 * terminal certainly awaits input of which the caller has not been told. The end of a line of questions to the API.
 */
#pragma once

#include "ws/mcp/call.h"

#define MCP_FIRST_MS \
	120u /* that most commands take no longer than: one request, and nothing to be looked into */

/* Wait for c->exec in c->session. */
void mcp_await(struct mcp_call *c, const struct mcp_await *how);
