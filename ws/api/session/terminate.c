/*
 * Ends the programs of a session and keeps its output: TERM, then KILL after a grace period. The
 * answer is sent when the shell, or the program that replaces it, has ended.
 */
#include "ws/api/api.h"
#include "ws/api/later/pending.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/json/session.h"
#include "ws/api/rows.h"

#include <signal.h>
#include <stdio.h>

#define GRACE_MS 500u
#define GRACE_MAX_MS 60000u
#define KILL_WITHIN_MS 5000u /* maximum wait after KILL */
#define LOOK_MS 20u          /* interval of checks */

struct ending {
	struct pending pending;
	struct api *api;
	char id[NAME_ID_MAX + 1];
	uint64_t epoch;
	uint64_t kill_ms; /* loop time */
	bool killed;
};

/* Signal the foreground process group and the first process. */
static int signal_both(struct session *s, int signo)
{
	int rc = session_signal(s, signo, WIRE_TARGET_FOREGROUND);
	int first = session_signal(s, signo, WIRE_TARGET_SHELL);
	return first < 0 ? first : rc;
}

/* The session, while it still runs. */
static struct session *find(const struct ending *e)
{
	struct session *s = sessions_find(e->api->sessions, e->id);
	return s && s->state == SESSION_RUNNING && session_epoch(s) == e->epoch ? s : NULL;
}

static void on_look(void *user)
{
	struct ending *e = user;
	struct session *s = find(e);
	uint64_t now = uv_now(e->pending.timer.loop);
	if (s && !e->killed && now >= e->kill_ms) {
		e->killed = true;
		(void)signal_both(s, SIGKILL); /* the next check shows the effect */
	}
	if (s && now < e->kill_ms + KILL_WITHIN_MS) {
		pending_after(&e->pending, LOOK_MS, on_look);
		return;
	}
	if (s)
		reply_error(e->pending.request, "SESSION_UNRESPONSIVE",
			"The session's shell could not be killed",
			json_pack("{s:s}", "sessionId", e->id));
	else
		reply_success(e->pending.request, json_pack("{s:s}", "sessionId", e->id));
	pending_end(&e->pending);
}

static void begin(struct api *a, struct request *r, struct session *s, uint64_t grace_ms)
{
	int rc = s->state == SESSION_RUNNING ? signal_both(s, SIGTERM) : 0;
	if (rc < 0) {
		refuse_session(r, s, rc);
		return;
	}
	struct ending *e = request_alloc(r, sizeof *e);
	if (!e)
		return;
	e->api = a;
	e->epoch = session_epoch(s);
	e->kill_ms = uv_now(a->sessions->loop) + grace_ms;
	snprintf(e->id, sizeof e->id, "%s", session_id(s));
	pending_open(&e->pending, a->sessions->loop, r, e, NULL);
	on_look(e);
}

static void terminate_session(struct request *r, struct session *s)
{
	uint64_t grace_ms = GRACE_MS;
	json_t *body = body_read(r);
	if (body && body_number(r, body, "graceMs", 0, GRACE_MAX_MS, &grace_ms) &&
		typist_check_lease(r, body, s))
		begin(api_of(r), r, s, grace_ms);
}

const struct route_row api_terminate_rows[] = {
	{METHOD_POST, "/api/session/{}/terminate", ROUTE_DRIVER, .session = terminate_session},
	{.path = NULL},
};
