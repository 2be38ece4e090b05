/* Requests and replies. If memory is short, a reply is replaced by a short static one. */
#include "ws/request.h"

#include "ring/hex.h"
#include "ring/utf8.h"
#include "shell/clock.h"
#include "shell/name.h"
#include "ws/access.h"
#include "ws/error.h"
#include "ws/error_page.h"
#include "ws/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request *request_create(void)
{
	struct request *r = calloc(1, sizeof *r);
	if (r)
		r->references = 1;
	return r;
}

struct request *request_ref(struct request *r)
{
	r->references++;
	return r;
}

static void free_headers(struct request *r)
{
	for (size_t i = 0; i < r->reply.headers_count; i++)
		free(r->reply.headers[i].value);
	r->reply.headers_count = 0;
}

static void free_reply(struct request *r)
{
	free_headers(r);
	free(r->reply.owned);
	json_decref(r->reply.json);
	access_drop_answer(r);
	r->reply = (struct reply){0};
}

void request_unref(struct request *r)
{
	if (--r->references > 0)
		return;
	access_leave(r);
	if (r->over)
		r->over(r->over_user);
	for (size_t i = 0; i < r->params_count; i++)
		free(r->params[i]);
	free_reply(r);
	for (size_t i = 0; i < REQUEST_HEADERS; i++)
		free(r->headers[i]);
	free(r->path);
	free(r->body);
	json_decref(r->json);
	json_decref(r->parsed);
	free(r->farewell);
	free(r);
}

void request_abandon(struct request *r)
{
	access_leave(r);
	r->transport = NULL;
	if (r->stream.next) {
		r->stream.next = NULL;
		r->stream.closed(r->stream.user);
	} else if (r->download.source.next) {
		download_close(r);
	} else if (!upload_abort(r, UPLOAD_LOST) && !r->done && r->gone) {
		r->gone(r->gone_user);
	}
	request_unref(r);
}

bool request_can_repeat(const struct request *r, struct request_repeat *ret_repeat)
{
	const struct route_row *row = r->match.row;
	if (ret_repeat)
		*ret_repeat = (struct request_repeat){0};
	if (r->done || !row || r->upload.live)
		return false;
	if (r->repeat)
		return r->repeat(r->gone_user, ret_repeat);
	return r->method == METHOD_GET || row->reads;
}

void request_repeat_finish(struct request_repeat *repeat)
{
	free(repeat->target);
	free(repeat->body);
	*repeat = (struct request_repeat){0};
}

size_t request_body_max(const struct request *r)
{
	const struct route_row *row = r->match.row;
	return row && row->body_max > 0 ? row->body_max : REQUEST_BODY_MAX;
}

const char *params_find(char *const *params, size_t count, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < count; i++)
		if (strncmp(params[i], name, length) == 0 && params[i][length] == '=')
			return params[i] + length + 1;
	return NULL;
}

bool params_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	uint64_t n = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		uint64_t digit = (uint64_t)(*text - '0');
		if (digit > max || n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*ret_number = n;
	return true;
}

const char *request_param(const struct request *r, const char *name)
{
	return params_find(r->params, r->params_count, name);
}

bool request_session(struct request *r, const char **ret_id)
{
	const char *id = r->session_header[0] ? r->session_header : request_param(r, "session");
	if (!id)
		id = request_param(r, "sessionId");
	if (r->session_header_invalid || (id && !name_is_id(id)))
		return reply_invalid(
			r, "sessionId", "The session's id is not a valid id", "invalid");
	*ret_id = id;
	return true;
}

void request_set_session_header(struct request *r, const char *id)
{
	r->session_header_invalid = id && !name_is_id(id);
	snprintf(r->session_header, sizeof r->session_header, "%s",
		id && !r->session_header_invalid ? id : "");
}

/* Decode a part of a target; a '+' is a space in a query. Returns 0, -EINVAL, or -ENOMEM; *ret_text is the caller's. */
static int decode(const char *part, size_t length, bool query, char **ret_text)
{
	char *text = malloc(length + 1), *to = text;
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < length; i++) {
		int value = (unsigned char)part[i];
		if (part[i] == '%') {
			int high = i + 1 < length ? hex_value(part[i + 1]) : -1;
			int low = i + 2 < length ? hex_value(part[i + 2]) : -1;
			value = high < 0 || low < 0 ? 0 : high << 4 | low;
			i += 2;
		} else if (query && part[i] == '+') {
			value = ' ';
		}
		if (value == 0) {
			free(text);
			return -EINVAL;
		}
		*to++ = (char)value;
	}
	*to = '\0';
	/* Nothing has such a name, and JSON could not represent it in an answer. */
	if (!utf8_is_valid_string(text)) {
		free(text);
		return -EINVAL;
	}
	*ret_text = text;
	return 0;
}

