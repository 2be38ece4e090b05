/*
 * jansson parses and validates the message. A request's body goes to its handler unparsed: its position is found by a
 * second pass over the outermost object. The same pass finds the id of a message that is not valid JSON, so that the
 * error can name the request.
 */
#include "ws/socket/control_frame.h"
#include "shell/json_read.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct text {
	const char *at, *end;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct text *t)
{
	while (t->at < t->end && is_space(*t->at))
		t->at++;
}

static bool skip_char(struct text *t, char c)
{
	skip_space(t);
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

static bool skip_string(struct text *t)
{
	if (!skip_char(t, '"'))
		return false;
	for (; t->at < t->end; t->at++) {
		if (*t->at == '\\' && t->at + 1 < t->end)
			t->at++;
		else if (*t->at == '"')
			return skip_char(t, '"');
	}
	return false;
}

/* Skip a value; inside brackets only the depth is counted. */
static bool skip_value(struct text *t)
{
	size_t depth = 0;
	skip_space(t);
	const char *begin = t->at;
	while (t->at < t->end) {
		char c = *t->at;
		if (c == '"') {
			if (!skip_string(t))
				return false;
		} else if (depth == 0 && (c == ',' || c == '}' || c == ']' || is_space(c))) {
			break;
		} else {
			depth += c == '{' || c == '[';
			depth -= c == '}' || c == ']';
			t->at++;
		}
	}
	return depth == 0 && t->at > begin;
}

/* Find the value of a member of the outermost object. Its name must be written without escapes. */
static bool find_member(const char *text, size_t length, const char *name, struct text *ret_value)
{
	struct text t = {text, text + length};
	size_t name_length = strlen(name);
	if (!skip_char(&t, '{'))
		return false;
	do {
		skip_space(&t);
		const char *key = t.at + 1;
		if (!skip_string(&t))
			return false;
		bool found = (size_t)(t.at - 1 - key) == name_length &&
			memcmp(key, name, name_length) == 0;
		if (!skip_char(&t, ':'))
			return false;
		skip_space(&t);
		const char *begin = t.at;
		if (!skip_value(&t))
			return false;
		if (found) {
			*ret_value = (struct text){begin, t.at};
			return true;
		}
	} while (skip_char(&t, ','));
	return false;
}

/* A string of at most max bytes without NUL; NULL if it is anything else. */
static const char *plain_text(const json_t *value, size_t max)
{
	const char *text = json_string_value(value);
	size_t length = json_string_length(value);
	return text && length <= max && strlen(text) == length ? text : NULL;
}

static bool copy_id(const json_t *value, struct control_frame *f)
{
	const char *id = plain_text(value, CONTROL_ID_MAX);
	if (!id || !*id)
		return false;
	snprintf(f->id, sizeof f->id, "%s", id);
	return true;
}

static void refuse_frame(struct control_frame *f, const char *code, const char *message)
{
	f->type = CONTROL_INVALID;
	f->code = code;
	f->message = message;
}

static void parse_headers(json_t *headers, struct control_frame *f)
{
	const char *name;
	json_t *value;
	json_object_foreach (headers, name, value) {
		if (strcasecmp(name, "x-session-id") == 0)
			f->session = json_string_value(value);
		else if (strcasecmp(name, "accept") == 0 && json_is_string(value))
			f->accepts_events = strcasestr(json_string_value(value),
						    "text/event-stream") != NULL;
	}
}

static void parse_request(
	const json_t *root, const char *text, size_t length, struct control_frame *f)
{
	const char *method = plain_text(json_object_get(root, "method"), 16);
	const char *target = plain_text(json_object_get(root, "path"), CONTROL_TARGET_MAX);
	json_t *headers = json_object_get(root, "headers");
	const json_t *body = json_object_get(root, "body");
	struct text place = {NULL, NULL};
	f->type = CONTROL_REQUEST;
	f->method = method ? method_parse(method) : METHOD_OTHER;
	if (f->method == METHOD_OTHER)
		refuse_frame(f, "INVALID_REQUEST", "method must be GET, POST, PUT or DELETE");
	else if (!target || *target != '/')
		refuse_frame(
			f, "INVALID_REQUEST", "path must begin with a slash and not be too long");
	else if (headers && !json_is_object(headers) && !json_is_null(headers))
		refuse_frame(f, "INVALID_REQUEST", "headers must be an object");
	else if (body && !json_is_null(body) && !find_member(text, length, "body", &place))
		refuse_frame(
			f, "INVALID_REQUEST", "names of fields must be written without escapes");
	if (f->type == CONTROL_INVALID)
		return;
	snprintf(f->target, sizeof f->target, "%s", target);
	parse_headers(headers, f);
	f->body = place.at;
	f->body_length = (size_t)(place.end - place.at);
}

/* Find the id of a message that is not valid JSON. */
static void recover_id(const char *text, size_t length, struct control_frame *f)
{
	struct text place;
	if (!find_member(text, length, "id", &place))
		return;
	json_t *id = json_read(place.at, (size_t)(place.end - place.at), JSON_DECODE_ANY, NULL);
	copy_id(id, f);
	json_decref(id);
}

void control_frame_parse(const char *text, size_t length, struct control_frame *f)
{
	*f = (struct control_frame){.type = CONTROL_INVALID, .method = METHOD_OTHER};
	/* NUL is allowed here: handlers refuse it with the name of the field. */
	json_t *root = json_read(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	const char *type = json_string_value(json_object_get(root, "type"));
	f->root = root;
	if (!root) {
		recover_id(text, length, f);
		refuse_frame(f, "PARSE_ERROR", "Invalid JSON message");
	} else if (!type || (strcmp(type, "request") != 0 && strcmp(type, "cancel") != 0)) {
		copy_id(json_object_get(root, "id"), f);
		refuse_frame(f, "INVALID_REQUEST", "type must be request or cancel");
	} else if (!copy_id(json_object_get(root, "id"), f)) {
		refuse_frame(f, "INVALID_REQUEST", "id must be a string of 1 to 128 bytes");
	} else if (strcmp(type, "cancel") == 0) {
		f->type = CONTROL_CANCEL;
	} else {
		parse_request(root, text, length, f);
	}
}

void control_frame_free(struct control_frame *f)
{
	json_decref(f->root);
	f->root = NULL;
}
