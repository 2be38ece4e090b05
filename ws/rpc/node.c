/*
 * Nodes: results, objects and streams. The waiters of a settled node are run by engine_run(), and
 * nodes without references are freed by engine_sweep(). Both work on lists, so that a chain of any
 * length needs no recursion.
 */
#include "ws/rpc/internal.h"
#include "ws/rpc/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct rpc_node *node_create(struct rpc_engine *e, enum node_kind kind)
{
	if (HASH_COUNT(e->nodes) >= RPC_NODES_MAX) {
		rpc_engine_abort(e, "too many calls, results and stubs are held");
		return NULL;
	}
	struct rpc_node *n = calloc(1, sizeof *n);
	if (n) {
		n->engine = e;
		n->references = 1;
		n->kind = kind;
		n->serial = ++e->serial;
		HASH_ADD(hh, e->nodes, serial, sizeof n->serial, n);
		if (n->hh.tbl)
			return n;
	}
	free(n);
	rpc_engine_abort(e, "out of memory");
	return NULL;
}

struct rpc_node *node_ref(struct rpc_node *n)
{
	n->references++;
	return n;
}

static void doom(struct rpc_node *n)
{
	struct rpc_engine *e = n->engine;
	n->doomed = true;
	/* The ready list has a reference to its nodes. */
	assert(!n->ready);
	n->next = e->doomed;
	e->doomed = n;
}

void node_unref(struct rpc_node *n)
{
	if (n && --n->references == 0)
		doom(n);
}

static void free_waiter(struct rpc_engine *e, struct rpc_waiter *w)
{
	e->held -= w->cost;
	node_unref(w->result);
	node_unref(w->subject);
	node_unref(w->args);
	json_decref(w->path);
	free(w);
}

static void free_waiters(struct rpc_node *n)
{
	while (n->waiters) {
		struct rpc_waiter *w = n->waiters;
		n->waiters = w->next;
		free_waiter(n->engine, w);
	}
	n->last = NULL;
}

/* Tell the peer that we no longer use its stub. */
static void release_stub(struct rpc_node *n)
{
	struct rpc_engine *e = n->engine;
	struct rpc_import *i = import_find(e, n->id);
	if (!i || e->closing)
		return;
	struct rpc_outgoing *s = outgoing_add(e, OUTGOING_RELEASE, i->id);
	if (s)
		s->count = i->introduced;
	import_remove(e, i);
}

void node_clear(struct rpc_node *n)
{
	free_waiters(n);
	value_finish(n->engine, &n->value);
	node_unref(n->alias);
	json_decref(n->path);
	if (n->kind == NODE_STUB)
		release_stub(n);
	if (n->pipe)
		pipe_destroy(n->pipe);
	if (n->flow)
		outflow_drop(n->flow);
	n->alias = NULL;
	n->path = NULL;
	n->pipe = NULL;
	n->flow = NULL;
}

void engine_sweep(struct rpc_engine *e)
{
	while (e->doomed) {
		struct rpc_node *n = e->doomed;
		e->doomed = n->next;
		node_clear(n);
		HASH_DEL(e->nodes, n);
		free(n);
	}
}

struct rpc_node *node_real(struct rpc_node *n)
{
	while (n->kind == NODE_ALIAS) {
		struct rpc_node *next = n->alias;
		/* Shorten the chain for the next lookup: a peer can make it of any length. */
		if (next->kind == NODE_ALIAS) {
			n->alias = node_ref(next->alias);
			node_unref(next);
		}
		n = n->alias;
	}
	return n;
}

json_t *node_leaf(const struct rpc_node *n, bool wait)
{
	return json_pack("[s, I]", wait ? "wait" : "ref", (json_int_t)n->serial);
}

struct rpc_node *node_of(const struct rpc_engine *e, const json_t *leaf)
{
	const char *head = wire_head(leaf);
	struct rpc_node *n = NULL;
	if (!head || (strcmp(head, "ref") != 0 && strcmp(head, "wait") != 0))
		return NULL;
	uint64_t serial = (uint64_t)json_integer_value(json_array_get(leaf, 1));
	HASH_FIND(hh, e->nodes, &serial, sizeof serial, n);
	return n;
}

/* Settling */

static void make_ready(struct rpc_node *n)
{
	struct rpc_engine *e = n->engine;
	if (!n->waiters || n->ready)
		return;
	n->ready = true;
	n->next = NULL;
	node_ref(n);
	if (e->ready)
		e->ready_last->next = n;
	else
		e->ready = n;
	e->ready_last = n;
}

