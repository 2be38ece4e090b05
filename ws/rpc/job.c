/*
 * A job lives until its call is answered, or, if the answer is a stream, until the stream is over.
 * Events and bytes are pulled from the request only when they can be sent.
 */
#include "ws/rpc/job_internal.h"

#include "ws/rpc/wire.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define CALLBACKS_ARGUMENT 3u /* index of the argument of runCodeStream that has the functions */

void job_end(struct job *j)
{
	struct request *r = j->request;
	struct rpc_reader *reader = j->reader;
	/* For the static analyzer: the first job has a next, or is the only one. */
	assert(j != j->all->list || j->next || j->prev == j);
	DL_DELETE(j->all->list, j);
	if (j->counted)
		j->all->dispatcher->metrics->streams--;
	json_work_detach(j->json_work);
	free(j);
	request_abandon(r);
	if (reader)
		rpc_reader_close(reader);
}

/* Answers */

/* Answer the call and free j. Exactly one of value and error is not NULL, and taken. */
static void answer(struct job *j, json_t *value, json_t *error)
{
	struct jobs *all = j->all;
	struct rpc_call *c = j->call;
	job_end(j);
	if (error)
		rpc_call_reject(c, error);
	else
		rpc_call_resolve(c, value);
	all->due(all->user);
}

json_t *job_arguments(const struct rpc_call *c)
{
	json_t *list = json_array();
	const json_t *argument;
	for (size_t i = 0; (argument = rpc_call_argument(c, i)); i++) {
		json_t *plain = wire_to_json(argument);
		json_t *bytes = plain ? NULL : wire_base64(argument);
		json_array_append_new(list,
			plain           ? plain
				: bytes ? json_pack("{s:o}", "base64", bytes)
					: json_null());
	}
	return list;
}

static json_t *result_of(const struct job *j, const json_t *body)
{
	json_t *arguments = job_arguments(j->call);
	json_t *result = j->row->result ? j->row->result(body, arguments) : wire_from_json(body);
	json_decref(arguments);
	return result;
}

/* Answer with the error that a reply's body (or NULL) and HTTP status stand for, and free j. */
static void fail(struct job *j, const json_t *body, int status)
{
	answer(j, NULL, methods_row_error(j->row, body, status));
}

/*
 * A stream from the client as the body. When the handler has consumed a chunk, the next one is
 * requested, which acknowledges it.
 */

/* Abort the upload, answer with an error, and free j. */
static void break_body(struct job *j, const char *why)
{
	json_t *body = json_pack("{s:s, s:s}", "code", "STREAM_ERROR", "message", why);
	upload_abort(j->request, UPLOAD_BROKEN);
	fail(j, body, 0);
	json_decref(body);
}

/* Pass bytes to the handler as long as it wants them, unless this is called from inside. May free j. */
static void feed_body(struct job *j)
{
	if (j->feeding)
		return;
	struct request *r = request_ref(j->request);
	struct jobs *all = j->all;
	j->feeding = true;
	/* If the transport is gone, the request was answered and j freed. */
	while (r->transport && upload_wants_piece(r) && !j->body_broken) {
		size_t n = j->piece_length < UPLOAD_PIECE_MAX ? j->piece_length : UPLOAD_PIECE_MAX;
		const uint8_t *bytes = j->piece;
		if (n > 0) {
			j->piece += n;
			j->piece_length -= n;
			upload_pass(r, (const char *)bytes, n);
		} else if (j->body_over) {
			upload_finish(r);
		} else if (!j->requested) {
			j->requested = true;
			rpc_reader_resume(j->reader);
		} else {
			break;
		}
	}
	if (r->transport) {
		j->feeding = false;
		if (j->body_broken)
			break_body(j, "The stream has broken off");
	}
	request_unref(r);
	all->due(all->user);
}

static void on_body_piece(void *user, const uint8_t *bytes, size_t length)
{
	struct job *j = user;
	j->piece = bytes;
	j->piece_length = length;
	j->requested = false;
	j->silent = 0;
	feed_body(j);
}

