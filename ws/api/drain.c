/*
 * Draining: the server starts no new session, process, context or run, and serves the existing ones until they end. For
 * load balancers, and before the machine is shut down. The state is not stored: the next server is not drained.
 */
#include "shell/clock.h"
#include "ws/api/api.h"
#include "ws/json/session.h"
#include "ws/api/rows.h"
#include "ws/log.h"

/* Sessions that have not ended. */
static unsigned count_sessions(const struct sessions *all)
{
	unsigned count = 0;
	for (struct session *s = NULL; (s = session_next(all, s));)
		count += s->state != SESSION_EXITED;
	return count;
}

static void reply_drain(struct request *r)
{
	const struct api *a = api_of(r);
	reply_success(r,
		json_pack("{s:b, s:o, s:i, s:i, s:i}", "draining", (int)a->sessions->draining,
			"since", time_json(a->drained_ms), "sessions",
			(int)count_sessions(a->sessions), "processes", (int)a->processes->running,
			"runs", (int)a->metrics->runs_active));
}

static void set_draining(struct request *r, bool draining)
{
	struct api *a = api_of(r);
	if (a->sessions->draining != draining) {
		a->sessions->draining = a->processes->draining = draining;
		a->drained_ms = draining ? clock_wall_ms() : 0;
		log_write(LOG_INFO, "drain",
			draining ? "draining: nothing new is started" : "drain cancelled", "peer",
			r->peer, NULL);
		api_notify_drain(a);
		terminals_send_drain(a->terminals);
	}
	reply_drain(r);
}

static void start_drain(struct request *r)
{
	set_draining(r, true);
}

static void cancel_drain(struct request *r)
{
	set_draining(r, false);
}

const struct route_row api_drain_rows[] = {
	{METHOD_GET, "/api/drain", ROUTE_OWNER, .plain = reply_drain},
	{METHOD_POST, "/api/drain", ROUTE_OWNER, .plain = start_drain},
	{METHOD_DELETE, "/api/drain", ROUTE_OWNER, .plain = cancel_drain},
	{.path = NULL},
};
