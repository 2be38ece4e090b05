/*
 * Outgoing messages. A message is encoded only when it can be sent, so that the queue for a slow
 * peer needs no memory beyond the values that exist anyway.
 */
#include "ws/rpc/internal.h"
#include "ws/rpc/wire.h"

#include <stdlib.h>
#include <string.h>

struct rpc_outgoing *outgoing_add(struct rpc_engine *e, enum outgoing_kind kind, int64_t id)
{
	bool full = e->outgoing_count >= RPC_OUTGOING_MAX;
	struct rpc_outgoing *s = full ? NULL : calloc(1, sizeof *s);
	if (!s) {
		rpc_engine_abort(e, full ? "too many unsent messages" : "out of memory");
		return NULL;
	}
	e->outgoing_count++;
	s->kind = kind;
	s->id = id;
	if (e->outgoing_first)
		e->outgoing_last->next = s;
	else
		e->outgoing_first = s;
	e->outgoing_last = s;
	return s;
}

static void forget_first(struct rpc_engine *e)
{
	struct rpc_outgoing *s = e->outgoing_first;
	e->outgoing_first = s->next;
	e->outgoing_count--;
	e->unsent -= s->cost;
	e->held -= s->path_cost;
	node_unref(s->node);
	node_unref(s->result);
	node_unref(s->stub);
	json_decref(s->path);
	free(s);
}

void outgoing_drop_all(struct rpc_engine *e)
{
	while (e->outgoing_first)
		forget_first(e);
}

/* Values */

static json_t *encode(struct rpc_engine *e, json_t *tree);

/* The main object or a part of it, exported under an id. */
static json_t *encode_target(struct rpc_engine *e, struct rpc_node *n)
{
	struct rpc_export *x = n->id < 0 ? export_find(e, n->id) : NULL;
	if (x) {
		x->references++;
	} else {
		x = export_add(e, --e->next_export, node_ref(n));
		if (!x)
			return NULL;
		n->id = x->id;
	}
	return json_pack("[s, I]", "export", (json_int_t)n->id);
}

static json_t *encode_node(struct rpc_engine *e, struct rpc_node *n)
{
	n = node_real(n);
	if (n->kind == NODE_STUB)
		return json_pack("[s, I]", "import", (json_int_t)n->id);
	if (n->kind == NODE_READABLE && n->id > 0)
		return json_pack("[s, I]", "readable", (json_int_t)n->id);
	if (n->kind == NODE_TARGET)
		return encode_target(e, n);
	return wire_error("TypeError", "This value cannot be sent", NULL, NULL);
}

static json_t *encode_array(struct rpc_engine *e, const json_t *elements)
{
	json_t *copy = json_array(), *value;
	size_t i;
	json_array_foreach (elements, i, value)
		json_array_append_new(copy, encode(e, value));
	return json_pack("[o]", copy);
}

static json_t *encode(struct rpc_engine *e, json_t *tree)
{
	const json_t *elements = wire_array(tree);
	struct rpc_node *n;
	json_t *copy, *value;
	const char *key;
	if (elements)
		return encode_array(e, elements);
	if (json_is_array(tree))
		return (n = node_of(e, tree)) ? encode_node(e, n) : json_incref(tree);
	if (!json_is_object(tree))
		return json_incref(tree);
	copy = json_object();
	json_object_foreach (tree, key, value)
		json_object_set_new_nocheck(copy, key, encode(e, value));
	return copy;
}

static json_t *encode_value(struct rpc_engine *e, const struct rpc_value *v)
{
	return v->refs_count > 0 ? encode(e, v->tree) : json_incref(v->tree);
}

/* Messages */

/* The message that opens a pipe for a stream; NULL: n is not a stream, or has a pipe. */
static json_t *pipe_for(struct rpc_engine *e, struct rpc_node *n)
{
	if (n->kind != NODE_READABLE || !n->flow)
		return NULL;
	n->id = e->next_to_peer++;
	outflow_send(n->flow, n->id);
	n->flow = NULL;
	return json_pack("[s]", "pipe");
}