int request_parse_target(struct request *r, const char *target)
{
	size_t length = strcspn(target, "?");
	int rc = decode(target, length, false, &r->path);
	const char *at = target + length;
	while (rc == 0 && *at) {
		at++; /* the separator */
		length = strcspn(at, "&");
		if (length > 0 && r->params_count == REQUEST_PARAMS_MAX)
			return -E2BIG;
		if (length > 0)
			rc = decode(at, length, true, &r->params[r->params_count]);
		r->params_count += rc == 0 && length > 0;
		at += length;
	}
	return rc;
}

static const char access_ended[] = "ACCESS_ENDED";
static const char access_ended_text[] =
	"The link has been revoked or has expired, or the login has ended";

bool request_may_answer(struct request *r)
{
	if (r->cut)
		return false;
	if (!r->waited || r->outlives_access || access_is_current(r->access, &r->principal))
		return true;
	r->gone = NULL; /* the handler learns it from the return value */
	request_cut(r);
	return false;
}

void reply_header(struct request *r, const char *name, const char *value)
{
	if (r->cut)
		return;
	char *copy = strdup(value);
	assert(r->reply.headers_count < REPLY_HEADERS_MAX);
	if (!copy)
		return;
	r->reply.headers[r->reply.headers_count].name = name;
	r->reply.headers[r->reply.headers_count++].value = copy;
}

/* Answer with this reply, which is taken; it has no headers: those of r stay. */
static void answer(struct request *r, struct reply reply)
{
	bool counts = reply.owned || reply.json;
	bool may = request_may_answer(r);
	assert(!may || !r->done);
	int error = may && counts ? access_count_answer(r, reply.length) : 0;
	if (!may || error < 0) {
		free(reply.owned);
		json_decref(reply.json);
	}
	if (error < 0) {
		free_headers(r); /* they belong to that answer */
		access_refuse_answer(r, error);
	}
	if (!may || error < 0)
		return;
	access_leave(r);
	memcpy(reply.headers, r->reply.headers, sizeof reply.headers);
	reply.headers_count = r->reply.headers_count;
	r->reply = reply;
	r->done = true;
	if (r->transport)
		r->transport->answered(r->transport_user);
}

void reply_bytes(struct request *r, int status, const char *type, const char *body, size_t length,
	char *owned)
{
	answer(r,
		(struct reply){.status = status,
			.content_type = type,
			.body = body,
			.length = length,
			.owned = owned});
}

/* About the length of a value as text. */
static size_t estimate_length(const json_t *value)
{
	size_t length = 2, i;
	const char *name;
	json_t *part;
	if (json_is_string(value))
		return length + json_string_length(value);
	if (json_is_array(value)) {
		json_array_foreach (value, i, part)
			length += estimate_length(part) + 1;
	} else if (json_is_object(value)) {
		json_object_foreach ((json_t *)(uintptr_t)value, name, part)
			length += strlen(name) + estimate_length(part) + 4;
	} else {
		length = sizeof "1234567890" - 1;
	}
	return length;
}

static const char fallback[] = "{\"code\":\"OUT_OF_MEMORY\",\"message\":\"out of memory\"}";

void reply_header_number(struct request *r, const char *name, uint64_t number)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRIu64, number);
	reply_header(r, name, text);
}

char *dump_json(json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	return text;
}

void reply_json(struct request *r, int status, json_t *body)
{
	if (body && r->wants_json) {
		answer(r,
			(struct reply){.status = status,
				.content_type = "application/json",
				.body = "",
				.length = estimate_length(body),
				.json = body});
		return;
	}
	char *text = dump_json(body);
	if (text)
		reply_bytes(r, status, "application/json", text, strlen(text), text);
	else
		reply_bytes(r, 500, "application/json", fallback, sizeof fallback - 1, NULL);
}

static json_t *now_json(void)
{
	char now[CLOCK_TEXT_SIZE];
	clock_format(clock_wall_ms(), now);
	return json_string(now);
}

json_t *success_json(json_t *body)
{
	json_t *root = json_pack("{s:b}", "success", 1);
	if (body)
		json_object_update(root, body);
	json_decref(body);
	json_object_set_new(root, "timestamp", now_json());
	return root;
}

void reply_success(struct request *r, json_t *body)
{
	reply_json(r, 200, success_json(body));
}

json_t *error_json(const char *code, const char *message, json_t *context)
{
	return json_pack("{s:s, s:o, s:o, s:i, s:o}", "code", code, "message",
		text_string_json(message), "context", context ? context : json_object(),
		"httpStatus", error_status(code), "timestamp", now_json());
}

/* The bridge's code for an error that any route may answer. */
static const char *bridge_code(const char *code)
{
	static const char *const names[][2] = {{"UNAUTHENTICATED", "unauthorized"},
		{"VALIDATION_FAILED", "invalid_request"},
		{"REQUEST_TOO_LARGE", "payload_too_large"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i][0], code) == 0)
			return names[i][1];
	return code;
}

