/*
 * Tunnels: ports that are reached from the internet by cloudflared, where that is installed. POST /api/tunnels starts one and answers
 * once it is ready, GET lists them, POST /api/tunnels/stop ends one and answers once it is gone. A client that goes away leaves its tunnel.
 */
#include "shell/bounds.h"
#include "shell/id.h"
#include "shell/tunnel/tunnels.h"
#include "ws/api/api.h"
#include "ws/api/json/session.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/rows.h"
#include "ws/error.h"
#include "ws/log.h"
#include "ws/preview/previews.h"
#include "ws/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 20u /* of an id that is chosen here */

/* A request that waits for one to be ready, or gone. */
struct call {
	struct tunnel_waiter waiter; /* one of them is used */
	struct tunnel_farewell farewell;
	struct request *request; /* our reference */
	bool started;
};

static void call_free(struct call *c)
{
	request_unref(c->request);
	free(c);
}

static json_t *run_json(const struct tunnel_view *v)
{
	json_t *run = json_pack("{s:s, s:s, s:i, s:o}", "tunnelId", v->id, "mode",
		v->named ? "named" : "quick", "port", (int)v->port, "startedAt",
		time_json(v->started_ms));
	if (v->run[0])
		json_object_set_new(run, "runId", json_string(v->run));
	if (v->url[0]) {
		json_object_set_new(run, "url", json_string(v->url));
		json_object_set_new(run, "hostname", json_string(v->hostname));
	}
	return run;
}

/* Starting */

static void write_log(struct request *r, const struct tunnel_view *v, const char *end)
{
	char port[16];
	snprintf(port, sizeof port, "%u", v->port);
	log_write(LOG_INFO, "tunnel", "started", "peer", r->peer, "principal", typist_author(r),
		"id", v->id, "port", port, "end", end, NULL);
}

static json_t *context(const struct tunnel_view *v)
{
	return json_pack("{s:s, s:i}", "tunnelId", v->id, "port", (int)v->port);
}

static void on_settled(
	struct tunnel_waiter *w, enum tunnel_end end, const struct tunnel_view *v, const char *why)
{
	struct call *c = (struct call *)w;
	struct request *r = c->request;
	char message[TUNNEL_WHY_SIZE + 64];
	r->gone = NULL;
	write_log(r, v,
		end == TUNNEL_READY             ? "ready"
			: end == TUNNEL_MISSING ? "missing"
						: "failed");
	if (r->done) {
		call_free(c);
		return;
	}
	if (end == TUNNEL_READY) {
		reply_success(r, json_pack("{s:o, s:b}", "run", run_json(v), "started", c->started));
	} else if (end == TUNNEL_MISSING) {
		reply_error(r, "CLOUDFLARED_NOT_FOUND",
			"Tunnels are not available: there is no cloudflared on this machine",
			context(v));
	} else {
		json_t *text;
		snprintf(message, sizeof message, "The tunnel could not be started: %s", why);
		text = text_string_json(message);
		reply_error(r, "TUNNEL_START_ERROR",
			text ? json_string_value(text) : "The tunnel could not be started",
			context(v));
		json_decref(text);
	}
	call_free(c);
}

static void on_gone(void *user)
{
	struct call *c = user;
	tunnel_waiter_forget(&c->waiter);
	tunnel_farewell_forget(&c->farewell);
	call_free(c);
}

static struct call *wait_with(struct request *r)
{
	struct call *c = calloc(1, sizeof *c);
	if (!c) {
		refuse_memory(r);
		return NULL;
	}
	c->request = request_ref(r);
	r->gone = on_gone;
	r->gone_user = c;
	return c;
}

static void refuse_start(struct request *r, const struct tunnel_request *q, int error)
{
	json_t *about = json_pack("{s:s, s:i}", "tunnelId", q->id, "port", (int)q->port);
	if (error == -EEXIST && q->run[0])
		reply_error(
			r, "TUNNEL_RUN_CONFLICT", "Another run of that tunnel is under way", about);
	else if (error == -EEXIST)
		reply_error(r, "TUNNEL_ALREADY_RUNNING", "The tunnel is running already", about);
	else if (error == -EUSERS)
		reply_error(r, "LIMIT_REACHED", "There are too many tunnels", about);
	else {
		json_decref(about);
		refuse_run(r, "The tunnel", error);
	}
}

static void start(struct request *r, const struct tunnel_request *q)
{
	struct api *a = api_of(r);
	struct call *c = wait_with(r);
	if (!c)
		return;
	c->waiter.done = on_settled;
	int rc = tunnels_start(a->tunnels, q, &c->waiter, &c->started);
	if (rc == 0)
		return;
	r->gone = NULL;
	refuse_start(r, q, rc);
	call_free(c);
}

/* An id, or "" where it is absent. */
static bool take_id(struct request *r, const json_t *body, const char *field, const char **ret_id)
{
	if (!body_text(r, body, field, ret_id))
		return false;
	if (*ret_id && !name_is_id(*ret_id)) {
		reply_invalid(r, field, "Must be 1 to 128 of A-Z a-z 0-9 . _ : @ -", "invalid");
		return false;
	}
	*ret_id = *ret_id ? *ret_id : "";
	return true;
}

