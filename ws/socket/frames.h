/*
 * Interface between protocols on WebSockets (terminal.h, control_socket.h, mux_socket.h, ws/rpc/socket.h) and the transports of
 * their frames: ws/net/socket.c, and the channels of mux_socket.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMES_HEADROOM 32u /* bytes in front of each payload that the transport may overwrite */
#define FRAMES_PAYLOAD_MAX 65535u /* bytes of a frame with the 16-bit length */

/* Longer texts are parsed on a thread if the protocol has read(). Bytes. */
#define FRAMES_LOOP_PARSE_MAX ((size_t)64 << 10)

/* Close codes (RFC 6455, 7.4; 4000 and up are ours). */
enum close_code {
	CLOSE_NORMAL = 1000,
	CLOSE_GOING_AWAY = 1001,
	CLOSE_POLICY = 1008,
	CLOSE_TOO_BIG = 1009,
	CLOSE_INTERNAL = 1011,
	CLOSE_ACCESS_ENDED = 4401,
	CLOSE_REPLACED = 4409, /* by another connection of the same client */
	CLOSE_SESSION_DELETED = 4410,
};

/* The kind of a frame. A text may be split into several. */
enum frame_kind {
	FRAME_TEXT,
	FRAME_BINARY,
	FRAME_TEXT_PART,         /* the first frame of a split text */
	FRAME_CONTINUATION_PART, /* a frame in the middle */
	FRAME_CONTINUATION,      /* the last frame */
};

/* Sends frames. Its functions never call the protocol. */
struct frames_transport {
	/* Bytes that a frame may have now; 0 = none, writable() will be called. */
	size_t (*room)(void *user);
	/* Approximate number of bytes that were sent and have not reached the peer. */
	size_t (*queued)(void *user);
	/* Send a payload with FRAMES_HEADROOM bytes in front. Returns false when the connection is lost. */
	bool (*send)(void *user, uint8_t *payload, size_t length, enum frame_kind kind);
	/* Call writable() in a later turn of the loop. */
	void (*want)(void *user);
	/* Close after sent frames have left. closed() is called later. */
	void (*close)(void *user, enum close_code code, const char *reason);
};

/* A protocol, as the transport calls it. self: result of its open function. */
struct frames_protocol {
	size_t message_max; /* bytes of one message */
	size_t text_max;    /* bytes of a text that text() gets */
	/* The transport can take frames again. */
	void (*writable)(void *self);
	/* A piece of a binary message. NULL: binary messages are treated as texts. */
	void (*binary)(void *self, const void *bytes, size_t length);
	/* A complete text; NULL if it has more than text_max bytes. */
	void (*text)(void *self, const char *text, size_t length);
	/*
	 * Parse a text of more than FRAMES_LOOP_PARSE_MAX bytes; runs on a thread, so it has no access to self. NULL: text() gets
	 * all texts. The result goes to take(), which replaces text(), or to forget() if the socket has closed.
	 */
	void *(*read)(const char *text, size_t length);
	/* Process a result of read(), which is owned. Nothing else is received before. */
	void (*take)(void *self, void *sense, const char *text, size_t length);
	/* Free a result of read(). */
	void (*forget)(void *sense);
	/* A message of more than message_max bytes is coming: send an error and close. */
	void (*too_big)(void *self);
	/* The connection has closed: free self. */
	void (*closed)(void *self);
};

/* Why an upgrade is refused: HTTP status, error code and message; literals. status 0 = it is not. */
struct refusal {
	int status;
	const char *code, *message;
};
