/*
 * Requests over one control socket: the list of sessions, the state of each, and the screens of those that are
 * shown. A screen is requested once, and again after output, which another request waits for: a quiet session
 * costs nothing, a loud one a few answers a second. A lost connection is retried for ever; a refused one ends
 * the wall.
 */
#include "ws/client/wall/wall_state.h"

#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_FIRST_MS 100u
#define PAUSE_MAX_MS 2000u
#define WAIT_MS 600000 /* timeout of a request that waits for output; it is then repeated */

/* What a request is for. Its id is this letter and the tile's serial. */
enum subject { LIST = 'l', FOLLOW = 'f', SURVEY = 's', WAIT = 'w', PICTURE = 'p' };

static bool send_message(struct wall *w, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	bool sent = text && w->socket && client_socket_send(w->socket, false, text, strlen(text));
	free(text);
	json_decref(message);
	return sent;
}

/* Send a request. Consumes path and body, which may be NULL. Returns false if it was not sent. */
static bool ask(struct wall *w, enum subject subject, uint64_t serial, char *path, json_t *body)
{
	char id[32];
	snprintf(id, sizeof id, "%c%" PRIu64, (char)subject, serial);
	json_t *message = path ? json_pack("{s:s, s:s, s:s, s:s}", "type", "request", "id", id,
					 "method", body ? "POST" : "GET", "path", path)
			       : NULL;
	if (message && body)
		json_object_set(message, "body", body);
	json_decref(body);
	free(path);
	return send_message(w, message);
}

static void cancel(struct wall *w, enum subject subject, uint64_t serial)
{
	char id[32];
	snprintf(id, sizeof id, "%c%" PRIu64, (char)subject, serial);
	send_message(w, json_pack("{s:s, s:s}", "type", "cancel", "id", id));
}

/* Requests */

static void ask_picture(struct wall *w, struct tile *t)
{
	t->since = t->picture.version;
	t->fetched = ask(w, PICTURE, t->serial,
		call_path(t->id, "/screen?format=json%s&since=%" PRIu64,
			t->picture.plain ? "" : "&cells=1", t->since),
		NULL);
	t->stale = !t->fetched;
}

static void ask_wait(struct wall *w, struct tile *t)
{
	t->waited = ask(w, WAIT, t->serial, call_path(t->id, "/wait"),
		json_pack("{s:[{s:s, s:i}], s:I, s:i}", "until", "type", "bytes", "count", 1,
			"from", (json_int_t)t->picture.offset, "timeoutMs", WAIT_MS));
}

static bool has_ended(const struct tile *t)
{
	return t->attention == ATTENTION_ENDED;
}

static void follow(struct wall *w, struct tile *t)
{
	if (t->followed || has_ended(t) || w->followed >= WALL_FOLLOWED_MAX)
		return;
	t->followed = ask(w, FOLLOW, t->serial,
		call_path(t->id, "/stream?types=state,bell,notification"), NULL);
	w->followed += t->followed;
}

static void request_screen(struct wall *w, struct tile *t)
{
	if (t->stale && !t->fetched)
		ask_picture(w, t);
	else if (!t->waited && !t->fetched && !t->still)
		ask_wait(w, t);
}

/* The tile is not shown any more: free its picture and stop requests for it. */
static void forget_picture(struct wall *w, struct tile *t)
{
	if (t->waited)
		cancel(w, WAIT, t->serial);
	picture_finish(&t->picture);
	t->stale = true;
}

/* Request the next state of those that are not followed, because there are too many sessions. */
static void survey(struct wall *w, uint64_t now)
{
	if (w->survey_pending || now < w->survey_ms || w->crowd.count <= WALL_FOLLOWED_MAX)
		return;
	size_t from = crowd_index(&w->crowd, w->survey);
	for (size_t i = 1; i <= w->crowd.count; i++) {
		struct tile *t = w->crowd.tiles[(from + i) % w->crowd.count];
		if (t->followed || has_ended(t))
			continue;
		w->survey = t->serial;
		w->survey_pending = ask(w, SURVEY, t->serial, call_path(t->id, "/state"), NULL);
		w->survey_ms = now + WALL_SURVEY_MS;
		return;
	}
}

