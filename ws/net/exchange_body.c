/*
 * Receives the body of a request: stores it until it is complete, or passes it on as an upload. Memory is reserved (bodies.h)
 * before it is allocated: at once if the length is known, otherwise while the body grows.
 */
#include "ws/net/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROWN_MIN ((size_t)16 << 10) /* bytes that are reserved at first for a chunked body */
/* Window of an upload's rate check, in units of the time for a head: a client may pause for a while. */
#define UPLOAD_WINDOW 3u

/* Whether the body counts as one without credentials. */
static bool is_anonymous(const struct exchange *x)
{
	return x->request->auth != AUTH_OK;
}

void exchange_body_release(struct exchange *x)
{
	bodies_release(&x->server->bodies, x->room, is_anonymous(x));
	quota_release(&x->place);
	x->room = 0;
}

/* Reserve and allocate length bytes in all. Returns NULL, or an error code. */
static const char *reserve(struct exchange *x, size_t length)
{
	struct request *r = x->request;
	exchange_body_release(x);
	if (!is_anonymous(x) &&
		!server_acquire_quota(x->server, QUOTA_BODY_BYTES, length, &r->principal, &x->place))
		return "QUOTA_REACHED";
	if (!bodies_reserve(&x->server->bodies, length, is_anonymous(x))) {
		x->server->options.metrics->bodies_refused++;
		return "LIMIT_REACHED";
	}
	x->room = length;
	char *body = realloc(r->body, length + 1);
	if (!body)
		return "OUT_OF_MEMORY";
	r->body = body;
	return NULL;
}

const char *exchange_body_reserve(struct exchange *x, size_t length)
{
	if (is_anonymous(x) && length > BODY_ANONYMOUS_MAX)
		return "REQUEST_TOO_LARGE";
	return reserve(x, x->in_chunks ? GROWN_MIN : length);
}

/* The body is complete: dispatch the request. */
static void finish_body(struct exchange *x)
{
	struct request *r = x->request;
	x->wants_body = false;
	if (r->body) {
		r->body_length = x->body_size;
		r->body[r->body_length] = '\0';
	}
	/* A long body stays reserved until the answer, because its memory is in use. */
	if (x->body_size <= REQUEST_BODY_MAX)
		exchange_body_release(x);
	exchange_dispatch(x);
}

char *exchange_body_space(struct exchange *x, size_t *ret_room)
{
	*ret_room = x->body_size - x->body_got;
	return x->request->body + x->body_got;
}

bool exchange_body_add(struct exchange *x, size_t length)
{
	x->body_got += length;
	if (x->body_got < x->body_size)
		return false;
	finish_body(x);
	return true;
}

bool exchange_body_is_upload(const struct exchange *x)
{
	return x->request->upload.live;
}

bool exchange_body_in_pieces(const struct exchange *x)
{
	return x->in_chunks || exchange_body_is_upload(x);
}

bool exchange_body_is_due(const struct exchange *x)
{
	return x->wants_body && (!exchange_body_is_upload(x) || upload_wants_piece(x->request));
}

static bool is_whole(const struct exchange *x)
{
	return x->in_chunks ? chunked_is_complete(&x->chunks) : x->body_got == x->body_size;
}

size_t exchange_body_read_max(const struct exchange *x)
{
	if (is_whole(x))
		return 0;
	uint64_t most = x->in_chunks ? chunked_left(&x->chunks) : x->body_size - x->body_got;
	/* The rest of a chunk, and some framing. */
	most += x->in_chunks && most < UPLOAD_PIECE_MAX ? HTTP_HEAD_MAX : 0;
	return most < UPLOAD_PIECE_MAX ? (size_t)most : UPLOAD_PIECE_MAX;
}

static void refuse(struct exchange *x, enum upload_end why, const char *code)
{
	x->wants_body = false;
	exchange_body_release(x);
	if (!exchange_body_is_upload(x)) {
		exchange_refuse_body(x, code);
		return;
	}
	x->close_after = true;
	upload_refuse(x->request, why, code, "The request's body cannot be received");
}

