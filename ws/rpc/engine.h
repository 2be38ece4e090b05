/*
 * One end of capnweb, the RPC of the Sandbox SDK: messages in, calls out, answers back as messages. It keeps the tables of
 * what either side has named by numbers, lets calls wait for the results that they are made on, and passes streams of
 * bytes both ways. It knows neither sockets nor requests.
 *
 * Whatever the peer sends that is no message, or beyond a limit, ends the session by an `abort` that says why. Calls that
 * cannot be made end by an error of their own.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPC_EXPORTS_MAX 16384u /* what the peer may name of ours, and has not released */
#define RPC_IMPORTS_MAX 16384u /* what we name of the peer's, and have not released */
#define RPC_NODES_MAX 49152u   /* results, stubs and streams, also those that wait for others */
#define RPC_CALLS_MAX 128u     /* calls that are not answered */
#define RPC_STREAMS_MAX 128u   /* streams to the peer */
#define RPC_PATH_MAX 32u       /* names in a property path */
#define RPC_NAME_MAX 256u      /* bytes of one of them */
#define RPC_SAYINGS_MAX 65536u /* messages that wait for a peer that does not read */
#define RPC_HELD_MAX \
	((uint64_t)64 << 20) /* of values, paths and pieces of streams that are held, see wire_cost() */
#define RPC_UNSENT_MAX ((uint64_t)4 << 20) /* of answers that wait, to begin another call */
#define RPC_WINDOW ((size_t)256 << 10)  /* bytes of a stream that the peer has not acknowledged */
#define RPC_PIPE_MAX ((size_t)16 << 20) /* bytes of a stream from the peer that nobody has taken */

struct rpc_engine;
struct rpc_call;
struct rpc_reader;
struct rpc_flow;

/* What there is at a path of the main object. */
enum rpc_member { RPC_NOTHING, RPC_SPACE, RPC_METHOD };

struct rpc_callbacks {
	/* What "space" (method NULL) or "space.method" is. */
	enum rpc_member (*member)(void *user, const char *space, const char *method);
	/* A method is called; to be answered once, now or later. */
	void (*call)(void *user, struct rpc_call *call);
	/* Nobody waits for the answer any more, which must not be given: call is gone. */
	void (*cancelled)(void *user, struct rpc_call *call);
};

/* Returns NULL when memory is short. callbacks and user: borrowed. */
struct rpc_engine *rpc_engine_create(const struct rpc_callbacks *callbacks, void *user);
/* Calls are cancelled, streams closed. Not from inside a callback. */
void rpc_engine_destroy(struct rpc_engine *e);

/* A message has come. Nothing happens once it has been aborted. */
void rpc_engine_receive(struct rpc_engine *e, const char *text, size_t length);

/* The same of one that wire_parse() has read before: what it has returned, and the message, taken, or NULL. */
void rpc_engine_take(struct rpc_engine *e, int error, json_t *message);

/* The next message to be sent, owned by the caller; NULL: there is none yet. */
char *rpc_engine_next(struct rpc_engine *e, size_t *ret_length);

/* The same, before it is text: nobody changes it any more. Returns a new reference. */
json_t *rpc_engine_message(struct rpc_engine *e);

/* End the session: the last message says why. */
void rpc_engine_abort(struct rpc_engine *e, const char *reason);

/* Why it has been aborted; NULL: it has not. */
const char *rpc_engine_aborted(const struct rpc_engine *e);

/* Whether rpc_engine_next() may have something. */
bool rpc_engine_has_next(const struct rpc_engine *e);

/* Calls */

const char *rpc_call_space(const struct rpc_call *c);
const char *rpc_call_method(const struct rpc_call *c);

/* An argument, as an expression (ws/rpc/wire.h), and with {"ref", number} for stubs and streams; NULL: there is none. */
const json_t *rpc_call_argument(const struct rpc_call *c, size_t index);

/* What the caller of this library remembers of it. */
void rpc_call_keep(struct rpc_call *c, void *own);
void *rpc_call_kept(const struct rpc_call *c);

/* Answer. value: an expression, taken; NULL: memory was short. */
void rpc_call_resolve(struct rpc_call *c, json_t *value);
/* error: an expression, taken. */
void rpc_call_reject(struct rpc_call *c, json_t *error);

/* Streams to the peer, of bytes */

enum rpc_piece { RPC_PIECE, RPC_WAIT, RPC_END, RPC_BROKEN };

struct rpc_source {
	/*
	 * The next piece, an expression, owned by the caller, and about how many bytes it is; of RPC_BROKEN: what is said of
	 * it, a string, or NULL.
	 */
	enum rpc_piece (*next)(void *user, json_t **ret_piece, size_t *ret_size);
	/* Nobody reads it any more; nothing is called afterwards. */
	void (*closed)(void *user);
	void *user;
};

/*
 * Answer with a stream: alone, or as the member `name` of an object, taken, that is an expression. *ret_flow is
 * set first, and is there until the source is closed, which may come from inside; it stays as it is when the call fails
 * instead.
 */
void rpc_call_stream(struct rpc_call *c, const struct rpc_source *source, json_t *object,
	const char *name, struct rpc_flow **ret_flow);

/* The source has more, after RPC_WAIT. */
void rpc_flow_more(struct rpc_flow *f);

/* Calls to the peer */

/*
 * Call the function that is the member `name` of an argument, which may have none. arguments: an expression, [[...]],
 * taken. done: once it has returned, however; not called when there is no such function, or e is destroyed.
 * Returns whether it is called.
 */
bool rpc_call_back(struct rpc_call *c, size_t index, const char *name, json_t *arguments,
	void (*done)(void *user), void *user);

/* Streams from the peer */

/* What takes a stream from the peer. */
struct rpc_sink {
	/* A piece, borrowed. No other comes before rpc_reader_resume(). */
	void (*piece)(void *user, const uint8_t *bytes, size_t length);
	/* All of it has come. */
	void (*complete)(void *user);
	/* It has broken off. */
	void (*broken)(void *user);
	void *user;
};

/*
 * Take the stream that an argument is. Returns NULL when it is none, or has been taken. Its first piece comes after
 * rpc_reader_resume(), as do all others, also from inside of that. complete(), broken() and rpc_reader_close() end it.
 */
struct rpc_reader *rpc_call_read(struct rpc_call *c, size_t index, const struct rpc_sink *sink);
void rpc_reader_resume(struct rpc_reader *r);
/* Take no more of it: what still comes is refused. */
void rpc_reader_close(struct rpc_reader *r);