static void on_body_over(void *user)
{
	struct job *j = user;
	j->reader = NULL;
	j->body_over = true;
	feed_body(j);
}

static void on_body_broken(void *user)
{
	struct job *j = user;
	j->reader = NULL;
	j->body_broken = true;
	feed_body(j);
}

/* Read the request's body from a stream argument. Returns whether there is one. */
static bool open_body(struct job *j)
{
	j->reader = rpc_call_read(j->call, j->row->stream - 1,
		&(struct rpc_sink){.piece = on_body_piece,
			.complete = on_body_over,
			.broken = on_body_broken,
			.user = j});
	j->request->upload.live = true;
	j->request->upload.length = UPLOAD_UNKNOWN;
	return j->reader != NULL;
}

/* Answers of the request */

/* The reply's body was parsed. body: taken; NULL: not JSON. */
static void on_body(void *user, json_t *body)
{
	struct job *j = user;
	const struct reply *reply = &j->request->reply;
	j->json_work = NULL;
	if (reply->status >= 400)
		fail(j, body, reply->status);
	else if (!body)
		answer(j, NULL,
			wire_error("Error", "The reply is not JSON", "INVALID_JSON_RESPONSE", NULL));
	else
		answer(j, result_of(j, body), NULL);
	json_decref(body);
}

static void on_answered(void *user)
{
	struct job *j = user;
	if (j->request->reply.json) {
		on_body(j, json_incref(j->request->reply.json));
		return;
	}
	if (j->request->reply.length >= JSON_WORK_MIN)
		j->json_work = json_work_read(
			j->all->dispatcher->sessions->loop, j->request, on_body, j);
	if (!j->json_work)
		on_body(j, json_work_read_now(&j->request->reply));
}

static void on_more(void *user)
{
	struct job *j = user;
	if (j->flow)
		rpc_flow_more(j->flow);
	j->due = j->row->answer == METHOD_CALLBACK;
	if (j->flow || j->due)
		j->all->due(j->all->user);
}

static void on_streaming(void *user)
{
	struct job *j = user;
	if (j->row->answer == METHOD_CALLBACK)
		on_more(j);
	else
		job_stream_events(j);
}

static void on_downloading(void *user)
{
	job_stream_download(user);
}

static void on_uploading(void *user)
{
	feed_body(user);
}

static const struct request_transport transport = {.answered = on_answered,
	.streaming = on_streaming,
	.more = on_more,
	.downloading = on_downloading,
	.uploading = on_uploading};

/* Callback functions of the client */

static void on_returned(void *user)
{
	struct job *j = user;
	j->calling = false;
	on_more(j);
}

/*
 * Pass events to callback functions, the next one when the last function has returned. May free j.
 */
static void deliver_events(struct job *j)
{
	struct request *r = j->request;
	char *event = NULL;
	j->due = false;
	while (!j->calling && (event = r->stream.next(r->stream.user))) {
		json_t *arguments;
		const char *function = methods_callback(event, &arguments);
		free(event);
		if (function)
			j->calling = rpc_call_function(
				j->call, CALLBACKS_ARGUMENT, function, arguments, on_returned, j);
	}
	if (!j->calling && r->stream_complete)
		answer(j, wire_undefined(), NULL);
}

void jobs_run(struct jobs *all)
{
	struct job *j;
	do {
		/* Restart from the beginning, because a job that ends may free other jobs. */
		DL_FOREACH (all->list, j)
			if (j->due) /* NOLINT(clang-analyzer-*): the list has no freed one */
				break;
		if (j)
			deliver_events(j);
	} while (j);
}

/* Requests */

