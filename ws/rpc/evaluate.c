/* Evaluates the peer's expressions: starts calls, looks up references, validates the rest. */
#include "ws/rpc/internal.h"
#include "ws/rpc/wire.h"

#include <stdlib.h>
#include <string.h>

/* What is being evaluated. */
struct evaluation {
	struct rpc_engine *engine;
	struct rpc_value value;
	bool waits; /* some of its refs must settle first */
	bool bad;   /* invalid; the engine is aborted */
};

static json_t *evaluate_any(struct evaluation *v, const json_t *e, unsigned depth);

static json_t *refuse(struct evaluation *v, const char *reason)
{
	rpc_engine_abort(v->engine, reason);
	v->bad = true;
	return NULL;
}

/* Add a node, a reference, taken, and return the leaf for it. wait: it must settle first. */
static json_t *add_node(struct evaluation *v, struct rpc_node *n, bool wait)
{
	if (!n || !value_add_ref(&v->value, n))
		return refuse(v, "out of memory");
	v->waits |= wait;
	return node_leaf(n, wait);
}

static bool is_path(const json_t *path)
{
	const json_t *name;
	size_t i;
	if (!json_is_array(path) || json_array_size(path) > RPC_PATH_MAX)
		return false;
	json_array_foreach (path, i, name)
		if (json_is_string(name) ? json_string_length(name) > RPC_NAME_MAX
					 : !json_is_integer(name))
			return false;
	return true;
}

static json_t *evaluate_reference(struct evaluation *v, const json_t *e, bool wait)
{
	struct rpc_engine *engine = v->engine;
	size_t size = json_array_size(e);
	json_t *path = json_array_get(e, 2), *args = json_array_get(e, 3);
	if (size < 2 || size > 4 || !json_is_integer(json_array_get(e, 1)) ||
		(path && !is_path(path)) || (args && !json_is_array(args)))
		return refuse(v, "a reference is not well-formed");
	struct rpc_export *x = export_find(engine, json_integer_value(json_array_get(e, 1)));
	if (!x)
		return refuse(v, "no such entry on exports table");
	if (!path)
		return add_node(v, node_ref(x->node), wait);
	struct rpc_node *subject = node_ref(x->node), *arguments = NULL, *result;
	if (args) {
		json_t *array = json_pack("[O]", args);
		arguments = evaluate(engine, array);
		json_decref(array);
		if (!arguments) {
			node_unref(subject);
			v->bad = true;
			return NULL;
		}
	}
	result = node_create(engine, NODE_WAITING);
	if (result)
		follow(subject, json_incref(path), arguments, result);
	else
		node_unref(arguments);
	node_unref(subject);
	return add_node(v, result, wait);
}

/* An object or promise that the peer exports. */
static json_t *evaluate_stub(struct evaluation *v, const json_t *e, bool promise)
{
	struct rpc_engine *engine = v->engine;
	int64_t id = json_integer_value(json_array_get(e, 1));
	if (!json_is_integer(json_array_get(e, 1)) || id >= 0)
		return refuse(v, "an export is not well-formed");
	struct rpc_import *i = import_find(engine, id);
	if (i && (promise || i->kind != IMPORT_STUB))
		return refuse(v, "a promise is exported again");
	if (i) {
		i->introduced++;
		return add_node(v, node_ref(i->node), false);
	}
	struct rpc_node *n = node_create(engine, promise ? NODE_WAITING : NODE_STUB);
	i = n ? import_add(engine, id, promise ? IMPORT_PROMISE : IMPORT_STUB) : NULL;
	if (!i) {
		node_unref(n);
		return refuse(v, "out of memory");
	}
	n->id = id;
	/* A stub's entry has no reference to its node, because the node removes the entry. */
	i->node = promise ? node_ref(n) : n;
	return add_node(v, n, promise);
}

static json_t *evaluate_readable(struct evaluation *v, const json_t *e)
{
	struct rpc_export *x = json_is_integer(json_array_get(e, 1))
		? export_find(v->engine, json_integer_value(json_array_get(e, 1)))
		: NULL;
	struct rpc_node *n = x ? node_real(x->node) : NULL;
	if (!n || n->kind != NODE_PIPE || n->pipe->consumed)
		return refuse(
			v, "an export is not a pipe, or its readable end was already consumed");
	n->pipe->consumed = true;
	return add_node(v, node_ref(n), false);
}

/* Not implemented. Evaluates the captures so that they are released; the result is an error. */
static json_t *evaluate_remap(struct evaluation *v, const json_t *e)
{
	const json_t *captures = json_array_get(e, 3), *capture;
	size_t i;
	if (json_array_size(e) != 5 || !json_is_array(captures) ||
		json_array_size(captures) > RPC_PATH_MAX)
		return refuse(v, "a remap is not well-formed");
	json_array_foreach (captures, i, capture) {
		const char *head = wire_head(capture);
		if (!head || (strcmp(head, "import") != 0 && strcmp(head, "export") != 0))
			return refuse(v, "a remap is not well-formed");
		json_decref(evaluate_any(v, capture, 1));
	}
	struct rpc_node *n = v->bad ? NULL : node_create(v->engine, NODE_WAITING);
	if (!n)
		return refuse(v, "out of memory");
	node_fail_with(n, "Error", "map() is not supported by this server", "NOT_IMPLEMENTED");
	return add_node(v, n, true);
}

