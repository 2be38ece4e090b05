/* What the files of the engine share. */
#pragma once

#include "ws/rpc/engine.h"

#include <uthash.h>

#define RPC_REF_COST \
	16u /* bytes of a reference to a node: its place, and what growing leaves free */

/*
 * What a number of either table stands for, or an expression: a result, perhaps still to come; something that may be
 * called; a stream.
 */
enum node_kind {
	NODE_WAITING, /* becomes one of the others */
	NODE_VALUE,
	NODE_FAILED,   /* its value is the error */
	NODE_ALIAS,    /* is what another is */
	NODE_TARGET,   /* the main object, or a part of it */
	NODE_STUB,     /* the peer's */
	NODE_PIPE,     /* where the peer writes a stream; its reader is found by it, too */
	NODE_READABLE, /* a stream of ours */
};

/* An expression, evaluated: its tree has {"ref", serial} for nodes, and {"wait", serial} for those that have to settle. */
struct rpc_value {
	json_t *tree;
	struct rpc_node **refs; /* each with a reference */
	size_t refs_count, refs_size;
	uint64_t cost; /* of the whole, as if nothing were shared: its tree, and RPC_REF_COST for each of refs */
	unsigned depth;
};

enum waiter_kind {
	WAITER_FOLLOW, /* a path, or a call, on what settles */
	WAITER_CALL,   /* a call whose arguments settle */
	WAITER_GATHER, /* a value with it inside */
	WAITER_SEND,   /* the peer wants to know */
	WAITER_BACK,   /* a call to the peer has returned */
};

/* What is done when a node settles. */
struct rpc_waiter {
	struct rpc_waiter *next;
	enum waiter_kind kind;
	struct rpc_node *result, *subject, *args; /* references, or NULL */
	json_t *path;                             /* owned, or NULL */
	uint64_t cost;                            /* of the path, as it is held */
	int64_t id;                               /* WAITER_SEND: of the export */
	void (*done)(void *user);                 /* WAITER_BACK */
	void *user;
};

struct rpc_pipe;

struct rpc_node {
	UT_hash_handle hh; /* by serial */
	uint64_t serial;
	struct rpc_engine *engine;
	unsigned references;
	enum node_kind kind;
	bool ready, doomed;                /* in that list */
	struct rpc_node *next;             /* of the ready, or of the doomed */
	struct rpc_waiter *waiters, *last; /* WAITING, and ready */
	struct rpc_value value;            /* VALUE, FAILED; WAITING: what is gathered */
	size_t gathering;                  /* how many of it have not settled */
	struct rpc_node *alias;            /* reference */
	json_t *path;                      /* TARGET: array of names */
	int64_t id;            /* TARGET: as it is exported, or 0; STUB: as it is imported */
	struct rpc_pipe *pipe; /* PIPE; owned */
	struct rpc_flow *flow; /* READABLE; owned until it is sent, and NULL then */
};

struct rpc_call {
	struct rpc_call *prev, *next;
	struct rpc_engine *engine;
	struct rpc_node *result, *args; /* references */
	const char *space, *method;     /* in target */
	json_t *target;                 /* owned */
	void *own;
};

/* What the peer names by a number. */
struct rpc_export {
	UT_hash_handle hh;
	int64_t id;
	struct rpc_node *node; /* reference */
	uint64_t references;
	bool pulled, released_by_answer;
};

enum import_kind { IMPORT_STUB, IMPORT_PROMISE, IMPORT_CALL, IMPORT_WRITE };

/* What we name by a number. */
struct rpc_import {
	UT_hash_handle hh;
	int64_t id;
	enum import_kind kind;
	struct rpc_node *node; /* reference; STUB: none, for the node owns it */
	uint64_t introduced;
	struct rpc_flow *flow; /* WRITE */
	size_t size;           /* WRITE: bytes */
	bool last;             /* WRITE: the end */
};

enum saying_kind { SAY_ANSWER, SAY_PUSH, SAY_PULL, SAY_RELEASE };

/* What is to be sent; it becomes text in its turn. */
struct rpc_saying {
	struct rpc_saying *next;
	enum saying_kind kind;
	int64_t id;
	uint64_t count; /* RELEASE */
	struct rpc_node *node, *result,
		*stub; /* references: the answer, or the arguments; of PUSH */
	json_t *path;  /* PUSH */
	uint64_t cost, path_cost;
};

struct rpc_flow {
	struct rpc_flow *prev, *next;
	struct rpc_engine *engine;
	struct rpc_node *node; /* whose it is, until it is sent; no reference */
	struct rpc_source source;
	int64_t id;            /* of the pipe; 0: it is not sent */
	size_t flying, writes; /* bytes, and messages, that are not acknowledged */
	bool waits;            /* for the source */
	bool ended;            /* its end has been said */
	bool closed;           /* so is the source */
	bool released; /* and the pipe: what the peer says of its writes is all that comes */
};

struct rpc_chunk {
	struct rpc_chunk *next;
	struct rpc_node *result; /* reference: settles when it has been taken */
	uint8_t *bytes;
	size_t length;
};

struct rpc_reader {
	struct rpc_pipe *pipe;
	struct rpc_sink sink;
	bool paused; /* nothing is to come */
	bool given;  /* it has the first piece */
};

struct rpc_pipe {
	struct rpc_pipe *next_ready;
	bool ready;
	struct rpc_engine *engine;
	struct rpc_node *node; /* whose it is; no reference */
	struct rpc_chunk *chunks, *last;
	size_t bytes, count;
	struct rpc_node *closing; /* reference: settles with the end */
	bool ended, broken, taken, refused;
	struct rpc_reader *reader;
};

