/*
 * A request and its answer, whatever carries them: HTTP, the control socket, or a tool of MCP. A handler gets a
 * request and answers it once, at once or later, with a reply or with a stream of events.
 *
 * The transport holds one reference and each pending operation another, so either may go first.
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
struct mcp_headers;

#define REQUEST_PARAMS_MAX 16u
#define REQUEST_BODY_MAX ((size_t)1 << 20) /* bytes, unless the route's row says otherwise */
#define REPLY_HEADERS_MAX 8u
#define REPLY_RETRY_S \
	"30" /* with 503: until somewhere else, or here once more, something may be begun */
#define STREAM_QUIET_S 15u /* after this much silence a stream's reader is told that it goes on */

/* Headers that ask for a part, or set a condition (RFC 9110 13, 14). */
enum request_header {
	HEADER_RANGE,
	HEADER_IF_RANGE,
	HEADER_IF_MATCH,
	HEADER_IF_NONE_MATCH,
	HEADER_IF_MODIFIED_SINCE,
	HEADER_IF_UNMODIFIED_SINCE,
	HEADER_CONTENT_RANGE,
	REQUEST_HEADERS
};
#define REQUEST_HEADER_SIZE 256u /* of a value, with its NUL; longer ones are refused */

struct reply {
	int status;
	const char *content_type;
	const char *body; /* length bytes */
	size_t length;
	char *owned; /* to be freed with the reply, or NULL; body points into it then */
	struct {
		const char *name;
		char *value; /* owned */
	} headers[REPLY_HEADERS_MAX];
	size_t headers_count;
};

/* A stream of events (server-sent events over HTTP): pulled by the transport when it can send. */
struct event_stream {
	/* The next event's JSON, owned by the caller, or NULL when there is none yet. */
	char *(*next)(void *user);
	/* The peer has gone, or may have no more. */
	void (*closed)(void *user);
	/* The last event, if access has ended, owned by the caller; NULL: {type: "error", code, message}. */
	char *(*farewell)(void *user);
	void *user;
	bool placed; /* it counts for no quota of its own */
};

/* What a transport does with the answer; NULL once the peer has gone. */
struct request_transport {
	void (*answered)(
		void *user); /* reply is filled in; may come from inside dispatcher_handle() */
	void (*streaming)(void *user); /* stream is set; events follow */
	void (*more)(void *user); /* the stream has another event, or the download more bytes */
	void (*downloading)(void *user); /* download is set; NULL: it has no such answers */
	void (*uploading)(void *user); /* an upload may be given more; NULL: it gives bodies whole */
};

#define REQUEST_WITHIN_SIZE 16u

struct request {
	unsigned references;
	enum method method;
	char *path;                       /* decoded */
	char *params[REQUEST_PARAMS_MAX]; /* decoded "name=value" of the query */
	size_t params_count;
	char *body; /* NUL-terminated */
	size_t body_length;
	json_t *json; /* the body, where the transport has it as JSON; owned; NULL: it is in body */
	char *headers[REQUEST_HEADERS]; /* owned; NULL: not sent, or not by this transport */
	struct upload upload; /* of a route that takes its body as it comes, which is not in body then */
	char peer[LIMITER_PEER_MAX];
	char agent[LOGIN_AGENT_SIZE];       /* User-Agent, cut; "" */
	bool secure;                        /* the browser, or the program, has come by TLS */
	char session_hint[NAME_ID_MAX + 1]; /* the header X-Session-Id, or "" */
	bool accepts_events; /* it names text/event-stream in Accept: an answer may come as events */
	bool accepts_page; /* it names text/html there: who asks is a person, and reads a page rather than JSON */
	bool accepts_tar, sends_tar; /* Accept names application/x-tar; Content-Type is that */
	bool session_hint_wrong;     /* it was there, but is no id */
	struct mcp_headers *mcp; /* ws/mcp/headers.h, of a request to /mcp; owned, of malloc(); NULL: none */
	struct principal principal;
	uint64_t caller; /* who of those that come as principal it is, see ws/mcp/own.h; 0: it is not known */
	char author[NAME_AUTHOR_MAX + 1]; /* of principal, once somebody has asked for it */
	enum auth_result auth;            /* whether principal is valid */
	char within[REQUEST_WITHIN_SIZE]; /* the object whose fields are being read, as errors name it; "": the body itself */
	struct directory_found directory; /* of the working directory that it names, see ws/api/directory.h */
	struct route_match match;
	struct reply reply;
	bool done;
	struct download download;   /* of reply, in place of its body */
	struct event_stream stream; /* next is NULL unless streaming */
	bool stream_complete;       /* no event will be added to those that next still has */
	void (*gone)(void *user);   /* nobody waits for the answer any more; NULL: nobody asks */
	void *gone_user;
	/* While a handler has it, see ws/access.h: */
	struct access *access; /* NULL: it has not entered, or has left */
	struct request *access_prev, *access_next;
	struct quota_place place;
	struct {
		struct access *access; /* NULL: it is not counted */
		size_t length;
		struct quota_place place;
	} answer;             /* of reply, until that is freed */
	bool access_stale;    /* it is about to be cut */
	bool waited;          /* the handler has returned without an answer */
	bool outlives_access; /* its answer says that its own access has ended */
	bool cut;       /* it has been answered without its handler, whose answer goes nowhere */
	char *farewell; /* the last event of a stream that has been cut; owned */
	const struct request_transport *transport;
	void *transport_user;
};

