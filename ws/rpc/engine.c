/* Handles the peer's messages; creates and destroys a session. */
#include "ws/rpc/internal.h"
#include "ws/rpc/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rpc_engine *rpc_engine_create(const struct rpc_callbacks *callbacks, void *user)
{
	struct rpc_engine *e = calloc(1, sizeof *e);
	if (!e)
		return NULL;
	e->callbacks = callbacks;
	e->user = user;
	e->next_from_peer = e->next_to_peer = 1;
	struct rpc_node *main = node_create(e, NODE_TARGET);
	if (main)
		main->path = json_array();
	if (main && main->path && export_add(e, 0, main))
		return e;
	rpc_engine_destroy(e);
	return NULL;
}

static void free_nodes(struct rpc_engine *e)
{
	struct rpc_node *n, *next;
	engine_sweep(e);
	/* Nodes may refer to each other in cycles, so drop all references before freeing any. */
	HASH_ITER (hh, e->nodes, n, next)
		node_ref(n);
	while (e->ready) {
		n = e->ready;
		e->ready = n->next;
		n->ready = false;
		node_unref(n);
	}
	HASH_ITER (hh, e->nodes, n, next)
		node_clear(n);
	HASH_ITER (hh, e->nodes, n, next)
		node_unref(n);
	engine_sweep(e);
}

void rpc_engine_destroy(struct rpc_engine *e)
{
	struct rpc_export *x, *next;
	struct rpc_import *i, *after;
	e->closing = true;
	e->running = true;
	call_cancel_all(e);
	while (e->ready_pipes)
		pipe_remove_ready(e);
	outgoing_drop_all(e);
	HASH_ITER (hh, e->exports, x, next)
		export_remove(e, x);
	HASH_ITER (hh, e->imports, i, after)
		import_remove(e, i);
	outflow_close_all(e);
	free_nodes(e);
	free(e);
}

void rpc_engine_abort(struct rpc_engine *e, const char *reason)
{
	if (e->aborted || e->closing)
		return;
	e->aborted = true;
	snprintf(e->reason, sizeof e->reason, "%s", reason);
}

const char *rpc_engine_aborted(const struct rpc_engine *e)
{
	return e->aborted ? e->reason : NULL;
}

bool engine_reserve(struct rpc_engine *e, uint64_t cost)
{
	if (e->held + cost > RPC_HELD_MAX) {
		rpc_engine_abort(e, "too many bytes are held");
		return false;
	}
	e->held += cost;
	return true;
}

/* The peer asks for the result x, at most once. */
static void pull(struct rpc_engine *e, struct rpc_export *x)
{
	if (x->pulled)
		return;
	x->pulled = true;
	struct rpc_waiter *w = calloc(1, sizeof *w);
	if (!w) {
		rpc_engine_abort(e, "out of memory");
		return;
	}
	*w = (struct rpc_waiter){.kind = WAITER_SEND, .id = x->id};
	node_wait(x->node, w);
}

static void receive_push(struct rpc_engine *e, const json_t *message, bool stream)
{
	struct rpc_node *n = evaluate(e, json_array_get(message, 1));
	struct rpc_export *x = n ? export_add(e, e->next_from_peer++, n) : NULL;
	if (!x || !stream)
		return;
	x->released_by_answer = true;
	pull(e, x);
}

static void receive_pipe(struct rpc_engine *e)
{
	struct rpc_node *n = pipe_create(e);
	if (n)
		export_add(e, e->next_from_peer++, n);
}

static void receive_pull(struct rpc_engine *e, const json_t *message)
{
	const json_t *id = json_array_get(message, 1);
	struct rpc_export *x = json_is_integer(id) ? export_find(e, json_integer_value(id)) : NULL;
	if (x)
		pull(e, x);
	else
		rpc_engine_abort(e, "no such export ID in pull");
}

static void receive_release(struct rpc_engine *e, const json_t *message)
{
	const json_t *id = json_array_get(message, 1), *count = json_array_get(message, 2);
	struct rpc_export *x = json_is_integer(id) ? export_find(e, json_integer_value(id)) : NULL;
	json_int_t n = json_integer_value(count);
	if (!x || !json_is_integer(count) || n < 0 || x->id == 0) {
		rpc_engine_abort(e, "no such export ID in release");
	} else if (x->references < (uint64_t)n) {
		rpc_engine_abort(e, "refcount would go negative");
	} else {
		x->references -= (uint64_t)n;
		if (x->references == 0)
			export_remove(e, x);
	}
}

/* A call to the peer, or a promise of the peer, has settled. */
static void settle_import(
	struct rpc_engine *e, struct rpc_import *i, struct rpc_node *result, bool good)
{
	struct rpc_outgoing *s = outgoing_add(e, OUTGOING_RELEASE, i->id);
	const struct rpc_node *real = node_real(result);
	if (s)
		s->count = i->introduced;
	if (good)
		node_become_alias(i->node, node_ref(result));
	else if (real->kind == NODE_VALUE)
		node_fail(i->node, json_incref(real->value.tree));
	else
		node_fail_with(i->node, "Error", "The call has failed", NULL);
	import_remove(e, i);
}

static void receive_result(struct rpc_engine *e, const json_t *message, bool good)
{
	const json_t *id = json_array_get(message, 1);
	if (!json_is_integer(id) || json_array_size(message) < 3) {
		rpc_engine_abort(e, "a result is not well-formed");
		return;
	}
	/* Evaluate it even if its id is unknown, so that its stubs are released. */
	struct rpc_node *result = evaluate(e, json_array_get(message, 2));
	if (!result)
		return;
	struct rpc_import *i = import_find(e, json_integer_value(id));
	if (i && i->kind == IMPORT_WRITE)
		outflow_acknowledged(e, i, good);
	else if (i && i->kind != IMPORT_STUB)
		settle_import(e, i, result, good);
	node_unref(result);
}

static void receive(struct rpc_engine *e, const json_t *message)
{
	const char *head = wire_head(message);
	size_t size = json_array_size(message);
	if (!head)
		rpc_engine_abort(e, "bad RPC message");
	else if (strcmp(head, "push") == 0 && size > 1)
		receive_push(e, message, false);
	else if (strcmp(head, "stream") == 0 && size > 1)
		receive_push(e, message, true);
	else if (strcmp(head, "pipe") == 0)
		receive_pipe(e);
	else if (strcmp(head, "pull") == 0)
		receive_pull(e, message);
	else if (strcmp(head, "resolve") == 0 || strcmp(head, "reject") == 0)
		receive_result(e, message, head[2] == 's');
	else if (strcmp(head, "release") == 0)
		receive_release(e, message);
	else
		rpc_engine_abort(e,
			strcmp(head, "abort") == 0 ? "the peer has ended the session"
						   : "bad RPC message");
}

/* The reason for an abort, by the error of wire_parse(). */
static const char *parse_problem(int error)
{
	return error == -EINVAL   ? "a message is not JSON"
		: error == -E2BIG ? "a message is nested too deeply, or too large"
				  : "out of memory";
}

void rpc_engine_receive_parsed(struct rpc_engine *e, int error, json_t *message)
{
	if (error < 0 && !e->aborted)
		rpc_engine_abort(e, parse_problem(error));
	if (e->aborted) {
		json_decref(message);
		return;
	}
	e->running = true;
	receive(e, message);
	e->running = false;
	json_decref(message);
	engine_run(e);
}

void rpc_engine_receive(struct rpc_engine *e, const char *text, size_t length)
{
	json_t *message = NULL;
	int rc = e->aborted ? 0 : wire_parse(text, length, &message);
	rpc_engine_receive_parsed(e, rc, message);
}
