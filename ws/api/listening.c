/*
 * The listening ports of this machine, as one answer and as a stream of events. A thread scans for all requests at
 * once, and every SCAN_EVERY_MS while there is a stream. The processes that own the ports are searched only when the
 * ports have changed, or for a request without a stream.
 */
#include "shell/own_error.h"
#include "shell/ports/ports_scan.h"
#include "ws/api/api.h"
#include "ws/api/listening.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/error.h"
#include "ws/preview/previews.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define SCAN_EVERY_MS 1000u
#define FOLLOWERS_MAX 256u

/* A session at the start of a scan: it may be gone when the scan is done. */
struct root {
	char session[NAME_ID_MAX + 1];
	uint64_t epoch;
};

/* A request: a stream, or one that is answered after the next scan. */
struct follower {
	struct follower *prev, *next;
	struct listening_watch *watch;
	struct request *request;
	char session[NAME_ID_MAX + 1]; /* only ports of this session; "": all */
	bool is_stream;
	bool due;      /* was there when the running scan began */
	bool scanned;  /* a scan for it has been done */
	uint64_t sent; /* version that was sent; 0: none */
	json_t *last;  /* ports that were sent */
};

struct listening_watch {
	struct api *api;
	uv_timer_t timer;
	uv_work_t work;
	bool scanning; /* a thread scans */
	bool again;    /* scan once more: a request has come in the meantime */
	bool open;
	struct ports_scan scan;
	struct listening known; /* result of the last scan */
	bool has_known;
	struct root roots[PORTS_SCAN_ROOTS_MAX];       /* of the running scan */
	struct root last_roots[PORTS_SCAN_ROOTS_MAX];  /* of known */
	struct ports_scan_owner owners[LISTENING_MAX]; /* of known */
	bool truncated;
	int error;
	uint64_t version;           /* counts changes of known */
	struct follower *followers; /* list */
	unsigned followers_count;
};

/* The session that owns a port, or NULL. */
static const char *session_of(const struct listening_watch *w, size_t i)
{
	return w->owners[i].pid > 0 ? w->last_roots[w->owners[i].root].session : NULL;
}

static json_t *port_json(const struct listening_watch *w, size_t i)
{
	const struct listening_port *p = &w->known.ports[i];
	const struct ports_scan_owner *o = &w->owners[i];
	json_t *addresses = json_array();
	if (p->v4)
		json_array_append_new(addresses, json_string("127.0.0.1"));
	if (p->v6)
		json_array_append_new(addresses, json_string("::1"));
	json_t *port = json_pack("{s:i, s:o, s:s*, s:b}", "port", (int)p->port, "addresses",
		addresses, "sessionId", session_of(w, i), "previewable",
		p->port >= PREVIEW_PORT_MIN);
	if (o->pid > 0) {
		json_object_set_new(port, "pid", json_integer(o->pid));
		/* Without effect if the name is not UTF-8. */
		json_object_set_new(port, "process", json_string(o->name));
	}
	return port;
}

/* The ports for f, without Ringside's own. */
static json_t *ports_json(const struct listening_watch *w, const struct follower *f)
{
	json_t *list = json_array();
	for (size_t i = 0; i < w->known.count; i++) {
		const char *session = session_of(w, i);
		bool wanted = !f->session[0] || (session && strcmp(session, f->session) == 0);
		if (wanted && !previews_is_own(w->api->previews, w->known.ports[i].port))
			json_array_append_new(list, port_json(w, i));
	}
	return list;
}

static void remove_follower(struct follower *f)
{
	DL_DELETE(f->watch->followers, f);
	f->watch->followers_count--;
	json_decref(f->last);
	free(f);
}

static void answer(struct follower *f)
{
	const struct listening_watch *w = f->watch;
	struct request *r = f->request;
	r->gone = NULL;
	if (w->error < 0)
		reply_error(r, error_code_of(w->error), error_text(w->error), NULL);
	else
		reply_success(r,
			json_pack("{s:o, s:b}", "ports", ports_json(w, f), "truncated",
				w->truncated));
	remove_follower(f);
	request_unref(r);
}

/* Notify the requests that were there when the scan began; newer ones get the next scan. */
static void notify(struct listening_watch *w)
{
	struct follower *f, *next;
	DL_FOREACH_SAFE (w->followers, f, next) {
		if (!f->due)
			continue;
		f->scanned = true;
		if (!f->is_stream)
			answer(f);
		else if (f->sent != w->version)
			reply_stream_more(f->request);
	}
}

static void free_watch(struct listening_watch *w)
{
	attempts_finish(&w->scan.attempts);
	free(w);
}

static void start_scan(struct listening_watch *w);

static void on_scanned(uv_work_t *work, int status)
{
	struct listening_watch *w = work->data;
	w->scanning = false;
	w->error = status < 0 ? status : w->scan.error;
	if (!w->open) {
		free_watch(w);
		return;
	}
	if (w->error == 0 && !w->scan.same) {
		w->known = w->scan.found;
		w->has_known = true;
		memcpy(w->owners, w->scan.owners, sizeof w->owners);
		memcpy(w->last_roots, w->roots, sizeof w->roots);
		w->truncated = w->scan.truncated;
		w->version++;
	}
	bool again = w->again;
	w->again = false;
	notify(w);
	if (again)
		start_scan(w);
}

static void on_work(uv_work_t *work)
{
	struct listening_watch *w = work->data;
	ports_scan(&w->scan);
}