/* A request with one reference; NULL when memory is short. */
struct request *request_create(void);
struct request *request_ref(struct request *r);
void request_unref(struct request *r);

/* The transport's peer has gone: nothing more is delivered. Gives the transport's reference back. */
void request_abandon(struct request *r);

/* Whoever asked has no access any more: it is answered so, or its stream ends so, and its handler hears that it is gone. */
void request_cut(struct request *r);

/* How long its body may be that comes whole; of a request whose route has been found, or not. */
size_t request_body_max(const struct request *r);

/* The value of a query parameter, or NULL. */
const char *request_param(const struct request *r, const char *name);

/*
 * The session that a request names besides its body: by the header X-Session-Id, or by ?session= or
 * ?sessionId=. None: NULL and true. One that is no id: r is answered and false returned.
 */
bool request_session(struct request *r, const char **ret_id);

/* Keep the value of the header X-Session-Id (NULL: none). */
void request_hint_session(struct request *r, const char *id);

/*
 * Take path and params from what a request line names, "/path?query", decoding them as HTTP's transport
 * does. Returns 0, -EINVAL when it cannot be decoded, -E2BIG when there are too many params, or -ENOMEM.
 */
int request_take_target(struct request *r, const char *target);

/* The value of name in a list of "name=value"; NULL if there is none. Pure. */
const char *params_find(char *const *params, size_t count, const char *name);

/* An unsigned decimal number of at most max. Returns false when text is none. Pure. */
bool params_number(const char *text, uint64_t max, uint64_t *ret_number);

/*
 * Whether what a handler says is to go anywhere. If not because its caller may have it no more, that has been answered. For
 * what begins an answer.
 */
bool request_may_answer(struct request *r);

/* Add a header to the reply. name: a literal. */
void reply_header(struct request *r, const char *name, const char *value);

/* Answer with JSON; body is taken. */
void reply_json(struct request *r, int status, json_t *body);

/* Answer {success: true, timestamp, ...body}; body is taken and may be NULL. */
void reply_success(struct request *r, json_t *body);

/* Answer with an error; message is copied, context is taken and may be NULL. */
void reply_error(struct request *r, const char *code, const char *message, json_t *context);

/* Put an error in the place of an answer of which nothing has been sent; nobody is told. */
void reply_instead(struct request *r, const char *code, const char *message);

/* Answer 400 VALIDATION_FAILED for a field. code: "required", "invalid", ... */
void reply_invalid(struct request *r, const char *field, const char *message, const char *code);

/* Answer with text or bytes. owned: freed later, or NULL when body lives for ever. */
void reply_bytes(struct request *r, int status, const char *type, const char *body, size_t length,
	char *owned);

/* Answer with a stream of events. */
void reply_stream(struct request *r, const struct event_stream *stream);

/* Say that the stream has another event; nothing happens unless it has begun, and its peer is there. */
void reply_stream_more(struct request *r);

/*
 * Say that the stream's last event has been queued: once next() returns NULL the transport ends the answer,
 * and calls closed(). Whoever streams calls this once, at the end.
 */
void reply_stream_complete(struct request *r);

/* {success: true, timestamp, ...body}: what reply_success() answers. body is taken and may be NULL. */
json_t *success_json(json_t *body);

/*
 * {code, message, context, httpStatus, timestamp}: an error as JSON. Bytes of message that are not UTF-8, such as a character that
 * was cut, are replaced. context is taken and may be NULL.
 */
json_t *error_json(const char *code, const char *message, json_t *context);
