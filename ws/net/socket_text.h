/*
 * Texts that come on a WebSocket: each is kept until it is whole. What is long takes room as a body does, and a thread of
 * libuv's makes sense of it, for which the loop would stand still.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/quota.h"
#include "ws/socket/frames.h"

#include <stdbool.h>
#include <stddef.h>

struct server;

/* A text that comes, or none: zeroed memory but for the first two. */
struct socket_text {
	struct server *server;
	const struct principal *principal; /* whose it is; borrowed */
	char *bytes;                       /* owned; size of them */
	size_t size;
	struct quota_place place;
	size_t room; /* of the room for bodies: all of a long text */
};

/* Keep a piece of one of at most max bytes; beyond that nothing is. Returns NULL, or why it cannot be. */
const char *socket_text_keep(
	struct socket_text *t, size_t max, size_t at, const void *bytes, size_t length);

/* Give back what it has taken. */
void socket_text_drop(struct socket_text *t);

/* One that a thread has. */
struct socket_ahead;

/* What a thread has made of one; text: borrowed. Comes later, and not after socket_ahead_forget(). */
typedef void (*socket_ahead_done)(void *user, void *sense, const char *text, size_t length);

/* Have a thread read a whole text, whose bytes are taken. Returns NULL, and takes nothing, when memory is short. */
struct socket_ahead *socket_ahead_begin(struct socket_text *t, size_t length,
	const struct frames_protocol *protocol, socket_ahead_done done, void *user);

/* Nobody waits for it any more; NULL is fine. */
void socket_ahead_forget(struct socket_ahead *a);
