/*
 * The body of a request as it comes, in pieces: however long it is, no more than one of them is held. A route says
 * `.upload = true` in its row; its handler is called when the head of a request has been admitted, and calls
 * upload_take(), at once or when it is ready. Until then, and while it has paused, nothing is read of the connection.
 *
 * By HTTP a body comes as the client sends it, with a length or without. The control socket has received it whole, at most
 * REQUEST_BODY_MAX bytes, and it comes in one piece; the handler sees no difference.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

#define UPLOAD_UNKNOWN UINT64_MAX           /* the length of a body of which none is told */
#define UPLOAD_PIECE_MAX ((size_t)64 << 10) /* bytes, of HTTP; otherwise REQUEST_BODY_MAX */

/* Why the rest of a body does not come. */
enum upload_end {
	UPLOAD_LOST,   /* the client has gone, or the server ends */
	UPLOAD_BROKEN, /* what has come is no body: answered 400 */
	UPLOAD_SLOW, /* less than BODY_RATE_MIN has come while it was not paused: the client has been dropped */
	UPLOAD_TOO_LARGE, /* more than the row's upload_max: answered 413 */
	UPLOAD_CUT,       /* the caller's access has ended: answered 401 */
};

/*
 * Who takes a body. Exactly one of complete() and broken() comes, and nothing after it; or neither, once the request has
 * been answered, which may be done at any time, also from piece(). What follows an answer is not read as a request: the
 * connection ends, after a little of the rest has been thrown away.
 *
 * Any of them may come from inside upload_take() and upload_resume().
 */
struct upload_sink {
	/* The next bytes, borrowed for the call: length > 0. It may pause. */
	void (*piece)(void *user, const char *bytes, size_t length);
	/* That was all. The answer is awaited; from now on request->gone tells that nobody awaits it. */
	void (*complete)(void *user);
	/*
	 * No more comes, and an answer goes nowhere: nothing of the request may be used any more, but request_unref() for the
	 * handler's own reference. request->gone is not called.
	 */
	void (*broken)(void *user, enum upload_end why);
	void *user;
};

/* Of a request; for upload.c and transports. */
struct upload {
	struct upload_sink sink; /* of taken */
	uint64_t length;         /* as announced, or UPLOAD_UNKNOWN */
	uint64_t got;            /* bytes that have been handed on */
	bool live;               /* the transport gives pieces; otherwise request->body is whole */
	bool taken, paused;
	bool over;   /* nothing more is handed on */
	bool giving; /* what came whole, at this moment */
};

/* How long the body will be: bytes, or UPLOAD_UNKNOWN. */
uint64_t upload_length(const struct request *r);

/*
 * Take the body of r, once; r is of a route with `.upload` and has not been answered. sink: copied. Where the handler does
 * not call it before it returns, it keeps a reference; when the client has gone meanwhile, request->gone says so, and so does
 * broken(), from inside this.
 */
void upload_take(struct request *r, const struct upload_sink *sink);

/* Let no piece come until upload_resume(); the client sees its connection full. What has been given is the handler's. */
void upload_pause(struct request *r);
void upload_resume(struct request *r);

/* For transports, of a request whose upload is live: */

/* Whether a piece may be given now. */
bool upload_is_wanted(const struct request *r);
/* Give a piece, which is wanted. Afterwards r may have been answered. */
void upload_give(struct request *r, const char *bytes, size_t length);
/* Say that this was all. */
void upload_finish(struct request *r);
/* Answer r with an error in its handler's place, who hears why. */
void upload_refuse(struct request *r, enum upload_end why, const char *code, const char *message);
/* Tell the handler that no more comes; not, when it has been answered or has ended. Returns whether it was told. */
bool upload_break(struct request *r, enum upload_end why);
