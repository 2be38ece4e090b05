/* One session: show, change, type, output, delete. */
#include "shell/clock.h"
#include "shell/own_error.h"
#include "shell/session/type.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/json/state.h"
#include "ws/json/session.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/api/read/typist.h"
#include "ws/base64.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_MAX ((size_t)1 << 20)
#define NOTICE_MAX 1000u /* characters */

/* Deleting */

struct delete
{
	struct session_waiter waiter;
	struct request *request;
	char id[NAME_ID_MAX + 1];
};

static void on_deleted(void *user, struct session *s, enum report_stage stage, int error)
{
	struct delete *d = user;
	(void)stage;
	/* Not earlier, so that clients with a link get the news of the deletion. */
	links_prune(&api_of(d->request)->auth->links, clock_wall_ms(), d->id);
	if (error == -EBUSY)
		reply_error(d->request, "NOT_ENDED",
			"Some processes of the session could not be killed yet; killing goes on",
			json_pack("{s:s, s:i}", "sessionId", d->id, "survivors",
				(int)session_survivors(s)));
	else if (error < 0)
		reply_error(d->request, error_code_of(error), "The server is shutting down",
			json_pack("{s:s}", "sessionId", d->id));
	else
		reply_success(d->request, json_pack("{s:s}", "sessionId", d->id));
	request_unref(d->request);
	free(d);
}

static void delete_session(struct request *r)
{
	struct api *a = api_of(r);
	const char *id;
	bool force; /* only for sessions of nodes that are away */
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "sessionId", &id) || !body_flag(r, body, "force", &force))
		return;
	if (!id) {
		reply_invalid(r, "sessionId", "sessionId is required", "required");
		return;
	}
	struct session *s = sessions_find(a->sessions, id);
	if (!s) {
		reply_error(r, "INTERNAL_ERROR", "Session not found",
			json_pack("{s:s, s:s}", "sessionId", id, "originalError",
				"Session not found"));
		return;
	}
	struct delete *d = request_alloc(r, sizeof *d);
	if (!d)
		return;
	d->waiter = (struct session_waiter){.done = on_deleted, .user = d};
	d->request = request_ref(r);
	snprintf(d->id, sizeof d->id, "%s", id);
	sessions_end(a->sessions, s, &d->waiter);
}

/* One session */

static void show_session(struct request *r, struct session *s)
{
	json_t *data = session_json(s);
	if (data)
		json_object_set_new(
			data, "activity", activity_json(activities_find(api_of(r)->activities, s)));
	reply_success(r, json_pack("{s:o}", "data", data));
}

/* Answer with the session, or with the error rc. */
static void reply_result(struct request *r, const struct session *s, int rc)
{
	if (rc == 0)
		reply_success(r, json_pack("{s:o}", "data", session_json(s)));
	else
		refuse_session(r, s, rc);
}

static void rename_session(struct request *r, struct session *s)
{
	const char *name;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "name", &name))
		return;
	if (!name || !name_is_text(name))
		reply_invalid(r, "name", "A name is 1 to 128 characters without control characters",
			name ? "invalid" : "required");
	else
		reply_result(r, s, session_rename(s, name));
}

static void notify_watchers(struct request *r, struct session *s)
{
	const char *title = NULL, *text = NULL;
	json_t *body = body_read(r);
	if (body && body_text(r, body, "title", &title) && body_text(r, body, "text", &text)) {
		if (title && !name_is_text(title)) {
			reply_invalid(r, "title",
				"A title is 1 to 128 characters without control characters",
				"invalid");
		} else if (!text || !name_is_line(text, NOTICE_MAX)) {
			reply_invalid(r, "text",
				"A text is 1 to 1000 characters without control characters",
				text ? "invalid" : "required");
		} else {
			session_notify(s, title, text);
			reply_result(r, s, 0);
		}
	}
}

static void resize(struct request *r, struct session *s, unsigned rows, unsigned cols)
{
	int rc = session_resize(s, rows, cols);
	if (rc == -EPERM)
		reply_error(r, "SIZE_POLICY",
			"The size policy of the session takes sizes only from attached clients",
			json_pack("{s:s, s:s}", "sessionId", session_id(s), "sizePolicy",
				size_policy_name(session_presence(s)->policy)));
	else
		reply_result(r, s, rc);
}

static void resize_session(struct request *r, struct session *s)
{
	uint64_t rows = 0, cols = 0;
	json_t *body = body_read(r);
	if (body && body_number(r, body, "cols", 1, PRESENCE_SIDE_MAX, &cols) &&
		body_number(r, body, "rows", 1, PRESENCE_SIDE_MAX, &rows)) {
		if (rows == 0 || cols == 0)
			reply_invalid(r, cols == 0 ? "cols" : "rows", "cols and rows are required",
				"required");
		else if (typist_check_lease(r, body, s))
			resize(r, s, (unsigned)rows, (unsigned)cols);
	}
}

