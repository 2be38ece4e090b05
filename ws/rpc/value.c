/* Values with nodes in them. Settled nodes are replaced with their values before use. */
#include "ws/rpc/internal.h"
#include "ws/rpc/wire.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 128u /* of a value, including the values inserted into it */

bool value_add_ref(struct rpc_value *v, struct rpc_node *n)
{
	if (v->refs_count == v->refs_size) {
		size_t size = v->refs_size ? v->refs_size * 2 : 4;
		struct rpc_node **refs = realloc(v->refs, size * sizeof(struct rpc_node *));
		if (!refs) {
			node_unref(n);
			return false;
		}
		v->refs = refs;
		v->refs_size = size;
	}
	v->refs[v->refs_count++] = n;
	return true;
}

void value_finish(struct rpc_engine *e, struct rpc_value *v)
{
	for (size_t i = 0; i < v->refs_count; i++)
		node_unref(v->refs[i]);
	free(v->refs);
	json_decref(v->tree);
	e->held -= v->cost;
	*v = (struct rpc_value){0};
}

/* A value being flattened. */
struct flattening {
	struct rpc_engine *engine;
	struct rpc_value value;
	bool failed; /* memory is short */
};

static json_t *flatten(struct flattening *f, json_t *tree);

static json_t *merge_value(struct flattening *f, const struct rpc_value *from)
{
	for (size_t i = 0; i < from->refs_count; i++)
		f->failed |= !value_add_ref(&f->value, node_ref(from->refs[i]));
	f->value.cost += from->cost;
	f->value.depth = from->depth > f->value.depth ? from->depth : f->value.depth;
	return json_incref(from->tree);
}

static json_t *flatten_leaf(struct flattening *f, json_t *leaf)
{
	struct rpc_node *n = node_of(f->engine, leaf);
	bool wait = n && strcmp(wire_head(leaf), "wait") == 0;
	if (!n) /* a literal */
		return json_incref(leaf);
	n = wait ? node_real(n) : n;
	if (n->kind == NODE_VALUE && wait)
		return merge_value(f, &n->value);
	f->failed |= !value_add_ref(&f->value, node_ref(n));
	return node_leaf(n, false);
}

static json_t *flatten_array(struct flattening *f, const json_t *elements)
{
	json_t *copy = json_array(), *value;
	size_t i;
	json_array_foreach (elements, i, value)
		f->failed |= json_array_append_new(copy, flatten(f, value)) < 0;
	return json_pack("[o]", copy);
}

static json_t *flatten_object(struct flattening *f, json_t *object)
{
	json_t *copy = json_object(), *value;
	const char *key;
	json_object_foreach (object, key, value)
		f->failed |= json_object_set_new_nocheck(copy, key, flatten(f, value)) < 0;
	return copy;
}

static json_t *flatten(struct flattening *f, json_t *tree)
{
	const json_t *elements = wire_array(tree);
	if (elements)
		return flatten_array(f, elements);
	if (json_is_object(tree))
		return flatten_object(f, tree);
	return json_is_array(tree) ? flatten_leaf(f, tree) : json_incref(tree);
}

/* The error of the first node that has failed, or NULL. */
static json_t *first_error(const struct rpc_value *v)
{
	for (size_t i = 0; i < v->refs_count; i++) {
		const struct rpc_node *n = node_real(v->refs[i]);
		if (n->kind == NODE_FAILED)
			return n->value.tree;
	}
	return NULL;
}

bool value_flatten(struct rpc_engine *e, struct rpc_value *v, json_t **ret_error)
{
	struct flattening f = {.engine = e, .value = {.cost = v->cost, .depth = 0}};
	*ret_error = first_error(v);
	if (*ret_error)
		return false;
	/* Check before copying: a value that contains another twice can grow exponentially. */
	uint64_t cost = v->cost;
	unsigned inner = 0;
	for (size_t i = 0; i < v->refs_count; i++) {
		const struct rpc_node *n = node_real(v->refs[i]);
		cost += n->kind == NODE_VALUE ? n->value.cost : 0;
		inner = n->kind == NODE_VALUE && n->value.depth > inner ? n->value.depth : inner;
	}
	if (cost > WIRE_COST_MAX || e->held + cost - v->cost > RPC_HELD_MAX ||
		v->depth + inner > DEPTH_MAX) {
		rpc_engine_abort(e, "a value is nested too deeply, or too large");
		return false;
	}
	f.value.tree = flatten(&f, v->tree);
	f.value.depth = v->depth + inner;
	e->held += f.value.cost;
	if (f.failed || !f.value.tree) {
		value_finish(e, &f.value);
		rpc_engine_abort(e, "out of memory");
		return false;
	}
	value_finish(e, v);
	*v = f.value;
	return true;
}
