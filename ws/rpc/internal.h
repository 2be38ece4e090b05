/* What the files of the engine share. */
#pragma once

#include "ws/rpc/engine.h"

#include <uthash.h>

#define RPC_REF_COST 16u /* bytes of an entry in rpc_value.refs, including unused capacity */

/* What an entry of the export or import table, or an expression, refers to. */
enum node_kind {
	NODE_WAITING, /* pending; becomes one of those below */
	NODE_VALUE,
	NODE_FAILED,   /* its value is the error */
	NODE_ALIAS,    /* the same as another node */
	NODE_TARGET,   /* the main object or a part of it */
	NODE_STUB,     /* an object of the peer */
	NODE_PIPE,     /* a stream from the peer: its writing end, and its reader */
	NODE_READABLE, /* a stream to the peer */
};

/* An evaluated expression. In its tree a node is ["ref", serial]; a pending one ["wait", serial]. */
struct rpc_value {
	json_t *tree;
	struct rpc_node **refs; /* each with a reference */
	size_t refs_count, refs_size;
	uint64_t cost; /* wire_cost() of the tree and RPC_REF_COST for each ref, nothing shared */
	unsigned depth;
};

/* What happens when a node settles. */
enum waiter_kind {
	WAITER_FOLLOW,   /* follow a path, or make a call, on the node */
	WAITER_CALL,     /* make a call of which the node is the arguments */
	WAITER_GATHER,   /* complete a value that contains the node */
	WAITER_SEND,     /* send the node as an answer */
	WAITER_RETURNED, /* report that a call to the peer has returned */
};

/* An action to take when a node settles. */
struct rpc_waiter {
	struct rpc_waiter *next;
	enum waiter_kind kind;
	struct rpc_node *result, *subject, *args; /* references, or NULL */
	json_t *path;                             /* owned, or NULL */
	uint64_t cost;                            /* of the path */
	int64_t id;                               /* WAITER_SEND: of the export */
	void (*done)(void *user);                 /* WAITER_RETURNED */
	void *user;
};

struct rpc_pipe;

/* A result, object or stream, counted by reference. */
struct rpc_node {
	UT_hash_handle hh; /* by serial */
	uint64_t serial;
	struct rpc_engine *engine;
	unsigned references;
	enum node_kind kind;
	bool ready, doomed;                /* whether it is in that list of the engine */
	struct rpc_node *next;             /* in the ready or doomed list */
	struct rpc_waiter *waiters, *last; /* until they have run */
	struct rpc_value value;            /* VALUE, FAILED; WAITING: the incomplete value */
	size_t gathering;                  /* pending nodes in the incomplete value */
	struct rpc_node *alias;            /* reference */
	json_t *path;                      /* TARGET: array of names */
	int64_t id; /* TARGET: of its export, or 0; STUB: of its import; READABLE: of its pipe */
	struct rpc_pipe *pipe; /* PIPE; owned */
	struct rpc_flow *flow; /* READABLE; owned until it is sent, then NULL */
};

/* A method call, queued or unanswered. */
struct rpc_call {
	struct rpc_call *prev, *next;
	struct rpc_engine *engine;
	struct rpc_node *result, *args; /* references */
	const char *space, *method;     /* in target */
	json_t *target;                 /* owned */
	void *own;                      /* of rpc_call_set_data() */
};

/* An entry of the export table: a node that the peer refers to by id. */
struct rpc_export {
	UT_hash_handle hh;
	int64_t id;
	struct rpc_node *node; /* reference */
	uint64_t references;
	bool pulled, released_by_answer;
};

/* What an entry of the import table is. */
enum import_kind { IMPORT_STUB, IMPORT_PROMISE, IMPORT_CALL, IMPORT_WRITE };

/* An entry of the import table: an object of the peer that we refer to by id. */
struct rpc_import {
	UT_hash_handle hh;
	int64_t id;
	enum import_kind kind;
	struct rpc_node *node; /* reference; STUB: no reference, because the node owns the entry */
	uint64_t introduced;   /* times that the peer has exported it */
	struct rpc_flow *flow; /* WRITE */
	size_t size;           /* WRITE: bytes */
	bool last;             /* WRITE: the end of the stream */
};

/* The kind of an outgoing message. */
enum outgoing_kind { OUTGOING_ANSWER, OUTGOING_PUSH, OUTGOING_PULL, OUTGOING_RELEASE };

/* An outgoing message. It is encoded only when it can be sent. */
struct rpc_outgoing {
	struct rpc_outgoing *next;
	enum outgoing_kind kind;
	int64_t id;
	uint64_t count;        /* RELEASE */
	struct rpc_node *node; /* reference; ANSWER: the result; PUSH: the arguments, or NULL */
	struct rpc_node *result, *stub; /* references; PUSH */
	json_t *path;                   /* PUSH */
	uint64_t cost, path_cost;
};

