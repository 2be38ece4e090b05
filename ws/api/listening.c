/*
 * Which ports are listened at: once, and as a stream of events. A thread looks, for all that ask at the same time, and every
 * LOOK_EVERY_MS while somebody follows; whose they are is looked for when something has changed, or somebody asks once.
 */
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

#define LOOK_EVERY_MS 1000u
#define FOLLOWERS_MAX 256u /* and those who ask once */

/* What a session is called at a look: it may have gone when that is over. */
struct root {
	char session[NAME_ID_MAX + 1];
	uint64_t epoch;
};

/* One who asks. */
struct follower {
	struct follower *prev, *next;
	struct listening_watch *watch;
	struct request *request;
	char session[NAME_ID_MAX + 1]; /* whose ports alone; "": all */
	bool follows;  /* it is a stream; otherwise it is answered after the next look */
	bool due;      /* the look that is out is for it, too */
	bool looked;   /* one has been */
	uint64_t sent; /* version that it has; 0: none */
	json_t *last;  /* what it was sent */
};

struct listening_watch {
	struct api *api;
	uv_timer_t timer;
	uv_work_t work;
	bool out;   /* a thread looks */
	bool again; /* and shall look once more: somebody has come meanwhile */
	bool open;
	struct ports_scan look;
	struct listening known;
	bool has_known;
	struct root roots[PORTS_SCAN_ROOTS_MAX];       /* of the look that is out */
	struct root last_roots[PORTS_SCAN_ROOTS_MAX];  /* of what is known */
	struct ports_scan_owner owners[LISTENING_MAX]; /* of known */
	bool truncated;
	int error;
	uint64_t version;           /* counts changes of what is known */
	struct follower *followers; /* list */
	unsigned followers_count;
};

/* The session that a port is of, or NULL. */
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
		/* A name may be anything but UTF-8. */
		json_object_set_new(port, "process", json_string(o->name));
	}
	return port;
}

/* The ports as one sees them: none of Ringside's own. */
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

static void forget(struct follower *f)
{
	DL_DELETE(f->watch->followers, f);
	f->watch->followers_count--;
	json_decref(f->last);
	free(f);
}

/* One who has asked once is answered. */
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
	forget(f);
	request_unref(r);
}

/* Those who were there when it began hear of it: who has come meanwhile wants to know what is now. */
static void tell(struct listening_watch *w)
{
	struct follower *f, *next;
	DL_FOREACH_SAFE (w->followers, f, next) {
		if (!f->due)
			continue;
		f->looked = true;
		if (!f->follows)
			answer(f);
		else if (f->sent != w->version)
			reply_stream_more(f->request);
	}
}

static void free_watch(struct listening_watch *w)
{
	attempts_finish(&w->look.attempts);
	free(w);
}

static void look(struct listening_watch *w);

static void on_looked(uv_work_t *work, int status)
{
	struct listening_watch *w = work->data;
	w->out = false;
	w->error = status < 0 ? status : w->look.error;
	if (!w->open) {
		free_watch(w);
		return;
	}
	if (w->error == 0 && !w->look.same) {
		w->known = w->look.found;
		w->has_known = true;
		memcpy(w->owners, w->look.owners, sizeof w->owners);
		memcpy(w->last_roots, w->roots, sizeof w->roots);
		w->truncated = w->look.truncated;
		w->version++;
	}
	bool again = w->again;
	w->again = false;
	tell(w);
	if (again)
		look(w);
}

static void on_work(uv_work_t *work)
{
	struct listening_watch *w = work->data;
	ports_scan(&w->look);
}

/* The holders of the sessions that there are. */
static void gather_roots(struct listening_watch *w)
{
	size_t count = 0;
	for (struct session *s = NULL;
		(s = session_next(w->api->sessions, s)) && count < PORTS_SCAN_ROOTS_MAX;) {
		if (session_holder_pid(s) <= 0)
			continue;
		w->look.roots[count] = session_holder_pid(s);
		w->roots[count].epoch = session_epoch(s);
		snprintf(w->roots[count++].session, NAME_ID_MAX + 1, "%s", session_id(s));
	}
	w->look.roots_count = count;
}

/* Somebody who asks once wants to know whose they are now: a port may have changed hands, as a daemon its parent. */
static bool wants_owners(const struct listening_watch *w)
{
	const struct follower *f;
	DL_FOREACH (w->followers, f)
		if (!f->follows || !f->looked)
			return true;
	return false;
}

