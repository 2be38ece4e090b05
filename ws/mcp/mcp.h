/*
 * The Model Context Protocol at /mcp (streamable HTTP), for agents: revision 2026-07-28, which has no
 * sessions, and those that begin with `initialize`, back to 2025-03-26, on the same path. A request that
 * names its revision in params._meta is of the first kind.
 *
 * A client's connection that ends while a call is under way cancels it in the first kind, and means nothing in
 * the second, where notifications/cancelled does. (Over HTTP/2 libwebsockets tells only of the connection's end,
 * not of that of a single stream.) Answers are JSON; what takes long, or was asked to tell
 * its progress, becomes a stream of events where the client takes one.
 *
 * ?stdio=KEY is for the program that forwards messages from its standard input: what HTTP says in headers is
 * neither there nor looked for, and messages with the same KEY and the same credentials come from one client.
 */
#pragma once

#include "ws/mcp/cursors.h"
#include "ws/mcp/sessions.h"
#include "ws/mcp/tools.h"
#include "ws/request.h"

#include <uv.h>

#define MCP_EXCHANGES_MAX 512u    /* requests over HTTP that are under way */
#define MCP_SCOPE_MAX 64u         /* bytes of the KEY of ?stdio= */
#define MCP_STREAM_AFTER_MS 5000u /* an answer that is not there yet becomes a stream */
#define MCP_PROGRESS_MS 1000u

struct dispatcher;
struct mcp_exchange;
struct routes;

struct mcp {
	struct dispatcher *dispatcher; /* borrowed: who answers what tools ask */
	const char *version;
	uv_loop_t *loop;
	struct mcp_tools tools;
	struct mcp_sessions sessions;
	struct mcp_cursors cursors;
	struct mcp_exchange *exchanges; /* list */
	size_t exchanges_count;
	uv_timer_t tick; /* while there are some */
	bool stopping;
};

/* dispatcher: borrowed. version: of the program, a literal. Returns 0 or a negative errno. */
int mcp_open(struct mcp *m, struct dispatcher *dispatcher, const char *version, uv_loop_t *loop);

/* Add the routes of /mcp to the table. */
void mcp_register(struct mcp *m, struct routes *all);

/* Connections that end from now on are ended by the server: nothing is cancelled by that. */
void mcp_stop(struct mcp *m);

/* Once no request is under way any more. The timer is the loop's until it has run once more. */
void mcp_close(struct mcp *m);
