/*
 * A request body that is received in pieces, so that a body of any length costs the memory of one piece. A route with
 * `.upload = true` uses this: its handler is called when the head has been admitted, and calls upload_begin() at once or
 * later. Until then, and while the upload is paused, the connection is not read.
 *
 * Over HTTP a body may have a known length or be chunked. Over the control socket the body has been received completely,
 * at most REQUEST_BODY_MAX bytes, and comes in one piece; the handler sees no difference.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

#define UPLOAD_UNKNOWN UINT64_MAX           /* length of a body without Content-Length */
#define UPLOAD_PIECE_MAX ((size_t)64 << 10) /* bytes, over HTTP; otherwise REQUEST_BODY_MAX */

/* Why a body is incomplete. */
enum upload_end {
	UPLOAD_LOST,      /* the client disconnected, or the server ends */
	UPLOAD_BROKEN,    /* invalid chunks or length: answered with 400 */
	UPLOAD_SLOW,      /* slower than BODY_RATE_MIN while not paused: answered with 408 */
	UPLOAD_TOO_LARGE, /* longer than the row's upload_max: answered with 413 */
	UPLOAD_CUT,       /* the client's access ended: answered with 401 */
};

/*
 * Callbacks of the consumer of a body. Exactly one of complete() and broken() is called, as the last one; or neither, if the
 * request is answered before, which may happen at any time, also from piece(). After such an early answer the connection
 * ends, and a little of the rest is discarded.
 *
 * Each of them may be called from inside upload_begin() and upload_resume().
 */
struct upload_sink {
	/* The next bytes, borrowed for the call; length > 0. It may pause. */
	void (*piece)(void *user, const char *bytes, size_t length);
	/* The body is complete. From now on request->gone reports that the client does not wait for the answer any more. */
	void (*complete)(void *user);
	/*
	 * The body stays incomplete, and no answer can be given: call nothing on the request except request_unref() for the
	 * handler's own reference. request->gone is not called.
	 */
	void (*broken)(void *user, enum upload_end why);
	void *user;
};

/* State of a request's upload; for upload.c and transports. */
struct upload {
	struct upload_sink sink; /* if taken */
	uint64_t length;         /* as announced, or UPLOAD_UNKNOWN */
	uint64_t got;            /* bytes passed to the sink */
	bool live; /* the transport gives pieces; otherwise request->body is complete */
	bool taken, paused;
	bool over;   /* no more calls of the sink */
	bool giving; /* inside the loop that passes a complete body */
};

/* Length of the body in bytes, or UPLOAD_UNKNOWN. */
uint64_t upload_length(const struct request *r);

/*
 * Receive the body of r, whose route has `.upload`; once, before it is answered. sink: copied. A handler that calls this
 * after it has returned keeps a reference. If the client disconnects before this call, request->gone reports it, and
 * broken() is called from inside this.
 */
void upload_begin(struct request *r, const struct upload_sink *sink);

/* Stop calling piece() until upload_resume(); the client's writes block meanwhile. */
void upload_pause(struct request *r);

/* Continue after upload_pause(). Harmless if it is not paused. */
void upload_resume(struct request *r);

/* For transports, of a request whose upload is live: */

/* Whether the sink accepts a piece now. */
bool upload_wants_piece(const struct request *r);

/* Pass a piece to the sink, which accepts it. r may be answered afterwards. */
void upload_pass(struct request *r, const char *bytes, size_t length);

/* Report that the body is complete. */
void upload_finish(struct request *r);

/* Answer r with an error instead of its handler, and call broken(). */
void upload_refuse(struct request *r, enum upload_end why, const char *code, const char *message);

/* Call broken(), unless r has been answered or its body is over. Returns whether it was called. */
bool upload_abort(struct request *r, enum upload_end why);
