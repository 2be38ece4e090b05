/*
 * Upgrading: the process executes the program that is on the disk now, with the same options, pid, sockets and connections;
 * see "Upgrading" in README.md.
 *
 *   IDLE ── asked ──► TRIAL ── the program starts ──► PATIENCE ──► HELD ──► CLOSING ──► READY: the loop is stopped
 *     ▲                 │ it does not                    │  ▲        │
 *     └─────────────────┴───────────── the time is up ───┘  └────────┘ something has not ended within HOLD_MS
 *
 * Up to HELD nothing has changed when it is given up.
 */
#pragma once

#include "ws/api/api.h"
#include "ws/serve/inheritance.h"
#include "ws/serve/shutdown.h"
#include "ws/serve/trial.h"

#include <limits.h>
#include <uv.h>

enum reexec_state {
	REEXEC_IDLE,
	REEXEC_TRIAL,    /* checks whether the new program starts */
	REEXEC_PATIENCE, /* serves, until nothing runs that the next server could not continue */
	REEXEC_HELD,     /* clients wait, while their requests are answered */
	REEXEC_CLOSING,  /* WebSockets are closed, and the last answers sent */
	REEXEC_READY,    /* reexec_execute() is next */
};

/* Embedded, because of its handles. The caller sets the first fields, and zeroes the rest. */
struct reexec {
	struct api *api;
	struct shutdown *shutdown;
	char **argv;                /* of main(), copied: its texts are wiped */
	const char *token;          /* the owner's; NULL: it is in a file */
	long nofile;                /* soft limit of descriptors at the start; 0: unknown */
	struct inheritance *before; /* of the server before; its counter goes on */
	/* Private: */
	char program[PATH_MAX];
	struct api_upgrade upgrade; /* for the API */
	uv_signal_t signal;         /* SIGUSR2 */
	uv_timer_t timer;
	struct trial trial;
	enum reexec_state state;
	struct request *request; /* our reference; NULL: by a signal */
	bool force, sockets_closed;
	uint64_t wait_ms;
	uint64_t patience_until_ms, hold_next_ms, state_until_ms; /* loop times */
	uint64_t hold_gap_ms;                                     /* between two attempts to hold */
	uint64_t held_since_ms;                                   /* by clock_monotonic_ms() */
	int state_fd;                                             /* of READY */
};

/* Handle SIGUSR2, and requests of the API, from now on. Errors are those of requests. */
void reexec_open(struct reexec *e, uv_loop_t *loop);

/* Continue what the server before has left, now that there is a server. version: for the log. */
void reexec_continue(struct reexec *e, const char *version);

/* Close the handles; the loop must run once more. */
void reexec_close(struct reexec *e);

/*
 * In READY, after everything is closed: execute the new program. Returns only if that and the present program fail, after
 * logging why.
 */
void reexec_execute(const struct reexec *e);

/* Block the signals that end or upgrade a server, before its handlers are gone. */
void reexec_block_signals(void);

/* Accept them again, when the handlers of the new program are there. */
void reexec_unblock_signals(void);