struct rpc_engine {
	const struct rpc_callbacks *callbacks;
	void *user;
	struct rpc_node *nodes; /* table */
	uint64_t serial;
	struct rpc_node *ready, *ready_last, *doomed;
	struct rpc_pipe *ready_pipes;
	struct rpc_export *exports; /* table */
	struct rpc_import *imports; /* table */
	int64_t next_from_peer;     /* of what the peer pushes */
	int64_t next_to_peer;       /* of what we push */
	int64_t next_export;        /* of what we export, downwards */
	struct rpc_saying *sayings, *sayings_last;
	size_t sayings_count;
	struct rpc_call *calls, *waiting_calls; /* lists */
	size_t calls_count;
	struct rpc_flow *flows; /* list: those that are sent; the first has its turn */
	size_t flows_count;     /* also those that are not */
	uint64_t held, unsent;
	bool running, closing, short_of_memory;
	bool aborted, abort_said;
	char reason[128];
};

/* engine.c: so much more is held, to be taken from e->held again. Returns false when that is too much: e has been aborted. */
bool engine_hold(struct rpc_engine *e, uint64_t cost);

/* node.c: they return a new reference, or NULL, when memory is short or there are too many; then e has been aborted. */
struct rpc_node *node_create(struct rpc_engine *e, enum node_kind kind);
struct rpc_node *node_ref(struct rpc_node *n);
void node_unref(struct rpc_node *n);
/* What it really is: never an alias. */
struct rpc_node *node_real(struct rpc_node *n);
/* The node that {"ref"} or {"wait"} in a tree is; NULL when it is neither. */
struct rpc_node *node_of(const struct rpc_engine *e, const json_t *leaf);
json_t *node_leaf(const struct rpc_node *n, bool wait);
/* WAITING becomes something. value: its contents are taken; error: taken; other: a reference, taken. */
void node_become_value(struct rpc_node *n, struct rpc_value *value);
void node_become_json(struct rpc_node *n, json_t *tree);
void node_fail(struct rpc_node *n, json_t *error);
void node_fail_with(struct rpc_node *n, const char *type, const char *message, const char *code);
void node_become_alias(struct rpc_node *n, struct rpc_node *other);
/* What is to be done when n settles; w is taken, and its references. At once when it has. */
void node_wait(struct rpc_node *n, struct rpc_waiter *w);
/* Let go of all that it refers to. */
void node_let_go(struct rpc_node *n);
/* Do all that has become due. */
void engine_run(struct rpc_engine *e);
/* Free what nobody refers to. */
void engine_sweep(struct rpc_engine *e);

/* value.c */
bool value_add_ref(
	struct rpc_value *v, struct rpc_node *n); /* takes a reference, also when it fails */
void value_finish(struct rpc_engine *e, struct rpc_value *v);
/* Replace what has settled. Returns the error, borrowed, if one of them has failed; otherwise NULL. */
bool value_flatten(struct rpc_engine *e, struct rpc_value *v, json_t **ret_error);

/* evaluate.c: returns a new reference, or NULL: e has been aborted. */
struct rpc_node *evaluate(struct rpc_engine *e, const json_t *expression);

/* follow.c: what a path or a call on a node is becomes result. path: taken; args: a reference, taken, or NULL. */
void follow(struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result);
void follow_settled(
	struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result);
/* The arguments of a call have settled. path: borrowed. */
void follow_called(
	struct rpc_node *subject, json_t *path, struct rpc_node *args, struct rpc_node *result);

/* call.c */
void call_start(
	struct rpc_node *subject, json_t *target, struct rpc_node *args, struct rpc_node *result);
void call_begin_waiting(struct rpc_engine *e);
void call_cancel_all(struct rpc_engine *e);

/* table.c */
struct rpc_export *export_find(const struct rpc_engine *e, int64_t id);
/* node: a reference, taken. Returns NULL when e has been aborted. */
struct rpc_export *export_add(struct rpc_engine *e, int64_t id, struct rpc_node *node);
void export_remove(struct rpc_engine *e, struct rpc_export *x);
struct rpc_import *import_find(const struct rpc_engine *e, int64_t id);
struct rpc_import *import_add(struct rpc_engine *e, int64_t id, enum import_kind kind);
void import_remove(struct rpc_engine *e, struct rpc_import *i);

/* say.c: returns NULL when e has been aborted, as it is for a peer that does not read. */
struct rpc_saying *say(struct rpc_engine *e, enum saying_kind kind, int64_t id);
void say_forget_all(struct rpc_engine *e);

/* outflow.c */
bool outflow_has_next(const struct rpc_engine *e);
json_t *outflow_next(struct rpc_engine *e);
/* It is piped from now on, under that number. */
void outflow_send(struct rpc_flow *f, int64_t id);
void outflow_acknowledged(struct rpc_engine *e, struct rpc_import *i, bool good);
void outflow_drop(struct rpc_flow *f); /* its node goes before it is sent */
void outflow_close_all(struct rpc_engine *e);

/* pipe.c */
struct rpc_node *pipe_create(struct rpc_engine *e);
void pipe_destroy(struct rpc_pipe *p);
void pipe_call(
	struct rpc_node *pipe, const char *method, struct rpc_node *args, struct rpc_node *result);
/* The peer has let it go: without its end it has broken off. */
void pipe_let_go(struct rpc_pipe *p);
void pipe_run(struct rpc_engine *e);
void pipe_forget_ready(struct rpc_engine *e);