static void on_due(uv_timer_t *timer)
{
	feed_request_due(timer->data);
}

void feed_request_due(struct wall *w)
{
	uint64_t now = uv_now(&w->cli->loop), next = UINT64_MAX;
	if (!w->opened || w->over)
		return;
	for (size_t i = 0; i < w->crowd.count; i++) {
		struct tile *t = w->crowd.tiles[i];
		bool shown = view_is_shown(w, t);
		if (!shown && (t->picture.cells || t->waited))
			forget_picture(w, t);
		if (now < t->due_ms) {
			next = shown && t->due_ms < next ? t->due_ms : next;
			continue;
		}
		follow(w, t);
		if (shown)
			request_screen(w, t);
	}
	survey(w, now);
	if (w->crowd.count > WALL_FOLLOWED_MAX && now + WALL_SURVEY_MS < next)
		next = now + WALL_SURVEY_MS;
	if (next != UINT64_MAX)
		uv_timer_start(&w->due, on_due, next - now, 0);
}

/* Answers */

static void on_gone(void *user, struct tile *t)
{
	struct wall *w = user;
	if (t->followed) {
		w->followed--;
		cancel(w, FOLLOW, t->serial);
	}
	if (t->waited)
		cancel(w, WAIT, t->serial);
	if (w->survey_pending && w->survey == t->serial)
		w->survey_pending = false;
}

static void update_list(struct wall *w, const json_t *event)
{
	const json_t *sessions = json_object_get(event, "sessions");
	if (!json_is_array(sessions))
		return;
	w->listed = true;
	if (!crowd_update_list(&w->crowd, sessions, on_gone, w))
		wall_end(w, CLI_FAILED, "out of memory");
	for (size_t i = 0; i < w->crowd.count; i++)
		if (has_ended(w->crowd.tiles[i]) && !w->crowd.tiles[i]->still)
			w->crowd.tiles[i]->still = w->crowd.tiles[i]->stale = true;
}

static void update_tile(struct tile *t, const json_t *event)
{
	const char *type = answer_text(event, "type");
	bool alone = json_integer_value(json_object_get(t->session, "clients")) == 0;
	if (strcmp(type, "state") == 0)
		crowd_update_state(t, json_object_get(event, "state"));
	else if (alone && (strcmp(type, "bell") == 0 || strcmp(type, "notification") == 0))
		crowd_set_called(t, true);
}

static void update_picture(struct wall *w, struct tile *t, const json_t *body)
{
	int rc = picture_update(&t->picture, body, t->since);
	t->dirty = true;
	if (rc < 0)
		t->stale = true;
	if (rc == -ENOMEM)
		wall_end(w, CLI_FAILED, "out of memory");
	t->due_ms = uv_now(&w->cli->loop) + (rc == -EPROTO ? WALL_RETRY_MS : WALL_PICTURE_MS);
}

static void finish_wait(struct tile *t, const json_t *body)
{
	/* A cancelled request has no type; the next one starts at the same offset, and misses nothing. */
	const char *type = answer_text(body, "type");
	t->stale = t->stale || (*type && strcmp(type, "timeout") != 0);
	t->still = t->still || strcmp(type, "exit") == 0;
}

/* A request for a tile has ended, successful or not. */
static void finish_request(struct wall *w, enum subject subject, struct tile *t)
{
	if (subject == FOLLOW && t->followed) {
		t->followed = false;
		w->followed--;
	}
	if (subject == WAIT)
		t->waited = false;
	if (subject == PICTURE)
		t->fetched = false;
	if (subject == SURVEY)
		w->survey_pending = false;
}

