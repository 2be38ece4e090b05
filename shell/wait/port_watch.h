/* Watching a port of this machine until it is ready: a probe now, and again after each interval. */
#pragma once

#include "shell/proc/probe.h"

#include <stdbool.h>
#include <uv.h>

#define PORT_WATCH_INTERVAL_MS 500u
#define PORT_WATCH_INTERVAL_MIN_MS 100u
#define PORT_WATCH_INTERVAL_MAX_MS 10000u

struct port_watch {
	struct probe_options options;
	unsigned interval_ms;
	struct probe probe;
	uv_timer_t timer;
	/* Once, and never from inside a function of this module. status: of HTTP, otherwise 0. */
	void (*ready)(void *user, int status);
	void *user;
	unsigned open_handles;
	bool found;
	void (*close_cb)(void *user);
};

/* Begin. interval_ms: brought within the limits; 0 = the default. */
void port_watch_start(struct port_watch *w, uv_loop_t *loop, const struct probe_options *options,
	unsigned interval_ms, void (*ready)(void *user, int status), void *user);

/* End it; the memory is the caller's until close_cb. */
void port_watch_close(struct port_watch *w, void (*close_cb)(void *user));