/* Store bytes of a chunked body. Returns NULL, or an error code. */
static const char *keep(struct exchange *x, const char *bytes, size_t length)
{
	size_t most = is_anonymous(x) ? BODY_ANONYMOUS_MAX : request_body_max(x->request);
	if (length > most - x->body_got)
		return "REQUEST_TOO_LARGE";
	size_t room = x->room;
	while (room < x->body_got + length)
		room *= 2;
	room = room < most ? room : most;
	const char *problem = room > x->room ? reserve(x, room) : NULL;
	if (problem)
		return problem;
	memcpy(x->request->body + x->body_got, bytes, length);
	x->body_got += length;
	x->body_size = x->body_got;
	return NULL;
}

/* Pass bytes of an upload on. Returns NULL, or an error code. */
static const char *pass_on(struct exchange *x, const char *bytes, size_t length)
{
	const struct request *r = x->request;
	uint64_t most = r->match.row->upload_max;
	if (most > 0 && length > most - r->upload.got)
		return "REQUEST_TOO_LARGE";
	x->body_got += length;
	upload_pass(x->request, bytes, length);
	return NULL;
}

/* Move the body's bytes to the front. Returns 0, or an error of chunked_decode(). */
static int decode(struct exchange *x, char *bytes, size_t length, size_t *ret_used, size_t *ret_size)
{
	size_t left = x->body_size - x->body_got;
	if (x->in_chunks)
		return chunked_decode(&x->chunks, bytes, length, ret_used, ret_size);
	*ret_used = *ret_size = length < left ? length : left;
	return 0;
}

void exchange_body_feed(struct exchange *x, char *bytes, size_t length, size_t *ret_used)
{
	const char *problem = NULL;
	size_t size = 0;
	*ret_used = 0;
	int rc = decode(x, bytes, length, ret_used, &size);
	if (rc < 0) {
		refuse(x, rc == -E2BIG ? UPLOAD_TOO_LARGE : UPLOAD_BROKEN,
			rc == -E2BIG ? "REQUEST_TOO_LARGE" : "VALIDATION_FAILED");
		return;
	}
	if (size > 0)
		problem = exchange_body_is_upload(x) ? pass_on(x, bytes, size)
						     : keep(x, bytes, size);
	if (problem)
		refuse(x, UPLOAD_TOO_LARGE, problem);
	else if (exchange_body_is_due(x) && is_whole(x) && exchange_body_is_upload(x)) {
		x->wants_body = false;
		upload_finish(x->request);
	} else if (exchange_body_is_due(x) && is_whole(x)) {
		finish_body(x);
	}
}

/* Whether an upload was slower than BODY_RATE_MIN in the last window. Never while it is paused. */
static bool is_upload_slow(struct exchange *x, uint64_t ms, uint64_t grace_ms)
{
	uint64_t got = x->body_got - x->body_since_got;
	bool due = exchange_body_is_due(x);
	if (x->request->match.row->upload_slow)
		return false;
	if (due && ms < grace_ms * UPLOAD_WINDOW)
		return false;
	x->body_since_ms = server_now_ms(x->server);
	x->body_since_got = x->body_got;
	return due && bodies_is_slow(ms, 0, got);
}

bool exchange_body_is_slow(struct exchange *x)
{
	uint64_t ms = server_now_ms(x->server) - x->body_since_ms;
	uint64_t grace_ms = (uint64_t)x->server->options.header_timeout_s * 1000;
	if (!x->wants_body)
		return false;
	if (exchange_body_is_upload(x))
		return is_upload_slow(x, ms, grace_ms);
	return ms > BODY_WITHIN_MS || bodies_is_slow(ms, grace_ms, x->body_got);
}

void exchange_body_refuse_slow(struct exchange *x)
{
	refuse(x, UPLOAD_SLOW, "REQUEST_TIMEOUT");
}
