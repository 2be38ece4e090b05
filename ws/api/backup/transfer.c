/*
 * The answer is one reply, or a stream with the progress if the client accepts events. The
 * transfer is cancelled if the client disconnects.
 */
#include "ws/api/backup/transfer.h"

#include "shell/clock.h"
#include "ws/api/backup/fields.h"
#include "ws/json/session.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_MS 1000u

struct transfer {
	struct api *api;
	struct request *request; /* our reference */
	struct parts *parts;     /* NULL at the end */
	uv_timer_t timer;        /* for progress */
	char *archive;           /* owned */
	const struct transfer_kind *kind;
	size_t count;
	uint64_t total;    /* bytes of all parts; 0: unknown */
	uint64_t reported; /* bytes in the last progress event */
	bool stream, begun, progressed;
	json_t *end; /* the last event */
};

static void on_timer_closed(uv_handle_t *handle)
{
	struct transfer *t = handle->data;
	json_decref(t->end);
	request_unref(t->request);
	free(t->archive);
	free(t);
}

static void maybe_free(struct transfer *t)
{
	if (t->parts || t->stream || uv_is_closing((uv_handle_t *)&t->timer))
		return;
	t->api->transfers--;
	uv_close((uv_handle_t *)&t->timer, on_timer_closed);
}

/* Results */

static json_t *event(const char *type)
{
	return json_pack("{s:s, s:o}", "type", type, "timestamp", time_json(clock_wall_ms()));
}

static void conclude_success(struct transfer *t, const struct parts_result *result)
{
	json_t *body = t->kind->result(result);
	if (!t->stream) {
		reply_success(t->request, body);
		return;
	}
	t->end = event("complete");
	json_object_update(t->end, body);
	json_object_set_new(t->end, "success", json_true());
	json_decref(body);
}

static void conclude_error(struct transfer *t, const struct parts_result *result)
{
	char message[640];
	json_t *context = json_pack(
		"{s:s, s:s}", "operation", t->kind->operation, "archivePath", t->archive);
	if (result->number > 0)
		json_object_set_new(context, "partNumber", json_integer(result->number));
	if (result->status > 0)
		json_object_set_new(context, "status", json_integer(result->status));
	snprintf(message, sizeof message, "%s: %s", t->kind->failed, result->error);
	if (!t->stream) {
		reply_error(t->request, t->kind->code, message, context);
		return;
	}
	t->end = event("error");
	json_object_set_new(t->end, "error", json_string(message));
	json_object_set_new(t->end, "code", json_string(t->kind->code));
	json_object_set_new(t->end, "context", context);
}

static void write_log(const struct transfer *t, const struct parts_result *result)
{
	char parts[24], bytes[24];
	snprintf(parts, sizeof parts, "%zu", t->count);
	snprintf(bytes, sizeof bytes, "%" PRIu64, result->bytes);
	log_write(result->error ? LOG_WARN : LOG_INFO, "backup", t->kind->event, "peer",
		t->request->peer, "principal", typist_author(t->request), "archive", t->archive,
		"parts", parts, "bytes", bytes, "error", result->error ? result->error : "none",
		NULL);
}

static void on_done(void *user, const struct parts_result *result)
{
	struct transfer *t = user;
	t->parts = NULL;
	t->request->gone = NULL;
	uv_timer_stop(&t->timer);
	write_log(t, result);
	if (t->stream || !t->request->done)
		(result->error ? conclude_error : conclude_success)(t, result);
	if (t->stream)
		reply_stream_complete(t->request);
	maybe_free(t);
}

static void on_gone(void *user)
{
	struct transfer *t = user;
	if (t->parts)
		parts_cancel(t->parts);
}

/* The stream */

static void on_timer(uv_timer_t *timer)
{
	struct transfer *t = timer->data;
	uint64_t moved = parts_progress(t->parts);
	if (moved == t->reported)
		return;
	t->reported = moved;
	t->progressed = true;
	reply_stream_more(t->request);
}

static void put_total(json_t *event, const struct transfer *t)
{
	if (t->total > 0)
		json_object_set_new(event, "totalBytes", json_integer((json_int_t)t->total));
}

