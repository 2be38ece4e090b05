/*
 * Property paths and calls on the main object, on results, on the peer's stubs, and on pipes. If a
 * node is pending, a waiter is added to it.
 */
#include "ws/rpc/internal.h"
#include "ws/rpc/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_SIZE 160u

/* A waiter with a path, to which it gets a reference. Returns NULL after aborting e. */
static struct rpc_waiter *make_waiter(struct rpc_engine *e, enum waiter_kind kind, json_t *path)
{
	uint64_t cost = wire_cost(path);
	if (!engine_reserve(e, cost))
		return NULL;
	struct rpc_waiter *w = calloc(1, sizeof *w);
	if (!w) {
		e->held -= cost;
		rpc_engine_abort(e, "out of memory");
		return NULL;
	}
	*w = (struct rpc_waiter){.kind = kind, .path = json_incref(path), .cost = cost};
	return w;
}

/* Release arguments that were taken. */
static void drop(json_t *path, struct rpc_node *args)
{
	json_decref(path);
	node_unref(args);
}

void follow(struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result)
{
	struct rpc_node *real = node_real(subject);
	if (real->kind != NODE_WAITING) {
		follow_settled(real, path, args, result);
		return;
	}
	struct rpc_waiter *w = make_waiter(result->engine, WAITER_FOLLOW, path);
	json_decref(path);
	if (!w) {
		node_unref(args);
		return;
	}
	w->args = args;
	w->result = node_ref(result);
	node_wait(real, w);
}

/* Make a call when its arguments settle. subject: target, stub or pipe. path and args: taken. */
static void call_when_ready(
	struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result)
{
	struct rpc_node *real = node_real(args);
	if (real->kind != NODE_WAITING) {
		follow_called(subject, path, real, result);
		drop(path, args);
		return;
	}
	struct rpc_waiter *w = make_waiter(result->engine, WAITER_CALL, path);
	if (w) {
		w->subject = node_ref(subject);
		w->result = node_ref(result);
		node_wait(real, w);
	}
	drop(path, args);
}

/* Write a path as "a.b" for an error message, truncated if it is long. */
static void name_path(const json_t *path, char text[MESSAGE_SIZE])
{
	const json_t *name;
	size_t i, n = 0;
	text[0] = '\0';
	json_array_foreach (path, i, name) {
		int more = json_is_string(name)
			? snprintf(text + n, MESSAGE_SIZE - n, "%s%.60s", i ? "." : "",
				  json_string_value(name))
			: snprintf(text + n, MESSAGE_SIZE - n, "%s%lld", i ? "." : "",
				  (long long)json_integer_value(name));
		n += more > 0 ? (size_t)more : 0;
		if (n >= MESSAGE_SIZE - 1)
			return;
	}
}

static void fail_no_function(struct rpc_node *result, const json_t *path)
{
	char name[MESSAGE_SIZE], message[MESSAGE_SIZE + 32];
	name_path(path, name);
	snprintf(message, sizeof message, "'%s' is not a function.", name);
	node_fail_with(result, "TypeError", message, NULL);
}

/* Values */

/* The member or element of a value that is called name, borrowed; NULL: none. */
static json_t *step(json_t *tree, const json_t *name)
{
	json_t *elements = wire_array(tree);
	if (elements && json_is_integer(name) && json_integer_value(name) >= 0)
		return json_array_get(elements, (size_t)json_integer_value(name));
	if (json_is_object(tree) && json_is_string(name))
		return json_object_get(tree, json_string_value(name));
	return NULL;
}

/* Settle result with a part of a value. It keeps references to all nodes of the whole value. */
static void become_part(struct rpc_node *result, const struct rpc_value *whole, json_t *part)
{
	struct rpc_engine *e = result->engine;
	struct rpc_value v = {.tree = json_incref(part),
		.cost = wire_cost(part) + whole->refs_count * RPC_REF_COST,
		.depth = whole->depth};
	e->held += v.cost;
	bool fits = e->held <= RPC_HELD_MAX, good = true;
	for (size_t i = 0; fits && i < whole->refs_count; i++)
		good = value_add_ref(&v, node_ref(whole->refs[i])) && good;
	if (good && fits) {
		node_become_value(result, &v);
		return;
	}
	value_finish(e, &v);
	rpc_engine_abort(e, fits ? "out of memory" : "too many bytes are held");
}