/* A stream to the peer. */
struct rpc_flow {
	struct rpc_flow *prev, *next;
	struct rpc_engine *engine;
	struct rpc_node *node; /* its owner until it is sent; no reference */
	struct rpc_source source;
	int64_t id;            /* of the pipe; 0: not sent yet */
	size_t flying, writes; /* unacknowledged bytes and messages */
	bool waits;            /* for rpc_flow_more() */
	bool ended;            /* the end was sent */
	bool closed;           /* source.closed() was called */
	bool released;         /* the pipe was released; only acknowledgements may follow */
};

/* A chunk of a stream from the peer. */
struct rpc_chunk {
	struct rpc_chunk *next;
	struct rpc_node *result; /* reference: settles when the chunk was read */
	uint8_t *bytes;
	size_t length;
};

/* The reading end of a stream from the peer. */
struct rpc_reader {
	struct rpc_pipe *pipe;
	struct rpc_sink sink;
	bool paused;    /* nothing is delivered until rpc_reader_resume() */
	bool delivered; /* the sink has the first chunk */
};

/* A stream from the peer. */
struct rpc_pipe {
	struct rpc_pipe *next_ready;
	bool ready;
	struct rpc_engine *engine;
	struct rpc_node *node; /* its owner; no reference */
	struct rpc_chunk *chunks, *last;
	size_t bytes;
	struct rpc_node *closing; /* reference: settles when the end was read */
	bool ended, broken;       /* closed by the peer; aborted by the peer */
	bool consumed;            /* the peer has passed its readable end */
	bool refused;             /* further writes fail */
	struct rpc_reader *reader;
};

/* A session. */
struct rpc_engine {
	const struct rpc_callbacks *callbacks;
	void *user;
	struct rpc_node *nodes; /* table */
	uint64_t serial;        /* of the newest node */
	struct rpc_node *ready, *ready_last, *doomed;
	struct rpc_pipe *ready_pipes;
	struct rpc_export *exports; /* table */
	struct rpc_import *imports; /* table */
	int64_t next_from_peer;     /* id of the peer's next push */
	int64_t next_to_peer;       /* id of our next push */
	int64_t next_export;        /* id of our last export, counted downwards */
	struct rpc_outgoing *outgoing_first, *outgoing_last;
	size_t outgoing_count;
	struct rpc_call *calls, *waiting_calls; /* lists */
	size_t calls_count;
	struct rpc_flow *flows; /* list of those that were sent; the first is the next to write */
	size_t flows_count;     /* including those that were not sent */
	uint64_t held, unsent;  /* costs, see RPC_HELD_MAX and RPC_UNSENT_MAX */
	bool running, closing;
	bool aborted, abort_sent;
	char reason[128];
};

/* engine.c: add cost to e->held. Returns false after aborting e if that exceeds RPC_HELD_MAX. */
bool engine_reserve(struct rpc_engine *e, uint64_t cost);

/* node.c: returns a new reference, or NULL after aborting e (too many, or out of memory). */
struct rpc_node *node_create(struct rpc_engine *e, enum node_kind kind);

/* Returns n. */
struct rpc_node *node_ref(struct rpc_node *n);

/* The last reference moves n to the doomed list, which engine_sweep() frees. n: may be NULL. */
void node_unref(struct rpc_node *n);

/* Resolve aliases. Returns a borrowed node. */
struct rpc_node *node_real(struct rpc_node *n);

/* The node of ["ref", serial] or ["wait", serial], borrowed; NULL for other expressions. */
struct rpc_node *node_of(const struct rpc_engine *e, const json_t *leaf);

/* The expression for a node: ["wait", serial] or ["ref", serial]. Returns a new reference. */
json_t *node_leaf(const struct rpc_node *n, bool wait);

/* Settle a WAITING node with a value. Its contents are taken. */
void node_become_value(struct rpc_node *n, struct rpc_value *value);

/* Settle a WAITING node with an expression without nodes. tree: taken; NULL: out of memory. */
void node_become_json(struct rpc_node *n, json_t *tree);

/* Settle a WAITING node with an error, an expression, taken. */
void node_fail(struct rpc_node *n, json_t *error);

/* Settle a WAITING node with an error made by wire_error(). */
void node_fail_with(struct rpc_node *n, const char *type, const char *message, const char *code);

/* Resolve a WAITING node with another node, which may be pending. other: a reference, taken. */
void node_become_alias(struct rpc_node *n, struct rpc_node *other);

