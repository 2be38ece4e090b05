/* Messages of the control socket: a head, then the bytes of a reply, which are not copied, and a tail. */
#include "ws/socket/control_message.h"

#include "ws/base64.h"
#include "ws/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void control_message_finish(struct control_message *m)
{
	free(m->head);
	if (m->request)
		request_unref(m->request);
	*m = (struct control_message){0};
}

bool control_message_is_empty(const struct control_message *m)
{
	return !m->head;
}

/* Make the message from object, which is taken. NULL: memory was short. */
static void set_whole(struct control_message *m, json_t *object)
{
	control_message_finish(m);
	m->head = object ? json_dumps(object, JSON_COMPACT) : NULL;
	m->head_length = m->head ? strlen(m->head) : 0;
	m->failed = !m->head;
	json_decref(object);
}

static bool has_type(const struct reply *reply, const char *prefix)
{
	return reply->content_type && strncasecmp(reply->content_type, prefix, strlen(prefix)) == 0;
}

/* The JSON for a body that is not JSON. */
static json_t *body_json(const struct reply *reply)
{
	json_t *text = has_type(reply, "text/") ? json_stringn(reply->body, reply->length) : NULL;
	return text ? text : json_pack("{s:o}", "base64", base64_json(reply->body, reply->length));
}

/* The headers of a reply, or NULL. Without Set-Cookie, which pages must not read. */
static json_t *headers_json(const struct reply *reply)
{
	json_t *headers = NULL;
	for (size_t i = 0; i < reply->headers_count; i++) {
		char name[64];
		size_t n = 0;
		if (strcasecmp(reply->headers[i].name, "set-cookie") == 0)
			continue;
		for (const char *c = reply->headers[i].name; *c && n < sizeof name - 1; c++)
			name[n++] = (char)tolower((unsigned char)*c);
		name[n] = '\0';
		headers = headers ? headers : json_object();
		json_object_set_new(headers, name, json_string(reply->headers[i].value));
	}
	return headers;
}

void control_message_reply(struct control_message *m, const char *id, struct request *r)
{
	static const char done[] = ",\"done\":true}";
	static const char body[] = ",\"body\":";
	const struct reply *reply = &r->reply;
	json_t *object = json_pack(
		"{s:s, s:s, s:i}", "type", "response", "id", id, "status", reply->status);
	json_t *headers = headers_json(reply);
	if (headers)
		json_object_set_new(object, "headers", headers);
	bool json = has_type(reply, "application/json") && reply->length > 0;
	if (!json) {
		if (reply->length > 0)
			json_object_set_new(object, "body", body_json(reply));
		json_object_set_new(object, "done", json_true());
		set_whole(m, object);
		request_unref(r);
		return;
	}
	set_whole(m, object);
	char *head = m->head ? realloc(m->head, m->head_length + sizeof body) : NULL;
	if (!head) {
		control_message_finish(m);
		m->failed = true;
		request_unref(r);
		return;
	}
	/* Overwrite the object's closing brace. */
	memcpy(head + m->head_length - 1, body, sizeof body);
	m->head = head;
	m->head_length += sizeof body - 2;
	m->request = r;
	m->body_length = reply->length;
	m->tail = done;
	m->tail_length = sizeof done - 1;
}

int control_message_event(struct control_message *m, const char *id, const char *data)
{
	json_t *text = json_string(data);
	if (!text)
		return -EINVAL;
	set_whole(m, json_pack("{s:s, s:s, s:o}", "type", "stream", "id", id, "data", text));
	return 0;
}

void control_message_end(struct control_message *m, const char *id)
{
	set_whole(m,
		json_pack("{s:s, s:s, s:i, s:b}", "type", "response", "id", id, "status", 200,
			"done", 1));
}

void control_message_error(
	struct control_message *m, const char *id, const char *code, const char *message)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:i}", "type", "error", "code", code, "message",
		message, "status", error_status(code));
	if (object && *id)
		json_object_set_new(object, "id", json_string(id));
	set_whole(m, object);
}

/* Copy a part without its first *skip bytes, at most room bytes. Subtracts what was skipped from *skip. */
static size_t copy_part(uint8_t *to, size_t room, const char *part, size_t length, size_t *skip)
{
	size_t from = *skip < length ? *skip : length;
	size_t n = length - from < room ? length - from : room;
	if (n > 0)
		memcpy(to, part + from, n);
	*skip -= from;
	return n;
}

size_t control_message_next_piece(
	struct control_message *m, uint8_t *piece, size_t room, enum frame_kind *ret_kind)
{
	const char *body = m->request ? m->request->reply.body : "";
	size_t skip = m->sent, n = 0;
	n += copy_part(piece, room, m->head, m->head_length, &skip);
	n += copy_part(piece + n, room - n, body, m->body_length, &skip);
	n += copy_part(piece + n, room - n, m->tail ? m->tail : "", m->tail_length, &skip);
	bool first = m->sent == 0;
	m->sent += n;
	bool last = m->sent == m->head_length + m->body_length + m->tail_length;
	*ret_kind = first ? (last ? FRAME_TEXT : FRAME_TEXT_PART)
			  : (last ? FRAME_CONTINUATION : FRAME_CONTINUATION_PART);
	if (last)
		control_message_finish(m);
	return n;
}
