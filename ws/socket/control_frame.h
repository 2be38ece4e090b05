/* Messages of clients on the control socket, parsed: requests and their cancellation, as JSON. Pure. */
#pragma once

#include "shell/name.h"
#include "ws/route.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_ID_MAX 128u      /* bytes of a request's id, which the client chooses */
#define CONTROL_TARGET_MAX 8192u /* bytes of a path with its query */

/* The type of a message. */
enum control_frame_type { CONTROL_INVALID, CONTROL_REQUEST, CONTROL_CANCEL };

/* A parsed message. */
struct control_frame {
	enum control_frame_type type;
	const char *code, *message;  /* CONTROL_INVALID: the error; literals */
	char id[CONTROL_ID_MAX + 1]; /* of the request; "" = not known, of an invalid one */
	enum method method;          /* CONTROL_REQUEST, like all that follows */
	char target[CONTROL_TARGET_MAX + 1];
	const char *session; /* the header X-Session-Id, or NULL; lives as long as `root` */
	bool accepts_events; /* the header Accept names text/event-stream */
	const char *body;    /* JSON, in the text that was parsed; NULL = none */
	size_t body_length;
	void *root; /* owned; see control_frame_free() */
};

/* Parse a message. Always needs control_frame_free(). */
void control_frame_parse(const char *text, size_t length, struct control_frame *ret_frame);

/* Free what control_frame_parse() has allocated. */
void control_frame_free(struct control_frame *f);
