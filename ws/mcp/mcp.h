/*
 * The Model Context Protocol at /mcp (streamable HTTP), for agents: revision 2026-07-28, which has
 * no sessions, and the revisions back to 2025-03-26, which begin with `initialize`. A request that
 * names its revision in params._meta belongs to the first kind.
 *
 * In the first kind, closing the connection cancels its calls. In the second, only
 * notifications/cancelled does. Answers are JSON. A slow answer, or one with progress, becomes an
 * event stream if the client accepts that.
 *
 * In the first kind a request to the client is part of a call's result, and the next call continues
 * it (ws/mcp/resume.h). Notifications are sent on streams (ws/mcp/notify.h).
 *
 * ?stdio=KEY is for a program that forwards messages from its standard input. The headers are then
 * ignored, and messages with the same KEY and the same credentials come from one client.
 * &client=NAME is the client's name, for a server that did not receive its `initialize`;
 * &elicits=url says that it supports elicitation by URL.
 */
#pragma once

#include "ws/mcp/cursors.h"
#include "ws/mcp/elicit.h"
#include "ws/mcp/detached.h"
#include "ws/mcp/sessions.h"
#include "ws/mcp/subscriptions.h"
#include "ws/mcp/tools.h"
#include "ws/request.h"

#include <uv.h>

#define MCP_EXCHANGES_MAX 512u    /* POSTs in progress */
#define MCP_SCOPE_MAX 64u         /* bytes of the KEY of ?stdio= */
#define MCP_STREAM_AFTER_MS 5000u /* a slower answer becomes a stream */
#define MCP_PROGRESS_MS 1000u     /* between two notifications of progress */

struct dispatcher;
struct mcp_exchange;
struct mcp_stream;
struct routes;

/* The module. */
struct mcp {
	struct dispatcher *dispatcher; /* borrowed: handles the requests of tools */
	const char *version;
	uv_loop_t *loop;
	struct rota *rota; /* borrowed: turns of links to handle long replies; NULL: no turns */
	struct mcp_tools tools;
	struct mcp_sessions sessions;
	unsigned char key[AUTH_KEY_SIZE]; /* signs session ids */
	struct mcp_cursors cursors;
	struct mcp_detached detached;
	struct mcp_elicits elicits;
	struct mcp_subscriptions subscriptions;
	struct mcp_exchange *exchanges; /* list */
	size_t exchanges_count;
	struct mcp_stream *streams; /* list, see ws/mcp/notify.h */
	size_t streams_count;
	uv_timer_t tick; /* runs while there are exchanges, or streams with something to watch */
	bool stopping;
};

/* dispatcher: borrowed. version: of the program, a literal. Returns 0 or a negative errno. */
int mcp_open(struct mcp *m, struct dispatcher *dispatcher, const char *version, uv_loop_t *loop);

/* Add the routes of /mcp to the table. */
void mcp_register(struct mcp *m, struct routes *all);

/* Start or stop the timer after the number of exchanges or streams has changed. */
void mcp_update_timer(struct mcp *m);

/* The server stops: connections that are closed from now on cancel nothing. */
void mcp_stop(struct mcp *m);

/*
 * Free everything. No request may be in progress. The loop must run once more to close the timer.
 */
void mcp_close(struct mcp *m);
