/*
 * The first signal begins the shutdown. Then a timer checks whether all clients are notified and all work has ended, and stops
 * the loop. Work that exceeds the deadline is left to the next server, as after kill -9.
 */
#include "ws/serve/shutdown.h"

#include "ws/log.h"
#include "ws/serve/supervisor.h"

#include <signal.h>

#define GOODBYE_MS 1000u /* to notify clients */
/* The same if sessions are killed, which includes the grace period of their processes. */
#define GOODBYE_KILL_MS 12000u
#define RUNS_GRACE_MS 300u /* grace period of runs */
#define LOOK_MS 10u

static bool is_done(const struct shutdown *s)
{
	if (s->kill_sessions && !(sessions_are_idle(s->sessions) && processes_idle(s->processes)))
		return false;
	return runs_idle(s->runs) && (!s->server || server_is_idle(s->server));
}

static void on_look(uv_timer_t *timer)
{
	struct shutdown *s = timer->data;
	if (uv_now(timer->loop) >= s->deadline_ms || is_done(s))
		uv_stop(timer->loop);
}

static void on_signal(uv_signal_t *handle, int signo)
{
	struct shutdown *s = handle->data;
	if (s->begun) {
		uv_stop(handle->loop);
		return;
	}
	s->begun = true;
	log_write(LOG_INFO, "main", "shutting down", "signal", signo == SIGINT ? "INT" : "TERM",
		"sessions", s->kill_sessions ? "killed" : "left running", NULL);
	supervisor_notify("STOPPING=1");
	s->deadline_ms = uv_now(handle->loop) + (s->kill_sessions ? GOODBYE_KILL_MS : GOODBYE_MS);
	if (s->kill_sessions) {
		processes_remove_all(s->processes);
		sessions_end_all(s->sessions);
	}
	runs_cancel_all(s->runs, RUNS_GRACE_MS);
	s->sessions->leaves = true;
	if (s->server)
		server_stop(s->server);
	uv_timer_start(&s->timer, on_look, 0, LOOK_MS);
}

void shutdown_open(struct shutdown *s, uv_loop_t *loop)
{
	uv_signal_init(loop, &s->sigterm);
	uv_signal_init(loop, &s->sigint);
	uv_timer_init(loop, &s->timer);
	s->sigterm.data = s->sigint.data = s->timer.data = s;
	uv_signal_start(&s->sigterm, on_signal, SIGTERM);
	uv_signal_start(&s->sigint, on_signal, SIGINT);
}

void shutdown_close(struct shutdown *s)
{
	uv_close((uv_handle_t *)&s->sigterm, NULL);
	uv_close((uv_handle_t *)&s->sigint, NULL);
	uv_close((uv_handle_t *)&s->timer, NULL);
}
