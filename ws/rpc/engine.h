/*
 * One end of a capnweb session, the RPC protocol of the Sandbox SDK. It parses messages, calls
 * methods, and produces the messages to send. It keeps the export and import tables, queues calls
 * on promises until these resolve, and transfers byte streams in both directions. It does not use
 * sockets or requests.
 *
 * An invalid message, or one that exceeds a limit, aborts the session with an `abort` message that
 * gives the reason. If only a call is invalid, that call is rejected.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPC_EXPORTS_MAX 16384u  /* our objects that the peer has not released */
#define RPC_IMPORTS_MAX 16384u  /* the peer's objects that we have not released */
#define RPC_NODES_MAX 49152u    /* results, stubs and streams, including pending ones */
#define RPC_CALLS_MAX 128u      /* unanswered calls */
#define RPC_STREAMS_MAX 128u    /* streams to the peer */
#define RPC_PATH_MAX 32u        /* names in a property path */
#define RPC_NAME_MAX 256u       /* bytes of a name in a path */
#define RPC_OUTGOING_MAX 65536u /* unsent messages */
/* Cost of all values, paths and stream chunks in memory, see wire_cost(). */
#define RPC_HELD_MAX ((uint64_t)64 << 20)
#define RPC_UNSENT_MAX ((uint64_t)4 << 20) /* cost of unsent answers, above which no call starts */
#define RPC_WINDOW ((size_t)256 << 10)     /* unacknowledged bytes of a stream to the peer */
#define RPC_PIPE_MAX ((size_t)16 << 20)    /* unread bytes of a stream from the peer */

/* A session. */
struct rpc_engine;

/* A method call from the peer, until it is answered. */
struct rpc_call;

/* The reading end of a stream from the peer. */
struct rpc_reader;

/* A stream to the peer. */
struct rpc_flow;

/* What a path of the main object refers to. */
enum rpc_member { RPC_NOTHING, RPC_SPACE, RPC_METHOD };

/* What the engine asks of its owner. */
struct rpc_callbacks {
	/* Look up "space" (method NULL) or "space.method". */
	enum rpc_member (*member)(void *user, const char *space, const char *method);
	/* The peer calls a method. It must be answered once, now or later. */
	void (*call)(void *user, struct rpc_call *call);
	/* The call was cancelled: it must not be answered, and is freed afterwards. */
	void (*cancelled)(void *user, struct rpc_call *call);
};

/* Returns NULL if memory is short. callbacks and user: borrowed. */
struct rpc_engine *rpc_engine_create(const struct rpc_callbacks *callbacks, void *user);

/* Cancel all calls, close all streams, and free e. Not from inside a callback. */
void rpc_engine_destroy(struct rpc_engine *e);

/* Handle a message from the peer. Ignored after an abort. */
void rpc_engine_receive(struct rpc_engine *e, const char *text, size_t length);

/* Handle a message after wire_parse(). error: its result. message: taken; NULL on error. */
void rpc_engine_receive_parsed(struct rpc_engine *e, int error, json_t *message);

/* The next message to send, not modified any more. Returns a new reference; NULL: there is none now. */
json_t *rpc_engine_next(struct rpc_engine *e);

/* End the session. The last message to send is an `abort` with the reason. */
void rpc_engine_abort(struct rpc_engine *e, const char *reason);

/* The reason of the abort; NULL: the session is alive. */
const char *rpc_engine_aborted(const struct rpc_engine *e);

/* Whether rpc_engine_next() may return a message. */
bool rpc_engine_has_next(const struct rpc_engine *e);

/* Calls */

/* The first part of the called name "space.method". */
const char *rpc_call_space(const struct rpc_call *c);

/* The second part of the called name "space.method". */
const char *rpc_call_method(const struct rpc_call *c);

/* An argument as an expression (ws/rpc/wire.h). A stub or stream is ["ref", serial]. NULL: none. */
const json_t *rpc_call_argument(const struct rpc_call *c, size_t index);

/* Attach a pointer to the call for rpc_call_data(). */
void rpc_call_set_data(struct rpc_call *c, void *own);

/* The pointer that rpc_call_set_data() attached; NULL: none. */
void *rpc_call_data(const struct rpc_call *c);

/* Answer with a result. value: an expression, taken; NULL: the call fails as out of memory. */
void rpc_call_resolve(struct rpc_call *c, json_t *value);

/* Answer with an error. error: an expression, taken. */
void rpc_call_reject(struct rpc_call *c, json_t *error);

/* Byte streams to the peer */

/* What rpc_source.next() returns. */
enum rpc_piece { RPC_PIECE, RPC_WAIT, RPC_END, RPC_BROKEN };

/* Where a stream to the peer gets its bytes from. */
struct rpc_source {
	/*
	 * Get the next chunk. RPC_PIECE: *ret_piece is an expression, owned by the caller,
	 * *ret_size its approximate bytes. RPC_WAIT: call again after rpc_flow_more(). RPC_BROKEN:
	 * *ret_piece is the error message, a string, or NULL.
	 */
	enum rpc_piece (*next)(void *user, json_t **ret_piece, size_t *ret_size);
	/* The stream is over. No function is called afterwards. */
	void (*closed)(void *user);
	void *user;
};

/*
 * Answer with a stream, either alone or as the member `name` of object, an expression, taken.
 * *ret_flow is set before the answer and is valid until source->closed(), which may be called from
 * inside. If the call is rejected instead, *ret_flow is untouched.
 */
void rpc_call_stream(struct rpc_call *c, const struct rpc_source *source, json_t *object,
	const char *name, struct rpc_flow **ret_flow);

/* The source has data again after RPC_WAIT. */
void rpc_flow_more(struct rpc_flow *f);

/* Calls to the peer */

/*
 * Call the function that is the member `name` of an argument. arguments: an expression [[...]],
 * taken. done: called when the function has returned or failed; not called if e is destroyed first.
 * Returns false, and does nothing, if there is no such function or memory is short.
 */
bool rpc_call_function(struct rpc_call *c, size_t index, const char *name, json_t *arguments,
	void (*done)(void *user), void *user);

/* Byte streams from the peer */

/* The consumer of a stream from the peer. */
struct rpc_sink {
	/* A chunk, borrowed until rpc_reader_resume(), which also requests the next one. */
	void (*piece)(void *user, const uint8_t *bytes, size_t length);
	/* The stream has ended. */
	void (*complete)(void *user);
	/* The stream broke off before its end. */
	void (*broken)(void *user);
	void *user;
};

/*
 * Read the stream that is an argument. Each chunk, including the first, is delivered after
 * rpc_reader_resume(), or from inside it. The reader is freed before complete() and broken(), and
 * by rpc_reader_close(). Returns NULL if the argument is not a stream or already has a reader.
 */
struct rpc_reader *rpc_call_read(struct rpc_call *c, size_t index, const struct rpc_sink *sink);

/* Acknowledge the last chunk and request the next one. */
void rpc_reader_resume(struct rpc_reader *r);

/* Stop reading: all further writes of the peer fail. */
void rpc_reader_close(struct rpc_reader *r);
