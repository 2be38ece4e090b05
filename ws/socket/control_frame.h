/* What clients say on the control socket: requests and their cancellation, JSON. Pure. */
#pragma once

#include "shell/name.h"
#include "ws/route.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_ID_MAX 128u      /* bytes of the id that a client gives a request */
#define CONTROL_TARGET_MAX 8192u /* bytes of a path with its query */

enum control_frame_type { CONTROL_INVALID, CONTROL_REQUEST, CONTROL_CANCEL };

struct control_frame {
	enum control_frame_type type;
	const char *code, *message;  /* CONTROL_INVALID: why (literals) */
	char id[CONTROL_ID_MAX + 1]; /* of the request; "" when an invalid one does not tell */
	enum method method;          /* CONTROL_REQUEST, like all that follows */
	char target[CONTROL_TARGET_MAX + 1];
	const char *session; /* the header X-Session-Id, or NULL; lives as long as `root` */
	bool accepts_events; /* the header Accept names text/event-stream */
	const char *body;    /* JSON, in the text that was parsed; NULL: none */
	size_t body_length;
	void *root; /* to be given to control_frame_free() */
};

/* Parse a message, and free what that has left. */
void control_frame_parse(const char *text, size_t length, struct control_frame *ret_frame);
void control_frame_free(struct control_frame *f);