/* Collect the pids of all holders. */
static void gather_roots(struct listening_watch *w)
{
	size_t count = 0;
	for (struct session *s = NULL;
		(s = session_next(w->api->sessions, s)) && count < PORTS_SCAN_ROOTS_MAX;) {
		if (session_holder_pid(s) <= 0)
			continue;
		w->scan.roots[count] = session_holder_pid(s);
		w->roots[count].epoch = session_epoch(s);
		snprintf(w->roots[count++].session, NAME_ID_MAX + 1, "%s", session_id(s));
	}
	w->scan.roots_count = count;
}

/* A new request gets fresh owners: a port's process may have changed, although the ports have not. */
static bool wants_owners(const struct listening_watch *w)
{
	const struct follower *f;
	DL_FOREACH (w->followers, f)
		if (!f->is_stream || !f->scanned)
			return true;
	return false;
}

static void start_scan(struct listening_watch *w)
{
	if (w->scanning) {
		w->again = true;
		return;
	}
	struct follower *f;
	DL_FOREACH (w->followers, f)
		f->due = true;
	gather_roots(w);
	w->scan.known = w->has_known && !w->scan.hung && !wants_owners(w) ? &w->known : NULL;
	w->work.data = w;
	w->scanning = uv_queue_work(w->timer.loop, &w->work, on_work, on_scanned) == 0;
}

static void on_due(uv_timer_t *timer)
{
	struct listening_watch *w = timer->data;
	const struct follower *f;
	bool followed = false;
	DL_FOREACH (w->followers, f)
		followed |= f->is_stream;
	if (!followed)
		uv_timer_stop(timer);
	else if (!w->scanning)
		start_scan(w);
}

static char *next_event(void *user)
{
	struct follower *f = user;
	struct listening_watch *w = f->watch;
	char *text = NULL;
	if (!f->scanned || !w->has_known || f->sent == w->version)
		return NULL;
	f->sent = w->version;
	json_t *list = ports_json(w, f);
	/* The change may be in ports of other sessions. */
	if (!f->last || !json_equal(list, f->last))
		text = dump_json(json_pack("{s:s, s:O, s:b}", "type", "ports", "ports", list,
			"truncated", w->truncated));
	json_decref(f->last);
	f->last = list;
	return text;
}

/* The stream has ended, or the client of a request is gone. */
static void on_gone(void *user)
{
	struct follower *f = user;
	struct request *r = f->request;
	remove_follower(f);
	request_unref(r);
}

/* The session of the requested ports; "": all. Returns false if r has been answered. */
static bool parse_session(struct request *r, char session[NAME_ID_MAX + 1])
{
	const char *asked, *id;
	session[0] = '\0';
	if (!request_session(r, &asked))
		return false;
	if (!access_session(&r->principal, asked, &id))
		return reply_error(r, "PERMISSION_DENIED", "This link is for another session", NULL);
	const struct session *s = id ? sessions_find(api_of(r)->sessions, id) : NULL;
	if (id && (!s || !auth_may_see(&r->principal, session_id(s), session_epoch(s))))
		return reply_error(r, "SESSION_NOT_FOUND", "There is no such session",
			json_pack("{s:s}", "sessionId", id));
	if (id)
		snprintf(session, NAME_ID_MAX + 1, "%s", id);
	return true;
}

/* Add r as a follower and scan. Returns NULL if r has been answered. */
static struct follower *follow(struct request *r, bool is_stream)
{
	struct listening_watch *w = api_of(r)->listening;
	char session[NAME_ID_MAX + 1];
	if (!parse_session(r, session))
		return NULL;
	if (w->followers_count == FOLLOWERS_MAX) {
		reply_error(r, "LIMIT_REACHED", "Too many requests follow the ports",
			json_pack("{s:i}", "maxWatches", (int)FOLLOWERS_MAX));
		return NULL;
	}
	/* Not by request_alloc(): clang's analyzer assumes that its result is in the list already. */
	struct follower *f = calloc(1, sizeof *f);
	if (!f) {
		refuse_memory(r);
		return NULL;
	}
	f->watch = w;
	f->request = request_ref(r);
	f->is_stream = is_stream;
	snprintf(f->session, sizeof f->session, "%s", session);
	DL_APPEND(w->followers, f);
	w->followers_count++;
	start_scan(w);
	return f;
}

static void list_ports(struct request *r)
{
	struct follower *f = follow(r, false);
	if (!f)
		return;
	r->gone = on_gone;
	r->gone_user = f;
	/* No thread could be started. */
	if (!f->watch->scanning) {
		f->watch->error = -EAGAIN;
		answer(f);
	}
}

static void follow_ports(struct request *r)
{
	struct listening_watch *w = api_of(r)->listening;
	struct follower *f = follow(r, true);
	if (!f)
		return;
	uv_timer_start(&w->timer, on_due, SCAN_EVERY_MS, SCAN_EVERY_MS);
	reply_stream(r, &(struct event_stream){.next = next_event, .closed = on_gone, .user = f});
}

int listening_open(struct api *a, uv_loop_t *loop)
{
	struct listening_watch *w = calloc(1, sizeof *w);
	if (!w)
		return -ENOMEM;
	w->api = a;
	w->open = true;
	uv_timer_init(loop, &w->timer); /* cannot fail */
	w->timer.data = w;
	a->listening = w;
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct listening_watch *w = handle->data;
	w->open = false;
	if (!w->scanning)
		free_watch(w);
}

void listening_close(struct api *a)
{
	struct listening_watch *w = a->listening;
	a->listening = NULL;
	if (w)
		uv_close((uv_handle_t *)&w->timer, on_closed);
}

const struct route_row api_listening_rows[] = {
	{METHOD_GET, "/api/ports", ROUTE_OWNER_OR_TRUSTED, .plain = list_ports},
	{METHOD_GET, "/api/ports/events", ROUTE_OWNER_OR_TRUSTED, .plain = follow_ports},
	{.path = NULL},
};
