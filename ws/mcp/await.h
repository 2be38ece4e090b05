/*
 * Waits for a command on behalf of a call: until it ends, a page of its output is there, the time
 * is up, or its terminal certainly awaits input that the caller has not been told of. It is the
 * last step of a call.
 */
#pragma once

#include "ws/mcp/call.h"

/* Most commands end within this time, so they need a single request. */
#define MCP_FIRST_MS 120u

/* Wait for c->exec in c->session, then call how->next. */
void mcp_await(struct mcp_call *c, const struct mcp_await *how);
