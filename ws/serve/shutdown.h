/* SIGTERM and SIGINT: the orderly end of the server, and what it waits for. */
#pragma once

#include "shell/process/processes.h"
#include "shell/run/run.h"
#include "shell/session/sessions.h"
#include "ws/net/server.h"

#include <uv.h>

/* Zeroed but for what it is told; embedded, because of its handles. */
struct shutdown {
	struct sessions *sessions;
	struct processes *processes;
	struct runs *runs;
	struct server *server; /* NULL before there is one */
	bool kill_sessions;    /* sessions and processes end with the server */
	/* Its own: */
	uv_signal_t sigterm, sigint;
	uv_timer_t timer;
	bool begun;           /* asked to end */
	uint64_t deadline_ms; /* of the loop's clock: nothing is waited for after it */
};

/*
 * From now on a signal begins the end: clients are told, runs are cancelled, and the loop is stopped when all of that
 * is done or takes too long. A second signal stops the loop at once.
 */
void shutdown_open(struct shutdown *s, uv_loop_t *loop);

/* The loop has to be turned once more afterwards. */
void shutdown_close(struct shutdown *s);