/*
 * Run w when n settles; if n has settled, in the next engine_run(). w: taken, with its references.
 */
void node_wait(struct rpc_node *n, struct rpc_waiter *w);

/* Drop all that n refers to. */
void node_clear(struct rpc_node *n);

/* Run the waiters of all settled nodes and deliver to readers, then sweep. */
void engine_run(struct rpc_engine *e);

/* Free the nodes without references. */
void engine_sweep(struct rpc_engine *e);

/*
 * value.c: add n to v's refs. n: a reference, taken in any case. Returns false if memory is short.
 */
bool value_add_ref(struct rpc_value *v, struct rpc_node *n);

/* Free the contents of v and subtract its cost from e->held. */
void value_finish(struct rpc_engine *e, struct rpc_value *v);

/*
 * Replace the nodes that have settled with their values. Returns false if one of them has failed,
 * with its error, borrowed, in *ret_error, or after aborting e.
 */
bool value_flatten(struct rpc_engine *e, struct rpc_value *v, json_t **ret_error);

/*
 * evaluate.c: evaluate an expression of the peer. Returns a new reference, or NULL after aborting
 * e.
 */
struct rpc_node *evaluate(struct rpc_engine *e, const json_t *expression);

/*
 * follow.c: settle result with the property at path of subject, or with what a call of it returns.
 * path: taken. args: a reference, taken; NULL: no call.
 */
void follow(struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result);

/* follow() for a subject that has settled. */
void follow_settled(
	struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result);

/*
 * Make a call on a target, stub or pipe with arguments that have settled. path and args: borrowed.
 */
void follow_called(
	struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result);

/*
 * call.c: start or queue a method call. target: array of names, taken. args and result: borrowed.
 */
void call_start(
	struct rpc_node *subject, json_t *target, struct rpc_node *args, struct rpc_node *result);

/* Start queued calls while the unsent answers cost less than RPC_UNSENT_MAX. */
void call_begin_waiting(struct rpc_engine *e);

/* Cancel all calls, started or queued. */
void call_cancel_all(struct rpc_engine *e);

/* table.c: returns NULL if there is no such entry. */
struct rpc_export *export_find(const struct rpc_engine *e, int64_t id);

/* node: a reference, taken. Returns NULL after aborting e. */
struct rpc_export *export_add(struct rpc_engine *e, int64_t id, struct rpc_node *node);

/* Remove and free an entry. */
void export_remove(struct rpc_engine *e, struct rpc_export *x);

/* Returns NULL if there is no such entry. */
struct rpc_import *import_find(const struct rpc_engine *e, int64_t id);

/* Returns NULL after aborting e. */
struct rpc_import *import_add(struct rpc_engine *e, int64_t id, enum import_kind kind);

/* Remove and free an entry. */
void import_remove(struct rpc_engine *e, struct rpc_import *i);

/* say.c: queue a message. Returns NULL after aborting e (too many, or out of memory). */
struct rpc_outgoing *outgoing_add(struct rpc_engine *e, enum outgoing_kind kind, int64_t id);

/* Drop all queued messages. */
void outgoing_drop_all(struct rpc_engine *e);

/* outflow.c: whether a stream may have a message to send. */
bool outflow_has_next(const struct rpc_engine *e);

/* The next message of a stream, a new reference; NULL: none. */
json_t *outflow_next(struct rpc_engine *e);

/* Start to write the stream to the peer's pipe with this id. */
void outflow_send(struct rpc_flow *f, int64_t id);

/* The peer has answered a write, and i is removed. good: whether the write succeeded. */
void outflow_acknowledged(struct rpc_engine *e, struct rpc_import *i, bool good);

/* Free a stream that was never sent. */
void outflow_drop(struct rpc_flow *f);

/* Close and free the streams that were sent. */
void outflow_close_all(struct rpc_engine *e);

/* pipe.c: returns a new reference, or NULL after aborting e. */
struct rpc_node *pipe_create(struct rpc_engine *e);

/* Break off the reader, fail the writes, and free p. */
void pipe_destroy(struct rpc_pipe *p);

/* The peer calls write, close or abort. method: NULL for a path of several names. */
void pipe_call(
	struct rpc_node *pipe, const char *method, struct rpc_node *args, struct rpc_node *result);

/* The peer has released the pipe. If it was not closed, the stream has broken off. */
void pipe_released(struct rpc_pipe *p);

/* Deliver to the reader of the first ready pipe. */
void pipe_run(struct rpc_engine *e);

/* Remove the first ready pipe from the list. */
void pipe_remove_ready(struct rpc_engine *e);
