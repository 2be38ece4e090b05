/* POST /api/port-watch: waiting for a port, as a stream of events. */
#include "ws/api/process/port.h"

#include "ws/api/read/body.h"
#include "ws/json/process.h"
#include "ws/api/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_MIN 200u
#define STATUS_MAX 399u

static bool parse_port(struct request *r, const json_t *body, struct probe_options *o)
{
	const json_t *port = json_object_get(body, "port");
	json_int_t number = json_integer_value(port);
	if (json_is_integer(port) && number >= 1 && number <= 65535) {
		o->port = (unsigned)number;
		return true;
	}
	return reply_error(r, "INVALID_PORT", "port must be a number from 1 to 65535",
		json_pack("{s:O?}", "port", port));
}

bool api_port_options(
	struct request *r, const json_t *body, struct probe_options *o, unsigned *ret_interval_ms)
{
	const char *mode, *path;
	uint64_t min = STATUS_MIN, max = STATUS_MAX, interval = 0;
	if (!parse_port(r, body, o) || !body_text(r, body, "mode", &mode) ||
		!body_text(r, body, "path", &path) ||
		!body_number(r, body, "statusMin", 100, 999, &min) ||
		!body_number(r, body, "statusMax", 100, 999, &max) ||
		!body_number(r, body, "interval", 0, UINT32_MAX, &interval))
		return false;
	o->http = mode && strcmp(mode, "http") == 0;
	o->status_min = (unsigned)min;
	o->status_max = (unsigned)max;
	*ret_interval_ms = (unsigned)interval;
	snprintf(o->path, sizeof o->path, "%s%s", path && path[0] == '/' ? "" : "/",
		path ? path : "");
	if (mode && !o->http && strcmp(mode, "tcp") != 0)
		return reply_invalid(r, "mode", "Must be http or tcp", "invalid");
	if (path && (strlen(path) >= PROBE_PATH_MAX || !probe_path_is_valid(o->path)))
		return reply_invalid(r, "path", "Must be the path of a URL", "invalid");
	return true;
}

/* The next event: the first, none yet, the result, none. */
enum watch_stage { WATCH_BEGIN, WATCH_WAIT, WATCH_RESULT, WATCH_DONE };

struct watch {
	struct port_watch port;
	struct process_viewer viewer;
	struct process *process; /* its exit ends the watch; may be NULL */
	struct api *api;
	struct request *request; /* NULL once the stream is closed */
	enum watch_stage stage;
	json_t *result; /* the last event */
};

static char *next_event(void *user)
{
	struct watch *w = user;
	json_t *event = NULL;
	if (w->stage == WATCH_BEGIN) {
		event = json_pack(
			"{s:s, s:i}", "type", "watching", "port", (int)w->port.options.port);
		w->stage = w->result ? WATCH_RESULT : WATCH_WAIT;
	} else if (w->stage == WATCH_RESULT) {
		event = w->result;
		w->result = NULL;
		w->stage = WATCH_DONE;
		/* No reply_stream_complete() here: the transport is already pulling. */
		w->request->stream_complete = true;
	}
	return dump_json(event);
}

static void on_stream_closed(void *user)
{
	struct watch *w = user;
	struct request *r = w->request;
	w->request = NULL;
	if (w->process)
		process_detach(w->process, &w->viewer);
	w->process = NULL;
	json_decref(w->result);
	w->result = NULL;
	w->api->port_watches--;
	port_watch_close(&w->port, free, w);
	request_unref(r);
}

/* Set the last event. Takes result. */
static void conclude(struct watch *w, json_t *result)
{
	if (!w->request || w->result || w->stage == WATCH_DONE) {
		json_decref(result);
		return;
	}
	w->result = result;
	if (w->stage == WATCH_WAIT)
		w->stage = WATCH_RESULT;
	reply_stream_more(w->request);
}

static void on_ready(void *user, int status)
{
	struct watch *w = user;
	json_t *event = json_pack("{s:s, s:i}", "type", "ready", "port", (int)w->port.options.port);
	if (w->port.options.http)
		json_object_set_new(event, "statusCode", json_integer(status));
	conclude(w, event);
}

static void on_process_more(void *user)
{
	struct watch *w = user;
	if (w->process->ended_ms > 0)
		conclude(w,
			json_pack("{s:s, s:i, s:o}", "type", "process_exited", "port",
				(int)w->port.options.port, "exitCode",
				process_exit_json(w->process)));
}

static void on_process_gone(void *user)
{
	struct watch *w = user;
	conclude(w,
		json_pack("{s:s, s:i, s:s}", "type", "error", "port", (int)w->port.options.port,
			"error", "The process has been removed"));
	w->process = NULL;
}

static void watch(struct api *a, struct request *r, struct process *p,
	const struct probe_options *options, unsigned interval_ms)
{
	struct watch *w = request_alloc(r, sizeof *w);
	if (!w)
		return;
	a->port_watches++;
	w->api = a;
	w->request = request_ref(r);
	w->process = p;
	w->viewer = (struct process_viewer){
		.more = on_process_more, .gone = on_process_gone, .user = w};
	port_watch_start(&w->port, a->processes->loop, options, interval_ms, on_ready, w);
	if (p) {
		process_attach(p, &w->viewer);
		on_process_more(w);
	}
	reply_stream(r,
		&(struct event_stream){.next = next_event, .closed = on_stream_closed, .user = w});
}

static void watch_port(struct request *r)
{
	struct api *a = api_of(r);
	struct probe_options options = {0};
	unsigned interval_ms;
	const char *id;
	json_t *body = body_read(r);
	if (!body || !api_port_options(r, body, &options, &interval_ms) ||
		!body_text(r, body, "processId", &id))
		return;
	const json_t *mode = json_object_get(body, "mode");
	options.http = !json_is_string(mode) || options.http; /* http is the container's default */
	struct process *p = id ? processes_find(a->processes, id) : NULL;
	if (id && !p)
		reply_error(r, "PROCESS_NOT_FOUND", "There is no such process",
			json_pack("{s:s}", "processId", id));
	else if (a->port_watches >= API_PORT_WATCHES_MAX)
		reply_error(r, "LIMIT_REACHED", "Too many ports are being watched",
			json_pack("{s:i}", "maxWatches", (int)API_PORT_WATCHES_MAX));
	else
		watch(a, r, p, &options, interval_ms);
}

const struct route_row api_port_rows[] = {
	{METHOD_POST, "/api/port-watch", ROUTE_OWNER, .plain = watch_port},
	{.path = NULL},
};
