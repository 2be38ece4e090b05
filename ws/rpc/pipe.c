/*
 * Byte streams from the peer. A chunk is acknowledged only when the reader has consumed it, which
 * limits how much the peer writes.
 */
#include "ws/rpc/internal.h"
#include "ws/rpc/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct rpc_node *pipe_create(struct rpc_engine *e)
{
	struct rpc_node *n = node_create(e, NODE_PIPE);
	struct rpc_pipe *p = n ? calloc(1, sizeof *p) : NULL;
	if (!p) {
		node_unref(n);
		rpc_engine_abort(e, "out of memory");
		return NULL;
	}
	p->engine = e;
	p->node = n;
	n->pipe = p;
	return n;
}

static void make_ready(struct rpc_pipe *p)
{
	struct rpc_engine *e = p->engine;
	if (p->ready || !p->node)
		return;
	p->ready = true;
	node_ref(p->node);
	p->next_ready = e->ready_pipes;
	e->ready_pipes = p;
}

/* Remove the first chunk and settle its write. problem: NULL: it was read. */
static void settle_first(struct rpc_pipe *p, const char *problem)
{
	struct rpc_chunk *c = p->chunks;
	p->chunks = c->next;
	p->bytes -= c->length;
	p->engine->held -= c->length;
	if (!p->engine->closing) {
		if (problem)
			node_fail_with(c->result, "Error", problem, NULL);
		else
			node_become_json(c->result, wire_undefined());
	}
	node_unref(c->result);
	free(c->bytes);
	free(c);
}

static void settle_end(struct rpc_pipe *p, const char *problem)
{
	struct rpc_node *n = p->closing;
	p->closing = NULL;
	if (!n)
		return;
	if (problem && !p->engine->closing)
		node_fail_with(n, "Error", problem, NULL);
	else if (!p->engine->closing)
		node_become_json(n, wire_undefined());
	node_unref(n);
}

/* Fail all pending and future writes. */
static void refuse_rest(struct rpc_pipe *p)
{
	p->refused = true;
	while (p->chunks)
		settle_first(p, "The stream is no longer read");
	settle_end(p, "The stream is no longer read");
}

void pipe_destroy(struct rpc_pipe *p)
{
	struct rpc_reader *r = p->reader;
	p->reader = NULL;
	p->node = NULL;
	if (r) {
		r->pipe = NULL;
		r->sink.broken(r->sink.user);
		free(r);
	}
	refuse_rest(p);
	free(p);
}

static void keep_chunk(struct rpc_pipe *p, struct rpc_node *args, struct rpc_node *result)
{
	struct rpc_chunk *c = calloc(1, sizeof *c);
	const json_t *piece = json_array_get(wire_array(args->value.tree), 0);
	if (c)
		c->bytes = wire_bytes(piece, &c->length);
	if (!c || !c->bytes) {
		free(c);
		node_fail_with(result, "TypeError", "Only bytes and text can be written here", NULL);
		return;
	}
	if (p->bytes + c->length > RPC_PIPE_MAX)
		rpc_engine_abort(p->engine, "too much of a stream is on its way");
	if (p->engine->aborted || !engine_reserve(p->engine, c->length)) {
		free(c->bytes);
		free(c);
		return;
	}
	c->result = node_ref(result);
	if (p->chunks)
		p->last->next = c;
	else
		p->chunks = c;
	p->last = c;
	p->bytes += c->length;
}

void pipe_call(
	struct rpc_node *pipe, const char *method, struct rpc_node *args, struct rpc_node *result)
{
	struct rpc_pipe *p = pipe->pipe;
	const char *name = method ? method : "";
	bool write = strcmp(name, "write") == 0, close = strcmp(name, "close") == 0;
	if (!write && !close && strcmp(name, "abort") != 0) {
		node_fail_with(result, "TypeError",
			"A pipe has only the methods write, close and abort", NULL);
		return;
	}
	if (p->refused || p->ended || p->broken) {
		node_fail_with(result, "TypeError", "The stream has ended", NULL);
		return;
	}
	if (write) {
		keep_chunk(p, args, result);
	} else if (close) {
		p->ended = true;
		p->closing = node_ref(result);
	} else {
		p->broken = true;
		node_become_json(result, wire_undefined());
	}
	make_ready(p);
}

void pipe_released(struct rpc_pipe *p)
{
	if (!p->ended)
		p->broken = true;
	make_ready(p);
}

static void end_reader(struct rpc_pipe *p, bool complete)
{
	struct rpc_reader *r = p->reader;
	struct rpc_sink sink = r->sink;
	p->reader = NULL;
	free(r);
	if (complete) {
		settle_end(p, NULL);
		sink.complete(sink.user);
	} else {
		refuse_rest(p);
		sink.broken(sink.user);
	}
}

static void deliver(struct rpc_pipe *p)
{
	struct rpc_reader *r = p->reader;
	if (!r) {
		if (p->broken)
			refuse_rest(p);
	} else if (p->broken && !r->paused) {
		end_reader(p, false);
	} else if (p->chunks && !r->paused) {
		/* It is acknowledged by rpc_reader_resume(). */
		r->paused = r->delivered = true;
		r->sink.piece(r->sink.user, p->chunks->bytes, p->chunks->length);
	} else if (!p->chunks && p->ended && !r->paused) {
		end_reader(p, true);
	}
}

void pipe_run(struct rpc_engine *e)
{
	struct rpc_pipe *p = e->ready_pipes;
	struct rpc_node *n = p->node;
	e->ready_pipes = p->next_ready;
	p->ready = false;
	deliver(p);
	node_unref(n);
}

void pipe_remove_ready(struct rpc_engine *e)
{
	struct rpc_pipe *p = e->ready_pipes;
	e->ready_pipes = p->next_ready;
	p->ready = false;
	node_unref(p->node);
}

struct rpc_reader *rpc_call_read(struct rpc_call *c, size_t index, const struct rpc_sink *sink)
{
	struct rpc_node *n = node_of(c->engine, rpc_call_argument(c, index));
	n = n ? node_real(n) : NULL;
	if (!n || n->kind != NODE_PIPE || n->pipe->reader || n->pipe->refused)
		return NULL;
	struct rpc_reader *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	*r = (struct rpc_reader){.pipe = n->pipe, .sink = *sink, .paused = true};
	n->pipe->reader = r;
	return r;
}

void rpc_reader_resume(struct rpc_reader *r)
{
	struct rpc_pipe *p = r->pipe;
	if (r->delivered)
		settle_first(p, NULL);
	r->delivered = r->paused = false;
	make_ready(p);
	engine_run(p->engine);
}

void rpc_reader_close(struct rpc_reader *r)
{
	struct rpc_pipe *p = r->pipe;
	p->reader = NULL;
	free(r);
	refuse_rest(p);
	engine_run(p->engine);
}
