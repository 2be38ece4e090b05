/* A message to a client of the control socket, sent in pieces. The body of a reply is not copied. */
#pragma once

#include "ws/socket/frames.h"
#include "ws/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The message that is being sent; zero = none. */
struct control_message {
	char *head;              /* owned; NULL = empty */
	struct request *request; /* our reference; its reply is the body; NULL = no body */
	const char *tail;        /* literal */
	size_t head_length, body_length, tail_length, sent;
	bool failed; /* it could not be made: memory was short, or a text was not UTF-8 */
};

/*
 * Begin {"type":"response"} with the reply of r. Takes a reference to r. The body is the reply's JSON, a string for
 * text, {"base64"} for anything else. Headers, if there are any, are in "headers".
 */
void control_message_reply(struct control_message *m, const char *id, struct request *r);

/* Begin {"type":"stream"}: an event. Returns 0, or -EINVAL if data is not UTF-8; then m is unchanged. */
int control_message_event(struct control_message *m, const char *id, const char *data);

/* Begin {"type":"response"}: the end of a stream. */
void control_message_end(struct control_message *m, const char *id);

/* Begin {"type":"error"}. id: "" = of no request. */
void control_message_error(
	struct control_message *m, const char *id, const char *code, const char *message);

/* Whether there is no message. */
bool control_message_is_empty(const struct control_message *m);

/* Copy the next piece, of at most room bytes; after the last, m is empty. Returns its length. */
size_t control_message_next_piece(
	struct control_message *m, uint8_t *piece, size_t room, enum frame_kind *ret_kind);

/* Drop the message. */
void control_message_finish(struct control_message *m);
