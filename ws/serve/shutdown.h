/* The orderly shutdown of the server on SIGTERM or SIGINT. */
#pragma once

#include "shell/process/processes.h"
#include "shell/run/run.h"
#include "shell/session/sessions.h"
#include "ws/net/server.h"

#include <uv.h>

/* Embedded, because of its handles. The caller sets the first fields and zeroes the rest. */
struct shutdown {
	struct sessions *sessions;
	struct processes *processes;
	struct runs *runs;
	struct server *server; /* NULL before there is one */
	bool kill_sessions;    /* kill sessions and processes too */
	/* Private: */
	uv_signal_t sigterm, sigint;
	uv_timer_t timer;
	bool begun;
	uint64_t deadline_ms; /* end of waiting, of the loop's clock */
};

/*
 * Handle signals from now on. The first one notifies clients, cancels runs, and stops the loop when that is done or the
 * deadline has passed. A second signal stops the loop at once.
 */
void shutdown_open(struct shutdown *s, uv_loop_t *loop);

/* Close the handles. The loop must run once more afterwards. */
void shutdown_close(struct shutdown *s);
