/*
 * Streams to the peer. Each message writes one chunk to a pipe of the peer, as long as fewer than
 * RPC_WINDOW bytes are unacknowledged. Streams are served in turn.
 */
#include "ws/rpc/internal.h"
#include "ws/rpc/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define MESSAGE_SIZE 128u /* approximate overhead of a message, so that small chunks count too */

static void close_source(struct rpc_flow *f)
{
	if (f->closed)
		return;
	f->closed = true;
	f->source.closed(f->source.user);
}

static void free_flow(struct rpc_flow *f)
{
	close_source(f);
	f->engine->flows_count--;
	/* For the static analyzer: the first stream has a next, or is the only one. */
	assert(f->id == 0 || f != f->engine->flows || f->next || f->prev == f);
	if (f->id > 0)
		DL_DELETE(f->engine->flows, f);
	free(f);
}

void outflow_drop(struct rpc_flow *f)
{
	f->node = NULL;
	free_flow(f);
}

void outflow_send(struct rpc_flow *f, int64_t id)
{
	f->id = id;
	f->node = NULL;
	DL_APPEND(f->engine->flows, f);
}

void outflow_close_all(struct rpc_engine *e)
{
	while (e->flows)
		free_flow(e->flows); /* NOLINT(clang-analyzer-*): it is removed from the list */
}

static bool is_due(const struct rpc_flow *f)
{
	return !f->waits && !f->ended && !f->closed && f->flying < RPC_WINDOW;
}

bool outflow_has_next(const struct rpc_engine *e)
{
	const struct rpc_flow *f;
	DL_FOREACH (e->flows, f)
		if (is_due(f))
			return true;
	return false;
}

void rpc_flow_more(struct rpc_flow *f)
{
	f->waits = false;
}

/* A message that calls a method of the pipe. arguments: taken. */
static json_t *write_message(struct rpc_flow *f, const char *method, json_t *arguments, size_t size)
{
	struct rpc_engine *e = f->engine;
	struct rpc_import *i = arguments ? import_add(e, e->next_to_peer++, IMPORT_WRITE) : NULL;
	if (!i) {
		json_decref(arguments);
		rpc_engine_abort(e, "out of memory");
		return NULL;
	}
	i->flow = f;
	i->size = size;
	i->last = f->ended;
	f->flying += size;
	f->writes++;
	return json_pack(
		"[s, [s, I, [s], o]]", "stream", "pipeline", (json_int_t)f->id, method, arguments);
}

/* The message that ends the stream, as an abort if problem is not NULL. */
static json_t *write_end(struct rpc_flow *f, const char *problem)
{
	f->ended = true;
	close_source(f);
	return problem ? write_message(f, "abort",
				 json_pack("[o]", wire_error("Error", problem, NULL, NULL)), 0)
		       : write_message(f, "close", json_array(), 0);
}

/* The next message of a stream; NULL: none. */
static json_t *next_of(struct rpc_flow *f)
{
	json_t *piece = NULL, *message = NULL;
	size_t size = 0;
	switch (f->source.next(f->source.user, &piece, &size)) {
	case RPC_PIECE:
		message = write_message(f, "write", json_pack("[O]", piece), size + MESSAGE_SIZE);
		break;
	case RPC_WAIT:
		f->waits = true;
		break;
	case RPC_END:
		message = write_end(f, NULL);
		break;
	case RPC_BROKEN:
		message = write_end(f,
			json_is_string(piece) ? json_string_value(piece)
					      : "The stream has broken off");
		break;
	}
	json_decref(piece);
	return message;
}

json_t *outflow_next(struct rpc_engine *e)
{
	struct rpc_flow *f, *next;
	json_t *message = NULL;
	DL_FOREACH_SAFE (e->flows, f, next) {
		if (!is_due(f))
			continue;
		message = next_of(f);
		if (!message)
			continue;
		/* Move it behind the other streams. */
		DL_DELETE(e->flows, f);
		DL_APPEND(e->flows, f);
		break;
	}
	return message;
}

void outflow_acknowledged(struct rpc_engine *e, struct rpc_import *i, bool good)
{
	struct rpc_flow *f = i->flow;
	bool over = i->last || !good;
	f->flying -= i->size;
	f->writes--;
	import_remove(e, i);
	if (over && !f->released) {
		/* The stream was closed, or the peer no longer reads it. */
		struct rpc_outgoing *s = outgoing_add(e, OUTGOING_RELEASE, f->id);
		if (s)
			s->count = 1;
		close_source(f);
		f->ended = f->released = true;
	}
	if (f->released && f->writes == 0)
		free_flow(f);
}