/* The message that opens the next pipe that a value needs; NULL: all are open. */
static json_t *next_pipe(struct rpc_engine *e, struct rpc_node *n)
{
	json_t *pipe = pipe_for(e, n);
	for (size_t i = 0; i < n->value.refs_count && !pipe; i++)
		pipe = pipe_for(e, node_real(n->value.refs[i]));
	return pipe;
}

/* Send an answer once. For a `stream` message it implies the release of the export. */
static json_t *next_answer(struct rpc_engine *e, struct rpc_outgoing *s)
{
	struct rpc_export *x = export_find(e, s->id);
	struct rpc_node *n = s->node;
	json_t *pipe, *message;
	if (!x)
		return NULL; /* the peer has released it */
	if ((pipe = next_pipe(e, n)))
		return pipe;
	if (n->kind == NODE_VALUE || n->kind == NODE_FAILED) {
		message = json_pack("[s, I, o]", n->kind == NODE_FAILED ? "reject" : "resolve",
			(json_int_t)s->id, encode_value(e, &n->value));
	} else {
		/* A part of the main object, a stub or a stream. */
		message = json_pack("[s, I, o]", "resolve", (json_int_t)s->id, encode_node(e, n));
	}
	if (x->released_by_answer)
		export_remove(e, x);
	return message;
}

/* Call a function of the peer; the next message pulls its result. */
static json_t *next_push(struct rpc_engine *e, struct rpc_outgoing *s)
{
	json_t *pipe = s->node ? next_pipe(e, node_real(s->node)) : NULL;
	if (pipe)
		return pipe;
	struct rpc_import *i = import_add(e, e->next_to_peer++, IMPORT_CALL);
	if (!i)
		return NULL;
	i->node = node_ref(s->result);
	json_t *call = json_pack("[s, I, O]", "pipeline", (json_int_t)s->stub->id, s->path);
	if (s->node) {
		/* [[...]] without its escape */
		json_t *args = encode_value(e, &node_real(s->node)->value);
		json_array_append(call, wire_array(args));
		json_decref(args);
	}
	s->kind = OUTGOING_PULL;
	s->id = i->id;
	return json_pack("[s, o]", "push", call);
}

/* The next message of the first entry. *ret_more: the entry has another one. */
static json_t *next_of(struct rpc_engine *e, struct rpc_outgoing *s, bool *ret_more)
{
	json_t *message;
	*ret_more = false;
	switch (s->kind) {
	case OUTGOING_ANSWER:
		message = next_answer(e, s);
		*ret_more = message && strcmp(wire_head(message), "pipe") == 0;
		return message;
	case OUTGOING_PUSH:
		message = next_push(e, s);
		*ret_more = message != NULL;
		return message;
	case OUTGOING_PULL:
		return json_pack("[s, I]", "pull", (json_int_t)s->id);
	case OUTGOING_RELEASE:
		break;
	}
	return json_pack("[s, I, I]", "release", (json_int_t)s->id, (json_int_t)s->count);
}

static json_t *next_message(struct rpc_engine *e)
{
	while (e->outgoing_first && !e->aborted) {
		bool more;
		json_t *message = next_of(e, e->outgoing_first, &more);
		if (!more)
			forget_first(e);
		if (message)
			return message;
	}
	return e->aborted ? NULL : outflow_next(e);
}

bool rpc_engine_has_next(const struct rpc_engine *e)
{
	return e->aborted ? !e->abort_sent : e->outgoing_first || outflow_has_next(e);
}

json_t *rpc_engine_next(struct rpc_engine *e)
{
	json_t *message = e->aborted ? NULL : next_message(e);
	if (e->aborted) {
		json_decref(message);
		if (e->abort_sent)
			return NULL;
		e->abort_sent = true;
		message = json_pack("[s, o]", "abort", wire_error("Error", e->reason, NULL, NULL));
	}
	if (!e->aborted)
		call_begin_waiting(e);
	engine_run(e);
	return message;
}
