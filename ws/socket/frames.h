/*
 * What is between a WebSocket and those who speak on it: terminals (ws/socket/terminal.h) and requests
 * (ws/socket/control_socket.h). They know nothing of what carries their frames; ws/net/socket.c does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMES_HEADROOM 32u /* bytes in front of each payload that the transport may overwrite */
#define FRAMES_PAYLOAD_MAX 65535u /* bytes of a frame: those have the short header */

#define FRAMES_READ_MAX \
	((size_t)64 << 10) /* bytes of a text that the loop itself reads, where a thread can */

/* Close codes (RFC 6455, 7.4; 4000 and up are ours). */
enum close_code {
	CLOSE_NORMAL = 1000,
	CLOSE_GOING_AWAY = 1001,
	CLOSE_POLICY = 1008,
	CLOSE_TOO_BIG = 1009,
	CLOSE_INTERNAL = 1011,
	CLOSE_ACCESS_ENDED = 4401,
	CLOSE_REPLACED = 4409, /* another connection of the same client has taken its place */
	CLOSE_SESSION_DELETED = 4410,
};

enum frame_kind {
	FRAME_TEXT,
	FRAME_BINARY,
	FRAME_TEXT_PART,         /* the beginning of a text that goes on */
	FRAME_CONTINUATION_PART, /* more of it */
	FRAME_CONTINUATION,      /* the rest of it */
};

/* How frames leave. Calls are never answered from inside. */
struct frames_transport {
	/* Bytes that a frame may have now; 0: not yet, writable() will be called. */
	size_t (*room)(void *user);
	/* Bytes that were sent and have not reached the peer, about. */
	size_t (*queued)(void *user);
	/* Send a payload with FRAMES_HEADROOM bytes in front. Returns false when the connection is lost. */
	bool (*send)(void *user, uint8_t *payload, size_t length, enum frame_kind kind);
	/* Call writable() in a later turn of the loop. */
	void (*want)(void *user);
	/* Close after what has been sent. closed() follows later. */
	void (*close)(void *user, enum close_code code, const char *reason);
};

/* Who speaks on a socket, as the transport sees it. self: what its open function returned. */
struct frames_protocol {
	size_t message_max; /* bytes of one message */
	size_t text_max;    /* bytes of a text that are kept for text() */
	/* The transport can take frames again. */
	void (*writable)(void *self);
	/* A piece of a binary message, as it comes; NULL: binary messages are taken for texts. */
	void (*binary)(void *self, const void *bytes, size_t length);
	/* A whole text; one of more than text_max bytes is NULL. */
	void (*text)(void *self, const char *text, size_t length);
	/*
	 * Make sense of a text of more than FRAMES_READ_MAX bytes, on a thread: so it knows nothing else. NULL: text() has all.
	 * What it returns goes to take(), in place of text() and before anything else that comes, or to forget().
	 */
	void *(*read)(const char *text, size_t length);
	void (*take)(void *self, void *sense, const char *text, size_t length);
	void (*forget)(void *sense);
	/* A message of more than message_max bytes comes: say so and close. */
	void (*too_big)(void *self);
	/* The connection is over; self is freed. */
	void (*closed)(void *self);
};

/* A refusal of an upgrade: HTTP status, code and message (literals). status 0: none. */
struct refusal {
	int status;
	const char *code, *message;
};
