/* Waiting until a port of this machine is ready: a probe now, and one after each interval. */
#pragma once

#include "shell/proc/probe.h"

#include <stdbool.h>
#include <uv.h>

#define PORT_WATCH_INTERVAL_MS 500u
#define PORT_WATCH_INTERVAL_MIN_MS 100u
#define PORT_WATCH_INTERVAL_MAX_MS 10000u

/* A watch of a port. The memory is the caller's. */
struct port_watch {
	struct probe_options options;
	unsigned interval_ms;
	struct probe probe;
	uv_timer_t timer;
	/* Called once, not from inside these functions. status: of HTTP, otherwise 0. */
	void (*ready)(void *user, int status);
	void *user;
	unsigned open_handles;
	bool found;
	void (*close_cb)(void *close_user);
	void *close_user;
};

/* Start. interval_ms: clamped to the limits; 0: the default. */
void port_watch_start(struct port_watch *w, uv_loop_t *loop, const struct probe_options *options,
	unsigned interval_ms, void (*ready)(void *user, int status), void *user);

/* Stop. The memory must stay until close_cb(). */
void port_watch_close(struct port_watch *w, void (*close_cb)(void *close_user), void *close_user);
