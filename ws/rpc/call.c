/* Method calls on the main object. While the unsent answers cost too much, calls are queued. */
#include "ws/rpc/internal.h"
#include "ws/rpc/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static void free_call(struct rpc_call *c)
{
	c->engine->calls_count--;
	node_unref(c->result);
	node_unref(c->args);
	json_decref(c->target);
	free(c);
}

static void begin(struct rpc_call *c)
{
	struct rpc_engine *e = c->engine;
	DL_APPEND(e->calls, c);
	e->callbacks->call(e->user, c);
}

void call_begin_waiting(struct rpc_engine *e)
{
	while (e->waiting_calls && e->unsent < RPC_UNSENT_MAX && !e->aborted) {
		struct rpc_call *c = e->waiting_calls;
		DL_DELETE(e->waiting_calls, c);
		begin(c);
	}
}

void call_start(
	struct rpc_node *subject, json_t *target, struct rpc_node *args, struct rpc_node *result)
{
	struct rpc_engine *e = subject->engine;
	if (e->calls_count >= RPC_CALLS_MAX) {
		node_fail_with(result, "Error", "Too many calls are under way", "LIMIT_REACHED");
		json_decref(target);
		return;
	}
	struct rpc_call *c = calloc(1, sizeof *c);
	if (!c) {
		rpc_engine_abort(e, "out of memory");
		json_decref(target);
		return;
	}
	*c = (struct rpc_call){.engine = e,
		.result = node_ref(result),
		.args = node_ref(args),
		.target = target,
		.space = json_string_value(json_array_get(target, 0)),
		.method = json_string_value(json_array_get(target, 1))};
	e->calls_count++;
	DL_APPEND(e->waiting_calls, c);
	call_begin_waiting(e);
}

void call_cancel_all(struct rpc_engine *e)
{
	while (e->calls) {
		struct rpc_call *c = e->calls;
		DL_DELETE(e->calls, c);
		e->callbacks->cancelled(e->user, c);
		free_call(c);
	}
	while (e->waiting_calls) {
		struct rpc_call *c = e->waiting_calls;
		DL_DELETE(e->waiting_calls, c);
		free_call(c);
	}
}

const char *rpc_call_space(const struct rpc_call *c)
{
	return c->space;
}

const char *rpc_call_method(const struct rpc_call *c)
{
	return c->method;
}

const json_t *rpc_call_argument(const struct rpc_call *c, size_t index)
{
	return json_array_get(wire_array(node_real(c->args)->value.tree), index);
}

void rpc_call_set_data(struct rpc_call *c, void *own)
{
	c->own = own;
}

void *rpc_call_data(const struct rpc_call *c)
{
	return c->own;
}

static void end(struct rpc_call *c)
{
	struct rpc_engine *e = c->engine;
	DL_DELETE(e->calls, c);
	free_call(c);
	engine_run(e);
}

void rpc_call_resolve(struct rpc_call *c, json_t *value)
{
	node_become_json(c->result, value);
	end(c);
}

void rpc_call_reject(struct rpc_call *c, json_t *error)
{
	node_fail(c->result, error);
	end(c);
}

void rpc_call_stream(struct rpc_call *c, const struct rpc_source *source, json_t *object,
	const char *name, struct rpc_flow **ret_flow)
{
	struct rpc_engine *e = c->engine;
	bool full = e->flows_count >= RPC_STREAMS_MAX;
	struct rpc_flow *f = full ? NULL : calloc(1, sizeof *f);
	struct rpc_node *n = f ? node_create(e, NODE_READABLE) : NULL;
	struct rpc_value v = {0};
	if (!n || !value_add_ref(&v, n)) {
		free(f);
		json_decref(object);
		source->closed(source->user);
		rpc_call_reject(c,
			wire_error("Error", full ? "Too many streams are open" : "Out of memory",
				full ? "LIMIT_REACHED" : "OUT_OF_MEMORY", NULL));
		return;
	}
	*f = (struct rpc_flow){.engine = e, .node = n, .source = *source};
	n->flow = *ret_flow = f;
	e->flows_count++;
	v.tree = node_leaf(n, false);
	if (object) {
		json_object_set_new(object, name, v.tree);
		v.tree = object;
	}
	v.cost = wire_cost(v.tree) + RPC_REF_COST;
	v.depth = 2;
	e->held += v.cost;
	node_become_value(c->result, &v);
	end(c);
}

bool rpc_call_function(struct rpc_call *c, size_t index, const char *name, json_t *arguments,
	void (*done)(void *user), void *user)
{
	struct rpc_engine *e = c->engine;
	struct rpc_node *function = node_of(e, json_object_get(rpc_call_argument(c, index), name));
	struct rpc_node *args = NULL, *result = NULL;
	struct rpc_waiter *w = NULL;
	if (function && node_real(function)->kind == NODE_STUB) {
		args = node_create(e, NODE_WAITING);
		result = node_create(e, NODE_WAITING);
		w = calloc(1, sizeof *w);
	}
	if (!args || !result || !w) {
		node_unref(args);
		node_unref(result);
		free(w);
		json_decref(arguments);
		return false;
	}
	node_become_json(args, arguments);
	*w = (struct rpc_waiter){.kind = WAITER_RETURNED, .done = done, .user = user};
	node_wait(result, w);
	follow(function, json_array(), args, result);
	node_unref(result);
	engine_run(e);
	return true;
}
