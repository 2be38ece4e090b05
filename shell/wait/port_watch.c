/* See port_watch.h. Probing -> pausing -> probing … -> found; failed probes are repeated. */
#include "shell/wait/port_watch.h"

static void on_probe_due(uv_timer_t *timer)
{
	struct port_watch *w = timer->data;
	probe_start(&w->probe, &w->options);
}

static void on_probed(void *user, bool ready, int status)
{
	struct port_watch *w = user;
	if (!ready) {
		uv_timer_start(&w->timer, on_probe_due, w->interval_ms, 0);
		return;
	}
	w->found = true;
	w->ready(w->user, status);
}

void port_watch_start(struct port_watch *w, uv_loop_t *loop, const struct probe_options *options,
	unsigned interval_ms, void (*ready)(void *user, int status), void *user)
{
	if (interval_ms == 0)
		interval_ms = PORT_WATCH_INTERVAL_MS;
	if (interval_ms < PORT_WATCH_INTERVAL_MIN_MS)
		interval_ms = PORT_WATCH_INTERVAL_MIN_MS;
	if (interval_ms > PORT_WATCH_INTERVAL_MAX_MS)
		interval_ms = PORT_WATCH_INTERVAL_MAX_MS;
	*w = (struct port_watch){.options = *options,
		.interval_ms = interval_ms,
		.ready = ready,
		.user = user,
		.open_handles = 2};
	probe_init(&w->probe, loop, on_probed, w);
	uv_timer_init(loop, &w->timer); /* cannot fail */
	w->timer.data = w;
	probe_start(&w->probe, &w->options);
}

static void closed_one(struct port_watch *w)
{
	if (--w->open_handles == 0)
		w->close_cb(w->close_user);
}

static void on_timer_closed(uv_handle_t *handle)
{
	closed_one(handle->data);
}

static void on_probe_closed(void *user)
{
	closed_one(user);
}

void port_watch_close(struct port_watch *w, void (*close_cb)(void *close_user), void *close_user)
{
	w->close_cb = close_cb;
	w->close_user = close_user;
	uv_close((uv_handle_t *)&w->timer, on_timer_closed);
	probe_close(&w->probe, on_probe_closed);
}