static char *next_event(void *user)
{
	struct transfer *t = user;
	json_t *e = NULL;
	if (!t->begun) {
		e = event("start");
		json_object_set_new(e, "archivePath", json_string(t->archive));
		json_object_set_new(e, "parts", json_integer((json_int_t)t->count));
		put_total(e, t);
		t->begun = true;
	} else if (t->end) {
		e = t->end;
		t->end = NULL;
	} else if (t->progressed) {
		e = event("progress");
		json_object_set_new(e, "bytes", json_integer((json_int_t)t->reported));
		put_total(e, t);
		t->progressed = false;
	}
	return dump_json(e);
}

static void on_closed(void *user)
{
	struct transfer *t = user;
	t->stream = false;
	on_gone(t);
	maybe_free(t);
}

/* NULL is fine. */
static void free_parts(struct part *all, size_t count)
{
	for (size_t i = 0; all && i < count; i++)
		free(all[i].url);
	free(all);
}

struct part *transfer_parse_parts(const struct backup_fields *f, const struct transfer_kind *kind,
	uint64_t total, size_t *ret_count)
{
	const json_t *list = json_object_get(f->body, "parts");
	size_t count = json_array_size(list);
	const char *wrong = NULL;
	if (!json_is_array(list) || count == 0 || count > PARTS_MAX) {
		backup_refuse(f->request, "parts", "Must be a list of 1 to 1000 parts");
		return NULL;
	}
	struct part *all = calloc(count, sizeof *all);
	bool good = all != NULL;
	for (size_t i = 0; good && !wrong && i < count; i++) {
		wrong = kind->parse(json_array_get(list, i), &all[i]);
		good = wrong || all[i].url;
	}
	if (good && !wrong)
		wrong = kind->check(all, count, total);
	*ret_count = count;
	if (good && !wrong)
		return all;
	free_parts(all, count);
	if (wrong)
		backup_refuse(f->request, "parts", wrong);
	else
		refuse_memory(f->request);
	return NULL;
}

static struct transfer *create(
	struct api *a, struct request *r, const struct transfer_kind *kind, const char *archive)
{
	struct transfer *t = calloc(1, sizeof *t);
	char *copy = strdup(archive);
	if (!t || !copy || uv_timer_init(a->sessions->loop, &t->timer) < 0) {
		free(t);
		free(copy);
		return NULL;
	}
	t->timer.data = t;
	t->api = a;
	t->request = request_ref(r);
	t->archive = copy;
	t->kind = kind;
	a->transfers++;
	return t;
}

/* Split the path into root and rest: links below the root are then not followed out of it. */
static void set_place(const struct api *a, const char *archive, struct parts_options *o)
{
	o->root = backup_root(a, archive);
	o->path = archive + strlen(o->root);
	o->path += strspn(o->path, "/");
}

void transfer_start(struct request *r, const struct transfer_kind *kind, const char *archive,
	struct parts_options *o)
{
	struct api *a = api_of(r);
	if (a->transfers >= TRANSFERS_MAX) {
		free_parts(o->all, o->count);
		reply_error(r, "LIMIT_REACHED", "Too many transfers run at once",
			json_pack("{s:i}", "maxTransfers", (int)TRANSFERS_MAX));
		return;
	}
	set_place(a, archive, o);
	struct transfer *t = create(a, r, kind, archive);
	if (!t) {
		free_parts(o->all, o->count);
		refuse_memory(r);
		return;
	}
	t->count = o->count;
	for (size_t i = 0; i < o->count; i++)
		t->total += o->all[i].size;
	int rc = parts_start(a->crew, o, on_done, t, &t->parts);
	if (rc < 0) {
		free_parts(o->all, o->count);
		maybe_free(t);
		reply_error(r, rc == -ENOMEM ? "OUT_OF_MEMORY" : "LIMIT_REACHED",
			"No thread is available for the transfer", NULL);
	} else if (r->accepts_events) {
		t->stream = true;
		uv_timer_start(&t->timer, on_timer, PROGRESS_MS, PROGRESS_MS);
		reply_stream(r,
			&(struct event_stream){.next = next_event, .closed = on_closed, .user = t});
	} else {
		r->gone = on_gone;
		r->gone_user = t;
	}
}
