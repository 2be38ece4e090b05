/*
 * A request and its answer, over any transport: HTTP, the control socket, or an MCP tool. A handler gets a request and
 * answers it once, at once or later, with a reply, an event stream or a download.
 *
 * The transport holds one reference and each pending operation another, so either may end first.
 */
#pragma once

#include "shell/store/directory.h"
#include "ws/auth/auth.h"
#include "ws/download.h"
#include "ws/quota.h"
#include "ws/route.h"
#include "ws/upload.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct access;

#define REQUEST_PARAMS_MAX 16u
#define REQUEST_BODY_MAX ((size_t)1 << 20) /* bytes, unless the route's row says otherwise */
#define REPLY_HEADERS_MAX 8u
#define REPLY_RETRY_S "30" /* Retry-After of a 503 */
#define STREAM_QUIET_S 15u /* a silent stream sends a sign of life after this time */

/* Headers that handlers read: for ranges and conditions (RFC 9110 13, 14), and for MCP. */
enum request_header {
	HEADER_RANGE,
	HEADER_IF_RANGE,
	HEADER_IF_MATCH,
	HEADER_IF_NONE_MATCH,
	HEADER_IF_MODIFIED_SINCE,
	HEADER_IF_UNMODIFIED_SINCE,
	HEADER_CONTENT_RANGE,
	HEADER_ACCEPT,
	HEADER_MCP_PROTOCOL_VERSION,
	HEADER_MCP_METHOD,
	HEADER_MCP_NAME,
	HEADER_MCP_SESSION_ID,
	REQUEST_HEADERS
};
#define REQUEST_HEADER_SIZE \
	256u /* of a condition or range, with its NUL; longer ones are refused */

/* A complete answer. */
struct reply {
	int status;
	const char *content_type;
	const char *body; /* length bytes */
	size_t length;
	char *owned; /* freed with the reply, or NULL; body points into it */
	json_t *json; /* instead of body, if the request wants_json: owned; length is an estimate of its text */
	struct {
		const char *name;
		char *value; /* owned */
	} headers[REPLY_HEADERS_MAX];
	size_t headers_count;
};

/* An event stream (server-sent events over HTTP): the transport pulls events when it can send. */
struct event_stream {
	/* The next event's JSON, owned by the caller, or NULL if there is none yet. */
	char *(*next)(void *user);
	/* The client disconnected, its access ended, or the last event was sent. */
	void (*closed)(void *user);
	/* Make the last event when access ends, owned by the caller; NULL: {type: "error", code, message}. */
	char *(*farewell)(void *user);
	void *user;
	bool placed; /* does not count for QUOTA_STREAMS */
};

/* Callbacks of a transport for the answer. */
struct request_transport {
	/* reply is filled in; may be called from inside dispatcher_handle() */
	void (*answered)(void *user);
	void (*streaming)(void *user); /* stream is set; events follow */
	void (*more)(void *user); /* the stream has another event, or the download more bytes */
	void (*downloading)(void *user); /* download is set; NULL: not supported */
	void (*uploading)(void *user);   /* the upload accepts pieces; NULL: bodies come complete */
};

#define REQUEST_WITHIN_SIZE 16u

/* The request by which another server gives the answer of one that waits, see ws/net/takeover.h. */
struct request_repeat {
	const char *method; /* NULL: the same */
	char *target;       /* owned; NULL: the same */
	char *body;         /* owned; NULL: a GET has none, others have the same */
};

/* A request with its answer. */
struct request {
	unsigned references;
	enum method method;
	char *path;                       /* decoded */
	char *params[REQUEST_PARAMS_MAX]; /* decoded "name=value" of the query */
	size_t params_count;
	char *body; /* NUL-terminated */
	size_t body_length;
	json_t *json;   /* the body, if the transport has parsed it; owned; NULL: it is in body */
	json_t *parsed; /* by body_read(), dropped when the handler returns; owned; NULL: not read */
	char *headers[REQUEST_HEADERS]; /* owned; NULL: not sent */
	bool has_headers;               /* the transport is HTTP, which sends headers */
	bool wants_json;                /* the transport reads reply.json where there is one */
	struct upload upload;           /* the body of a route with `.upload`; body is NULL then */
	char peer[LIMITER_PEER_MAX];
	char agent[LOGIN_AGENT_SIZE];         /* User-Agent, cut; "" */
	bool secure;                          /* the client uses TLS, to us or to a trusted proxy */
	char session_header[NAME_ID_MAX + 1]; /* the header X-Session-Id, or "" */
	char node[AUTH_NODE_SIZE];            /* the header Ringside-Node, or "" */
	bool accepts_events;                  /* Accept has text/event-stream */
	bool accepts_page; /* Accept has text/html: a browser, errors are pages */
	const char *page_link; /* of such a page, see error_page(); outlives r, or r is answered at once */
	bool accepts_tar;            /* Accept has application/x-tar */
	bool sends_tar;              /* Content-Type is application/x-tar */
	bool session_header_invalid; /* X-Session-Id is not a valid id */
	struct principal principal;
	uint64_t caller; /* distinguishes clients of one principal, see ws/mcp/own.h; 0: unknown */
	char author[NAME_AUTHOR_MAX + 1]; /* of principal; "" until it is first needed */
	enum auth_result auth;            /* whether principal is valid */
	/* Name of the object whose fields are being read, for errors; "": the body itself. */
	char within[REQUEST_WITHIN_SIZE];
	struct directory_found directory; /* the working directory, see ws/api/cwd_check.h */
	struct route_match match;
	struct reply reply;
	bool done;                  /* answered */
	struct download download;   /* in place of the body of reply */
	struct event_stream stream; /* next is NULL unless streaming */
	bool stream_complete;       /* no event will be added to those that next still has */
	void (*gone)(void *user);   /* the answer is not needed any more; NULL: not wanted */
	void *gone_user;
	void (*over)(void *user); /* the request is freed; NULL: not wanted */
	void *over_user;
	/*
	 * While r waits: make the request that another server answers alike; ret_repeat is NULL if nothing is to be made. Returns
	 * false if that is impossible now. Gets gone_user. NULL: r can be repeated as it is if it is a GET or its row `.reads`, and otherwise not at all.
	 */
	bool (*repeat)(void *user, struct request_repeat *ret_repeat);
	uint64_t entered_ms; /* when the handler was called, by clock_monotonic_ms() */
	/* While a handler has it, see ws/access.h: */
	struct access *access; /* NULL: it has not entered, or has left */
	struct request *access_prev, *access_next;
	struct quota_place place;
	struct {
		struct access *access; /* NULL: it is not counted */
		size_t length;
		struct quota_place place;
	} answer;             /* of reply, until that is freed */
	bool access_stale;    /* on the list of requests to cut */
	bool waited;          /* the handler has returned without an answer */
	bool outlives_access; /* the answer itself reports that access has ended */
	bool cut;             /* answered without its handler, whose answer is discarded */
	char *farewell;       /* the last event of a stream that was cut; owned */
	const struct request_transport *transport; /* NULL once the client has disconnected */
	void *transport_user;
};