static void look(struct listening_watch *w)
{
	if (w->out) {
		w->again = true;
		return;
	}
	struct follower *f;
	DL_FOREACH (w->followers, f)
		f->due = true;
	gather_roots(w);
	w->look.known = w->has_known && !w->look.hung && !wants_owners(w) ? &w->known : NULL;
	w->work.data = w;
	w->out = uv_queue_work(w->timer.loop, &w->work, on_work, on_looked) == 0;
}

static void on_due(uv_timer_t *timer)
{
	struct listening_watch *w = timer->data;
	const struct follower *f;
	bool followed = false;
	DL_FOREACH (w->followers, f)
		followed |= f->follows;
	if (!followed)
		uv_timer_stop(timer);
	else if (!w->out)
		look(w);
}

static char *next_event(void *user)
{
	struct follower *f = user;
	struct listening_watch *w = f->watch;
	char *text = NULL;
	if (!f->looked || !w->has_known || f->sent == w->version)
		return NULL;
	f->sent = w->version;
	json_t *list = ports_json(w, f);
	/* What has changed may be others'. */
	if (!f->last || !json_equal(list, f->last)) {
		json_t *event = json_pack("{s:s, s:O, s:b}", "type", "ports", "ports", list,
			"truncated", w->truncated);
		text = event ? json_dumps(event, JSON_COMPACT) : NULL;
		json_decref(event);
	}
	json_decref(f->last);
	f->last = list;
	return text;
}

static void on_stream_closed(void *user)
{
	struct follower *f = user;
	struct request *r = f->request;
	forget(f);
	request_unref(r);
}

static void on_asker_gone(void *user)
{
	on_stream_closed(user);
}

/* Whose ports are wanted. Otherwise r has been answered. */
static bool take_session(struct request *r, char session[NAME_ID_MAX + 1])
{
	const char *asked, *id;
	session[0] = '\0';
	if (!request_session(r, &asked))
		return false;
	if (!access_session(&r->principal, asked, &id)) {
		reply_error(r, "PERMISSION_DENIED", "This link is for another session", NULL);
		return false;
	}
	const struct session *s = id ? sessions_find(api_of(r)->sessions, id) : NULL;
	if (id && (!s || !auth_may_see(&r->principal, session_id(s), session_epoch(s)))) {
		reply_error(r, "SESSION_NOT_FOUND", "There is no such session",
			json_pack("{s:s}", "sessionId", id));
		return false;
	}
	if (id)
		snprintf(session, NAME_ID_MAX + 1, "%s", id);
	return true;
}

/* One more; otherwise r has been answered. */
static struct follower *follow(struct request *r, bool follows)
{
	struct listening_watch *w = api_of(r)->listening;
	char session[NAME_ID_MAX + 1];
	if (!take_session(r, session))
		return NULL;
	if (w->followers_count == FOLLOWERS_MAX) {
		reply_error(r, "LIMIT_REACHED", "Too many follow the ports",
			json_pack("{s:i}", "maxWatches", (int)FOLLOWERS_MAX));
		return NULL;
	}
	struct follower *f = calloc(1, sizeof *f);
	if (!f) {
		refuse_memory(r);
		return NULL;
	}
	f->watch = w;
	f->request = request_ref(r);
	f->follows = follows;
	snprintf(f->session, sizeof f->session, "%s", session);
	DL_APPEND(w->followers, f);
	w->followers_count++;
	look(w);
	return f;
}

static void list_ports(struct request *r)
{
	struct follower *f = follow(r, false);
	if (!f)
		return;
	r->gone = on_asker_gone;
	r->gone_user = f;
	/* There may be no thread to be had. */
	if (!f->watch->out) {
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
	uv_timer_start(&w->timer, on_due, LOOK_EVERY_MS, LOOK_EVERY_MS);
	reply_stream(r,
		&(struct event_stream){.next = next_event, .closed = on_stream_closed, .user = f});
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
	if (!w->out)
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
	{METHOD_GET, "/api/ports", WHO_OWNER_OR_TRUSTED, .plain = list_ports},
	{METHOD_GET, "/api/ports/events", WHO_OWNER_OR_TRUSTED, .plain = follow_ports},
	{.path = NULL},
};
