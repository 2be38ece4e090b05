/*
 * What the control socket says: one message at a time, sent in pieces. Replies are sent from where they
 * are, without another copy.
 */
#pragma once

#include "ws/socket/frames.h"
#include "ws/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero is empty. */
struct control_message {
	char *head;              /* owned; NULL = empty */
	struct request *request; /* our reference, whose reply the body is; NULL = there is none */
	const char *tail;        /* literal */
	size_t head_length, body_length, tail_length, sent;
	bool failed; /* memory was short, or a text no UTF-8 */
};

/*
 * {"type":"response"}: the reply of r, whose reference is taken. JSON is its body as it is, text a string,
 * anything else {"base64"}; its headers, if it has any, are in "headers".
 */
void control_message_reply(struct control_message *m, const char *id, struct request *r);

/* {"type":"stream"}: an event. Returns 0, or -EINVAL when it cannot be said; then m is as before. */
int control_message_event(struct control_message *m, const char *id, const char *data);

/* {"type":"response"}: the end of a stream. */
void control_message_end(struct control_message *m, const char *id);

/* {"type":"error"}. id: "" = of no request. */
void control_message_error(
	struct control_message *m, const char *id, const char *code, const char *message);

/* Whether there is nothing to be sent; and whether what was to be said last could not be. */
bool control_message_is_empty(const struct control_message *m);
bool control_message_failed(const struct control_message *m);

/* The next piece, of at most room bytes; once all has been taken m is empty. Returns its length. */
size_t control_message_take(
	struct control_message *m, uint8_t *piece, size_t room, enum frame_kind *ret_kind);

/* Drop what has not been sent. */
void control_message_finish(struct control_message *m);