/* Create a request with one reference; NULL when memory is short. */
struct request *request_create(void);

/* Add a reference. Returns r. */
struct request *request_ref(struct request *r);

/* Drop a reference; the last one frees r. */
void request_unref(struct request *r);

/* The client has disconnected: deliver nothing more, tell the handler, and drop the transport's reference. */
void request_abandon(struct request *r);

/* Access has ended: answer r with ACCESS_ENDED, or end its stream with it, and call r->gone. */
void request_cut(struct request *r);

/* Whether r, which is not answered, may be asked again. *ret_repeat: how; owned by the caller; NULL: not wanted. */
bool request_can_repeat(const struct request *r, struct request_repeat *ret_repeat);

/* Free the texts. */
void request_repeat_finish(struct request_repeat *repeat);

/* Limit of a body that is received completely, in bytes. It depends on the route, if that is known. */
size_t request_body_max(const struct request *r);

/* The value of a query parameter, or NULL. */
const char *request_param(const struct request *r, const char *name);

/*
 * Get the session that a request names outside its body: in X-Session-Id, ?session= or ?sessionId=; NULL if in none.
 * Returns false after r was answered, because the id is invalid.
 */
bool request_session(struct request *r, const char **ret_id);

/* Set the value of the header X-Session-Id (NULL: none). */
void request_set_session_header(struct request *r, const char *id);

/*
 * Parse the target of a request line, "/path?query", into path and params, decoding %XX and, in the query, '+'. Returns 0,
 * -EINVAL (wrong encoding, NUL or invalid UTF-8), -E2BIG (too many params) or -ENOMEM.
 */
int request_parse_target(struct request *r, const char *target);

/* The value of name in a list of "name=value"; NULL if there is none. Pure. */
const char *params_find(char *const *params, size_t count, const char *name);

/* Parse an unsigned decimal number of at most max. Returns false if text is not one. Pure. */
bool params_number(const char *text, uint64_t max, uint64_t *ret_number);

/*
 * Whether the handler's answer is still wanted; called by the functions that begin an answer. If the principal's access has
 * ended, r is answered with that.
 */
bool request_may_answer(struct request *r);

/* Add a header to the reply. name: a literal. */
void reply_header(struct request *r, const char *name, const char *value);

/* reply_header() with a number. */
void reply_header_number(struct request *r, const char *name, uint64_t number);

/* Answer with JSON; takes body. */
void reply_json(struct request *r, int status, json_t *body);

/* Answer {success: true, timestamp, ...body}; takes body, which may be NULL. */
void reply_success(struct request *r, json_t *body);

/* Answer with an error; message is copied; takes context, which may be NULL. Returns false, for the caller to return. */
bool reply_error(struct request *r, const char *code, const char *message, json_t *context);

/* Allocate zeroed memory, owned by the caller. NULL: memory is short, and r has been answered. */
void *request_alloc(struct request *r, size_t size);

/* Replace an answer of which nothing has been sent by an error, without any callback. */
void reply_replace(struct request *r, const char *code, const char *message);

/* Answer 400 VALIDATION_FAILED for a field. code: "required", "invalid", ... Returns false. */
bool reply_invalid(struct request *r, const char *field, const char *message, const char *code);

/* Answer with text or bytes. owned: freed later; NULL if body is static. */
void reply_bytes(struct request *r, int status, const char *type, const char *body, size_t length,
	char *owned);

/* Answer with an event stream. stream: copied. */
void reply_stream(struct request *r, const struct event_stream *stream);

/* Report that the stream has another event. Does nothing before the stream begins or after the client disconnects. */
void reply_stream_more(struct request *r);

/*
 * Report that the stream's last event is queued; called once. When next() returns NULL after this, the transport ends the
 * answer and calls closed().
 */
void reply_stream_complete(struct request *r);

/* The text of a value, owned by the caller. Takes json; NULL: json was NULL, or memory is short. */
char *dump_json(json_t *json);

/* {success: true, timestamp, ...body}, as reply_success() answers. Takes body, which may be NULL. */
json_t *success_json(json_t *body);

/*
 * {code, message, context, httpStatus, timestamp}: an error as JSON. Invalid UTF-8 in message, such as a character that was
 * cut, is replaced. Takes context, which may be NULL.
 */
json_t *error_json(const char *code, const char *message, json_t *context);