/* An error as JSON. Clients of the bridge and of previews expect the message in "error". */
static json_t *problem_json(
	const struct request *r, const char *code, const char *message, json_t *context)
{
	json_t *problem = error_json(code, message, context);
	bool bridge = r->path && strncmp(r->path, "/v1/", 4) == 0;
	if (bridge)
		json_object_set_new(problem, "code", json_string(bridge_code(code)));
	bool preview = strcmp(code, "INVALID_TOKEN") == 0 || strcmp(code, "STALE_PREVIEW_URL") == 0;
	if (problem && (bridge || preview))
		json_object_set(problem, "error", json_object_get(problem, "message"));
	return problem;
}

static const char page_type[] = "text/html; charset=utf-8";

/* Answer with a page, without the context, which is for programs. Returns false when memory is short. */
static bool reply_page(struct request *r, const char *code, const char *message)
{
	char *page = error_page(error_status(code), code, message, r->page_link);
	if (!page)
		return false;
	reply_header(r, "content-security-policy", ERROR_PAGE_POLICY);
	reply_bytes(r, error_status(code), page_type, page, strlen(page), page);
	return true;
}

bool reply_error(struct request *r, const char *code, const char *message, json_t *context)
{
	/* The session's links have ended with it; still tell their clients why. */
	if (strcmp(code, "SESSION_DESTROYED") == 0)
		r->outlives_access = true;
	if (error_status(code) == 503)
		reply_header(r, "Retry-After", REPLY_RETRY_S);
	if (r->accepts_page && reply_page(r, code, message))
		json_decref(context);
	else
		reply_json(r, error_status(code), problem_json(r, code, message, context));
	return false;
}

void *request_alloc(struct request *r, size_t size)
{
	void *memory = calloc(1, size);
	if (!memory)
		reply_error(r, "OUT_OF_MEMORY", "Out of memory", NULL);
	return memory;
}

void reply_replace(struct request *r, const char *code, const char *message)
{
	char *page = r->accepts_page ? error_page(error_status(code), code, message, r->page_link)
				     : NULL;
	char *text = page ? page : dump_json(problem_json(r, code, message, NULL));
	free_reply(r);
	r->reply = (struct reply){.status = error_status(code),
		.content_type = page ? page_type : "application/json",
		.body = text ? text : fallback,
		.length = strlen(text ? text : fallback),
		.owned = text};
	if (page)
		reply_header(r, "content-security-policy", ERROR_PAGE_POLICY);
	r->done = true;
}

bool reply_invalid(struct request *r, const char *field, const char *message, const char *code)
{
	json_t *context = json_pack("{s:[{s:o, s:s, s:s}]}", "validationErrors", "field",
		json_sprintf("%s%s%s", r->within, r->within[0] ? "." : "", field), "message",
		message, "code", code);
	return reply_error(r, "VALIDATION_FAILED", message, context);
}

/* A cut stream continues as this one, with a single event. */
static char *next_farewell(void *user)
{
	struct request *r = user;
	char *text = r->farewell;
	r->farewell = NULL;
	return text;
}

static void on_farewell_closed(void *user)
{
	(void)user;
}

static void cut_stream(struct request *r)
{
	struct event_stream s = r->stream;
	r->farewell = s.farewell ? s.farewell(s.user)
				 : dump_json(json_pack("{s:s, s:s, s:s}", "type", "error", "code",
					   access_ended, "message", access_ended_text));
	r->stream = (struct event_stream){
		.next = next_farewell, .closed = on_farewell_closed, .user = r};
	r->stream_complete = true;
	s.closed(s.user);
	if (r->transport)
		r->transport->more(r->transport_user);
}

void request_cut(struct request *r)
{
	request_ref(r); /* the handler may hold the last reference */
	access_leave(r);
	if (r->stream.next) {
		r->cut = true;
		r->gone = NULL;
		cut_stream(r);
	} else if (r->download.source.next) {
		/* A download cannot carry an error, so it just ends too early. */
		download_close(r);
		if (r->transport)
			r->transport->more(r->transport_user);
	} else if (!r->done) {
		upload_refuse(r, UPLOAD_CUT, access_ended, access_ended_text);
	}
	r->cut = true;
	request_unref(r);
}

void reply_stream(struct request *r, const struct event_stream *stream)
{
	if (!request_may_answer(r)) {
		stream->closed(stream->user);
		return;
	}
	assert(!r->done);
	if (!stream->placed && !access_stream(r)) {
		request_ref(r);
		stream->closed(stream->user);
		access_refuse(r, QUOTA_STREAMS);
		request_unref(r);
		return;
	}
	r->done = true;
	r->stream = *stream;
	if (r->transport)
		r->transport->streaming(r->transport_user);
	else
		stream->closed(stream->user);
}

void reply_stream_more(struct request *r)
{
	if (r->transport && r->stream.next && !r->cut)
		r->transport->more(r->transport_user);
}

void reply_stream_complete(struct request *r)
{
	r->stream_complete = true;
	if (r->transport && !r->cut)
		r->transport->more(r->transport_user);
}