/* Add the string members of an object, and the parameter `fixed` unless NULL, to the query. */
static bool add_query(struct request *r, const char *fixed, const json_t *members)
{
	const char *name;
	json_t *value;
	if (fixed)
		r->params[r->params_count++] = strdup(fixed);
	json_object_foreach ((json_t *)members, name, value) {
		char *text = NULL;
		int rc = json_is_string(value) && r->params_count < REQUEST_PARAMS_MAX
			? asprintf(&text, "%s=%s", name, json_string_value(value))
			: 0;
		if (rc < 0)
			return false;
		if (text)
			r->params[r->params_count++] = text;
	}
	return !fixed || r->params[0];
}

static struct request *make_request(
	const struct jobs *all, const struct method_row *row, const char *path, json_t *body)
{
	struct request *r = request_create();
	if (!r)
		return NULL;
	r->method = row->verb;
	r->path = strdup(path);
	r->body = strdup("");
	r->wants_json = true;
	r->principal = *all->principal;
	r->auth = AUTH_OK;
	snprintf(r->peer, sizeof r->peer, "%s", all->peer);
	bool good = r->path && r->body;
	if (row->verb == METHOD_POST)
		r->json = json_incref(body);
	else
		good = add_query(r, row->query, body) && good;
	if (good)
		return r;
	request_unref(r);
	return NULL;
}

static void refuse(struct rpc_call *c, const char *code, const char *message)
{
	json_t *body = error_json(code, message, NULL);
	rpc_call_reject(c, methods_error(body, 0));
	json_decref(body);
}

static void refuse_argument(struct rpc_call *c, const char *field)
{
	json_t *body = json_pack("{s:s, s:s, s:{s:[{s:s, s:s, s:s}]}}", "code", "VALIDATION_FAILED",
		"message", "An argument is not valid", "context", "validationErrors", "field",
		field, "message", "An argument is not valid", "code", "invalid");
	rpc_call_reject(c, methods_error(body, 400));
	json_decref(body);
}

static void begin(struct jobs *all, struct rpc_call *c, const struct method_row *row,
	const char *path, json_t *body)
{
	struct job *j = calloc(1, sizeof *j);
	struct request *r = j ? make_request(all, row, path, body) : NULL;
	if (!r) {
		free(j);
		refuse(c, "OUT_OF_MEMORY", "There is not enough memory");
		return;
	}
	*j = (struct job){.all = all, .call = c, .row = row, .request = r};
	r->transport = &transport;
	r->transport_user = j;
	rpc_call_set_data(c, j);
	DL_APPEND(all->list, j);
	if (row->stream > 0 && !open_body(j)) {
		job_end(j);
		refuse_argument(c, "stream");
		return;
	}
	dispatcher_handle(all->dispatcher, r);
}

void job_start(struct jobs *all, struct rpc_call *c)
{
	char path[METHODS_PATH_SIZE], message[96];
	json_t *body = NULL, *arguments = job_arguments(c);
	const struct method_row *row = methods_choose(
		rpc_call_space(c), rpc_call_method(c), arguments);
	const char *problem = NULL;
	if (row->answer == METHOD_NONE) {
		snprintf(message, sizeof message, "%s.%s is not available", row->space, row->name);
		refuse(c, "NOT_IMPLEMENTED", message);
	} else if ((problem = methods_request(row, arguments, path, &body))) {
		refuse_argument(c, problem);
	} else {
		begin(all, c, row, path, body);
	}
	json_decref(body);
	json_decref(arguments);
}

void job_cancel(struct job *j)
{
	job_end(j);
}

static void send_keepalive(struct job *j)
{
	j->keepalive_due = true;
	rpc_flow_more(j->flow);
	j->all->due(j->all->user);
}

void jobs_sweep(struct jobs *all, unsigned quiet_s)
{
	struct job *j, *next;
	DL_FOREACH_SAFE (all->list, j, next) {
		if (upload_wants_piece(j->request) && j->silent++ >= JOB_SILENT_S)
			break_body(j, "The stream was silent for too long");
		else if (j->flow && j->request->stream.next && j->silent++ >= quiet_s)
			send_keepalive(j);
	}
}