void node_become_value(struct rpc_node *n, struct rpc_value *value)
{
	assert(n->kind == NODE_WAITING);
	n->value = *value;
	*value = (struct rpc_value){0};
	n->kind = NODE_VALUE;
	make_ready(n);
}

void node_become_json(struct rpc_node *n, json_t *tree)
{
	struct rpc_value v = {.tree = tree, .cost = wire_cost(tree)};
	if (!tree) {
		node_fail_with(n, "Error", "Out of memory", "OUT_OF_MEMORY");
		return;
	}
	n->engine->held += v.cost;
	node_become_value(n, &v);
}

void node_fail(struct rpc_node *n, json_t *error)
{
	struct rpc_value v = {.tree = error, .cost = wire_cost(error)};
	assert(n->kind == NODE_WAITING);
	n->engine->held += v.cost;
	n->value = v;
	n->kind = NODE_FAILED;
	make_ready(n);
}

void node_fail_with(struct rpc_node *n, const char *type, const char *message, const char *code)
{
	node_fail(n, wire_error(type, message, code, NULL));
}

void node_become_alias(struct rpc_node *n, struct rpc_node *other)
{
	struct rpc_node *real = node_real(other);
	assert(n->kind == NODE_WAITING);
	if (real == n) {
		node_fail_with(n, "TypeError", "A promise cannot be resolved with itself", NULL);
		node_unref(other);
		return;
	}
	n->alias = node_ref(real);
	node_unref(other);
	n->kind = NODE_ALIAS;
	if (real->kind != NODE_WAITING) {
		make_ready(n);
		return;
	}
	/* Append n's waiters to those of the other node. */
	if (n->waiters && real->last)
		real->last->next = n->waiters;
	else if (n->waiters)
		real->waiters = n->waiters;
	if (n->last)
		real->last = n->last;
	n->waiters = n->last = NULL;
}

void node_wait(struct rpc_node *n, struct rpc_waiter *w)
{
	n = node_real(n);
	w->next = NULL;
	if (n->last)
		n->last->next = w;
	else
		n->waiters = w;
	n->last = w;
	if (n->kind != NODE_WAITING)
		make_ready(n);
}

/* Running waiters */

/* A node in the incomplete value of n has settled. */
static void gather(struct rpc_node *n)
{
	json_t *error;
	if (n->kind != NODE_WAITING || --n->gathering > 0)
		return;
	struct rpc_value v = n->value;
	n->value = (struct rpc_value){0};
	if (value_flatten(n->engine, &v, &error)) {
		node_become_value(n, &v);
		return;
	}
	node_fail(n, json_incref(error));
	value_finish(n->engine, &v);
}

static void answer_export(struct rpc_engine *e, int64_t id, struct rpc_node *settled)
{
	struct rpc_export *x = export_find(e, id);
	struct rpc_outgoing *s = x ? outgoing_add(e, OUTGOING_ANSWER, id) : NULL;
	if (!s)
		return;
	s->node = node_ref(settled);
	s->cost = settled->value.cost;
	e->unsent += s->cost;
}

static void run_waiter(struct rpc_engine *e, struct rpc_waiter *w, struct rpc_node *settled)
{
	if (w->kind == WAITER_FOLLOW) {
		follow_settled(settled, w->path, w->args, w->result);
		w->path = NULL;
		w->args = NULL;
	} else if (w->kind == WAITER_CALL) {
		follow_called(w->subject, w->path, settled, w->result);
	} else if (w->kind == WAITER_GATHER) {
		gather(w->result);
	} else if (w->kind == WAITER_SEND) {
		answer_export(e, w->id, settled);
	} else {
		w->done(w->user);
	}
	free_waiter(e, w);
}

static void run_waiters(struct rpc_engine *e, struct rpc_node *n)
{
	struct rpc_node *settled = node_ref(node_real(n));
	while (n->waiters && !e->aborted) {
		struct rpc_waiter *w = n->waiters;
		n->waiters = w->next;
		if (!n->waiters)
			n->last = NULL;
		run_waiter(e, w, settled);
	}
	node_unref(settled);
}

void engine_run(struct rpc_engine *e)
{
	if (e->running)
		return;
	e->running = true;
	while ((e->ready || e->ready_pipes) && !e->aborted) {
		struct rpc_node *n = e->ready;
		if (!n) {
			pipe_run(e);
			continue;
		}
		e->ready = n->next;
		n->ready = false;
		run_waiters(e, n);
		node_unref(n);
	}
	engine_sweep(e);
	e->running = false;
}