static void handle_answer(
	struct wall *w, enum subject subject, struct tile *t, const json_t *message)
{
	const json_t *body = json_object_get(message, "body");
	bool good = json_integer_value(json_object_get(message, "status")) == 200;
	finish_request(w, subject, t);
	/* A stream ends with its session. */
	if (!good || subject == FOLLOW) {
		t->stale = t->stale || subject == PICTURE;
		t->due_ms = uv_now(&w->cli->loop) + WALL_RETRY_MS;
		return;
	}
	if (subject == WAIT)
		finish_wait(t, body);
	else if (subject == PICTURE && view_is_shown(w, t))
		update_picture(w, t, body);
	else if (subject == PICTURE)
		t->stale = true;
	else if (subject == SURVEY)
		crowd_update_state(t, json_object_get(body, "state"));
}

static void handle_stream(
	struct wall *w, enum subject subject, struct tile *t, const json_t *message)
{
	const json_t *data = json_object_get(message, "data");
	json_t *event = data ? json_loads(json_string_value(data), 0, NULL) : NULL;
	if (event && subject == LIST)
		update_list(w, event);
	else if (event && subject == FOLLOW && t)
		update_tile(t, event);
	json_decref(event);
}

static void handle_message(struct wall *w, const json_t *message)
{
	const char *type = answer_text(message, "type"), *id = answer_text(message, "id");
	enum subject subject = (enum subject)id[0];
	struct tile *t = *id ? crowd_find(&w->crowd, strtoull(id + 1, NULL, 10)) : NULL;
	if (strcmp(type, "stream") == 0)
		handle_stream(w, subject, t, message);
	else if (subject == LIST)
		wall_end(w, CLI_FAILED, "the server refused to list its sessions");
	else if (t && (strcmp(type, "response") == 0 || strcmp(type, "error") == 0))
		handle_answer(w, subject, t, message);
}

static void on_text(void *user, const char *text, size_t length)
{
	struct wall *w = user;
	json_t *message = json_loadb(text, length, 0, NULL);
	if (w->over || !message) {
		json_decref(message);
		return;
	}
	handle_message(w, message);
	json_decref(message);
	view_arrange(w);
	view_draw(w);
	feed_request_due(w);
}

/* The connection */

static void on_opened(void *user)
{
	struct wall *w = user;
	w->opened = true;
	w->dirty = w->dirty || w->away;
	w->away = false;
	w->pause_ms = 0;
	ask(w, LIST, 0, strdup("/api/session/events"), NULL);
}

/* The next connection sends all requests again. */
static void forget_requests(struct wall *w)
{
	w->opened = w->survey_pending = false;
	w->followed = 0;
	for (size_t i = 0; i < w->crowd.count; i++) {
		struct tile *t = w->crowd.tiles[i];
		t->followed = t->waited = t->fetched = false;
		t->stale = true;
		t->due_ms = 0;
	}
}

static void on_retry(uv_timer_t *timer);

static void retry_later(struct wall *w)
{
	w->pause_ms = w->pause_ms == 0 ? PAUSE_FIRST_MS : w->pause_ms * 2;
	if (w->pause_ms > PAUSE_MAX_MS)
		w->pause_ms = PAUSE_MAX_MS;
	uv_timer_start(&w->retry, on_retry, w->pause_ms, 0);
	if (!w->away)
		w->dirty = true;
	w->away = true;
	view_draw(w);
}

static void on_closed(void *user, int code, const char *reason)
{
	struct wall *w = user;
	(void)reason;
	w->socket = NULL;
	forget_requests(w);
	if (w->over)
		return;
	if (code == -401 || code == -403 || code == 4401)
		wall_end(w, CLI_FAILED, "the server denied access to its sessions");
	else
		retry_later(w);
}

static const struct client_socket_callbacks callbacks = {
	.opened = on_opened, .text = on_text, .closed = on_closed};

static void on_retry(uv_timer_t *timer)
{
	struct wall *w = timer->data;
	if (connection_probe(w->cli) < 0)
		retry_later(w);
	else
		feed_open(w);
}

void feed_open(struct wall *w)
{
	if (client_socket_open(w->cli->client, "/ws", &callbacks, w, &w->socket) < 0)
		retry_later(w);
}

void feed_close(struct wall *w)
{
	if (w->socket)
		client_socket_close(w->socket);
	w->socket = NULL;
	forget_requests(w);
}