static void set_size_policy(struct request *r, struct session *s)
{
	const char *name;
	enum size_policy policy;
	uint64_t rows = s->pane.rows, cols = s->pane.cols;
	json_t *body = body_read(r);
	if (body && body_text(r, body, "policy", &name) &&
		body_number(r, body, "cols", 1, PRESENCE_SIDE_MAX, &cols) &&
		body_number(r, body, "rows", 1, PRESENCE_SIDE_MAX, &rows)) {
		if (!name || !size_policy_parse(name, &policy))
			reply_invalid(r, "policy", "Must be latest, smallest, fixed or owner",
				name ? "invalid" : "required");
		else if (typist_check_lease(r, body, s))
			reply_result(r, s,
				session_set_size_policy(s, policy, (unsigned)rows, (unsigned)cols));
	}
}

static void signal_session(struct request *r, struct session *s)
{
	const char *target;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "target", &target))
		return;
	const json_t *signal = json_object_get(body, "signal");
	bool shell = target && strcmp(target, "shell") == 0;
	if (signal_number(signal) < 0)
		reply_invalid(r, "signal",
			"Must be the name of a signal, such as INT, or its number",
			signal ? "invalid" : "required");
	else if (target && !shell && strcmp(target, "foreground") != 0)
		reply_invalid(r, "target", "Must be foreground or shell", "invalid");
	else if (typist_check_lease(r, body, s))
		reply_result(r, s,
			session_signal(s, signal_number(signal),
				shell ? WIRE_TARGET_SHELL : WIRE_TARGET_FOREGROUND));
}

static void type_input(struct request *r, struct session *s)
{
	const char *base64;
	unsigned char *decoded = NULL;
	struct typist by;
	struct typing_result typed;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "base64", &base64) || !typist_parse(r, body, &by))
		goto out;
	const json_t *text = json_object_get(body, "data");
	const void *bytes = json_string_value(text);
	size_t length = json_string_length(text);
	if (base64)
		bytes = decoded = base64_decode(base64, &length);
	if (!bytes) {
		reply_invalid(r, base64 ? "base64" : "data",
			base64 ? "Must be base64" : "data (text) or base64 is required", "invalid");
		goto out;
	}
	int rc = session_type_as(s, &by, bytes, length, &typed);
	if (rc < 0)
		refuse_session(r, s, rc);
	else
		reply_success(r,
			json_pack("{s:I, s:I, s:I, s:I}", "bytes", (json_int_t)length, "written",
				(json_int_t)typed.written, "queued", (json_int_t)typed.queued,
				"offset", (json_int_t)typed.offset));
out:
	free(decoded);
}

static void reply_range_gone(struct request *r, const struct session *s)
{
	reply_error(r, "RANGE_GONE", "The output at this offset is not in the ring",
		json_pack("{s:s, s:I, s:I}", "sessionId", session_id(s), "oldest",
			(json_int_t)stream_oldest(session_bytes(s)), "head",
			(json_int_t)session_head(s)));
}

static void show_output(struct request *r, struct session *s)
{
	const struct stream *bytes = session_bytes(s);
	if (!session_is_readable(s)) {
		reply_result(r, s, -ERR_NOT_RUNNING);
		return;
	}
	uint64_t head = stream_head(bytes), from = stream_oldest(bytes), to = head;
	if (!query_offset(r, "from", &from) || !query_offset(r, "to", &to))
		return;
	/* Output that has not been scanned yet may contain the secret of the shell's marks. */
	uint64_t limit = history_limit(session_history(s));
	limit = limit < head ? limit : head;
	to = to > limit ? limit : to;
	if (to > from + OUTPUT_MAX)
		to = from + OUTPUT_MAX;
	if (from > head || from < stream_oldest(bytes)) {
		reply_range_gone(r, s);
		return;
	}
	size_t length = to > from ? (size_t)(to - from) : 0;
	char *copy = malloc(length + 1);
	if (!copy) {
		refuse_memory(r);
		return;
	}
	if (!stream_copy(bytes, from, copy, length)) {
		free(copy);
		reply_range_gone(r, s);
		return;
	}
	history_redact(session_history(s), from, (uint8_t *)copy, length);
	reply_header_number(r, "Ringside-From", from);
	reply_header_number(r, "Ringside-To", from + length);
	reply_header_number(r, "Ringside-Head", head);
	reply_header_number(r, "Ringside-Oldest", stream_oldest(bytes));
	reply_bytes(r, 200, "application/octet-stream", copy, length, copy);
}

const struct route_row api_session_rows[] = {
	{METHOD_POST, "/api/session/delete", ROUTE_OWNER, .plain = delete_session,
		.place = PLACE_EXISTING},
	{METHOD_GET, "/api/session/{}", ROUTE_VIEWER, .session = show_session, .prompt = true},
	{METHOD_POST, "/api/session/{}/rename", ROUTE_OWNER, .session = rename_session},
	{METHOD_POST, "/api/session/{}/notify", ROUTE_DRIVER, .session = notify_watchers},
	{METHOD_POST, "/api/session/{}/resize", ROUTE_DRIVER, .session = resize_session},
	{METHOD_POST, "/api/session/{}/size", ROUTE_OWNER, .session = set_size_policy},
	{METHOD_POST, "/api/session/{}/signal", ROUTE_DRIVER, .session = signal_session},
	{METHOD_POST, "/api/session/{}/input", ROUTE_DRIVER, .session = type_input},
	{METHOD_GET, "/api/session/{}/output", ROUTE_VIEWER, .session = show_output},
	{.path = NULL},
};