static bool take_mode(struct request *r, const json_t *body, struct tunnel_request *q)
{
	const char *mode;
	if (!body_text(r, body, "mode", &mode) || !body_text(r, body, "token", &q->token))
		return false;
	if (mode && strcmp(mode, "quick") != 0 && strcmp(mode, "named") != 0) {
		reply_invalid(r, "mode", "Must be quick or named", "invalid");
		return false;
	}
	q->named = mode && strcmp(mode, "named") == 0;
	if (q->named == (q->token && *q->token && strlen(q->token) <= TUNNEL_TOKEN_MAX))
		return true;
	reply_invalid(r, "token", "Must be there for a named tunnel, and for no other", "invalid");
	return false;
}

static bool take(struct request *r, const json_t *body, struct tunnel_request *q)
{
	uint64_t port = 0, grace = 0;
	if (!take_id(r, body, "tunnelId", &q->id) || !take_id(r, body, "runId", &q->run) ||
		!take_mode(r, body, q) || !body_number(r, body, "port", 1, 65535, &port) ||
		!body_number(r, body, "readyTimeoutMs", 1, TUNNEL_READY_MAX_MS, &q->ready_ms) ||
		!body_number(r, body, "stopGraceMs", 1, TUNNEL_GRACE_MAX_MS, &grace))
		return false;
	const struct previews *previews = api_of(r)->previews;
	bool own = previews && port > 0 && previews_is_own(previews, (unsigned)port);
	if (port == 0)
		reply_invalid(r, "port", "Must be a number from 1 to 65535", "required");
	else if (own)
		reply_invalid(r, "port", "This server itself is not made public", "invalid");
	q->port = (unsigned)port;
	q->grace_ms = (unsigned)grace;
	return port > 0 && !own;
}

static void start_tunnel(struct request *r)
{
	const struct api *a = api_of(r);
	struct tunnel_request q = {.cwd = a->sessions->config.cwd};
	char chosen[DIGITS + sizeof "quick-"], digits[DIGITS + 1];
	if (a->sessions->config.bounds->isolation) {
		reply_error(r, "NOT_IMPLEMENTED", "There are no tunnels into rooms", NULL);
		return;
	}
	if (refuse_if_draining(r, a->sessions))
		return;
	json_t *body = body_read(r);
	if (body && take(r, body, &q)) {
		bool named = q.id[0] || id_digits(digits, DIGITS, 36) == 0;
		snprintf(chosen, sizeof chosen, "quick-%s", q.id[0] ? "" : digits);
		q.id = q.id[0] ? q.id : chosen;
		if (named)
			start(r, &q);
		else
			reply_error(r, "INTERNAL_ERROR", "There is no randomness", NULL);
	}
	json_decref(body);
}

/* Stopping */

static void on_farewell(struct tunnel_farewell *f)
{
	void *whole = (char *)f - offsetof(struct call, farewell);
	struct call *c = whole;
	c->request->gone = NULL;
	if (!c->request->done)
		reply_success(c->request, json_pack("{s:b}", "stopped", 1));
	call_free(c);
}

static void stop(struct request *r, const char *id, const char *run)
{
	struct api *a = api_of(r);
	struct call *c = wait_with(r);
	if (!c)
		return;
	c->farewell.gone = on_farewell;
	if (tunnels_stop(a->tunnels, id, run, &c->farewell) == 0)
		return;
	r->gone = NULL;
	if (run)
		reply_success(r, json_pack("{s:b}", "stopped", 0));
	else
		reply_error(r, "TUNNEL_NOT_FOUND", "There is no such tunnel",
			json_pack("{s:s}", "tunnelId", id));
	call_free(c);
}

static void stop_tunnel(struct request *r)
{
	const char *id, *run;
	json_t *body = body_read(r);
	if (body && take_id(r, body, "tunnelId", &id) && take_id(r, body, "runId", &run)) {
		if (*id)
			stop(r, id, *run ? run : NULL);
		else
			reply_invalid(r, "tunnelId", "Must be there", "required");
	}
	json_decref(body);
}

static void add(void *user, const struct tunnel_view *v)
{
	json_t *run = run_json(v);
	json_object_set_new(run, "ready", json_boolean(v->ready));
	json_array_append_new(user, run);
}

static void list_tunnels(struct request *r)
{
	json_t *list = json_array();
	tunnels_list(api_of(r)->tunnels, add, list);
	reply_success(r, json_pack("{s:o}", "tunnels", list));
}

const struct route_row api_tunnel_rows[] = {
	{METHOD_GET, "/api/tunnels", WHO_OWNER, .plain = list_tunnels},
	{METHOD_POST, "/api/tunnels", WHO_OWNER, .plain = start_tunnel},
	{METHOD_POST, "/api/tunnels/stop", WHO_OWNER, .plain = stop_tunnel},
	{.path = NULL},
};
