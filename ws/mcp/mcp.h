/*
 * The Model Context Protocol at /mcp (streamable HTTP), for agents: revision 2026-07-28, which has no
 * sessions, and those that begin with `initialize`, back to 2025-03-26, on the same path. A request that
 * names its revision in params._meta is of the first kind.
 *
 * A client's connection that ends while a call is under way cancels it in the first kind, and means nothing in
 * the second, where notifications/cancelled does. Answers are JSON; what takes long, or
 * was asked to tell its progress, becomes a stream of events where the client takes one.
 *
 * What would be asked of a client while a call is under way is asked with the result in the first kind, and the call goes on with
 * the next (ws/mcp/resume.h); what happens meanwhile is told to who listens (ws/mcp/news.h).
 *
 * ?stdio=KEY is for the program that forwards messages from its standard input: what HTTP says in headers is
 * neither there nor looked for, and messages with the same KEY and the same credentials come from one client. &client=NAME
 * is what that has called itself, for a server that it was not told by `initialize`; &elicits=url: it has elicitation by URL.
 */
#pragma once

#include "ws/mcp/cursors.h"
#include "ws/mcp/elicit.h"
#include "ws/mcp/left.h"
#include "ws/mcp/sessions.h"
#include "ws/mcp/subscriptions.h"
#include "ws/mcp/tools.h"
#include "ws/request.h"

#include <uv.h>

#define MCP_EXCHANGES_MAX 512u    /* requests over HTTP that are under way */
#define MCP_SCOPE_MAX 64u         /* bytes of the KEY of ?stdio= */
#define MCP_STREAM_AFTER_MS 5000u /* an answer that is not there yet becomes a stream */
#define MCP_PROGRESS_MS 1000u

struct dispatcher;
struct mcp_exchange;
struct mcp_stream;
struct routes;

struct mcp {
	struct dispatcher *dispatcher; /* borrowed: who answers what tools ask */
	const char *version;
	uv_loop_t *loop;
	struct rota *rota; /* borrowed: in which links make texts of long answers; NULL: all at once */
	struct mcp_tools tools;
	struct mcp_sessions sessions;
	unsigned char key[AUTH_KEY_SIZE]; /* signs their ids */
	struct mcp_cursors cursors;
	struct mcp_left left;
	struct mcp_elicits elicits;
	struct mcp_subscriptions subscriptions;
	struct mcp_exchange *exchanges; /* list */
	size_t exchanges_count;
	struct mcp_stream *streams; /* list, see ws/mcp/news.h */
	size_t streams_count;
	uv_timer_t tick; /* while there are some of either */
	bool stopping;
};

/* dispatcher: borrowed, with its access. version: of the program, a literal. Returns 0 or a negative errno. */
int mcp_open(struct mcp *m, struct dispatcher *dispatcher, const char *version, uv_loop_t *loop);

/* Add the routes of /mcp to the table. */
void mcp_register(struct mcp *m, struct routes *all);

/* There are more exchanges or streams, or fewer: the timer runs while there are any. */
void mcp_tick_needed(struct mcp *m);

/* Connections that end from now on are ended by the server: nothing is cancelled by that. */
void mcp_stop(struct mcp *m);

/* Once no request is under way any more. The timer is the loop's until it has run once more. */
void mcp_close(struct mcp *m);