/* An error. Its additional properties are expressions. */
static json_t *evaluate_error(struct evaluation *v, const json_t *e, unsigned depth)
{
	json_t *type = json_array_get(e, 1), *message = json_array_get(e, 2);
	const json_t *stack = json_array_get(e, 3), *own = json_array_get(e, 4);
	size_t size = json_array_size(e);
	if (size > 5 || !json_is_string(type) || !json_is_string(message) ||
		(own && !json_is_object(own)))
		return refuse(v, "an error is not well-formed");
	json_t *copy = json_pack("[s, O, O]", "error", type, message);
	if (json_is_string(stack))
		json_array_append(copy, (json_t *)stack);
	else if (stack)
		json_array_append_new(copy, json_null());
	if (own)
		json_array_append_new(copy, evaluate_any(v, own, depth + 1));
	return copy;
}

static json_t *evaluate_special(struct evaluation *v, const json_t *e, unsigned depth)
{
	const char *head = wire_head(e);
	if (!head)
		return refuse(v, "unknown special value");
	if (strcmp(head, "import") == 0 || strcmp(head, "pipeline") == 0)
		return evaluate_reference(v, e, *head == 'p');
	if (strcmp(head, "export") == 0 || strcmp(head, "writable") == 0)
		return evaluate_stub(v, e, false);
	if (strcmp(head, "promise") == 0)
		return evaluate_stub(v, e, true);
	if (strcmp(head, "readable") == 0)
		return evaluate_readable(v, e);
	if (strcmp(head, "remap") == 0)
		return evaluate_remap(v, e);
	if (strcmp(head, "error") == 0)
		return evaluate_error(v, e, depth);
	if (wire_is_literal(e))
		return json_incref((json_t *)e);
	return refuse(v, "unknown special value");
}

static json_t *evaluate_array(struct evaluation *v, const json_t *elements, unsigned depth)
{
	json_t *copy = json_array(), *value;
	size_t i;
	json_array_foreach (elements, i, value) {
		json_t *own = v->bad ? NULL : evaluate_any(v, value, depth + 1);
		if (!own || json_array_append_new(copy, own) < 0) {
			v->bad = true;
			json_decref(copy);
			return NULL;
		}
	}
	return json_pack("[o]", copy);
}

static json_t *evaluate_object(struct evaluation *v, const json_t *object, unsigned depth)
{
	json_t *copy = json_object(), *value;
	const char *key;
	json_object_foreach ((json_t *)object, key, value) {
		json_t *own = v->bad ? NULL : evaluate_any(v, value, depth + 1);
		if (!own || json_object_set_new_nocheck(copy, key, own) < 0) {
			v->bad = true;
			json_decref(copy);
			return NULL;
		}
	}
	return copy;
}

/* The recursion is bounded: messages have at most WIRE_NESTING_MAX levels. */
static json_t *evaluate_any(struct evaluation *v, const json_t *e, unsigned depth)
{
	const json_t *elements = wire_array(e);
	if (depth > v->value.depth)
		v->value.depth = depth;
	if (elements)
		return evaluate_array(v, elements, depth);
	if (json_is_object(e))
		return evaluate_object(v, e, depth);
	return json_is_array(e) ? evaluate_special(v, e, depth) : json_incref((json_t *)e);
}

/* A node that settles once all nodes in v have. v: its contents are taken. */
static struct rpc_node *wait_for_all(struct rpc_engine *e, struct rpc_value *v)
{
	struct rpc_node *n = node_create(e, NODE_WAITING);
	if (!n) {
		value_finish(e, v);
		return NULL;
	}
	n->value = *v;
	n->gathering = n->value.refs_count;
	for (size_t i = 0; i < n->value.refs_count; i++) {
		struct rpc_waiter *w = calloc(1, sizeof *w);
		if (!w) {
			rpc_engine_abort(e, "out of memory");
			break;
		}
		*w = (struct rpc_waiter){.kind = WAITER_GATHER, .result = node_ref(n)};
		node_wait(n->value.refs[i], w);
	}
	return n;
}

struct rpc_node *evaluate(struct rpc_engine *e, const json_t *expression)
{
	struct evaluation v = {.engine = e};
	v.value.tree = evaluate_any(&v, expression, 1);
	v.value.cost = wire_cost(v.value.tree) + v.value.refs_count * RPC_REF_COST;
	e->held += v.value.cost;
	if (e->held > RPC_HELD_MAX)
		refuse(&v, "too many bytes are held");
	if (v.bad || !v.value.tree) {
		value_finish(e, &v.value);
		rpc_engine_abort(e, "out of memory");
		return NULL;
	}
	/* An expression that is only a node evaluates to that node. */
	struct rpc_node *n = v.value.refs_count == 1 ? node_of(e, v.value.tree) : NULL;
	if (n) {
		node_ref(n);
		value_finish(e, &v.value);
		return n;
	}
	if (v.waits)
		return wait_for_all(e, &v.value);
	n = node_create(e, NODE_WAITING);
	if (n)
		node_become_value(n, &v.value);
	else
		value_finish(e, &v.value);
	return n;
}