static void follow_value(
	struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result)
{
	struct rpc_engine *e = subject->engine;
	json_t *at = subject->value.tree;
	size_t i, length = json_array_size(path);
	for (i = 0; i < length && at; i++) {
		struct rpc_node *inner = node_of(e, at);
		if (inner)
			break;
		at = step(at, json_array_get(path, i));
	}
	struct rpc_node *inner = at ? node_of(e, at) : NULL;
	if (inner) {
		json_t *rest = json_array(), *name;
		for (; (name = json_array_get(path, i)); i++)
			json_array_append(rest, name);
		follow(inner, rest, args, result);
		json_decref(path);
		return;
	}
	if (args)
		fail_no_function(result, path);
	else if (!at)
		node_become_json(result, wire_undefined());
	else
		become_part(result, &subject->value, at);
	drop(path, args);
}

/* The main object */

static enum rpc_member member_at(struct rpc_engine *e, const json_t *path)
{
	const char *space = json_string_value(json_array_get(path, 0));
	const char *method = json_string_value(json_array_get(path, 1));
	size_t length = json_array_size(path);
	if (length == 0)
		return RPC_SPACE;
	if (length > 2 || !space || (length == 2 && !method))
		return RPC_NOTHING;
	return e->callbacks->member(e->user, space, length == 2 ? method : NULL);
}

static void follow_target(
	struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result)
{
	struct rpc_engine *e = subject->engine;
	json_t *whole = json_copy(subject->path);
	struct rpc_node *n;
	json_array_extend(whole, path);
	enum rpc_member member = member_at(e, whole);
	if (args && member == RPC_METHOD) {
		call_when_ready(subject, path, args, result);
		json_decref(whole);
		return;
	}
	if (args) {
		fail_no_function(result, whole);
	} else if (member == RPC_NOTHING) {
		node_become_json(result, wire_undefined());
	} else if ((n = node_create(e, NODE_TARGET))) {
		n->path = json_incref(whole);
		node_become_alias(result, n);
	}
	json_decref(whole);
	drop(path, args);
}

/* The peer's own stubs */

static void push_to_peer(
	struct rpc_node *stub, json_t *path, struct rpc_node *args, struct rpc_node *result)
{
	struct rpc_engine *e = stub->engine;
	uint64_t cost = wire_cost(path);
	struct rpc_outgoing *s = engine_reserve(e, cost) ? outgoing_add(e, OUTGOING_PUSH, stub->id)
							 : NULL;
	if (!s)
		return;
	s->path = json_incref(path);
	s->path_cost = cost;
	s->stub = node_ref(stub);
	s->node = args ? node_ref(args) : NULL;
	s->result = node_ref(result);
}

void follow_called(
	struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result)
{
	const char *method = json_string_value(json_array_get(path, 0));
	if (args->kind == NODE_FAILED) {
		node_become_alias(result, node_ref(args));
	} else if (subject->kind == NODE_TARGET) {
		json_t *target = json_copy(subject->path);
		json_array_extend(target, path);
		call_start(subject, target, args, result);
	} else if (subject->kind == NODE_STUB) {
		push_to_peer(subject, path, args, result);
	} else {
		pipe_call(subject, json_array_size(path) == 1 ? method : NULL, args, result);
	}
}

void follow_settled(
	struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result)
{
	if (subject->kind == NODE_FAILED || (json_array_size(path) == 0 && !args)) {
		node_become_alias(result, node_ref(subject));
		drop(path, args);
	} else if (subject->kind == NODE_TARGET) {
		follow_target(subject, path, args, result);
	} else if (subject->kind == NODE_VALUE) {
		follow_value(subject, path, args, result);
	} else if (args && (subject->kind == NODE_STUB || subject->kind == NODE_PIPE)) {
		call_when_ready(subject, path, args, result);
	} else if (subject->kind == NODE_STUB) {
		push_to_peer(subject, path, NULL, result);
		drop(path, args);
	} else {
		node_fail_with(result, "TypeError",
			args ? "A stream cannot be called" : "Cannot access properties on a stream",
			NULL);
		drop(path, args);
	}
}
