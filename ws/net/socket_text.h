/*
 * Text messages of a WebSocket, collected until they are complete. Long ones count as bodies (bodies.h), and are parsed on a
 * thread of libuv's, because that would block the loop.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/quota.h"
#include "ws/socket/frames.h"

#include <stdbool.h>
#include <stddef.h>

struct server;

/* The text that is being received. Zero it, then set the first two. */
struct socket_text {
	struct server *server;
	const struct principal *principal; /* of the socket; borrowed */
	char *bytes;                       /* owned; size of them */
	size_t size;
	struct quota_place place;
	size_t room; /* bytes reserved in server->bodies */
};

/* Store a piece at offset at. Texts of more than max bytes are not stored. Returns NULL, or a close reason. */
const char *socket_text_append(
	struct socket_text *t, size_t max, size_t at, const void *bytes, size_t length);

/* Free its memory, and release what is reserved. */
void socket_text_drop(struct socket_text *t);

/* A text that a thread parses. */
struct socket_text_job;

/* The text is parsed; sense: result of frames_protocol.read(), owned; text: borrowed. Called from the loop. */
typedef void (*socket_text_job_done)(void *user, void *sense, const char *text, size_t length);

/* Parse a complete text on a thread. Takes t's memory, unless it returns NULL because memory is short. */
struct socket_text_job *socket_text_job_start(struct socket_text *t, size_t length,
	const struct frames_protocol *protocol, socket_text_job_done done, void *user);

/* Drop the result when it comes; done() is not called. NULL is allowed. */
void socket_text_job_abandon(struct socket_text_job *a);
